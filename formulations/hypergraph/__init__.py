"""Trees as a flow on the hypergraph of the dynamic program, less what no tree below a cost uses.

A node of the AND/OR graph (`treeform.language.alternatives`) is a set of rows and a number of tests that a path may
still have; its alternatives are the labels of a leaf, and tests, which lead to two nodes. One unit of flow starts at
the root, and each test sends all that it gets to both of its sides. The linear program of such a flow is integral: R.
K. Martin, R. L. Rardin, B. A. Campbell, "Polyhedral characterization of discrete dynamic programming", Operations
Research 38 (1990). Path-based columns for trees: M. Firat, G. Crognier, A. F. Gabor, C. A. J. Hurkens, Y. Zhang,
"Column generation based heuristic for learning classification trees", Computers & Operations Research 116 (2020).

The whole graph has far too many columns. A search prices it (`treeform.engines.and_or_graph`) and states what trees
below a cost may use; where no such tree satisfies the requirements, that cost is a bound, and more columns come. So
the dynamic program prices, and the solver decides.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.engines.and_or_graph import reason_against_search
from treeform.engines.task import TreeTask
from treeform.formulations.hypergraph.flow import Choice, LeafPredictions, NodeFlow, NodeTests
from treeform.graph import DecisionGraph, normalised
from treeform.language.alternatives import AndOrGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.objective import Objective
from treeform.shape import Shape

__all__ = ["HypergraphFlow", "LeafPredictions", "NodeFlow", "NodeTests"]


class HypergraphFlow(Formulation):
    """Trees as a flow on the AND/OR graph of the dynamic program.

    ``HypergraphFlow() == NodeFlow() + LeafPredictions() + NodeTests()``. Test nodes and leaves of its ports are nodes
    of the graph: a tree uses each at most once, since the rows that reach two nodes of one depth differ.

    Notes
    -----
    Compiled by itself it states all trees, which only small tables allow; a solve states those below a cost, step by
    step.
    """

    name: ClassVar[str] = "hypergraph-flow"
    columns_on_demand: ClassVar[bool] = True
    trees_only: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(NodeFlow() + LeafPredictions() + NodeTests())

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        """Why the problem cannot be stated, or None."""
        return super().supports(shape, data, objective) or reason_against_search(data, TreeTask(shape.depth))

    def usual_solver(self, shape: Shape) -> str | None:
        """HiGHS: by its linear programs it proves more questions than CP-SAT, most of them in less time."""
        return "highs"

    def over(self, graph: AndOrGraph) -> HypergraphFlow:
        """The variant that states the trees of ``graph`` only."""
        return self.replace(NodeFlow, NodeFlow(graph))

    def columns_of(self, compiled: Compiled) -> np.ndarray:
        return np.asarray(compiled.shared.get(Choice).x.rows.cols)

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        choice = compiled.shared.get(Choice)
        value = choice.x.value(x)
        begin = choice.graph.begin
        return choice.graph.tree(
            lambda node: int(begin[node] + value[begin[node] : begin[node + 1]].argmax()), compiled.data
        )

    def encode(self, compiled: Compiled, graph: DecisionGraph) -> np.ndarray | None:
        choice, data = compiled.shared.get(Choice), compiled.data
        asked = compiled.ports.asks_for_tests
        plain = normalised(graph, data, own_leaves=True) if asked else graph.simplified(data)
        chosen = choice.graph.choices(plain, data)
        if chosen is None:
            return None
        x = np.full(compiled.model.n_cols, np.nan)
        used = np.zeros(choice.graph.n_alternatives)
        used[chosen] = 1.0
        x[choice.x.rows.cols] = used
        return x
