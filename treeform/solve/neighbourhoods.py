"""Better models from a model in hand: a part of it stays, and the engine solves the rest exactly.

For requirements that no engine supports, an engine's optimum breaks them, and a model that satisfies them may be far
from it. Three neighbourhoods of the model in hand are searched, each by the engine, to its optimum:

* trees of less depth, which satisfy many requirements and are found at once;
* one subtree: what the rest of the tree contributes to the totals of requirements that the engine does support is taken
  off their bounds;
* the columns that the model reads, and one more.

Whether the whole then satisfies all requirements is judged as for every model, leaves relabelled if need be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.engines import Engine, EngineRun, TreeTask
from treeform.engines.relaxation import Relaxation
from treeform.graph import DecisionGraph, structure
from treeform.language.paths import Below, PathRule
from treeform.language.totals import TotalRow
from treeform.solve import schedule
from treeform.solve.engines import submit_repaired
from treeform.solve.ledger import Ledger
from treeform.utils.arrays import Bools
from treeform.utils.budget import Budget

T = TypeVar("T", bound=TreeTask)
LEAST = 2
"""Samples that a node needs for a search below it."""
LOW = 3
"""The height of subtrees that are solved in a second or less."""
ROUNDS = 20
"""Passes over all nodes; each begins with the best model so far."""


def improve(engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget) -> None:
    """Replace parts of the incumbent as long as that makes it better.

    ``relaxation``: what the engine supports of the question. ``ledger``: its incumbent is where the search begins;
    candidates are entered there.
    """
    search = _Search(engine, relaxation, ledger, budget)
    search.shallow()
    for _ in range(ROUNDS):
        before = ledger.upper
        for neighbourhood in (search.subtrees, search.columns):
            graph = ledger.graph
            if graph is None or not graph.is_plain_tree or search.over:
                return
            neighbourhood(graph)
        if ledger.upper == before:
            return


def improve_low_subtrees(
    engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget, tried: set[int]
) -> None:
    """As `improve`, by subtrees of height `LOW` and less alone: for trees whose larger subtrees take too long.

    Where the tree is less deep than it may be, those of its lowest tests and leaves. ``tried``: those of earlier calls.
    """
    search = _Search(engine, relaxation, ledger, budget)
    depth = relaxation.task.depth
    for height in range(2, min(LOW, depth - 1) + 1):
        while not search.over and search.low_subtree(height, tried):
            pass


class _Search:
    """The neighbourhoods of one question, on one engine."""

    def __init__(self, engine: Engine, relaxation: Relaxation, ledger: Ledger, budget: Budget) -> None:
        self.engine, self.task, self.ledger, self.budget = engine, relaxation.task, ledger, budget
        self.data = ledger.question.data
        self.is_short = False
        """Whether one search of many must not take all of the time."""

    @property
    def over(self) -> bool:
        return self.budget.stop() or self.ledger.closed

    def solved(self, data: Dataset, task: TreeTask) -> DecisionGraph | None:
        """The engine's answer."""
        budget = schedule.LOW_SUBTREE.of(self.budget) if self.is_short else self.budget
        run = EngineRun(budget.until(lambda: self.over))
        return self.engine.run(data, task, run).graph

    def submit(self, graph: DecisionGraph, what: str) -> None:
        submit_repaired(self.ledger, graph, f"{self.engine.name}, {what}", self.budget)

    def shallow(self) -> None:
        """Trees of less depth."""
        for depth in range(1, self.task.depth):
            if (
                not self.over
                and (graph := self.solved(self.data, replace(self.task, depth=depth))) is not None
            ):
                self.submit(graph, "less depth")

    def subtrees(self, graph: DecisionGraph) -> None:
        """One subtree after the other, until one makes the tree better."""
        for node in _order(graph, self.task.depth):
            if self.over or self.ledger.graph is not graph:
                return
            better = self._below(graph, node, self.task.depth)
            if better is not None:
                self.submit(better, "one subtree")

    def low_subtree(self, height: int, tried: set[int]) -> bool:
        """Subtrees of one height, those of most errors first, until one makes the tree better; whether one did."""
        graph = self.ledger.graph
        if graph is None or not graph.is_plain_tree:
            return False
        self.is_short = True
        level = levels_of(graph)
        arrived = graph.route(self.data.X)
        wrong = self.data.weights * (graph.predict_codes(self.data.X) != self.data.y)
        lost = wrong @ arrived
        above, own = self.task.depth - height, _heights_of(graph)
        nodes = [v for v in range(1, len(level)) if lost[v] > 0 and level[v] <= above and own[v] <= height]
        for node in sorted(nodes, key=lambda v: -lost[v]):
            if self.over:
                return False
            key = hash((height, self._situation(graph, node, arrived[:, node])))
            if key in tried:
                continue
            better = self._below(graph, node, height)
            if not self.over:
                tried.add(key)
            if better is not None:
                self.submit(better, f"a subtree of height {height}")
            if self.ledger.graph is not graph:
                return True
        return False

    def _situation(self, graph: DecisionGraph, node: int, arrived: np.ndarray) -> tuple[bytes, ...]:
        """The rows of a subtree, and what the rest leaves of each total."""
        if self.task.totals is None:
            return (np.packbits(arrived).tobytes(),)
        others = _others(self.task.totals, graph, self.data, arrived, nodes_below(graph, node))
        return np.packbits(arrived).tobytes(), repr(others).encode()

    def columns(self, graph: DecisionGraph) -> None:
        """Trees over the columns that the model reads and one more, until one is better."""
        if any(rule.reads_points for rule in self.task.paths):  # columns made constant are another table
            return
        source = np.array([column.source for column in self.data.columns])
        used = {str(source[f]) for test in graph.tests() for f in test.columns}
        for name in dict.fromkeys(["", *source.tolist()]):
            if name in used:
                continue
            if self.over or self.ledger.graph is not graph:
                return
            X = np.where(np.isin(source, [*used, name]), self.data.X, 0.0)  # a constant column has no test
            better = self.solved(replace(self.data, X=X), self.task)
            if better is not None:
                self.submit(better.reclassified(self.data), "few columns")

    def _below(self, graph: DecisionGraph, node: int, height: int) -> DecisionGraph | None:
        """The graph with the best subtree of that height or less at ``node``; None when there is none."""
        arrived = graph.route(self.data.X)[:, node]
        if int(arrived.sum()) < LEAST:
            return None
        inside = nodes_below(graph, node)
        tests = sum(int(graph.feature[v] >= 0 and v not in inside) for v in range(len(graph.feature)))
        others = None
        if self.task.totals is not None:
            others = _others(self.task.totals, graph, self.data, arrived, inside)
        paths = self._paths_below(graph, node)
        if paths is None:
            return None
        whole = replace(self.task, paths=paths)
        height = min(height, self.task.depth - levels_of(graph)[node])
        task = task_of(whole, arrived, height, tests, others)
        subtree = self.solved(rows_of(self.data, arrived), task)
        return None if subtree is None else spliced(graph, node, inside, subtree, self.data)

    def _paths_below(self, graph: DecisionGraph, node: int) -> tuple[PathRule, ...] | None:
        """The rules on paths as they stand at ``node``; None where one of them holds for all the rows only."""
        states = [rule.start for rule in self.task.paths]
        for v, right in _path(graph, node):
            feature = int(graph.feature[v])
            states = [
                rule.after(state, feature, right) for rule, state in zip(self.task.paths, states, strict=True)
            ]
        rules = list(zip(self.task.paths, states, strict=True))
        if any(rule.reads_points and not rule.may_end(state) for rule, state in rules):
            return None
        return tuple(Below(rule, state) for rule, state in rules)


def _path(graph: DecisionGraph, node: int) -> list[tuple[int, bool]]:
    """The tests above ``node``, from the root downwards, and whether the path goes right."""
    above = {}
    for v in np.flatnonzero(graph.feature >= 0).tolist():
        above[int(graph.left[v])] = (v, False)
        above[int(graph.right[v])] = (v, True)
    path: list[tuple[int, bool]] = []
    while node in above:
        path.append(above[node])
        node = above[node][0]
    return [step for step in reversed(path) if not graph.passes[step[0]]]


def _order(graph: DecisionGraph, depth: int) -> list[int]:
    """The nodes below the root with room for a test, those with the largest subtrees first."""
    level = levels_of(graph)
    nodes = [v for v in range(1, len(graph.feature)) if level[v] < depth]
    return sorted(nodes, key=lambda v: (level[v], v))


def levels_of(graph: DecisionGraph) -> list[int]:
    """The number of tests above each node."""
    levels: list[int] = structure.levels(graph.feature, graph.left, graph.right).tolist()
    return levels


def _heights_of(graph: DecisionGraph) -> list[int]:
    """The number of tests on the longest path below each node."""
    height = [0] * len(graph.feature)
    for v in np.flatnonzero(graph.feature >= 0)[::-1].tolist():
        height[v] = 1 + max(height[graph.left[v]], height[graph.right[v]])
    return height


def _others(
    totals: Any, graph: DecisionGraph, data: Dataset, here: np.ndarray, inside: set[int]
) -> list[int]:
    """The totals of the samples, tests and leaves outside of a subtree."""
    predicted = graph.predict_codes(data.X)
    contributions = totals.of_predictions(predicted).astype(object)
    values = [int(v) for v in (contributions * data.weights.astype(object)[:, None])[~here].sum(axis=0)]
    if totals.per_test is not None:
        for test in graph.tests():
            if test.node not in inside:
                for f in test.columns:
                    values = [v + int(t) for v, t in zip(values, totals.per_test[f], strict=True)]
    if totals.per_leaf is not None:
        for v in set(np.flatnonzero(graph.feature < 0).tolist()) - inside:
            values = [s + int(t) for s, t in zip(values, totals.per_leaf[graph.label[v]], strict=True)]
    return values


def nodes_below(graph: DecisionGraph, node: int) -> set[int]:
    """The nodes from ``node`` downwards."""
    out, waiting = set[int](), [node]
    while waiting:
        v = waiting.pop()
        out.add(v)
        if graph.feature[v] >= 0:
            waiting += [int(graph.left[v]), int(graph.right[v])]
    return out


def spliced(
    graph: DecisionGraph, node: int, inside: set[int], part: DecisionGraph, data: Dataset
) -> DecisionGraph:
    """``graph`` with ``part`` in the place of the subtree at ``node``, whose nodes are ``inside``."""
    nodes: dict[Any, dict[str, Any]] = {}
    for v in range(len(graph.feature)):
        if v not in inside:
            nodes[v] = _described(graph, v, lambda child: ("part", 0) if child == node else child)
    for v in range(len(part.feature)):
        nodes["part", v] = _described(part, v, lambda child: ("part", child), len(graph.values))
    return DecisionGraph.build(nodes, data, graph.values + part.values)


def _described(graph: DecisionGraph, v: int, key: Any, first_label: int = 0) -> dict[str, Any]:
    if graph.feature[v] < 0:
        return {"label": first_label + int(graph.label[v])}
    left, right = key(int(graph.left[v])), key(int(graph.right[v]))
    if graph.passes[v]:
        return {"pass": left}
    return {
        "feature": int(graph.feature[v]),
        "threshold": float(graph.threshold[v]),
        "left": left,
        "right": right,
    }


def rows_of(data: Dataset, here: Bools) -> Dataset:
    """The data set with the samples ``here`` (n,) bool; features and classes keep their meaning."""
    return data.taken(np.flatnonzero(here))


def task_of(task: T, here: Bools, depth: int, tests: int = 0, others: list[int] | None = None) -> T:
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
        row.coef, None if row.lo is None else row.lo - known, None if row.hi is None else row.hi - known
    )
