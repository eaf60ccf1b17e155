"""The flow: one alternative at the root, and one at each node that the tests in use lead to."""

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
from treeform.model import Expr, Model

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
