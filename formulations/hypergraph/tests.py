"""Tests in use, what they read, and who takes which of their branches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from treeform.formulations.hypergraph.flow import Choice
from treeform.language.component import Component
from treeform.language.ports import Ports
from treeform.model import Expr, Model, concatenate

Ints = NDArray[np.int64]


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
