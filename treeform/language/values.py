"""What is required of the values at the leaves of a regression tree, as linear rows and orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class ValueRow:
    """A row over values: the sum of ``coef[i]`` times the value of i is at most ``side``, over samples or leaves."""

    coef: Any
    """(n,) int64 over samples; a tuple of whole numbers over the leaves of a tree."""
    side: int | Fraction
    """Exact: values are any fractions unless a rule says that they are whole. They count as deviations from the
    target's centre, in its unit."""


@dataclass(frozen=True, eq=False)
class ValueOrder:
    """At every test of some features, no row on one side is predicted more than any row on the other."""

    features: frozenset[int]
    """Encoded features of the tests."""
    counted: Bools
    """(n,) bool: the samples that count."""
    increasing: bool
    """Whether the left side, where the feature is at most the threshold, has the smaller values."""


@dataclass(frozen=True, eq=False)
class ValueRule:
    """A requirement on the values of a regression tree."""

    rows: tuple[ValueRow, ...] = ()
    orders: tuple[ValueOrder, ...] = ()
    whole: bool = False
    """Whether values are whole multiples of the target's unit, from the least to the greatest target."""

    def over(self, leaves: Sequence[NDArray[Any]], pairs: Iterable[tuple[int, int]]) -> list[ValueRow]:
        """The rows over the leaves of a tree, those over samples first.

        The samples of a leaf are given by number or as truth values. Of each pair of leaves the first one has no
        greater value than the second one.
        """
        rows = [ValueRow(tuple(int(row.coef[leaf].sum()) for leaf in leaves), row.side) for row in self.rows]
        number = range(len(leaves))
        return rows + [ValueRow(tuple((k == low) - (k == high) for k in number), 0) for low, high in pairs]

    def ways(self, features: Ints) -> Ints:
        """For features: 1 where values may not fall from left to right, -1 where they may not rise, else 0."""
        ways = np.zeros(len(features), dtype=np.int64)
        for order in self.orders:
            if order.counted.all():  # else a leaf may have no sample that counts
                ways[np.isin(features, list(order.features))] = 1 if order.increasing else -1
        return ways

    @classmethod
    def all_of(cls, rules: Iterable[ValueRule]) -> ValueRule:
        """All of them at once."""
        kept = list(rules)
        return cls(
            tuple(row for rule in kept for row in rule.rows),
            tuple(order for rule in kept for order in rule.orders),
            any(rule.whole for rule in kept),
        )
