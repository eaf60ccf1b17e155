"""A tiny table as the attack sees it: values, labels, weights and groups, and every test that its columns offer.

Sets of points (distinct rows of positive weight) are bit masks. Nothing is shared with treeform's own data classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Feature:
    """An encoded column: what stands for it on each point, ascending.

    Attributes
    ----------
    column : str
    level : str or None
        The level that it marks, where the column is text.
    gaps : {"", "below", "above"}
        Where missing values stand.
    values : tuple
        One for each point; a test sends the greater ones to the right.
    """

    column: str
    values: tuple[float, ...]
    level: str | None = None
    gaps: str = ""


@dataclass(frozen=True)
class Plain:
    """A table, its target, weights and groups, one entry for each row; None is a missing value.

    Attributes
    ----------
    columns : dict of str to tuple
    target : tuple
        Labels, or decimal texts where values are predicted.
    weights : tuple of str or None
        Exact numbers, as text; a weight of 0 leaves a row out.
    groups : tuple of str
        An array beside the table.
    excluded : tuple of str
        Columns that no test may read.
    mask : tuple of bool
        Another array beside the table, which names some of its rows.
    only : tuple of int or None
        Rows beside which none are counted: a slice of the table, with its points and classes.
    """

    columns: dict[str, tuple[Any, ...]]
    target: tuple[Any, ...]
    weights: tuple[str, ...] | None
    groups: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    mask: tuple[bool, ...] = ()
    only: tuple[int, ...] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.target)

    def weight(self, row: int) -> Fraction:
        """Of one row."""
        return Fraction(1) if self.weights is None else Fraction(self.weights[row])

    @cached_property
    def weighed(self) -> tuple[int, ...]:
        """The rows of positive weight."""
        return tuple(i for i in range(self.n_rows) if self.weight(i) > 0)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The rows that count."""
        return self.weighed if self.only is None else tuple(i for i in self.only if i in self.weighed)

    @cached_property
    def _slices(self) -> dict[tuple[int, ...], Plain]:
        return {}

    def slice(self, rows: tuple[int, ...]) -> Plain:
        """The same of these rows only."""
        if rows not in self._slices:
            self._slices[rows] = replace(self, only=rows)
        return self._slices[rows]

    @cached_property
    def total(self) -> Fraction:
        return sum((self.weight(i) for i in self.kept), Fraction(0))

    @cached_property
    def tested(self) -> tuple[str, ...]:
        """The columns that tests may read."""
        return tuple(name for name in self.columns if name not in self.excluded)

    @cached_property
    def _keys(self) -> dict[tuple[Any, ...], int]:
        keys: dict[tuple[Any, ...], int] = {}
        for i in self.weighed:
            keys.setdefault(self._key(i), len(keys))
        return keys

    def _key(self, row: int) -> tuple[Any, ...]:
        return tuple(self.columns[name][row] for name in self.tested)

    @cached_property
    def points(self) -> tuple[tuple[Any, ...], ...]:
        """The distinct rows, over the columns that tests may read."""
        return tuple(self._keys)

    @cached_property
    def point_of(self) -> dict[int, int]:
        """The point of each row that has weight."""
        return {i: self._keys[self._key(i)] for i in self.weighed}

    @property
    def everything(self) -> int:
        """The mask of all points."""
        return (1 << len(self.points)) - 1

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The labels, sorted."""
        return tuple(sorted({self.target[i] for i in self.weighed}))

    @cached_property
    def rows_of(self) -> tuple[tuple[int, ...], ...]:
        """The kept rows of each point."""
        return tuple(tuple(i for i in self.kept if self.point_of[i] == p) for p in range(len(self.points)))

    @cached_property
    def here(self) -> tuple[int, ...]:
        """The points that have kept rows: of a slice some, of a whole table all."""
        return tuple(p for p, rows in enumerate(self.rows_of) if rows)

    @cached_property
    def weight_of(self) -> tuple[Fraction, ...]:
        """Weight of each mask of points."""
        each = [sum((self.weight(i) for i in rows), Fraction(0)) for rows in self.rows_of]
        out = [Fraction(0)] * (self.everything + 1)
        for mask in range(1, self.everything + 1):
            out[mask] = out[mask & (mask - 1)] + each[(mask & -mask).bit_length() - 1]
        return tuple(out)

    # -- tests ------------------------------------------------------------------------------------

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """Numbers as they are; of text one feature for each level; of numbers with gaps two."""
        out: list[Feature] = []
        for c, name in enumerate(self.tested):
            values = [point[c] for point in self.points]
            known = [v for v in values if v is not None]
            if any(isinstance(v, str) for v in known):
                levels: Sequence[Any] = sorted(set(known))
                levels = [*levels, None] if len(known) < len(values) else levels
                out += [Feature(name, tuple(float(v == x) for v in values), x or "") for x in levels]
            elif len(known) < len(values):
                for gaps, stand in (("below", float("-inf")), ("above", float("inf"))):
                    out.append(
                        Feature(name, tuple(stand if v is None else float(v) for v in values), None, gaps)
                    )
            else:
                out.append(Feature(name, tuple(map(float, values))))
        return tuple(out)

    @cached_property
    def tests(self) -> tuple[tuple[int, int], ...]:
        """Every test as (feature, mask of the points that go right); each parts the points."""
        out = []
        for f, feature in enumerate(self.features):
            for cut in sorted(set(feature.values))[:-1]:
                right = sum(1 << p for p, v in enumerate(feature.values) if v > cut)
                out.append((f, right))
        return tuple(out)

    def parting(self, mask: int) -> list[tuple[int, int]]:
        """The tests that part the points of a mask, as (feature, those that go right); each once."""
        return list(dict.fromkeys((f, mask & right) for f, right in self.tests if 0 != mask & right != mask))

    def values_of(self, groups: str | Sequence[str]) -> tuple[Any, ...]:
        """The groups of all rows: the array beside the table, a column, or several columns crossed."""
        if groups == "array":
            return self.groups
        names = [groups] if isinstance(groups, str) else list(groups)
        if len(names) == 1:
            return self.columns[names[0]]
        return tuple(zip(*(self.columns[name] for name in names), strict=True))
