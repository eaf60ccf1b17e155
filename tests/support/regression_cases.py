"""Tiny regression tables and a brute force in fractions: every tree, every leaf, no bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

import treeform as tf


@dataclass(frozen=True)
class Case:
    """One problem: a table, and what is asked of it."""

    X: np.ndarray
    y: list[Any]
    weights: list[int] | None
    depth: int
    loss: str
    price: Fraction
    support: int
    tests: int | None
    flow: int = 0
    columns: int | None = None

    def problem(self) -> tf.Problem:
        problem = tf.Problem(self.X, self.y, shape=tf.Tree(self.depth), sample_weight=self.weights)
        loss = tf.SquaredError() if self.loss == "squared" else tf.AbsoluteError()
        problem.minimize(loss + self.price * tf.Nodes())
        if self.support:
            problem += tf.MinSupport(self.support)
        if self.tests is not None:
            problem += tf.MaxNodes(self.tests)
        if self.flow:
            problem += tf.Stability(self.flow)
        if self.columns is not None:
            problem += tf.FeatureBudget(self.columns)
        return problem


def drawn_case(rng: np.random.Generator) -> Case:
    """Ties, duplicates, offsets and scales, weights, prices, supports and budgets."""
    n, features = int(rng.integers(3, 11)), int(rng.integers(1, 4))
    X = rng.integers(0, int(rng.integers(2, 7)), (n, features)) * rng.choice([1.0, 1e-9, 1e7])
    if rng.random() < 0.4:  # columns of zeros and ones, some of them thresholds of one column, some opposite
        cuts = rng.integers(0, 4, int(rng.integers(1, 6)))
        X = (
            np.array([(X[:, k % features] <= cut * X.max() / 5) ^ (k == 1) for k, cut in enumerate(cuts)]).T
            * 1.0
        )
    if rng.random() < 0.2 and n > 3:
        X[n // 2 :] = X[: n - n // 2]
    whole = rng.integers(0, int(rng.integers(2, 30)), n)
    whole[0] = whole.max() + 1  # one value only is refused
    parts, offset = int(rng.choice([1, 4, 10**9])), rng.choice([0.0, 0.0, 1e9, -7.0])
    y = whole / parts + (offset if parts < 10**9 else 0.0)  # 7 / 1e9 prints as 7e-09
    weights = rng.integers(1, 5, n).tolist() if rng.random() < 0.4 else None
    loss = str(rng.choice(["squared", "absolute"]))
    unit = Fraction(1, parts) ** (2 if loss == "squared" else 1)
    price = (
        unit * Fraction(int(rng.integers(1, 9)), int(rng.choice([1, 2, 3])))
        if rng.random() < 0.4
        else Fraction(0)
    )
    depth = int(rng.integers(1, 5 if n < 8 else 4))
    support = int(rng.integers(1, 4)) if rng.random() < 0.3 else 0
    tests = int(rng.integers(0, 6)) if rng.random() < 0.3 else None
    flow = int(rng.integers(2, 7)) if rng.random() < 0.2 else 0
    columns = int(rng.integers(0, 3)) if rng.random() < 0.2 else None
    return Case(X, list(y), weights, depth, loss, price, support, tests, min(flow, n), columns)


def least(case: Case) -> Fraction | None:
    """The optimum, or None where no tree is admissible."""
    n = len(case.y)
    y = [Fraction(str(v)) if isinstance(v, float) else Fraction(v) for v in case.y]
    w = case.weights or [1] * n

    def leaf(rows: frozenset[int]) -> Fraction | None:
        weight = sum(w[i] for i in rows)
        if weight < case.support:
            return None
        if case.loss == "squared":
            mean = sum((w[i] * y[i] for i in rows), Fraction(0)) / weight
            return sum((w[i] * (y[i] - mean) ** 2 for i in rows), Fraction(0))
        return min(sum((w[i] * abs(y[i] - y[j]) for i in rows), Fraction(0)) for j in rows)

    @cache
    def best(
        rows: frozenset[int], depth: int, tests: int, columns: tuple[tuple[float, ...], ...]
    ) -> Fraction | None:
        out = leaf(rows)
        if depth == 0 or tests == 0 or sum(w[i] for i in rows) < case.flow:
            return out
        for column in columns:
            for cut in sorted({column[i] for i in rows})[1:]:
                left = frozenset(i for i in rows if column[i] < cut)
                most = 2 ** (depth - 1) - 1
                for own in {min(k, most) for k in range(tests)}:
                    other = min(tests - 1 - own, most)
                    a = best(left, depth - 1, own, columns)
                    b = None if a is None else best(rows - left, depth - 1, other, columns)
                    if a is not None and b is not None and (out is None or a + b + case.price < out):
                        out = a + b + case.price
        return out

    every = 2**case.depth - 1
    tests = every if case.tests is None else min(case.tests, every)
    given = [tuple(column) for column in case.X.T.tolist()]
    most = len(given) if case.columns is None else min(case.columns, len(given))
    found = [best(frozenset(range(n)), case.depth, tests, chosen) for chosen in combinations(given, most)]
    return min((value for value in found if value is not None), default=None)
