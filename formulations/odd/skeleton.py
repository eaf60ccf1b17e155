"""The skeleton: which test nodes and which arcs a model of a given shape may use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from treeform.language.ports import Shared
from treeform.shape import Shape, Tree
from treeform.utils.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Skeleton(Shared, publisher="Flow"):
    """Test nodes numbered layer by layer from the root, and the inner arcs between them.

    An inner arc goes from one side (0 left, 1 right) of a node to a node of the next layer. In a tree each side
    has one inner arc, fixed; in a diagram it has one to every node of the next layer, to choose from. Long arcs
    to the terminals, one terminal per class, exist at every side of every node and are not listed.
    """

    widths: tuple[int, ...]
    is_tree: bool

    @classmethod
    def of(cls, shape: Shape) -> Skeleton:
        return cls(shape.widths, isinstance(shape, Tree))

    @property
    def n_nodes(self) -> int:
        """V, the number of test nodes."""
        return sum(self.widths)

    @cached_property
    def layer(self) -> Ints:
        """(V,) layer of every node."""
        return np.repeat(np.arange(len(self.widths)), self.widths)

    @cached_property
    def layers(self) -> list[Ints]:
        """The nodes of every layer."""
        return [np.flatnonzero(self.layer == level) for level in range(len(self.widths))]

    @property
    def inner(self) -> Ints:
        """The nodes above the last layer: their sides lead to nodes or terminals."""
        return np.arange(self.n_nodes - self.widths[-1])

    @property
    def last(self) -> Ints:
        """The nodes of the last layer: their sides lead to terminals only."""
        return self.layers[-1]

    @cached_property
    def gaining(self) -> Ints:
        """The nodes at which a pass-through can gain anything, as long as no requirement asks for tests.

        In a tree, none: the subtree below could stand in its place. In a diagram, none of the last layer: the arc
        into a pass-through could lead to its terminal. Without a pass-through at the root all layers move up by
        one, so it gains only where some layer is too narrow for the one below it. Layer l then has at most
        ``min(w_l, 2^(l-1))`` nodes.
        """
        if self.is_tree or len(self.widths) < 3:
            return np.zeros(0, dtype=np.int64)
        pairs = enumerate(zip(self.widths, self.widths[1:], strict=False))
        fits = all(above >= min(below, 2**level) for level, (above, below) in pairs)
        return self.inner[1:] if fits else self.inner

    @cached_property
    def _arcs(self) -> Ints:
        out = []
        for above, below in zip(self.layers, self.layers[1:], strict=False):
            for place, u in enumerate(above.tolist()):
                for side in (0, 1):
                    heads = [below[2 * place + side]] if self.is_tree else below
                    out += [(u, side, int(v)) for v in heads]
        return np.array(out, dtype=np.int64).reshape(-1, 3)

    @property
    def tail(self) -> Ints:
        """(A,) node that each inner arc leaves."""
        return self._arcs[:, 0]

    @property
    def side(self) -> Ints:
        """(A,) side on which each inner arc leaves."""
        return self._arcs[:, 1]

    @property
    def head(self) -> Ints:
        """(A,) node that each inner arc enters."""
        return self._arcs[:, 2]

    @property
    def n_arcs(self) -> int:
        """A, the number of inner arcs."""
        return len(self._arcs)

    @cached_property
    def into(self) -> Any:
        """(A, V) incidence: 1 where an arc enters a node."""
        ones = np.ones(self.n_arcs)
        return sparse.csr_array(
            (ones, (np.arange(self.n_arcs), self.head)), shape=(self.n_arcs, self.n_nodes)
        )

    @cached_property
    def out_of(self) -> Any:
        """(A, 2 V) incidence: 1 where an arc leaves a side, sides numbered ``2 * node + side``."""
        ones = np.ones(self.n_arcs)
        at = 2 * self.tail + self.side
        return sparse.csr_array((ones, (np.arange(self.n_arcs), at)), shape=(self.n_arcs, 2 * self.n_nodes))

    @cached_property
    def arc_at(self) -> Ints:
        """(V, 2, V) number of the inner arc from a side to a node, -1 where there is none."""
        out = np.full((self.n_nodes, 2, self.n_nodes), -1, dtype=np.int64)
        out[self.tail, self.side, self.head] = np.arange(self.n_arcs)
        return out


@dataclass
class Plan:
    """A model embedded in the skeleton: the 0/1 values of all design variables."""

    constant: int
    """Class of a model without tests, else -1."""
    test: Ints
    """(V,) int64: number of the test at every node, -1 where there is none. Of hyperplanes, which are not numbered, the
    node of the graph that was embedded (0 for a point that was read)."""
    child: Ints
    """(V, 2) int64: where each side leads: a node, or V + class for a terminal; -1 where no arc is."""
    turned: Bools
    """(V,) bool: whether an embedded hyperplane is turned around, so that its left side is the test's right side."""
    passes: Bools
    """(V,) bool: whether the node is a pass-through, which has a left child only."""
    value: Ints | Floats | None = None
    """(V, 2) int64 or float64, or None: where leaves hold values: that of the leaf at each side, as a deviation in
    units of the target; whole where it was read from a point. Then there is one terminal, V, for all leaves."""

    @classmethod
    def empty(cls, n_nodes: int, constant: int = -1) -> Plan:
        """Without any node in use."""
        none = np.full(n_nodes, -1, dtype=np.int64)
        no = np.zeros(n_nodes, dtype=bool)
        return cls(constant, none, np.stack([none, none], axis=1), no, no.copy())

    @property
    def used(self) -> Bools:
        """(V,) whether a node is in use, as a test or as a pass-through."""
        return np.asarray((self.test >= 0) | self.passes)
