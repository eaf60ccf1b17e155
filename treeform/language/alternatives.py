"""The AND/OR graph of trees: a set of trees as the alternatives of subproblems, without writing the trees out.

A node is a set of rows and the number of tests that a path from there may have. Its alternatives are the labels of a
leaf, and tests, each with the nodes of its two sides. A tree chooses one alternative at the root, and then at each
node that its choices lead to. The formulation ``hypergraph-flow`` states these choices, near-optimal models are
counted over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Bools, Floats, Ints

AT_ONCE = 2**24
"""Bytes of what is unpacked at a time."""


@dataclass(frozen=True, eq=False)
class Covers:
    """N sets of points, as packed bits."""

    bits: NDArray[np.uint8]
    """(N, B) uint8: point p is bit p % 8, from the least one on, of byte p // 8; bits beyond the last
    point are zero."""
    n_points: int

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, which: Any) -> Bools:
        """Some of the sets, as truth values of points along the last axis."""
        unpacked = np.unpackbits(self.bits[which], axis=-1, count=self.n_points, bitorder="little")
        return unpacked.view(np.bool_)

    def times(self, values: NDArray[Any]) -> NDArray[Any]:
        """(N, ...) the sum of ``values`` (P, ...) over the points of each set."""
        out = np.zeros((len(self), *values.shape[1:]), dtype=values.dtype)
        for part in self._parts(values.itemsize):
            out[part] = self[part].astype(values.dtype) @ values
        return out

    def added(self, values: NDArray[Any]) -> NDArray[Any]:
        """(P, ...) for each point the sum of ``values`` (N, ...) over the sets that it is in."""
        out = np.zeros((self.n_points, *values.shape[1:]), dtype=values.dtype)
        for part in self._parts(values.itemsize):
            out += self[part].T.astype(values.dtype) @ values[part]
        return out

    def _parts(self, itemsize: int) -> Iterator[slice]:
        size = max(1, AT_ONCE // (itemsize * max(1, self.n_points)))
        for start in range(0, len(self), size):
            yield slice(start, start + size)

FAR = 2**62
"""A price above that of any tree."""


@dataclass(frozen=True, eq=False)
class AndOrGraph:
    """Trees that are stated together, as flat arrays: N nodes, children after parents; A alternatives, in their order.
    """

    depth: Ints
    """(N,) int: tests that a path from the node may have."""
    cover: NDArray[np.uint8]
    """(N, B) uint8: the points of ``data.points`` that reach a node, as packed bits; point p is bit p % 8, from the
    least one on, of byte p // 8, and bits beyond the last point are zero."""
    n_points: int
    node: Ints
    """(A,) int: the node of each alternative."""
    feature: Ints
    """(A,) int: encoded feature of a test, -1 for a leaf."""
    threshold: Floats
    """(A,) float"""
    label: Ints
    """(A,) int: the class of a leaf, -1 for a test."""
    left: Ints
    right: Ints
    """(A,) int: nodes of the two sides of a test, -1 for a leaf."""
    least: Ints
    """(A,) int: A lower bound on the cost of every tree that uses the alternative and satisfies the requirements, in
    units of the engine's task."""
    by_feature: bool
    """Whether tests of different encoded features that part a node's rows alike are different alternatives."""
    test: Ints
    """(A,) int: the number of a test in the table that was searched, -1 for a leaf."""
    sums: Ints
    """(A, 1 + R) int: what a leaf or a test adds by itself: to the cost, then to each linear constraint over sums."""
    up_to: int | None = None
    """Every tree of at most this cost that satisfies the requirements is in the graph; None: every tree is."""
    undominated: bool = False
    """Whether tests over two leaves are omitted if another test can replace them (`treeform.engines.and_or_graph`)."""
    omits_excluded: bool = False
    """Whether alternatives are omitted that other multipliers exclude. With one vector alone, a search finds more."""

    @property
    def is_whole(self) -> bool:
        """Whether no alternative is omitted that the first multipliers leave."""
        return not self.undominated and not self.omits_excluded

    @property
    def n_nodes(self) -> int:
        """N."""
        return len(self.depth)

    @property
    def n_alternatives(self) -> int:
        """A."""
        return len(self.node)

    @cached_property
    def covers(self) -> Covers:
        """The points that reach each node, as sets that can be summed over."""
        return Covers(self.cover, self.n_points)

    @cached_property
    def tests(self) -> Ints:
        """The alternatives that are tests."""
        return np.flatnonzero(self.feature >= 0)

    @cached_property
    def leaves(self) -> Ints:
        """The alternatives that are leaves."""
        return np.flatnonzero(self.feature < 0)

    @cached_property
    def begin(self) -> Ints:
        """(N + 1,) the alternatives of node i are those from ``begin[i]`` to ``begin[i + 1]``."""
        return np.searchsorted(self.node, np.arange(self.n_nodes + 1))

    @cached_property
    def levels(self) -> list[tuple[Ints, Ints]]:
        """By depth, from 0 on: the alternatives of its nodes, and those of them that are tests."""
        at = self.depth[self.node]
        here = [np.flatnonzero(at == depth) for depth in range(int(self.depth.max(initial=-1)) + 1)]
        return [(some, some[self.feature[some] >= 0]) for some in here]

    def within(self, cost: int) -> AndOrGraph:
        """The part that trees of at most this cost may use."""
        part = self.part(self.least <= cost)
        return replace(part, up_to=cost if self.up_to is None else min(cost, self.up_to))

    def used(self, kept: Bools) -> Bools:
        """(A,) the alternatives that some tree uses which chooses among those that ``kept`` (A,) marks."""
        kept = kept.copy()
        has = np.zeros(self.n_nodes, dtype=bool)
        for here, tests in self.levels:
            kept[tests] &= has[self.left[tests]] & has[self.right[tests]]
            has[self.node[here[kept[here]]]] = True
        reached = np.zeros(self.n_nodes, dtype=bool)
        reached[:1] = True
        for here, tests in reversed(self.levels):
            kept[here] &= reached[self.node[here]]
            used = tests[kept[tests]]
            reached[self.left[used]] = reached[self.right[used]] = True
        return kept

    def part(self, mask: Bools) -> AndOrGraph:
        """The marked alternatives and their nodes; what a test among them leads to has some, too."""
        kept = np.flatnonzero(mask)
        used = np.unique(self.node[kept])
        number = np.full(self.n_nodes + 1, -1)
        number[used] = np.arange(len(used))
        return replace(
            self,
            depth=self.depth[used],
            cover=self.cover[used],
            node=number[self.node[kept]],
            feature=self.feature[kept],
            threshold=self.threshold[kept],
            label=self.label[kept],
            left=number[self.left[kept]],
            right=number[self.right[kept]],
            least=self.least[kept],
            test=self.test[kept],
            sums=self.sums[kept],
        )

    def passes(self, own: Ints) -> tuple[Ints, Ints]:
        """(N,) the least price of the tree of each node, and of the rest of a tree around it; `FAR` if there is none.

        A leaf or a test adds its own price (A,) by itself.
        """
        least, around, _ = self._passes(own)
        return least, around

    def through(self, own: Ints) -> Ints:
        """(A,) the least price of the trees that use each alternative; ``own`` as for `passes`."""
        _, around, price = self._passes(own)
        return around[self.node] + price

    def _passes(self, own: Ints) -> tuple[Ints, Ints, Ints]:
        price = own.astype(np.int64)
        least, around = np.full(self.n_nodes, FAR), np.full(self.n_nodes, FAR)
        for here, tests in self.levels:
            price[tests] += least[self.left[tests]] + least[self.right[tests]]
            np.minimum.at(least, self.node[here], price[here])
        around[:1] = 0
        for _, tests in reversed(self.levels):
            through = around[self.node[tests]] + price[tests]
            for side in (self.left[tests], self.right[tests]):
                np.minimum.at(around, side, through - least[side])
        return least, around, price

    def tree(self, chosen: Callable[[int], int], data: Dataset) -> DecisionGraph:
        """The tree of the alternatives that are ``chosen`` at its nodes."""
        nodes: dict[Any, dict[str, Any]] = {}
        waiting = [(0, 0)]  # (name, node); the root is node 0
        names = 1
        while waiting:
            name, at = waiting.pop()
            a = chosen(at)
            if self.feature[a] < 0:
                nodes[name] = {"label": int(self.label[a])}
                continue
            nodes[name] = {
                "feature": int(self.feature[a]),
                "threshold": float(self.threshold[a]),
                "left": names,
                "right": names + 1,
            }
            waiting += [(names, int(self.left[a])), (names + 1, int(self.right[a]))]
            names += 2
        return DecisionGraph.build(nodes, data)

    def choices(self, graph: DecisionGraph, data: Dataset) -> list[int] | None:
        """The alternatives that ``graph`` chooses; None when it is not among the trees."""
        if not graph.is_tree or graph.passes.any() or (graph.feature >= data.n_features).any():
            return None
        return self._chosen(0, 0, graph, data) if self.n_nodes else None

    def _chosen(self, node: int, v: int, graph: DecisionGraph, data: Dataset) -> list[int] | None:
        """The alternatives from a node on that the tree below node v of ``graph`` chooses."""
        if graph.feature[v] < 0:
            leaf = graph.label[v]
            return next(([a] for a in range(*self.begin[node : node + 2]) if self.label[a] == leaf), None)
        for a, low, high in self._tests_at(node, graph, v, data):
            left = self._chosen(low, int(graph.left[v]), graph, data)
            right = None if left is None else self._chosen(high, int(graph.right[v]), graph, data)
            if left is not None and right is not None:
                return [a, *left, *right]
        return None

    def _tests_at(
        self, node: int, graph: DecisionGraph, v: int, data: Dataset
    ) -> Iterator[tuple[int, int, int]]:
        """The alternatives that part the node's rows as test v does, with the nodes of its two sides."""
        here, feature = self.covers[node], int(graph.feature[v])
        low = here & (data.points.X[:, feature] <= graph.threshold[v])
        for a in range(self.begin[node], self.begin[node + 1]):
            if self.feature[a] < 0 or (self.by_feature and self.feature[a] != feature):
                continue
            sides = int(self.left[a]), int(self.right[a])
            left = self.covers[sides[0]]
            if np.array_equal(left, low):
                yield a, sides[0], sides[1]
            elif np.array_equal(left, here & ~low):
                yield a, sides[1], sides[0]
