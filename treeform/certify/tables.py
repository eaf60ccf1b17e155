"""The table that the check's own searches read: distinct points, tests, and what each adds to the cost and the rows.

This is NumPy only, and nothing of the native engines. Sums are whole numbers below 2**53, so that those of float64 are
exact.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import copy

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.language.paths import PathTests
from treeform.utils.arrays import Floats, Ints
from treeform.utils.out_of_reach import OutOfReach

EXACT = 2**53
LARGEST_TABLE = 50_000_000
"""Points times tests."""
MANY_THRESHOLDS = 100
"""For each column, from which on what goes right at each is summed up over sorted values."""
MOST_SOURCES = 62
"""Columns of the table that one number of 64 bits can encode."""


class Table:
    """Distinct points, the tests on them, and what each adds to the cost and to every row.

    Attributes
    ----------
    side : (P, T) float64
        1 where the point fails the test and goes right.
    weight : (P,) float64
    amounts : (P, C, 1 + R) int64
        What the point adds if it is predicted a class: cost, then rows.
    leaf : (C, 1 + R) int64
        What a leaf of a class adds by itself.
    feature : (T,) int64
        The feature of each test.
    test : (T, 1 + R) int64
    lo, hi : (R,) float64
        Sides of the rows; infinite where there is none.
    marks : (P, C) int64
        The marks of the point if it is predicted a class.
    clashes : list of T lists of (int, int)
        Marks that must not meet at the test: of its lower side, of its upper one.
    source : (T,) int64
        The column of the table that the test reads, as a power of two; 0 where these are not limited.
    most_sources : int
    complete : bool
    at : (P',) int64
        Of each of the data's points, its place among these.
    place : (T,) int64
        The place of each test's column among the F columns that have tests.
    cell : (P, F) int64 or None
        Where these have many thresholds: between which of them a value is, numbered over all columns.
    """

    def __init__(self, data: Dataset, task: TreeTask) -> None:
        points, index = np.unique(data.X, axis=0, return_inverse=True)
        index = index.reshape(-1)
        self.at = index[np.unique(np.asarray(data.points.index), return_index=True)[1]]
        cost = task.cost_of_samples(data)
        rows = [] if task.totals is None else [row.reduced() for row in task.totals.rows]
        per_sample = [cost]
        features, per_test = self._tests(points)
        self.feature = features
        test = [np.full(len(features), task.node_penalty)]
        leaf = [np.zeros(data.n_classes, dtype=np.int64)]
        for row in rows:
            assert task.totals is not None
            coef = np.array(row.coef, dtype=object)
            per_sample.append(_small(task.totals.weighted(coef)))
            of_tests = task.totals.per_test
            test.append(np.zeros(len(features)) if of_tests is None else _small(of_tests @ coef)[features])
            of_leaves = task.totals.per_leaf
            leaf.append(leaf[0] if of_leaves is None else _small(of_leaves @ coef))
        sides = [(row.lo, row.hi) for row in rows]
        if task.max_nodes is not None:
            per_sample.append(np.zeros_like(cost))
            test.append(np.ones(len(features)))
            leaf.append(leaf[0])
            sides.append((None, task.max_nodes))
        of_nodes = [t.any() or one.any() for t, one in zip(test[1:], leaf[1:], strict=True)]
        if any(lo is not None and some for (lo, _), some in zip(sides, of_nodes, strict=True)):
            raise beyond_prices("a row asks for tests, which tests that part nothing may satisfy")
        weighted = np.stack(per_sample, axis=2) * data.weights[:, None, None]
        if int(np.abs(weighted).astype(object).sum()) >= EXACT:
            raise beyond_prices("sums over the samples leave the exact range")
        self.amounts = np.zeros((len(points), data.n_classes, len(per_sample)), dtype=np.int64)
        np.add.at(self.amounts, index, weighted)
        self.weight: Floats = np.bincount(index, weights=data.weights).astype(np.float64)
        self.side = per_test
        self.place, self.cell = self._cells()
        self.test = np.stack(test, axis=1).astype(np.int64)
        self.leaf = np.stack(leaf, axis=1)
        self.lo = np.array([-np.inf if lo is None else lo for lo, _ in sides])
        self.hi = np.array([np.inf if hi is None else hi for _, hi in sides])
        self._set_carried(data, task, index, features)

    def _set_carried(self, data: Dataset, task: TreeTask, index: NDArray[np.intp], features: Ints) -> None:
        self.marks = np.zeros((len(self.weight), data.n_classes), dtype=np.int64)
        clashes = () if task.meetings is None else task.meetings.clashes
        if task.meetings is not None:
            np.bitwise_or.at(self.marks, index, task.meetings.masks)
        self.clashes = [[clash.masks for clash in clashes if clash.feature == f] for f in features]
        names = list(dict.fromkeys(column.source for column in data.columns))
        limited = task.max_features is not None and task.max_features < len(names)
        self.complete = (not limited or len(names) <= MOST_SOURCES) and len(task.features or ()) <= 1
        self.most_sources = MOST_SOURCES if task.max_features is None else task.max_features
        number = [names.index(data.columns[f].source) for f in features]
        counted = limited and len(names) <= MOST_SOURCES
        self.source = np.array([1 << s if counted else 0 for s in number], dtype=np.int64)

    @property
    def tests(self) -> PathTests:
        """The tests, as rules on paths read them."""
        return PathTests(self.feature, self.side[self.at] > 0)

    def over(self, features: Collection[int]) -> Table:
        """The same with the tests of some features only."""
        out, kept = copy(self), np.isin(self.feature, sorted(features))
        out.feature, out.test, out.source = self.feature[kept], self.test[kept], self.source[kept]
        out.side = np.ascontiguousarray(self.side[:, kept])
        out.place, out.cell = out._cells()
        out.clashes = [marks for marks, one in zip(self.clashes, kept, strict=True) if one]
        return out

    def _cells(self) -> tuple[Ints, Ints | None]:
        columns, begin, place = np.unique(self.feature, return_index=True, return_inverse=True)
        if not len(columns) or len(place) < MANY_THRESHOLDS * len(columns):
            return place, None
        # The thresholds of a column ascend: a value goes right at those below it, and at none of the others.
        below = np.add.reduceat(self.side, begin, axis=1).astype(np.int64)
        return place, below + begin + np.arange(len(columns))

    def on_right(self, points: NDArray[np.intp], amounts: Floats) -> Floats:
        """(k, T) what goes right at each test, of whole numbers that these points have: (n, k)."""
        if self.cell is None:
            return np.asarray(amounts.T @ self.side[points])
        n_tests, n_columns = len(self.place), self.cell.shape[1]
        at, each = self.cell[points].ravel(), np.repeat(amounts, n_columns, axis=0)
        cells = np.array([np.bincount(at, one, n_tests + n_columns) for one in each.T]).astype(np.int64)
        # Over all columns the sums may leave 64 bits; their differences, of one column, do not.
        from_here = np.cumsum(cells[:, ::-1], axis=1)[:, ::-1]
        of_later_columns = (n_columns - 1 - self.place) * amounts.sum(axis=0).astype(np.int64)[:, None]
        return np.asarray(from_here[:, np.arange(n_tests) + self.place + 1] - of_later_columns, dtype=np.float64)

    @staticmethod
    def _tests(points: Floats) -> tuple[Ints, Floats]:
        """The feature of each test and its sides: every threshold between two values of a column."""
        features, sides = [], []
        values = [np.unique(column)[:-1] for column in points.T]
        if len(points) * sum(map(len, values)) > LARGEST_TABLE:
            raise beyond_prices("the table has too many points and thresholds")
        for f in range(points.shape[1]):
            for value in values[f]:
                features.append(f)
                sides.append(points[:, f] > value)
        shaped = np.array(sides, dtype=np.float64).reshape(len(sides), len(points))
        return np.array(features, dtype=np.int64), np.ascontiguousarray(shaped.T)


def _small(values: NDArray[np.object_]) -> Ints:
    """Exact sums as int64, where they are small enough to stay exact later on."""
    if values.size and max(abs(int(values.max())), abs(int(values.min()))) >= EXACT:
        raise beyond_prices("a row's coefficients leave the exact range")
    return values.astype(np.int64)


def beyond_prices(cause: str) -> OutOfReach:
    """The error of a search by prices that is beyond its limits."""
    return OutOfReach("the search by prices does not reach this problem", cause=cause)
