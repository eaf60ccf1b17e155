"""All trees up to a cost, under linear constraints over sums: what the list of near-optimal models is made of.

They are read off the AND/OR graph of all trees (`treeform.engines.and_or_graph`), which holds what trees of that cost
use, less what many multipliers exclude (`treeform.engines.graph_fixing`). From the leaves up, each node gets the list
of its trees, as far as they leave room for the cheapest of everything else. All nodes of one depth are joined at once.

A tree is listed once in its normal form: every test separates the samples that reach it, no test has two leaves of one
class, and tests of a node that read the same column of the table and part its samples in the same two sets are one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines.and_or_graph import MOST_ALTERNATIVES, GraphOfTrees
from treeform.engines.graph_fixing import fixed
from treeform.engines.task import TreeTask
from treeform.engines.tree_counts import TreeCounts
from treeform.engines.tree_lists import Level, TreeList
from treeform.engines.tree_sets import Nested
from treeform.graph import DecisionGraph
from treeform.language.alternatives import AndOrGraph
from treeform.utils.arrays import Ints
from treeform.utils.budget import Budget, report_step
from treeform.utils.out_of_reach import OutOfReach, Stopped

LARGEST_KEY = 2**62
TOO_LARGE = f"their graph has more than {MOST_ALTERNATIVES:,} alternatives, or fills the memory"
TOO_LONG = "their graph takes too long to write out"


class Enumeration:
    """The trees of one task.

    ``task``: as for `GraphOfTrees`; tests of different columns are apart. ``most``: subtrees that are held at once, and
    pairs that are formed of them. ``seconds``: for multipliers of rows. Any multipliers are valid; good ones leave
    fewer trees. Raises Stopped when ``stop`` answers true before there are multipliers.
    """

    def __init__(
        self,
        data: Dataset,
        task: TreeTask,
        most: int,
        seconds: float | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        trees = GraphOfTrees(data, task, "column")
        table, none = trees.table, (0,) * trees.n_rows
        wanted = None if trees.n_rows else 0  # a bound serves only to place multipliers
        priced = trees.relax(wanted, seconds, stop) or trees.price(none, 1, None, stop)
        if priced is None or (stop() and not priced.complete):
            raise Stopped
        self.of, self.priced, self.most, self.stop = trees, priced, most, stop
        self.graph_of: Callable[[Nested], DecisionGraph] = partial(_model_of, table.feature, table.threshold, data)
        """A tree as a model; it keeps nothing of the graph alive."""
        self.prices = np.array([priced.unit, *priced.multipliers], dtype=np.int64)
        sides = zip(priced.multipliers, table.lo.tolist(), table.hi.tolist(), strict=True)
        self.slack = sum(m * (hi if m > 0 else lo) for m, lo, hi in sides if m)
        self._many = f"a list of them would hold more than {most:,} subtrees"
        self._widest: AndOrGraph | None = None
        self._too_large: int | None = None

    def prepare(self, cost: int, seconds: float | None = None) -> str | None:
        """Make the graph for all costs up to this one; return the reason if it does not fit or takes more seconds."""
        budget = Budget(seconds)
        self._widest = self.of.up_to(cost, MOST_ALTERNATIVES, seconds, self.stop)
        if self._widest is not None:
            return None
        if self.stop() or budget.stop():
            return TOO_LONG
        self._too_large = cost
        return TOO_LARGE

    def _graph(self, cost: int) -> AndOrGraph | None:
        widest = self._widest
        if widest is not None and widest.up_to is not None and widest.up_to >= cost:
            return widest.within(cost)
        if self._too_large is not None and cost >= self._too_large:
            return None
        graph = self.of.up_to(cost, MOST_ALTERNATIVES, None, self.stop)
        if graph is not None:
            self._widest = graph
        elif not self.stop():
            self._too_large = cost
        return graph

    def trees(self, cost: int) -> TreeList:
        """Every tree of at most this cost that satisfies the rows and limits.

        Raises OutOfReach if more than ``most`` subtrees had to be held or pairs formed; Stopped when ``stop`` answers
        true.
        """
        graph = self._graph(cost)
        if graph is None:
            if self.stop():
                raise Stopped
            raise OutOfReach(TOO_LARGE)
        graph = fixed(self.of, graph, self.priced, cost, self.stop)
        width = len(self.prices)
        if not graph.n_nodes:
            return TreeList(np.zeros((0, width), dtype=np.int64), [], graph)
        # cost * unit + sum m_r row_r <= limit * unit + sum m_r side_r
        budget = self._budgets(graph, cost * int(self.prices[0]) + self.slack)
        levels: list[Level] = []
        for depth in range(int(graph.depth[0]) + 1):
            level = self._leaves(graph, depth)
            if levels:
                level = self._with_tests(graph, depth, budget, levels[-1], level)
            level = level.only(np.flatnonzero(level.price <= budget[level.node])).ordered()
            if len(level.node) > self.most:
                raise OutOfReach(self._many)
            levels.append(level)
        return self._satisfying(cost, levels, graph)

    def counts(self, cost: int) -> TreeCounts | None:
        """The same trees in numbers, without a list of them; None where rows, or a wide range of costs, forbid.

        Raises Stopped when ``stop`` answers true.
        """
        graph = None if len(self.prices) > 1 else self._graph(cost)
        if graph is None or not graph.n_nodes:
            return None
        counts = TreeCounts(graph, graph.sums[:, 0], cost, self.stop)
        if not counts.fits():
            return None
        counts.stop = None  # what is asked of them later has no part in the time of this search
        return counts

    def count(self, cost: int, seconds: float | None = None) -> int | None:
        """The number of the same trees, where their graph is too large; None where that is not counted in the time.

        Raises Stopped when ``stop`` answers true.
        """
        found = self.of.count(cost, seconds, self.stop)
        if found is None and self.stop():
            raise Stopped
        return found

    def _satisfying(self, cost: int, levels: list[Level], graph: AndOrGraph) -> TreeList:
        """The trees of the root that cost no more and satisfy the rows."""
        whole, table = levels[-1], self.of.table
        kept = (whole.adds[:, 0] <= cost) & (whole.adds[:, 1:] >= table.lo).all(axis=1)
        kept &= (whole.adds[:, 1:] <= table.hi).all(axis=1)
        chosen = np.flatnonzero(kept)
        root = whole.only(chosen[np.argsort(whole.adds[chosen, 0], kind="stable")])
        return TreeList(root.adds, [*levels[:-1], root], graph)

    def _budgets(self, graph: AndOrGraph, limit: int) -> Ints:
        """(N,) the most that a tree of each node may cost: what the cheapest of everything else leaves of the limit."""
        self.own = graph.sums
        self.least, around = graph.passes(self.own @ self.prices)
        return limit - around

    def _leaves(self, graph: AndOrGraph, depth: int) -> Level:
        leaves = graph.leaves[graph.depth[graph.node[graph.leaves]] == depth]
        none = np.full(len(leaves), -1)
        own = self.own[leaves]
        return Level(graph.node[leaves], own @ self.prices, own, graph.label[leaves], leaves, none, none)

    def _with_tests(self, graph: AndOrGraph, depth: int, budget: Ints, below: Level, leaves: Level) -> Level:
        """The leaves, and every pair of subtrees that fits, without two leaves of one class."""
        if self.stop():
            raise Stopped
        report_step(len(below.node), "trees formed")
        tests = graph.tests[graph.depth[graph.node[graph.tests]] == depth]
        begin = np.searchsorted(below.node, np.arange(graph.n_nodes + 1))
        low, high = graph.left[tests], graph.right[tests]
        which, i = _ranges(begin[low], begin[low + 1])
        room = budget[graph.node[tests]] - self.own[tests] @ self.prices
        fits = self._fitting(below, high[which], room[which] - below.price[i], begin)
        if int(fits.sum()) > self.most:
            raise OutOfReach(self._many)
        pair, j = _ranges(begin[high[which]], begin[high[which]] + fits)
        which, i = which[pair], i[pair]
        differ = np.flatnonzero((below.label[i] < 0) | (below.label[i] != below.label[j]))
        which, i, j = which[differ], i[differ], j[differ]
        alternative = tests[which]
        adds = below.adds[i] + below.adds[j] + self.own[alternative]
        joined = Level(
            graph.node[alternative], adds @ self.prices, adds, np.full(len(i), -1), alternative, i, j
        )
        return Level(
            *(
                np.concatenate([getattr(leaves, name), getattr(joined, name)])
                for name in Level.__dataclass_fields__
            )
        )

    def _fitting(self, below: Level, node: Ints, room: Ints, begin: Ints) -> Ints:
        """How many of the cheapest trees of each ``node`` cost at most ``room``."""
        above = below.price - self.least[below.node]  # from 0 on
        span = int(above.max(initial=0)) + 2
        nodes, number = np.unique(below.node, return_inverse=True)
        if len(nodes) * span >= LARGEST_KEY:
            raise OutOfReach("their costs have too wide a range")
        keys = number * span + above
        place = np.searchsorted(nodes, node)
        there = (place < len(nodes)) & (nodes[np.minimum(place, len(nodes) - 1)] == node)
        wanted = place * span + np.clip(room - self.least[node], -1, span - 1)
        found = np.searchsorted(keys, wanted, side="right") - begin[node]
        return np.where(there, np.maximum(found, 0), 0)


def _model_of(
    features: NDArray[np.int32], thresholds: NDArray[np.float64], data: Dataset, nested: Nested
) -> DecisionGraph:
    """A tree as a model; it names its tests by their numbers in these arrays."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    label: list[int] = []

    def add(node: Nested) -> int:
        index = len(feature)
        left.append(-1)
        right.append(-1)
        if isinstance(node, int):
            feature.append(-1)
            threshold.append(math.nan)
            label.append(node)
            return index
        feature.append(int(features[node[0]]))
        threshold.append(float(thresholds[node[0]]))
        label.append(-1)
        left[index], right[index] = add(node[1]), add(node[2])
        return index

    add(nested)
    return DecisionGraph.from_arrays(feature, threshold, left, right, label, data)


def _ranges(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """All places of several ranges, one after the other, with the number of the range."""
    length = end - start
    which = np.repeat(np.arange(len(start)), length)
    return which, np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length) + start[which]
