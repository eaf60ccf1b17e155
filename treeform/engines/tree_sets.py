"""Sets of trees over an AND/OR graph, and what is asked about all trees of a set.

A tree is given by the alternatives that it chooses. What is a sum over these (tests, rows that are predicted a class,
the decrease of an impurity) is found for all trees at once: from a list of them (`treeform.engines.tree_lists`), or by
dynamic programming on the graph (`treeform.engines.tree_counts`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from treeform.language.alternatives import AndOrGraph
from treeform.utils.arrays import Bools, Floats, Ints

Nested = int | tuple[int, "Nested", "Nested"]
"""A class code, or (test of the table, left, right)."""


class TreeSet(ABC):
    """Trees over a graph, numbered with the cheapest first."""

    graph: AndOrGraph
    """A alternatives."""
    size: int
    """The number of trees."""
    listed: range = range(0)
    """The numbers of trees that are held one by one."""

    @abstractmethod
    def tree(self, index: int) -> Nested:
        """The tree of a number from 0 on."""

    @abstractmethod
    def cost(self, index: int) -> int:
        """What the tree of a number costs, in units of the task."""

    def apart(self, n_classes: int) -> TreeSet | None:
        """One tree for each way to predict the points: the cheapest, and then one of the fewest tests; None where the
        trees are not held one by one."""
        return None

    @abstractmethod
    def uses(self) -> Ints:
        """(A,) how many of the trees choose each alternative."""

    @abstractmethod
    def using(self, marked: Bools) -> int:
        """How many of the trees choose at least one of the alternatives that ``marked`` (A,) marks."""

    @abstractmethod
    def extremes(self, values: Floats) -> tuple[float, float]:
        """The least and the largest sum of ``values`` (A,) over the alternatives of a tree; not of an empty set."""

    @abstractmethod
    def least(self, values: Floats) -> Nested:
        """A tree with the least sum of ``values`` (A,) over its alternatives."""

    def predicted(self, n_classes: int) -> Ints:
        """(P, K) how many of the trees predict each class for each point."""
        graph = self.graph
        uses = np.zeros((graph.n_nodes, n_classes))
        uses[graph.node[graph.leaves], graph.label[graph.leaves]] = self.uses()[graph.leaves]
        return graph.covers.added(uses).astype(np.int64)
