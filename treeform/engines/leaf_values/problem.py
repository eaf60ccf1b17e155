"""Linear rows over the values of leaves, and the best values under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

Stop = Callable[[], bool]
"""Asked at each step of a search; once it is true the search raises Stopped."""


def never() -> bool:
    return False


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
    table = [
        {column: Fraction(a) for column, a in enumerate([*row, b]) if a}
        for row, b in zip(matrix, right, strict=True)
    ]
    for k in range(size):
        shortest = min((i for i in range(k, size) if k in table[i]), key=lambda i: len(table[i]), default=None)
        if shortest is None:
            return None
        table[k], table[shortest] = table[shortest], table[k]
        head = table[k][k]
        table[k] = {column: a / head for column, a in table[k].items()}
        for i in range(size):
            if i != k and k in table[i]:
                _add(table[i], -table[i][k], table[k])
    return [row.get(size, Fraction(0)) for row in table]


def _add(row: dict[int, Fraction], factor: Fraction, other: dict[int, Fraction]) -> None:
    """Add a multiple of another row; entries that are 0 are not held."""
    for column, a in other.items():
        row[column] = row.get(column, 0) + factor * a
        if not row[column]:
            del row[column]
