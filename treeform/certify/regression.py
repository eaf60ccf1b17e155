"""A short, plain search for the optimum of a regression problem: no cache, nothing of the engine.

Doubles only tell which tests are near the best; among these, values are computed as fractions. Under limits on weights
it tries every test at every node. Without them fewer rows cost no more: a test between two others has at least the rows
outside these on its sides, and where these cost more than a known tree, no test between them is tried. `least_loss`
estimates the work first and refuses what is out of reach.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.engines import RegressionSearch
from treeform.engines.relaxation import Relaxation, relax
from treeform.language.losses import loss_of
from treeform.language.question import Question
from treeform.language.size_terms import price_without_tests
from treeform.utils.arrays import Floats, Mask
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

WORK = 3 * 10**9
"""Most additions of one search; a call of NumPy counts as 20 000."""
FEW = 256
"""So many tests of each column are expected to be tried, at most, where intervals rule the others out."""
MOST_SETS = 1000
"""Most sets of columns that are tried one after the other."""
NEAR = 1e-7
"""Costs of trees that differ by less than this share of the cost of the leaf are compared as fractions."""


def least_loss(question: Question, budget: Budget | None = None) -> Fraction | None:
    """The optimum of a regression problem in the user's units, by trying tests; None when nothing is admissible.

    Raises OutOfReach before much is searched, and Stopped once the budget is spent.
    """
    part = relax(question, RegressionSearch())
    assert part is not None
    if part.dropped:
        raise OutOfReach(
            "the problem is out of reach of the reference search",
            cause=f"it searches trees under bounds on weights, tests and columns, and not {', '.join(part.dropped)}",
        )
    searches = [_Search(part, budget or Budget(), columns) for columns in _column_sets(part)]
    search = searches[0]
    depth, tests = search.depth, search.most_tests
    work = sum(one.work(depth) for one in searches)
    is_large = work > WORK
    if is_large and (
        not search.is_ordered or depth != 2 or sum(one.work(depth, FEW) for one in searches) > WORK
    ):
        raise _too_many(search.n_cuts, depth, work)
    rows, left, least_values = np.ones(question.data.n_samples, dtype=bool), WORK if is_large else np.inf, []
    for one in searches:
        one.left, one.of_all = left, work
        least_values.append(one.least(rows, depth, tests))
        left = one.left
    known = [value for value in least_values if value is not None]
    return min(known) * search.worth + search.constant if known else None


def _too_many(n_cuts: int, depth: int, work: float) -> OutOfReach:
    return OutOfReach(
        "the problem is out of reach of the reference search",
        cause=f"{n_cuts} thresholds at depth {depth} take about {work:.1g} additions, more than {WORK:.1g}",
    )


def _column_sets(part: Relaxation) -> list[NDArray[np.int64]]:
    """The features that may be tested together: all, or those of so many columns."""
    task, data = part.loss_task, part.part.data
    assert task.columns is not None
    sources = dict.fromkeys(data.columns[f].source for f in task.columns.tolist())
    if task.max_features is None or task.max_features >= len(sources):
        return [task.columns]
    if comb(len(sources), task.max_features) > MOST_SETS:
        raise OutOfReach(
            "the problem is out of reach of the reference search",
            cause=f"{task.max_features} of {len(sources)} columns are more than {MOST_SETS} sets",
        )
    return [
        np.array([f for f in task.columns.tolist() if data.columns[f].source in chosen], dtype=np.int64)
        for chosen in combinations(sources, task.max_features)
    ]


class _Search:
    def __init__(self, part: Relaxation, budget: Budget, columns: NDArray[np.int64]) -> None:
        question, data, task = part.part, part.part.data, part.loss_task
        assert data.quantity is not None
        weight, self.loss = loss_of(question.objective)
        self._sides, self._values = SIDES[self.loss.kind]
        self.worth = weight * self.loss.per_unit(data)
        self.constant = price_without_tests(question.objective)
        self.price, self.support, self.flow = task.price, max(1, task.min_support), task.min_flow
        self.depth = task.depth
        full = 2**task.depth - 1
        self.most_tests = full if task.max_nodes is None else min(full, task.max_nodes)
        self.budget = budget
        self.targets, self.weights = data.quantity.deviations, data.weights
        self.is_ordered = max(self.support, self.flow) <= 1
        """Whether a tree of some rows costs no more than one of these and others."""
        self.X = data.X[:, columns].T
        self.order = np.argsort(self.X, axis=1, kind="stable")
        self.cuts = [len(np.unique(row)) - 1 for row in self.X]
        self.n_cuts = sum(self.cuts)
        self.each = self.X.size * self._values(self.targets) + 20_000
        """Additions for all tests of one node."""
        self.left = self.of_all = np.inf
        """Additions that it may still take, and those that all tests of all searches take."""

    def work(self, depth: int, most: float = np.inf) -> float:
        """About how many additions a search of this depth takes, with at most so many tests of each column."""
        tests = sum(min(most, cuts) for cuts in self.cuts)
        return float((2 * max(1, tests)) ** (depth - 1) * self.each)

    # -- exactly ----------------------------------------------------------------------------------

    def least(self, rows: Mask, depth: int, tests: int) -> Fraction | None:
        """The least cost of a tree on these rows, in units of the loss."""
        alone = self._leaf(rows)
        if depth == 0 or tests == 0 or not self._bears_test(rows):
            return alone
        near, cuts = self._costs(rows, depth, tests)
        leaf = self._leaf_cost(rows)
        reach = _reach(min([leaf if alone is not None else np.inf, *near]), leaf)
        best = alone
        for cost, (column, value) in zip(near, cuts, strict=True):
            if cost <= reach:
                left = rows & (self.X[column] <= value)
                best = self._smaller(best, self._joined(left, rows & ~left, depth, tests))
        return best

    def _joined(self, left: Mask, right: Mask, depth: int, tests: int) -> Fraction | None:
        best: Fraction | None = None
        for own, other in _shares(depth, tests):
            a = self.least(left, depth - 1, own)
            b = None if a is None else self.least(right, depth - 1, other)
            if a is not None and b is not None:
                best = self._smaller(best, a + b + self.price)
        return best

    def _bears_test(self, rows: Mask) -> bool:
        return len(self.X) > 0 and int(self.weights[rows].sum()) >= max(1, self.flow)

    @staticmethod
    def _smaller(a: Fraction | None, b: Fraction | None) -> Fraction | None:
        return b if a is None else a if b is None else min(a, b)

    def _leaf(self, rows: Mask) -> Fraction | None:
        chosen = np.flatnonzero(rows)
        if not len(chosen) or int(self.weights[chosen].sum()) < self.support:
            return None
        value = self.loss.best(self.targets[chosen], self.weights[chosen])
        return self.loss.of_rows(self.targets[chosen], self.weights[chosen], value)

    # -- in doubles -------------------------------------------------------------------------------

    def _least_cost(self, rows: Mask, depth: int, tests: int) -> float:
        enough = int(self.weights[rows].sum()) >= self.support
        alone = self._leaf_cost(rows) if enough else np.inf
        if depth == 0 or tests == 0 or not enough or not self._bears_test(rows):
            return alone
        return min([alone, *self._costs(rows, depth, tests)[0]])

    def _costs(self, rows: Mask, depth: int, tests: int) -> tuple[list[float], list[tuple[int, float]]]:
        """The least cost with each test at the root that may be the best, prices included, and the tests."""
        if self.budget.stop():
            raise Stopped
        if depth == 1 or tests == 1:
            return self._stump_costs(rows)
        price, leaf = float(self.price), self._leaf_cost(rows)
        least = leaf if self.is_ordered else np.inf
        costs, cuts = [], []
        for column, values in enumerate(self.X):
            tried = np.unique(values[rows])[:-1]
            intervals = [(0, len(tried), 0.0, 0.0)]  # of tests, and what their sides cost at least
            while intervals:
                first, last, low, high = intervals.pop()
                if first == last or low + high + price > _reach(least, leaf):
                    continue
                middle = (first + last) // 2
                left = rows & (values <= tried[middle])
                sides = [
                    (self._least_cost(left, depth - 1, own), self._least_cost(rows & ~left, depth - 1, other))
                    for own, other in _shares(depth, tests)
                ]
                costs.append(min(map(sum, sides)) + price)
                cuts.append((column, float(tried[middle])))
                below = above = 0.0
                if self.is_ordered:
                    least = min(least, costs[-1])
                    below, above = (min(side) for side in zip(*sides, strict=True))
                intervals += [(first, middle, low, above), (middle + 1, last, below, high)]
        return costs, cuts

    def _stump_costs(self, rows: Mask) -> tuple[list[float], list[tuple[int, float]]]:
        self.left -= self.each
        if self.left < 0:
            raise _too_many(self.n_cuts, self.depth, self.of_all)
        n = int(rows.sum())
        order = self.order[rows[self.order]].reshape(len(self.X), n)
        value = np.take_along_axis(self.X, order, axis=1)
        weights = self.weights[order]
        weight = weights.cumsum(axis=1)
        below, above = self._sides(weights.astype(np.float64), self.targets[order].astype(np.float64))
        light = (weight[:, :-1] < self.support) | (weight[:, -1:] - weight[:, :-1] < self.support)
        cost = np.where(light, np.inf, below + above + float(self.price))
        column, at = np.nonzero(value[:, :-1] < value[:, 1:])
        return cost[column, at].tolist(), list(zip(column.tolist(), value[column, at].tolist(), strict=True))

    def _leaf_cost(self, rows: Mask) -> float:
        leaf = self._leaf(rows)
        if leaf is not None:
            return float(leaf)
        return float(self.loss.of_rows(self.targets[rows], self.weights[rows], Fraction(0)))


def _squares(w: Floats, y: Floats) -> tuple[Floats, Floats]:
    y = y - np.average(y[0], weights=w[0])
    sums = [part.cumsum(axis=1) for part in (w, w * y, w * y * y)]
    n, s, q = (part[:, :-1] for part in sums)
    m, t, r = (part[:, -1:] - part[:, :-1] for part in sums)
    return np.maximum(0.0, q - s * s / n), np.maximum(0.0, r - t * t / m)


def _distances(w: Floats, y: Floats) -> tuple[Floats, Floats]:
    levels = np.unique(y[0])  # the best value is one of the targets
    spent = (w[:, None, :] * np.abs(y[:, None, :] - levels[None, :, None])).cumsum(axis=2)
    return spent[:, :, :-1].min(axis=1), (spent[:, :, -1:] - spent[:, :, :-1]).min(axis=1)


Sides = Callable[[Floats, Floats], tuple[Floats, Floats]]
SIDES: dict[str, tuple[Sides, Callable[[Any], int]]] = {
    "squared": (_squares, lambda y: 1),
    "absolute": (_distances, lambda y: len(np.unique(y))),
}
"""Costs of the first k and of the other rows of each order as leaves, k from 1 on, from weights and targets; how many
values of a leaf are tried for them."""


def _reach(least: float, leaf: float) -> float:
    """Up to where costs in doubles may be the least one."""
    return least + NEAR * leaf + 1e-12


def _shares(depth: int, tests: int) -> list[tuple[int, int]]:
    """How the tests below a root can be shared, as far as a side can use them."""
    most = 2 ** (depth - 1) - 1
    if tests > 2 * most:
        return [(most, most)]
    return [(own, tests - 1 - own) for own in range(tests) if own <= most and tests - 1 - own <= most]
