"""Fewest tests among the cheapest trees: a second solve of the same problem with costs in finer units.

With M more than any admissible number of tests, ``M * cost + tests`` is least for the trees of least cost, and among
these for those with the fewest tests. The first solve supplies the start, so that only better trees are searched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeform.engines.task import EngineOutcome, EngineRun, TreeTask

if TYPE_CHECKING:
    from collections.abc import Callable

    from treeform.data import Dataset

    Solve = Callable[[Dataset, TreeTask, EngineRun], EngineOutcome]


def with_fewest_tests(solve: Solve, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
    """Solve `task`, and then for the fewest tests among its optima.

    Costs and bound are those of the first solve. The counter ``fewest_tests`` is 1 when no optimal tree has fewer
    tests, and 0 when the time, or the proof of the optimum, did not suffice to say so.

    ``solve``: one solve, as `Engine.run`; it has to understand a cost matrix and a price per test.
    """
    first = solve(data, task, run)
    counters = first.counters | {"fewest_tests": 0}
    if first.graph is None or not first.proved:
        return replace(first, counters=counters)
    second = solve(data, _finer(data, task), EngineRun(run.budget, start=first.graph))
    counters = {name: count + second.counters[name] for name, count in first.counters.items()}
    return replace(
        first,
        graph=second.graph,
        seconds=first.seconds + second.seconds,
        counters=counters | {"fewest_tests": int(second.proved)},
    )


def _finer(data: Dataset, task: TreeTask) -> TreeTask:
    tests = min(2 ** min(task.depth, 60) - 1, data.n_samples - 1)
    if task.max_nodes is not None:
        tests = min(tests, task.max_nodes)
    unit = tests + 1
    cost = 1 - np.eye(data.n_classes, dtype=np.int64) if task.cost is None else task.cost
    return replace(task, cost=unit * cost, node_penalty=unit * task.node_penalty + 1)
