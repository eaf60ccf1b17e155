"""A data set and a task as the search under rules on paths has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.views import chunks
from treeform.engines.table_of_totals import tests_of
from treeform.engines.task import TreeTask
from treeform.utils.arrays import Floats, Ints
from treeform.utils.out_of_reach import Stopped

AT_A_TIME = 4_000_000
"""Answers of tests between two looks at the clock."""


class Table:
    """The data's points: their tests, costs and weights.

    ``bits``, (P, T) float64: 1 where the test ``x[feature] <= threshold`` fails. ``cost``, (P, K) float64: whole
    numbers: what all samples at a point cost when a class is predicted. ``counted``: how often pairs of tests were
    counted.

    Raises Stopped if ``stop`` says that the time is over.
    """

    def __init__(self, data: Dataset, task: TreeTask, stop: Callable[[], bool]) -> None:
        bits, self.feature, self.threshold = _tests(data, task)
        if bits.size > AT_A_TIME and stop():  # the tests of a large table take long
            raise Stopped
        self._stop = stop
        self.bits = self._copied(bits)
        each = task.cost_of_samples(data) * data.weights[:, None]
        cost = np.zeros((len(self.bits), each.shape[1]), dtype=np.int64)
        np.add.at(cost, np.asarray(data.points.index), each)
        self.cost = cost.astype(np.float64)
        self.weight = data.points.weights.sum(axis=1).astype(np.float64)
        self.counted = 0

    def of(self, rows: Ints) -> tuple[Floats, Floats, Floats]:
        """The tests, costs and weights of rows in ascending order; of rows that follow each other without a copy."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
            part = slice(rows[0], rows[-1] + 1)
            return self.bits[part], self.cost[part], self.weight[part]
        return self._copied(self.bits, rows), self.cost[rows], self.weight[rows]

    def _copied(self, bits: NDArray[Any], rows: Ints | None = None) -> Floats:
        if rows is not None and len(rows) * bits.shape[1] <= AT_A_TIME:
            return bits[rows]
        made = np.empty((len(bits) if rows is None else len(rows), bits.shape[1]))
        for part in parts(len(made), bits.shape[1], AT_A_TIME, self._stop):
            made[part] = bits[part if rows is None else rows[part]]
        return made

    def floor(self) -> int:
        """What no tree separates."""
        return int(self.cost.min(axis=1).sum())


def parts(rows: int, width: int, entries: int, stop: Callable[[], bool]) -> Iterator[slice]:
    """The rows as `chunks` has them; of several parts, raises Stopped where the time is over before one of them."""
    for part in chunks(rows, width, entries):
        if (part.start or part.stop < rows) and stop():
            raise Stopped
        yield part


def _tests(data: Dataset, task: TreeTask) -> tuple[NDArray[Any], NDArray[np.int32], Floats]:
    """The tests to choose from: (P, T) bits, their features and thresholds.

    Of the tests of a column that part the rows alike one is enough, except for rules that read which side each row goes
    to: two tests of missing values may part them alike and swap the sides.
    """
    if data.points.are_bits:
        return tests_of(data)
    splits = data.splits(None if any(rule.reads_points for rule in task.paths) else "feature")
    return ~splits.left.T, splits.feature, splits.threshold
