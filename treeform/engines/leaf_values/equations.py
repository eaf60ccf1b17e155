"""Systems of linear equations in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


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
