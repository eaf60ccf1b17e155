"""What a model lacks of a requirement, as a number that can be paid in the objective."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.errors import SpecError
from treeform.utils.text import count_of

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.totals import Totals
    from treeform.model import Expr, Model


@dataclass(frozen=True, eq=False)
class Shortfall:
    """The largest excess of linear constraints over sums, each in units of its own; 0 where all rows hold.

    Raises SpecError if there is not one unit for each row, or one is not positive.
    """

    totals: Totals
    """Its rows hold exactly when nothing is lacking; their sides are not rounded."""
    units: tuple[Fraction, ...]
    """What a row's excess of 1 is in the user's units."""

    def __post_init__(self) -> None:
        if len(self.units) != len(self.totals.rows) or min(self.units, default=Fraction(1)) <= 0:
            raise SpecError(
                f"{count_of(len(self.units), 'unit', 'are')} given for {count_of(len(self.totals.rows), 'row')}",
                cause="a shortfall has one positive unit for each row",
                fix="give as many units as rows",
            )

    def value(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        """What ``graph`` lacks, exactly."""
        values = self.totals.values(graph, data)
        worst = Fraction(0)
        for row, unit in zip(self.totals.rows, self.units, strict=True):
            reached = sum(c * v for c, v in zip(row.coef, values, strict=True))
            over = 0 if row.hi is None else reached - row.hi
            under = 0 if row.lo is None else row.lo - reached
            worst = max(worst, unit * max(over, under))
        return worst

    def excesses(self) -> Iterator[tuple[NDArray[np.int64], int, Fraction, str]]:
        """``(coef, side, unit, name)`` of each side of a row; what is lacking is the largest excess, or 0.

        The excess is ``sum_i weight_i * coef[i, predicted_i] - side``, in multiples of the unit.

        Raises SpecError if coefficients leave 64 bits.
        """
        added = max(1, int(np.abs(self.totals.added).max(initial=0)))
        largest = max((sum(map(abs, row.coef)) for row in self.totals.rows), default=0) * added
        if largest >= SAFE:
            raise SpecError(
                "what a model lacks of a requirement cannot be stated exactly on these weights",
                cause=f"as whole numbers the coefficients of its rows have up to {len(str(largest))} digits",
                fix="round the sample weights, or the bound, to fewer digits",
            )
        for row, unit in zip(self.totals.rows, self.units, strict=True):
            coef = np.array(row.coef, dtype=np.int64)
            each = self.totals.weighted(coef)
            text = self.totals.row_text(row)
            if row.hi is not None:
                yield each, row.hi, unit, f"{text}, above"
            if row.lo is not None:
                yield -each, -row.lo, unit, f"{text}, below"


SAFE = 2**62
"""Coefficients up to here are taken in int64."""
FEW = 31
"""Up to here a whole number is a sum of powers of two, which solvers of clauses take as well."""


def whole_number(model: Model, name: str, most: int) -> Expr:
    """A new variable with values from 0 to ``most``, or to the next power of two less 1."""
    if most > FEW:
        return model.integer(name, ub=most)
    return (model.bool(name, most.bit_length()) * (1 << np.arange(most.bit_length()))).sum()
