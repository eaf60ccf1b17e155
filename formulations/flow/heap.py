"""The complete binary tree whose nodes may each branch or predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeform.language.ports import Shared
from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True)
class Heap(Shared, publisher="Branching"):
    """Nodes 0, 1, 2, ... level by level; the children of node n are 2n + 1 (left) and 2n + 2 (right)."""

    depth: int
    """Levels of nodes that may branch: the set B of the paper; the nodes below them, T, only predict."""

    @property
    def n_branching(self) -> int:
        """|B|."""
        return int(2**self.depth) - 1

    @property
    def n_nodes(self) -> int:
        """|B| + |T|."""
        return int(2 ** (self.depth + 1)) - 1

    @property
    def left(self) -> Ints:
        """(B,) the left child of every node of B."""
        return 2 * np.arange(self.n_branching) + 1

    @property
    def right(self) -> Ints:
        """(B,) the right child."""
        return self.left + 1

    def path(self, node: int) -> list[tuple[int, int]]:
        """The ancestors of ``node`` from the root, each with the side (0 left, 1 right) on which the node is."""
        out = []
        while node > 0:
            out.append(((node - 1) // 2, (node - 1) % 2))
            node = (node - 1) // 2
        return out[::-1]

    @cached_property
    def above(self) -> Bools:
        """(N, N) whether the second node is an ancestor of the first: A(n) of the paper."""
        out = np.zeros((self.n_nodes, self.n_nodes), dtype=bool)
        for node in range(self.n_nodes):
            out[node, [at for at, _ in self.path(node)]] = True
        return out

    @cached_property
    def right_of(self) -> Bools:
        """(N, B) whether the first node is in the right subtree of the second."""
        out = np.zeros((self.n_nodes, self.n_branching), dtype=bool)
        for node in range(self.n_nodes):
            out[node, [at for at, side in self.path(node) if side]] = True
        return out
