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


def solved(
    matrix: Sequence[Sequence[Fraction | int]], right: Sequence[Fraction | int]
) -> list[Fraction] | None:
    """The solution of a square system, or None where it is singular."""
    size = len(right)
    table = [[Fraction(a) for a in row] + [Fraction(b)] for row, b in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        head = table[k][k]
        table[k] = [a / head for a in table[k]]
        for i in range(size):
            factor = table[i][k]
            if i != k and factor:
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return [row[size] for row in table]
