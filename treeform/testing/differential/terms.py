"""Objectives that are rates: the F1 loss, the balanced error, and error rates of groups, by their definitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.testing.differential.reference import Outcome
from treeform.testing.differential.table import Table

OF_GROUPS = ("group_error", "max_group_error")


@dataclass(frozen=True)
class RateTerm:
    """One of these objectives."""

    name: str
    of: Any = None
    """The positive class of the F1 loss; the column that makes groups, or None for the problem's own."""

    @property
    def text(self) -> str:
        """As treeform reads it."""
        key = "positive" if self.name == "f1_loss" else "groups"
        return self.name if self.of is None else f"{self.name}[{key}={self.of}]"

    def valuer(self, table: Table) -> Callable[[Outcome], Fraction]:
        """The exact value of any model."""
        known: dict[int, Fraction] = {}
        rate = self._f1_loss(table) if self.name == "f1_loss" else self._of_parts(table)

        def value(outcome: Outcome) -> Fraction:
            if outcome.predicted not in known:
                known[outcome.predicted] = rate(outcome.predicted)
            return known[outcome.predicted]

        return value

    def _f1_loss(self, table: Table) -> Callable[[int], Fraction]:
        """1 - 2 TP / (2 TP + FP + FN)."""
        positive, n = table.classes.index(self.of), len(table.points)

        def loss(predicted: int) -> Fraction:
            both = Fraction(0)
            chosen = table.weight_of[predicted >> positive * n & table.everything]
            for point, weights in enumerate(table.class_weight):
                both += weights[positive] * (predicted >> positive * n + point & 1)
            actual = sum((weights[positive] for weights in table.class_weight), Fraction(0))
            return 1 - 2 * both / (chosen + actual)  # TP + FP, and TP + FN

        return loss

    def _of_parts(self, table: Table) -> Callable[[int], Fraction]:
        """The mean, or the largest, of the error rates of parts of the rows."""
        names: Iterable[Hashable] | None = table.groups
        if self.name == "balanced_error":
            names = table.labels
        elif self.of is not None:
            names = table.columns[self.of]
        assert names is not None
        part_of = list(names)
        parts: dict[Hashable, list[tuple[int, Fraction]]] = {}
        for i in table.kept:
            right = table.classes.index(table.labels[i]) * len(table.points) + table.point_of[i]
            parts.setdefault(part_of[i], []).append((right, table.weight(i)))

        def value(predicted: int) -> Fraction:
            rates = [
                sum((w for right, w in part if not predicted >> right & 1), Fraction(0))
                / sum((w for _, w in part), Fraction(0))
                for part in parts.values()
            ]
            return max(rates) if self.name == "max_group_error" else sum(rates, Fraction(0)) / len(rates)

        return value
