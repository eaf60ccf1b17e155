"""A data set and a task as the search for totals has them: distinct 0/1 rows, kinds of samples, whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines.contributions import Clashes, Contributions
from treeform.engines.task import TreeTask

Tests = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float64]]
LARGEST_WEIGHT = 2**50
LARGEST_COUNT = 2**28
"""Counts stay below this; a heavier table has its weights in several digits."""


class TableOfTotals:
    """The arrays of one task.

    Samples whose costs and totals are equal, whatever is predicted, are of one kind. ``tests`` are as `tests_of` gives
    them, where not all distinct tests are wanted.

    Raises SpecError if a row's sums could leave 64 bits.

    Attributes
    ----------
    bits : (P, T) uint8
        Of the merged points, which some test tells apart; 1 where the test ``x[feature] <= threshold`` fails.
    feature, threshold : (T,)
        Encoded feature and threshold of each test.
    source : (T,) int32
        The column of the table that each test reads, numbered.
    count : (P, M) int64
        Weight of each kind at each row.
    unit : (M,) int64
        What a unit of a kind's count weighs.
    cost : (M, classes) int64
        Of a unit of the kind's count, as are `row`s.
    row : (M, classes, R) int64
        What a unit of weight adds to each row.
    test_cost : (T,) int64
    test_row : (T, R) int64
    leaf_row : (classes, R) int64
    lo, hi : (R,) int64
        Sides of the rows, `contributions.NO_BOUND` where there is none.
    clashes : Clashes
    """

    def __init__(self, data: Dataset, task: TreeTask, tests: Tests | None = None) -> None:
        self.bits, self.feature, self.threshold = tests_of(data) if tests is None else tests
        self._data = data
        names: dict[str, int] = {}
        sources = np.array([names.setdefault(column.source, len(names)) for column in data.columns], dtype=np.int32)
        self.source = sources[self.feature]
        adds = Contributions(data, task, self.feature)
        kinds, points = len(adds.weight), len(self.bits)
        self.count = data.weight_by_code(data.points.index * kinds + adds.kind, points * kinds)
        self.count = self.count.reshape(points, kinds)
        self.cost, self.row, self.test_row, self.leaf_row = adds.cost, adds.row, adds.test_row, adds.leaf_row
        self.lo, self.hi = adds.lo, adds.hi
        self.test_cost = np.full(len(self.feature), task.node_penalty, dtype=np.int64)
        self.clashes = Clashes(task.meetings, adds.samples, data.n_classes, self.feature)
        self._split_weights()

    def _split_weights(self) -> None:
        """Write weights too heavy to be counted in digits: each digit of a kind is a kind, whose units weigh more."""
        self.unit = np.ones(self.count.shape[1], dtype=np.int64)
        if self._data.total_weight < LARGEST_COUNT:
            return
        bits = (LARGEST_COUNT // len(self.count)).bit_length() - 1
        digits = []
        for shift in range(0, int(self.count.max()).bit_length(), bits):
            digit = (self.count >> shift) & ((1 << bits) - 1)
            digits += [(kind, shift, digit[:, kind]) for kind in np.flatnonzero(digit.any(axis=0))]
        kinds = [kind for kind, _, _ in digits]
        self.unit = np.array([1 << shift for _, shift, _ in digits], dtype=np.int64)
        self.count = np.ascontiguousarray(np.stack([count for _, _, count in digits], axis=1))
        self.cost = self.cost[kinds] * self.unit[:, None]
        self.row = self.row[kinds] * self.unit[:, None, None]
        self.clashes.mark = self.clashes.mark[kinds]

    def arrays(self) -> tuple[Any, ...]:
        """As the core takes them; what came in a message may be out of alignment."""
        clashes = self.clashes
        arrays = (
            *(self.bits, self.count, self.unit, self.cost, self.row),
            *(self.test_cost, self.test_row, self.leaf_row),
            *(self.lo, self.hi, self.source, clashes.mark, clashes.begin, clashes.low, clashes.high),
        )
        return tuple(np.require(array, requirements=["C", "A"]) for array in arrays)


def tests_of(data: Dataset) -> Tests:
    """All distinct tests: (P, T) bits of the merged points, their features and thresholds."""
    if data.points.are_bits:
        bits = data.points.X.astype(np.uint8)
        varying = np.flatnonzero(bits.any(axis=0) & ~bits.all(axis=0))
        return np.ascontiguousarray(bits[:, varying]), varying.astype(np.int32), np.full(len(varying), 0.5)
    splits = data.splits("feature")
    return np.ascontiguousarray(~splits.left.T).view(np.uint8), splits.feature, splits.threshold
