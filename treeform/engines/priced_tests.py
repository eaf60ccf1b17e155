"""Costs of all single tests of some samples under absolute errors, with a price on values, natively."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PricedSamples:
    """What samples pay: ``w |y - v| + c v`` at a value v, which is one of the levels."""

    weight: Floats
    price: Floats
    target: Floats
    """(n,) float64"""
    level: Ints
    """(n,) int64: the place of each target among the levels."""
    levels: Floats
    """(L,) float64: the distinct targets, ascending."""

    def tests(
        self, order: Ints, ways: Ints, near: float, low: float = -np.inf, high: float = np.inf
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The costs of the first k + 1 samples and of the others together, in the order of each column.

        Parameters
        ----------
        order : (C, m) int64
            Samples in the order of each column.
        ways : (C,) int64
            1 where values may not fall from left to right, -1 where they may not rise, else 0.
        near : float
            Levels whose slope is within it of 0 count as best ones, where sides are compared.
        low, high : float
            Values are levels from ``low`` to ``high``; there is one at least.

        Returns
        -------
        cost : (C, m - 1) float64
        wrong : (C, m - 1) bool
            Whether all best values of both sides, of any size, are the wrong way round.
        """
        from treeform import _core

        numbers = (self.weight, self.price, self.target, self.level, self.levels, ways)
        first = int(np.searchsorted(self.levels, low, side="left"))
        last = int(np.searchsorted(self.levels, high, side="right")) - 1
        cost, wrong = _core.priced_tests(np.ascontiguousarray(order), *numbers, near, first, last)
        shape = len(order), max(0, order.shape[1] - 1)
        return cost.reshape(shape), wrong.reshape(shape).astype(bool)
