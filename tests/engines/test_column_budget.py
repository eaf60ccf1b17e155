"""A budget of columns over an engine that has none: what is kept of sets of columns that were cut short."""

from __future__ import annotations

import numpy as np

import treeform as tf
from treeform.engines import EngineOutcome, EngineRun, TreeTask
from treeform.engines.column_budget import ColumnBudget


def test_the_tree_of_a_set_that_was_cut_short_is_kept() -> None:
    problem = tf.Problem(np.eye(3), [0, 1, 0], shape=tf.Tree(1))
    tree = problem.solve().graph
    cut = EngineOutcome(tree, 7, 2, False, "time", rows_used=(False, True))
    task = TreeTask(depth=1, max_features=1)
    search = ColumnBudget(problem.data, task, EngineRun(), range(3), lambda *_: cut, lambda _: 7, 2**60)
    found = search.run()
    assert (found.graph, found.upper, found.lower, found.proved, found.reason) == (tree, 7, 2, False, "time")
    assert found.rows_used == (False, True)


def test_a_set_of_columns_that_was_stopped_at_once_adds_no_rows() -> None:
    search = object.__new__(ColumnBudget)
    search.used = [(), (False, True, False), (True, False, False)]
    assert search.rows_used() == (True, True, False)
