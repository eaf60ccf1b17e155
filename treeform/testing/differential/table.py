"""A tiny table as the reference sees it: distinct rows, weights per class, and all ways to part them.

Sets of distinct rows are bit masks. Nothing is shared with treeform's own data classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

MOST_WEIGHT = 4
"""Hyperplanes over three columns of zeros and ones have a form with weights up to 2; some more do no harm."""


@dataclass(frozen=True)
class Split:
    """One way to part the distinct rows by a test."""

    right: int
    """Mask of the rows that go right."""
    columns: int
    """Mask of the user's columns that the test reads."""
    rising: int
    falling: int
    """Masks of the columns whose greater values go right, or left. Categorical columns are in neither."""


@dataclass(frozen=True)
class Table:
    """Columns by name, labels, weights and groups, one entry per row."""

    columns: dict[str, tuple[Any, ...]]
    labels: tuple[Any, ...]
    weights: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Rows of positive weight."""
        return tuple(i for i in range(self.n_rows) if self.weight(i) > 0)

    def weight(self, row: int) -> Fraction:
        """The weight of a row, exactly."""
        return Fraction(1) if self.weights is None else Fraction(self.weights[row])

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The labels that occur on kept rows, sorted."""
        return tuple(sorted({self.labels[i] for i in self.kept}))

    @cached_property
    def points(self) -> tuple[tuple[Any, ...], ...]:
        """The distinct kept rows, in order of appearance."""
        rows = list(zip(*self.columns.values(), strict=True))
        return tuple(dict.fromkeys(rows[i] for i in self.kept))

    @cached_property
    def point_of(self) -> dict[int, int]:
        """Distinct row of each kept row."""
        rows = list(zip(*self.columns.values(), strict=True))
        return {i: self.points.index(rows[i]) for i in self.kept}

    @property
    def everything(self) -> int:
        """Mask of all distinct rows."""
        return (1 << len(self.points)) - 1

    @cached_property
    def class_weight(self) -> tuple[tuple[Fraction, ...], ...]:
        """Weight of each class at each distinct row."""
        out = [[Fraction(0)] * len(self.classes) for _ in self.points]
        for i in self.kept:
            out[self.point_of[i]][self.classes.index(self.labels[i])] += self.weight(i)
        return tuple(map(tuple, out))

    @cached_property
    def total(self) -> Fraction:
        """Weight of all rows."""
        return sum((self.weight(i) for i in self.kept), Fraction(0))

    @cached_property
    def weight_of(self) -> tuple[Fraction, ...]:
        """Weight of every mask of distinct rows."""
        each = [sum(w, Fraction(0)) for w in self.class_weight]
        out = [Fraction(0)] * (self.everything + 1)
        for mask in range(1, self.everything + 1):
            low = (mask & -mask).bit_length() - 1
            out[mask] = out[mask & (mask - 1)] + each[low]
        return tuple(out)

    def is_text(self, column: int) -> bool:
        """Whether a column is categorical."""
        return isinstance(self.points[0][column], str)

    # -- ways to part the rows ----------------------------------------------------------------------

    @cached_property
    def univariate(self) -> tuple[Split, ...]:
        """All tests of one column that part all distinct rows."""
        out: dict[Split, None] = {}
        for c in range(len(self.columns)):
            values = [p[c] for p in self.points]
            if self.is_text(c):
                for level in sorted(set(values)):
                    out[Split(_mask(v == level for v in values), 1 << c, 0, 0)] = None
            else:
                for cut in sorted(set(values))[:-1]:
                    out[Split(_mask(v > cut for v in values), 1 << c, 1 << c, 0)] = None
        return tuple(s for s in out if 0 < s.right < self.everything)

    @cached_property
    def hyperplanes(self) -> tuple[Split, ...]:
        """All ways in which a weighted sum of columns parts the distinct rows, with the signs of its weights.

        For two columns of whole numbers every order in which a direction sorts the rows is tried; for three
        columns of zeros and ones all small whole weights, which state every threshold function.

        Raises
        ------
        ValueError
            If the columns are others than these.
        """
        out: dict[Split, None] = {}
        for weights in self._directions():
            order = [sum(w * x for w, x in zip(weights, p, strict=True)) for p in self.points]
            for cut in sorted(set(order))[:-1]:
                used = _mask(w != 0 for w in weights)
                rising, falling = _mask(w > 0 for w in weights), _mask(w < 0 for w in weights)
                out[Split(_mask(v > cut for v in order), used, rising, falling)] = None
        return tuple(out)

    def _directions(self) -> list[tuple[int, ...]]:
        numbers = all(isinstance(v, int | float) and v == int(v) for p in self.points for v in p)
        if len(self.columns) == 1 and numbers:
            return [(1,), (-1,)]
        if len(self.columns) == 2 and numbers:
            return _directions_in_the_plane([(int(a), int(b)) for a, b in self.points])
        if len(self.columns) == 3 and {v for p in self.points for v in p} <= {0, 1}:
            one = range(-MOST_WEIGHT, MOST_WEIGHT + 1)
            return [w for w in product(one, repeat=3) if any(w)]
        raise ValueError("hyperplanes are enumerated over two columns of whole numbers, or three of 0 and 1")


def _directions_in_the_plane(points: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Directions in each of the sectors between two critical ones, and the axes.

    A direction is critical when two points have the same value along it, or when it is an axis: there the order
    of the points, or the sign of a weight, changes.
    """
    critical = {(1, 0), (-1, 0), (0, 1), (0, -1)}
    for (a, b), (c, d) in combinations(points, 2):
        if (a, b) != (c, d):
            critical |= {(d - b, a - c), (b - d, c - a)}
    around = sorted(critical, key=_Angle)
    distinct = [d for i, d in enumerate(around) if i == 0 or _Angle(around[i - 1]) < _Angle(d)]
    between = [
        (p[0] + q[0], p[1] + q[1]) for p, q in zip(distinct, [*distinct[1:], distinct[0]], strict=True)
    ]
    return [(1, 0), (-1, 0), (0, 1), (0, -1), *between]


class _Angle:
    """Order of directions around the origin, in whole numbers."""

    def __init__(self, direction: tuple[int, int]) -> None:
        self.x, self.y = direction
        self.half = 0 if (self.y > 0 or (self.y == 0 and self.x > 0)) else 1

    def __lt__(self, other: _Angle) -> bool:
        if self.half != other.half:
            return self.half < other.half
        return self.x * other.y - self.y * other.x > 0


def _mask(bits: Any) -> int:
    return sum(1 << i for i, bit in enumerate(bits) if bit)
