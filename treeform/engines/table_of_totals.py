"""A data set and a task as the search for totals has them: distinct 0/1 rows, kinds of samples, whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.engines.binary.binarize import groups_of_bits
from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines.task import TreeTask

NO_BOUND = (2**63 - 1) // 4
LARGEST_SUM = 2**61
LARGEST_WEIGHT = 2**28


class TableOfTotals:
    """The arrays of one task.

    Samples whose costs and totals are equal, whatever is predicted, are of one kind.

    Attributes
    ----------
    bits : (P, T) uint8
        Distinct rows; 1 where the test ``x[feature] <= threshold`` fails.
    feature, threshold : (T,)
        Encoded feature and threshold of each test.
    source : (T,) int32
        The column of the table that each test reads, numbered.
    count : (P, M) int64
        Weight of each kind at each row.
    cost : (M, classes) int64
    row : (M, classes, R) int64
        What a unit of weight adds to each row.
    test_cost : (T,) int64
    test_row : (T, R) int64
    lo, hi : (R,) int64
        Sides of the rows, `NO_BOUND` where there is none.
    mark : (M, classes) int64
        Marks of each kind, as sums of powers of two.
    clash_begin : (T + 1,) int32
        The clashes of test t are those from ``clash_begin[t]`` to ``clash_begin[t + 1]``.
    clash_low, clash_high : (number of clashes,) int64
        Marks that must not meet there.

    Raises
    ------
    SpecError
        If a row's sums could leave 64 bits.
    """

    def __init__(self, data: Dataset, task: TreeTask) -> None:
        bits, self.feature, self.threshold = tests_of(data)
        first, point = groups_of_bits(bits)
        self.bits = np.ascontiguousarray(bits[first])
        self._data = data
        names: dict[str, int] = {}
        sources = [names.setdefault(column.source, len(names)) for column in data.columns]
        self.source = np.array([sources[f] for f in self.feature], dtype=np.int32)
        kind, samples = self._kinds(data, task)
        self.count = np.zeros((len(first), len(samples)), dtype=np.int64)
        np.add.at(self.count, (point, kind), data.weights)
        self.cost = np.ascontiguousarray(task.cost_of_samples(data)[samples], dtype=np.int64)
        self.test_cost = np.full(len(self.feature), task.node_penalty, dtype=np.int64)
        self._set_rows(data, task, samples)
        self._set_clashes(data, task, samples)

    @staticmethod
    def _kinds(data: Dataset, task: TreeTask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The kind of each sample, and a sample of each kind."""
        kind = data.y.astype(np.int64)
        parts = [task.cost_of_samples(data)]
        if task.totals is not None:
            parts.append(task.totals.per_sample.reshape(data.n_samples, -1))
        if task.meetings is not None:
            parts.append(task.meetings.masks)
        for column in np.hstack(parts).T:
            if (column == column[0]).all():
                continue
            values, code = np.unique(column, return_inverse=True)
            _, kind = np.unique(kind * len(values) + code.reshape(-1), return_inverse=True)
            kind = kind.reshape(-1)
        _, first, kind = np.unique(kind, return_index=True, return_inverse=True)
        return kind.reshape(-1).astype(np.int64), first

    def _set_rows(self, data: Dataset, task: TreeTask, samples: NDArray[np.int64]) -> None:
        weight = [int(w) for w in self.count.sum(axis=0)]
        kinds, classes, tests = len(samples), data.n_classes, len(self.feature)
        per_kind: list[list[list[int]]] = []  # [row][kind][class]
        per_test: list[list[int]] = []
        sides: list[tuple[int | None, int | None]] = []
        if task.totals is not None:
            totals = task.totals
            own = totals.per_sample[samples].tolist()
            on_test = None if totals.per_test is None else totals.per_test[self.feature].tolist()
            for given in totals.rows:
                row = given.reduced()
                per_kind.append([[_dot(row.coef, own[k][c]) for c in range(classes)] for k in range(kinds)])
                per_test.append([0] * tests if on_test is None else [_dot(row.coef, t) for t in on_test])
                sides.append((row.lo, row.hi))
        most_tests = 0 if task.max_features == 0 else task.max_nodes
        if most_tests is not None:
            per_kind.append([[0] * classes for _ in range(kinds)])
            per_test.append([1] * tests)
            sides.append((None, most_tests))
        for r in range(len(sides)):
            sides[r] = _exact_sides(sides[r], per_kind[r], per_test[r], weight, task.depth)
        n = len(sides)
        shaped = np.array(per_kind, dtype=np.int64).reshape(n, kinds, classes)
        self.row = np.ascontiguousarray(shaped.transpose(1, 2, 0))
        self.test_row = np.ascontiguousarray(np.array(per_test, dtype=np.int64).reshape(n, tests).T)
        self.lo = np.array([-NO_BOUND if lo is None else lo for lo, _ in sides], dtype=np.int64)
        self.hi = np.array([NO_BOUND if hi is None else hi for _, hi in sides], dtype=np.int64)

    def _set_clashes(self, data: Dataset, task: TreeTask, samples: NDArray[np.int64]) -> None:
        self.mark = np.zeros((len(samples), data.n_classes), dtype=np.int64)
        own: list[list[tuple[int, int]]] = [[] for _ in self.feature]
        if task.meetings is not None:
            self.mark = np.ascontiguousarray(task.meetings.masks[samples])
            for clash in task.meetings.clashes:
                for test in np.flatnonzero(self.feature == clash.feature):
                    own[test].append(clash.masks)
        self.clash_begin = np.cumsum([0, *map(len, own)]).astype(np.int32)
        masks = np.array([pair for pairs in own for pair in pairs], dtype=np.int64).reshape(-1, 2)
        self.clash_low, self.clash_high = (np.ascontiguousarray(side) for side in masks.T)

    def column_of(self, feature: int, threshold: float) -> int | None:
        """The test that sends every sample the way of ``feature <= threshold``; None when there is none."""
        own = np.flatnonzero(self.feature == feature)
        exact = own[self.threshold[own] == threshold]
        if len(exact):
            return int(exact[0])
        values = self._data.X[:, feature]
        side = values <= threshold
        for j in own:
            if bool(np.array_equal(side, values <= self.threshold[j])):
                return int(j)
        return None


def tests_of(data: Dataset) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float64]]:
    """All tests that separate something: (n, T) bits, their features and thresholds."""
    if ((data.X == 0) | (data.X == 1)).all():
        bits = data.X.astype(np.uint8)
        ones = bits.sum(axis=0, dtype=np.int64)
        varying = np.flatnonzero((ones > 0) & (ones < data.n_samples))
        return (
            np.ascontiguousarray(bits[:, varying]),
            varying.astype(np.int32),
            np.full(len(varying), 0.5),
        )
    splits = data.splits("feature")
    at_point = np.ascontiguousarray(~splits.left.T).view(np.uint8)
    return np.ascontiguousarray(at_point[data.points.index]), splits.feature, splits.threshold


def _dot(coef: tuple[int, ...], values: list[int]) -> int:
    return sum(c * v for c, v in zip(coef, values, strict=True) if c)


def _exact_sides(
    sides: tuple[int | None, int | None],
    per_kind: list[list[int]],
    per_test: list[int],
    weight: list[int],
    depth: int,
) -> tuple[int | None, int | None]:
    """The sides that some tree could violate; sums are computed in Python's integers, so that none can overflow.

    Raises
    ------
    SpecError
        If the row's sum could exceed 2**61.
    """
    tests = 2**depth - 1
    most = sum(w * max(values) for w, values in zip(weight, per_kind, strict=True))
    least = sum(w * min(values) for w, values in zip(weight, per_kind, strict=True))
    most += tests * max([0, *per_test])
    least += tests * min([0, *per_test])
    if max(most, -least) >= LARGEST_SUM:
        raise SpecError(
            "a requirement on totals cannot be counted exactly",
            cause=f"a row over totals reaches {max(most, -least):.3g}, the limit is 2**61",
            fix="round the sample weights, or the rates of the requirement, to fewer digits",
        )
    lo, hi = sides
    lo = None if lo is None or lo <= least else min(lo, most + 1)
    hi = None if hi is None or hi >= most else max(hi, least - 1)
    return lo, hi
