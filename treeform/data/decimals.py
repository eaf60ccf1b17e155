"""Many decimals at once, in arrays of 64 bits: where they have too many digits, and on a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeform.utils.arrays import Floats, Ints

LARGEST = 2**63 - 1
ROUNDING = 1e-9
"""More than the relative error of a sum of floats."""


@dataclass(frozen=True, eq=False)
class Decimals:
    """Whole numbers of at most 17 digits, times powers of ten."""

    digits: Ints
    powers: NDArray[np.int16]

    def _groups(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Each power, and where it is."""
        for power in np.unique(self.powers).tolist():
            yield power, np.flatnonzero(self.powers == power)

    def unit(self) -> Fraction:
        """The largest one of which all are whole multiples; 0 if all are 0."""
        steps = (int(np.gcd.reduce(self.digits[at])) * Fraction(10) ** power for power, at in self._groups())
        unit = Fraction(0)
        for step in steps:
            (p, q), (u, v) = unit.as_integer_ratio(), step.as_integer_ratio()
            unit = Fraction(math.gcd(p * v, u * q), q * v)
        return unit

    def on_grid(self, grid: Fraction) -> tuple[Ints, Fraction] | None:
        """The multiples of a grid next to them, of two the even ones, and the largest distance; None beyond 64 bits."""
        units, largest = np.zeros(len(self.digits), dtype=np.int64), Fraction(0)
        for power, at in self._groups():
            p, q = (Fraction(10) ** power / grid).as_integer_ratio()
            digits = self.digits[at]
            most = int(np.abs(digits).max()) * p
            if 2 * most <= q:  # next to 0
                largest = max(largest, Fraction(most, q))
            elif 2 * most + q > LARGEST:
                return None
            else:
                nearest, rest = np.divmod(2 * p * digits + q, 2 * q)
                units[at] = nearest - ((rest == 0) & (nearest % 2 == 1))
                largest = max(largest, Fraction(int(np.abs(digits * p - units[at] * q).max()), q))
        return units, largest * grid


def spread_of(values: Floats, weights: Ints) -> tuple[Fraction, Fraction] | None:
    """Bounds of the weighted sum of the distances from the mean; None if that is beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.average(values, weights=weights)
        spread = float(np.sum(np.abs(values - mean) * weights))
        error = ROUNDING * float(np.sum(np.abs(values) * weights))
    if not math.isfinite(spread + error):
        return None
    return Fraction(spread - error), Fraction(spread + error)
