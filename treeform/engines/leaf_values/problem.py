"""Linear rows over the values of leaves, and the best values under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class BestValues:
    """The best values of leaves under rows."""

    of_leaf: tuple[Fraction, ...]
    cost: Fraction
    multipliers: dict[int, Fraction]
    """Of the rows that bind, by number."""


def product(coef: Sequence[int], values: Sequence[Fraction]) -> Fraction:
    """The sum of coefficients times values."""
    return sum((a * v for a, v in zip(coef, values, strict=True) if a), Fraction(0))
