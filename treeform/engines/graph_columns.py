"""Budgets of columns in the AND/OR graph: the set of columns that a tree may test is chosen at its root.

A budget of k columns is a choice among sets of k columns, and over one of them the trees are a plain graph. All these
graphs share their root, whose tests belong to a set each. A tree of the whole is then one of a set, so that bounds are
those under the budget, and no row has to state it. Very many sets are priced at once (`over_sets` of the core), and
only those with a tree below the cost that is asked for are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.columns import by_source
from treeform.engines.and_or_graph import Apart, GraphOfTrees, Limits, Priced, most_columns, takes_intervals
from treeform.engines.table_of_totals import Tests
from treeform.engines.task import TreeTask
from treeform.language.alternatives import AndOrGraph

MOST_SETS = 200_000
MOST_SETS_OF_INTERVALS = 40
"""Where thresholds are searched as intervals, each set by a search of its own."""
MOST_KEPT = 1000
"""Sets whose graphs are kept from one cost to the next."""
EMPTY = 2**60
"""A bound above that of any tree: over the set there is none."""
Set = frozenset[int]


def graph_of(
    data: Dataset, task: TreeTask, apart: Apart = "feature", tests: Tests | None = None
) -> GraphOfTrees:
    """The trees of a task: over sets of columns where few enough of them are allowed, else over all columns.

    ``apart`` and ``tests``: as for `GraphOfTrees`.
    """
    sets = column_sets(data, task, listed=tests is not None)
    if sets is None:
        return GraphOfTrees(data, task, apart, tests=tests)
    return GraphOverColumnSets(data, task, sets, apart, tests)


def column_sets(data: Dataset, task: TreeTask, listed: bool = False) -> list[Set] | None:
    """The sets of encoded features over which trees are searched; None where all are one, or for too many of them.

    Of each set that the task allows, all choices of as many columns as its budget has, or all columns where they are no
    more. Features without a test do not count.

    ``listed``: whether tests are listed in any case.
    """
    most, varying = most_columns(data, task), np.ptp(data.points.X, axis=0) > 0
    if task.max_features == 0 or (most is None and (task.features is None or len(task.features) < 2)):
        return None
    allowed = (frozenset(range(data.n_features)),) if task.features is None else task.features
    columns = [list(by_source(data.columns, [f for f in sorted(one) if varying[f]]).values()) for one in allowed]
    k = len(varying) if most is None else most
    largest = MOST_SETS_OF_INTERVALS if takes_intervals(data, task) and not listed else MOST_SETS
    if sum(comb(len(of), min(k, len(of))) for of in columns) > largest:
        return None
    sets = dict.fromkeys(
        frozenset[int]().union(*chosen) for of in columns for chosen in combinations(of, min(k, len(of)))
    )
    return list(sets)


class GraphOverColumnSets(GraphOfTrees):
    """The trees over any one of several sets of features, as an AND/OR graph (`GraphOfTrees` names the parameters).

    Multipliers are those of the trees over all columns.

    ``task``: its budget of columns and its sets of features are what ``sets`` says. Rules on paths count where all of
    them can be followed.
    """

    def __init__(
        self,
        data: Dataset,
        task: TreeTask,
        sets: Sequence[Set],
        apart: Apart = "feature",
        tests: Tests | None = None,
    ) -> None:
        every = frozenset[int]().union(*sets)
        super().__init__(data, replace(task, max_features=None, features=(every,)), apart, tests=tests)
        self.over = tests
        self.sets, self.n_sets, self.keeps_columns = sets, len(sets), True
        self.task = replace(task, max_features=None, paths=task.paths if self.keeps_paths else ())
        self.path_levels = task.depth + 1 if self.task.paths else 0
        self.tests = None if self._searches else self._tests()
        self.priced: Priced | None = None
        self.least: NDArray[np.int64] = np.zeros(len(sets), dtype=np.int64)
        self.made: dict[int, GraphOfTrees] = {}

    def _written(
        self, cost: int | None, short_by: int, most: int, limits: Limits, fewer: bool = False
    ) -> AndOrGraph | None:
        graphs, total = [], 0
        wanted = np.flatnonzero(self.least < EMPTY if cost is None else self.least <= cost)
        for index in wanted.tolist() or [int(self.least.argmin())]:  # one that is empty tells it, too
            graph = self._trees(index).up_to(cost, most - total, *limits, short_by) if total < most else None
            if graph is None:
                return None
            graphs.append(graph)
            total += graph.n_alternatives
        return joined(graphs)

    def _trees(self, index: int) -> GraphOfTrees:
        """The graph of one set, at the present multipliers."""
        assert self.priced is not None
        trees = self.made.get(index)
        if trees is None:
            task = replace(self.task, features=(self.sets[index],))
            trees = GraphOfTrees(self.data, task, self.apart, tests=self.over)
            trees.price(self.priced.multipliers, self.priced.unit)
            if len(self.made) < MOST_KEPT:
                self.made[index] = trees
        return trees

    def _bounded(self, priced: Priced | None, limits: Limits) -> Priced | None:
        if priced is None or priced.infeasible or not priced.complete:
            return priced  # what all columns together show counts for each set of them
        self.priced, self.made = priced, {}
        least = self._bounds(priced, limits)
        if least is None:
            return None
        self.least = least
        lower = int(least.min())
        return replace(priced, lower=max(priced.lower, min(lower, EMPTY)), infeasible=lower >= EMPTY)

    def _bounds(self, priced: Priced, limits: Limits) -> NDArray[np.int64] | None:
        """(S,) no tree over a set costs less, and satisfies the rows; None when it was stopped."""
        if self.tests is not None:
            given = self._native.over_sets(list(priced.multipliers), priced.unit, *self.tests, *limits)
            return None if given is None else np.minimum(given, EMPTY)
        least = np.zeros(self.n_sets, dtype=np.int64)
        for index in range(self.n_sets):
            own = self._trees(index).price(priced.multipliers, priced.unit, *limits)
            if own is None or not own.complete:
                return None
            least[index] = EMPTY if own.infeasible else own.lower
        return least

    def _tests(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the tests of each set begin, and the tests."""
        tests = [np.zeros(0, dtype=np.int64)] * max(1, self.data.n_features)
        for f in np.unique(self.table.feature).tolist():
            tests[f] = np.flatnonzero(self.table.feature == f)
        none = tests[0][:0]
        each = [np.concatenate([none, *(tests[f] for f in sorted(one))]) for one in self.sets]
        begin = np.concatenate([[0], np.cumsum([len(one) for one in each])])
        return begin.astype(np.int64), np.concatenate(each).astype(np.int32)


def joined(graphs: Sequence[AndOrGraph]) -> AndOrGraph:
    """One graph whose trees are those of several graphs with the same root: only that is shared."""
    graphs = [graph for graph in graphs if graph.n_nodes] or list(graphs[:1])
    if len(graphs) == 1:
        return graphs[0]
    numbers = list(_numbers(graphs))
    node = np.concatenate([number[graph.node] for number, graph in zip(numbers, graphs, strict=True)])
    label = np.concatenate([graph.label for graph in graphs])
    once = np.ones(len(node), dtype=bool)
    leaves = np.flatnonzero((node == 0) & (label >= 0))
    once[leaves] = False
    once[leaves[np.unique(label[leaves], return_index=True)[1]]] = True
    kept = np.flatnonzero(once)
    kept = kept[np.argsort(node[kept], kind="stable")]

    def of_alternatives(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(graph, name) for graph in graphs])[kept]

    def children(name: str) -> NDArray[np.int64]:
        ends = [
            np.where(getattr(graph, name) < 0, -1, number[getattr(graph, name)])
            for number, graph in zip(numbers, graphs, strict=True)
        ]
        return np.concatenate(ends)[kept]

    below = [slice(0 if i == 0 else 1, None) for i in range(len(graphs))]
    return replace(
        graphs[0],
        depth=np.concatenate([graph.depth[part] for part, graph in zip(below, graphs, strict=True)]),
        cover=np.concatenate([graph.cover[part] for part, graph in zip(below, graphs, strict=True)]),
        node=node[kept],
        left=children("left"),
        right=children("right"),
        feature=of_alternatives("feature"),
        threshold=of_alternatives("threshold"),
        label=label[kept],
        least=of_alternatives("least"),
        test=of_alternatives("test"),
        sums=of_alternatives("sums"),
    )


def _numbers(graphs: Sequence[AndOrGraph]) -> Iterator[NDArray[np.int64]]:
    """The numbers of the nodes of each graph in all of them together."""
    before = 0
    for graph in graphs:
        number = np.arange(graph.n_nodes) + before
        number[0] = 0
        before += graph.n_nodes - 1
        yield number
