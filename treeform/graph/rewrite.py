"""Rewrites that keep every prediction: simplification, the canonical form, and the normal form on training data."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from treeform.data.dataset import Dataset
from treeform.graph.forms import PASS
from treeform.graph.graph import FlatGraph
from treeform.graph.routing import Routed, arc_weights, counts, sides_taken
from treeform.graph.structure import arrays_from_nodes, flat_arrays, tidy_order
from treeform.graph.values import pooled
from treeform.utils.arrays import Bools, Ints

LEFT, RIGHT, BOTH = 0, 1, 2
G = TypeVar("G", bound=FlatGraph)


def simplify(graph: G, data: Dataset | None) -> G:
    """See `DecisionGraph.simplified`. Repeated, since a dropped test may make others superfluous."""
    while True:
        simpler = _simplify_once(graph, data)
        if simpler.n_nodes == graph.n_nodes:
            return simpler
        graph = simpler


def _simplify_once(graph: G, data: Dataset | None) -> G:
    if data is None:
        return _Merger(graph, _ways_by_boxes(graph)).rebuild()
    graph._check_fits(data)
    taken = sides_taken(graph, data)
    if graph.is_level_by_level and _all_decide(graph, taken):
        return graph.with_counts(data)
    way = _ways_by_boxes(graph)
    way[(way == BOTH) & taken[:, 1] & ~taken[:, 0]] = RIGHT
    way[(way == BOTH) & taken[:, 0] & ~taken[:, 1]] = LEFT
    merger = _Merger(graph, way)
    simpler = merger.rebuild()
    known = Routed.of(simpler, data)
    if data.quantity is None and graph.counts.dtype.kind == "i":
        # rebuild() added the counts up, exactly; sums of doubles could be rounded otherwise.
        known.counted = Routed.of(graph, data).counted
    if len(merger.order) == len(graph.feature):  # all nodes, in another order
        known.carried = arc_weights(graph, data)[merger.order]
        known.reaching = counts(graph, data)[merger.order]
    return simpler.with_counts(data)


def _all_decide(graph: FlatGraph, taken: Bools) -> bool:
    """Whether rows leave every test by both sides, and no test has two equal children: nothing can be dropped."""
    if not taken[graph.feature >= 0].all():
        return False
    nodes = zip(*(a.tolist() for a in (graph.feature, graph.threshold, graph.left, graph.right)), strict=True)
    shapes: dict[tuple[float, ...], int] = {}
    shape_of = graph.label.tolist()  # equal sub-graphs have equal numbers, those of tests after all labels
    first = 1 + max(shape_of)
    for node, (feature, threshold, left, right) in reversed(list(enumerate(nodes))):
        if feature >= 0:
            below = shape_of[left], shape_of[right]
            if below[0] == below[1]:
                return False
            shape_of[node] = first + shapes.setdefault((feature, threshold, *below), len(shapes))
    return True


def canonical(graph: G) -> G:
    """See `DecisionGraph.canonical`."""
    stay = np.full(len(graph.feature), BOTH)
    return _Merger(graph, stay, keep_tests=True, share=not graph.is_tree).rebuild()


def ordered(graph: G) -> G:
    """The same nodes in standard order, without those that the root does not lead to."""
    stay = np.full(len(graph.feature), BOTH)
    return _Merger(graph, stay, keep_tests=True).rebuild()


def _ways_by_boxes(graph: FlatGraph) -> Ints:
    """Which sides of every test can be taken, given the intervals left open by the tests before it.

    A node keeps, per feature, the smallest interval (lo, hi] that covers what arrives over all its arcs.
    """
    way = np.full(len(graph.feature), BOTH)
    boxes: dict[int, dict[int, tuple[float, float]]] = {0: {}}
    for node in np.flatnonzero(graph.feature >= 0).tolist():
        if node not in boxes:
            continue
        box = boxes.pop(node)
        f, t = int(graph.feature[node]), float(graph.threshold[node])
        lo, hi = box.get(f, (-np.inf, np.inf))
        if hi <= t:
            way[node] = LEFT
        elif lo >= t:
            way[node] = RIGHT
        if way[node] != RIGHT:
            _arrive(boxes, int(graph.left[node]), {**box, f: (lo, min(hi, t))})
        if way[node] != LEFT:
            _arrive(boxes, int(graph.right[node]), {**box, f: (max(lo, t), hi)})
    return way


def _arrive(
    boxes: dict[int, dict[int, tuple[float, float]]], node: int, box: dict[int, tuple[float, float]]
) -> None:
    if node not in boxes:
        boxes[node] = box
        return
    known = boxes[node]
    boxes[node] = {
        f: (min(known[f][0], box[f][0]), max(known[f][1], box[f][1])) for f in known.keys() & box.keys()
    }


class _Merger(Generic[G]):
    """Maps every node to the one that stands for it, bottom up, and rebuilds the graph from these."""

    def __init__(self, graph: G, way: Ints, *, keep_tests: bool = False, share: bool = False) -> None:
        self.graph = graph
        self.way = way
        self.keep_tests = keep_tests
        self.share = share
        self.shape_of = [-1] * len(graph.feature)  # equal sub-graphs have equal shape numbers
        self.stands = list(range(len(graph.feature)))
        self.collapsed = [False] * len(graph.feature)
        self._shapes: dict[tuple[Any, ...], int] = {}
        self._first: dict[int, int] = {}
        for node in range(len(graph.feature) - 1, -1, -1):
            self._settle(node)
        self.order = tidy_order(self.find(0), self.children)

    def find(self, node: int) -> int:
        while self.stands[node] != node:
            node = self.stands[node]
        return node

    def children(self, node: int) -> tuple[int, ...]:
        if self.graph.feature[node] < 0:
            return ()
        return self.find(int(self.graph.left[node])), self.find(int(self.graph.right[node]))

    def _settle(self, node: int) -> None:
        graph = self.graph
        if graph.feature[node] < 0:
            key: tuple[Any, ...] = (int(graph.label[node]),)
        else:
            left, right = self.children(node)
            if self.way[node] != BOTH:
                self._collapse(node, left if self.way[node] == LEFT else right)
                return
            if not self.keep_tests and self.shape_of[left] == self.shape_of[right]:
                self._merge(left, right)
                self._collapse(node, left)
                return
            pair = (self.shape_of[left], self.shape_of[right])
            key = (int(graph.feature[node]), float(graph.threshold[node]), *pair)
        shape = self._shapes.setdefault(key, len(self._shapes))
        self.shape_of[node] = shape
        if self.share and self._first.setdefault(shape, node) != node:
            self.stands[node] = self._first[shape]

    def _collapse(self, node: int, child: int) -> None:
        self.stands[node] = child
        self.collapsed[node] = True

    def _merge(self, kept: int, gone: int) -> None:
        """Let `kept` stand for the equal sub-graph `gone`, node by node."""
        kept, gone = self.find(kept), self.find(gone)
        if kept == gone:
            return
        pairs = list(zip(self.children(kept), self.children(gone), strict=True))
        self.stands[gone] = kept
        for one, other in pairs:
            self._merge(one, other)

    def rebuild(self) -> G:
        graph = self.graph
        order = self.order
        if order == list(range(len(graph.feature))):  # every node stands for itself, and is in its place
            return graph
        position = {node: index for index, node in enumerate(order)}
        rows: list[tuple[Any, ...]] = []
        for node in order:
            if graph.feature[node] < 0:
                rows.append((-1, np.nan, -1, -1, graph.label[node]))
            else:
                left, right = self.children(node)
                rows.append((graph.feature[node], graph.threshold[node], position[left], position[right], -1))
        counts = np.zeros((len(order), graph.n_classes), dtype=graph.counts.dtype)
        parts: list[list[int]] = [[] for _ in order]
        for node in self._arrived():
            if not self.collapsed[node]:  # what reached a collapsed test is counted at its children
                counts[position[self.find(node)]] += graph.counts[node]
                parts[position[self.find(node)]].append(node)
        arrays: dict[str, Any] = flat_arrays(rows)
        if not graph.values:
            return replace(graph, **arrays, counts=counts, moments=np.empty((0, 2)))
        moments = [pooled(graph.counts[nodes, 0].astype(np.float64), graph.moments[nodes]) for nodes in parts]
        return replace(graph, **arrays, counts=counts, moments=np.array(moments))

    def _arrived(self) -> set[int]:
        """Nodes of the old graph that can still be reached in it."""
        graph, seen, waiting = self.graph, set(), [0]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if graph.feature[node] >= 0:
                if self.way[node] != RIGHT:
                    waiting.append(int(graph.left[node]))
                if self.way[node] != LEFT:
                    waiting.append(int(graph.right[node]))
        return seen


Head = int | tuple[int, ...]


def normalised(graph: G, data: Dataset, *, own_leaves: bool = False) -> G:
    """Rewrite tests that decide nothing on the training samples as pass-throughs; layers stay.

    A test through which all samples that reach it leave by one side becomes a pass-through to that side, and so
    does a test whose two arcs lead to one head. Nodes that no arc leads to any more are dropped.

    Parameters
    ----------
    graph : DecisionGraph
    data : Dataset
        Training samples; the model reads its features.
    own_leaves : bool
        True for trees: each arc that ends has a leaf of its own, so that a test with two leaves of one class has
        two heads. False for diagrams, which have one terminal per class: such a test is a pass-through.

    Returns
    -------
    DecisionGraph
        Predicts the same on all samples of `data`, with at most as many tests and at most the same depth; the
        counts are those of `data`. The normal form of a normal form is itself.
    """
    taken = sides_taken(graph, data)
    if own_leaves and graph.is_level_by_level and taken[graph.feature >= 0].all():
        return graph.with_counts(data)
    passing = len(graph.columns) + len(graph.forms)
    nodes: dict[Hashable, Any] = {} if graph.feature[0] >= 0 else {0: {"label": int(graph.label[0])}}
    reached: set[Head] = {0}
    for node in np.flatnonzero(graph.feature >= 0).tolist():  # parents come before their children
        if node not in reached:
            continue
        heads = [_head(graph, node, side, own_leaves) for side in (0, 1) if taken[node, side]]
        reached.update(heads)
        feature, threshold = int(graph.feature[node]), float(graph.threshold[node])
        if len(set(heads)) == 1:
            feature, threshold = passing, 0.0
        nodes[node] = {"feature": feature, "threshold": threshold, "left": heads[0], "right": heads[-1]}
    nodes |= {leaf: {"label": leaf[0]} for leaf in reached if isinstance(leaf, tuple)}
    arrays: dict[str, Any] = arrays_from_nodes(nodes)
    if all(np.array_equal(array, getattr(graph, name), equal_nan=True) for name, array in arrays.items()):
        return graph.with_counts(data)
    unknown = np.empty((0, 0), dtype=np.int64)
    bare = replace(graph, **arrays, forms=(*graph.forms, PASS), counts=unknown, moments=np.empty((0, 2)))
    return bare.with_counts(data)


def _head(graph: FlatGraph, node: int, side: int, own_leaves: bool) -> Head:
    """Where an arc leads: the number of a test, or a leaf as (class code, and the arc if the leaf is its own)."""
    child = int((graph.left, graph.right)[side][node])
    if graph.feature[child] >= 0:
        return child
    code = int(graph.label[child])
    return (code, node, side) if own_leaves else (code,)
