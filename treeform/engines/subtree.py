"""The part of a problem below one node of a tree: its rows, and the engine's task with what the rest leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.language.totals import TotalRow

Bools = NDArray[np.bool_]


def rows_of(data: Dataset, here: Bools) -> Dataset:
    """The data set with the samples ``here`` (n,) bool; features and classes keep their meaning."""
    return data.taken(np.flatnonzero(here))


def task_of(
    task: TreeTask, here: Bools, depth: int, tests: int = 0, others: list[int] | None = None
) -> TreeTask:
    """The task of a subtree that the samples ``here`` reach.

    ``task``: of the whole tree. ``depth``: most tests on a path of the subtree. ``tests``: tests of the rest of the
    tree, which a limit on their number counts. ``others``, K int: the totals of the rest of the tree, which the rows
    count. By default the subtree's task has no rows.
    """
    totals, meetings = None, task.meetings
    if meetings is not None:  # what the rest of the tree carries is left to whoever judges the whole
        meetings = replace(meetings, per_sample=meetings.per_sample[here])
    if task.totals is not None and others is not None:
        totals = replace(task.totals.where(here), rows=tuple(_less(row, others) for row in task.totals.rows))
    return replace(
        task,
        depth=depth,
        max_nodes=None if task.max_nodes is None else max(0, task.max_nodes - tests),
        totals=totals,
        meetings=meetings,
        sample_cost=None if task.sample_cost is None else np.ascontiguousarray(task.sample_cost[here]),
    )


def _less(row: TotalRow, others: list[int]) -> TotalRow:
    """A row over the totals of the whole, as one over those of a part."""
    known = sum(c * v for c, v in zip(row.coef, others, strict=True))
    return TotalRow(
        row.coef,
        None if row.lo is None else row.lo - known,
        None if row.hi is None else row.hi - known,
    )
