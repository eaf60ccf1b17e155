"""Deeper trees on more rows, where the kernels of the engines have something to do; judged by a plain recursion."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import treeform as tf
from treeform.testing.attack.case import SIMD
from treeform.testing.attack.verbs import Verdict

ROWS = {1: 70, 2: 40, 3: 18, 4: 11}
"""By depth, so that the recursion takes milliseconds."""
ENGINES = tuple(name for name in SIMD if name not in ("diagram-search", "regression-search"))


def draw(rng: random.Random) -> dict[str, Any]:
    """A question, and who is asked."""
    depth = rng.choice((1, 2, 2, 3, 3, 4))
    engine = rng.choice(ENGINES)
    top = {1: 40, 2: 8, 3: 3, 4: 2}[depth]
    binary = engine == "dl85" or rng.random() < 0.3
    n, wide = rng.randint(ROWS[depth] // 2, ROWS[depth]), rng.randint(2, 5 if binary else 2)
    X = [[rng.randint(0, 1 if binary else top) for _ in range(wide)] for _ in range(n)]
    labels = rng.choice(([0, 1], [0, 1, 2]))
    weights = None if rng.random() < 0.5 else [rng.randint(1, 5) for _ in range(n)]
    return {
        "depth": depth, "engine": engine, "simd": rng.choice(SIMD[engine]), "X": X,
        "y": [rng.choice(labels) for _ in range(n)], "weights": weights,
        "price": rng.choice(("0", "0", "1/2", "1")), "support": rng.choice((0, 0, 2, 3)),
        "most": rng.choice((None, None, 2, 4)),
    }  # fmt: skip


def optimum(q: dict[str, Any]) -> Fraction:
    """The least error plus price of tests, by recursion over sets of rows."""
    n = len(q["y"])
    weight = q["weights"] or [1] * n
    columns = list(zip(*q["X"], strict=True))
    tests = {
        sum(1 << i for i, v in enumerate(values) if v > cut)
        for values in columns
        for cut in sorted(set(values))[:-1]
    }
    of_class = [sum(1 << i for i in range(n) if q["y"][i] == k) for k in sorted(set(q["y"]))]

    @cache
    def total(mask: int) -> int:
        return sum(weight[i] for i in range(n) if mask >> i & 1)

    @cache
    def by_tests(mask: int, depth: int) -> tuple[int, ...]:
        """The least error with at most 0, 1, 2, ... tests."""
        errors = total(mask) - max(total(mask & c) for c in of_class)
        most = (1 << depth) - 1
        least = [errors] * (most + 1)
        if depth and errors:
            for right in {mask & t for t in tests} - {0, mask}:
                if min(total(right), total(mask & ~right)) < q["support"]:
                    continue
                a, b = by_tests(mask & ~right, depth - 1), by_tests(right, depth - 1)
                for i, left in enumerate(a):
                    for j, other in enumerate(b):
                        least[i + j + 1] = min(least[i + j + 1], left + other)
        for m in range(1, most + 1):
            least[m] = min(least[m], least[m - 1])
        return tuple(least)

    table = by_tests((1 << n) - 1, q["depth"])
    most = len(table) - 1 if q["most"] is None else min(q["most"], len(table) - 1)
    return min(Fraction(q["price"]) * m + table[m] for m in range(most + 1))


def attack(q: dict[str, Any]) -> Verdict:
    """Ask, and compare."""
    verdict = Verdict(by=q["engine"])
    if len(set(q["y"])) < 2:
        verdict.status = "one class"
        return verdict
    problem = tf.Problem(
        np.array(q["X"], dtype=float), q["y"], shape=tf.Tree(q["depth"]), sample_weight=q["weights"]
    )
    problem.minimize(tf.Error() + Fraction(q["price"]) * tf.Nodes())
    if q["support"]:
        problem += tf.MinSupport(q["support"])
    if q["most"] is not None:
        problem += tf.MaxNodes(q["most"])
    result = problem.solve(f"{q['engine']}:simd={q['simd']}")
    verdict.status = str(result.status)
    least = optimum(q)
    if verdict.status != "optimal" or result.objective != least:
        verdict.wrong.append(f"{result.status} at {result.objective}, and the optimum is {least}")
    return verdict
