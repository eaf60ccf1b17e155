"""The 0/1 values of the design variables: a model on the skeleton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass
class Plan:
    """A model embedded in the skeleton: the 0/1 values of all design variables.

    Attributes
    ----------
    constant : int
        Class of a model without tests, else -1.
    test : (V,) int64
        Number of the test at every node, -1 where there is none. Of hyperplanes, which are not numbered,
        the node of the graph that was embedded (0 for a point that was read).
    child : (V, 2) int64
        Where each side leads: a node, or V + class for a terminal; -1 where no arc is.
    turned : (V,) bool
        Whether an embedded hyperplane is turned around, so that its left side is the test's right side.
    passes : (V,) bool
        Whether the node is a pass-through, which has a left child only.
    value : (V, 2) int64 or float64, or None
        Where leaves hold values: that of the leaf at each side, as a deviation in units of the target; whole where it
        was read from a point. Then there is
        one terminal, V, for all leaves.
    """

    constant: int
    test: Ints
    child: Ints
    turned: NDArray[np.bool_]
    passes: NDArray[np.bool_]
    value: Ints | NDArray[np.float64] | None = None

    @classmethod
    def empty(cls, n_nodes: int, constant: int = -1) -> Plan:
        """Without any node in use."""
        none = np.full(n_nodes, -1, dtype=np.int64)
        no = np.zeros(n_nodes, dtype=bool)
        return cls(constant, none, np.stack([none, none], axis=1), no, no.copy())

    @property
    def used(self) -> NDArray[np.bool_]:
        """(V,) whether a node is in use, as a test or as a pass-through."""
        return np.asarray((self.test >= 0) | self.passes)
