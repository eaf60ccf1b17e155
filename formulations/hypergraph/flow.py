"""The flow, one alternative at the root and one at each node that tests in use lead to, and the ports read off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from treeform.engines.and_or_graph import GraphOfTrees
from treeform.engines.task import TreeTask
from treeform.errors import SpecError
from treeform.language.alternatives import AndOrGraph
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared
from treeform.model import Expr, Model, concatenate
from treeform.utils.arrays import Ints

OF_FEATURES = frozenset({"feature", "falling"})
"""Ports that tell tests of different features apart."""


@dataclass(frozen=True)
class Choice(Shared, publisher="NodeFlow"):
    """The graph and its columns."""

    graph: AndOrGraph
    x: Expr
    """Expr (A,): whether an alternative is chosen."""


class NodeFlow(Component):
    """One alternative at each node that is reached.

    Without a graph, it is that of all trees within the shape and the bounds on support and flow.
    """

    needs = frozenset[str]()
    offers = frozenset[str]()

    def __init__(self, graph: AndOrGraph | None = None) -> None:
        self.graph = graph

    def build(self, model: Model, ports: Ports) -> None:
        graph = _all_trees(ports) if self.graph is None else self.graph
        x = model.bool("x", graph.n_alternatives)
        ports.shared.publish(Choice(graph, x))
        nodes, tests = graph.n_nodes, graph.tests
        out = np.concatenate([graph.node, graph.left[tests], graph.right[tests]])
        of = np.concatenate([np.arange(graph.n_alternatives), tests, tests])
        sign = np.concatenate([np.ones(graph.n_alternatives), -np.ones(2 * len(tests))])
        rows = sparse.csr_array((sign, (out, of)), shape=(nodes, graph.n_alternatives))
        start = (np.arange(nodes) == 0).astype(float)
        # sum_{a at i} x_a = [i is the root] + sum_{tests a that lead to i} x_a
        model.add(rows @ x == start, "one alternative at each node that is reached")

    def __repr__(self) -> str:
        return "NodeFlow()" if self.graph is None else f"NodeFlow({self.graph.n_alternatives} alternatives)"


def _all_trees(ports: Ports) -> AndOrGraph:
    """The graph of all trees. Raises SpecError if it has too many alternatives to be held."""
    limits = ports.limits
    depth = min(ports.shape.depth, limits.max_depth or ports.shape.depth)
    task = TreeTask(depth=depth, min_support=limits.min_support, min_flow=limits.min_flow)
    trees = GraphOfTrees(ports.data, task, "feature" if OF_FEATURES & ports.wanted else "partition")
    trees.price((), 1)
    graph = trees.up_to()
    if graph is None:
        raise SpecError(
            "the graph of all trees does not fit in memory",
            cause=f"{ports.points.n_points} distinct rows and {ports.data.n_tests} tests at depth {depth}",
            fix="solve the problem, which states only what trees below a cost use; or use the formulation odd",
        )
    return graph


class LeafPredictions(Component):
    """The predictions: a point is predicted the label of the one leaf in use that it reaches.

    Publishes ``predicted`` and, where they are read, ``leaf`` and ``label``: a leaf is a node of the graph that may
    be one.
    """

    needs = frozenset[str]()
    offers = frozenset({"predicted", "leaf", "label"})

    def build(self, model: Model, ports: Ports) -> None:
        choice = ports.shared.get(Choice)
        graph, leaves = choice.graph, choice.graph.leaves
        points, classes, index = ports.points.n_points, ports.n_classes, ports.points.index
        which, point = np.nonzero(graph.covers[graph.node[leaves]])
        if {"predicted", "correct"} & ports.wanted:
            # predicted_ik = sum of x_a over the leaves a of label k that point i reaches
            where = (point, graph.label[leaves[which]])
            ports.publish("predicted", _sums(where, leaves[which], (points, classes), choice.x)[index])
        ends, of_leaf = np.unique(graph.node[leaves], return_inverse=True)
        if "label" in ports.wanted:
            where = (of_leaf, graph.label[leaves])
            ports.publish("label", _sums(where, leaves, (len(ends), classes), choice.x))
        if "leaf" in ports.wanted:
            where = (point, of_leaf[which])
            ports.publish("leaf", _sums(where, leaves[which], (points, len(ends)), choice.x)[index])


class NodeTests(Component):
    """The ports about tests: a test node is a node of the graph that may have a test.

    Publishes ``active``, ``feature``, ``reaches`` and ``branch``, those that are read. Each entry is a sum of
    alternatives of one node. Of ``feature``, whose entries may be taken as literals, a sum of several has a column of
    its own.
    """

    needs = frozenset[str]()
    offers = frozenset({"active", "feature", "reaches", "branch"})

    def build(self, model: Model, ports: Ports) -> None:
        choice = ports.shared.get(Choice)
        graph, x = choice.graph, choice.x
        at = graph.node[graph.tests]
        nodes, node = np.unique(at, return_inverse=True)
        number = max(1, len(nodes))  # where nothing is tested, one test node that is not in use
        points, index = ports.points.n_points, ports.points.index
        if "active" in ports.wanted:
            ports.publish("active", _sums((node,), graph.tests, (number,), x))
        if {"feature", "falling"} & ports.wanted:
            where = (node, graph.feature[graph.tests])
            sums = _sums(where, graph.tests, (number, ports.n_features), x)
            ports.publish("feature", _literals(model, sums))
        if "reaches" in ports.wanted:
            which, point = np.nonzero(graph.covers[at])
            ports.publish(
                "reaches", _sums((point, node[which]), graph.tests[which], (points, number), x)[index]
            )
        if "branch" in ports.wanted:
            parts = []
            for side, child in enumerate((graph.left, graph.right)):
                which, point = np.nonzero(graph.covers[child[graph.tests]])
                parts.append((point, node[which], np.full(len(which), side), graph.tests[which]))
            *where_side, taken = map(np.concatenate, zip(*parts, strict=True))
            ports.publish("branch", _sums(tuple(where_side), taken, (points, number, 2), x)[index])


def _sums(where: tuple[Ints, ...], alternative: Ints, shape: tuple[int, ...], x: Expr) -> Expr:
    """An array of sums: alternative k counts at the k-th position."""
    flat = np.ravel_multi_index(where, shape)
    sums = sparse.csr_array((np.ones(len(flat)), (flat, alternative)), shape=(int(np.prod(shape)), x.size))
    total: Expr = sums @ x
    return total.reshape(shape)


def _literals(model: Model, sums: Expr) -> Expr:
    """The same with a column in place of each sum of several alternatives."""
    flat = sums.ravel()
    several = np.flatnonzero(flat.rows.lengths > 1)
    reads = model.bool("reads", len(several))
    model.add(reads == flat[several], "a node reads the feature of its test")
    place = np.arange(flat.size)
    place[several] = flat.size + np.arange(len(several))
    return concatenate([flat, reads])[place].reshape(sums.shape)
