"""The Matthews correlation, as a loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.composed import TwoCountTerm
from treeform.language.costs import LARGEST_COST, too_large
from treeform.language.forms import Rows, Sum
from treeform.objectives.of_class import OfClass
from treeform.shape import Shape


@dataclass(frozen=True)
class MatthewsLoss(OfClass, TwoCountTerm):
    """1 less the square of Matthews' correlation coefficient; a negative correlation adds its square.

    The coefficient of two classes, phi, is a square root; its square is a fraction, and orders models alike. The least
    loss is therefore the greatest coefficient. `correlation` turns a value into the coefficient.

    Parameters
    ----------
    positive : label, optional
        The class that is told from all others. With two classes it may be left out, and makes no difference.

    Raises
    ------
    SpecError
        When bound to data: there is no such class, or there are more than two and none is named.

    Notes
    -----
    Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, Biochimica et
    Biophysica Acta 405, 1975. With P and N the weights of the positive class and of the others, x false positives and y
    false negatives,

        phi = (TP TN - FP FN) / sqrt(P N (TP + FP) (TN + FN)),    TP TN - FP FN = P N - P x - N y,

    and 0 where the predicted class is always the same. The root is concave in x - y, and the numerator linear. So the
    points with a coefficient of at most t >= 0 form a convex set: where the convex hull of all models lies in it, no
    model has a greater one. The hull is bounded by minimising costs ``a x + b y`` (`treeform.solve.two_counts`).

    Examples
    --------
    >>> MatthewsLoss.correlation(Fraction(3, 4))
    0.5
    """

    name: ClassVar[str] = "matthews_loss"
    turning: ClassVar[Fraction] = Fraction(1)

    @staticmethod
    def correlation(value: Fraction | int | float) -> float:
        """Matthews' coefficient of a model with this loss, between -1 and 1; rounded to a float."""
        square = 1 - value
        return math.copysign(math.sqrt(abs(square)), square)

    def counts(self, rows: Rows) -> tuple[Sum, Sum]:
        """False positives and false negatives."""
        return self._mistakes(rows)

    def most(self, data: Dataset) -> tuple[int, int]:
        """All others, and all of the positive class."""
        positives = self._positives(data)
        return data.total_weight - positives, positives

    def loss(self, data: Dataset, x: Fraction, y: Fraction) -> Fraction:
        others, positives = self.most(data)
        above = positives * others - positives * x - others * y
        below = positives * others * (positives + x - y) * (others - x + y)
        return Fraction(1) if not above or not below else 1 - Fraction(above * abs(above)) / below

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(2)

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        dearest = Fraction(max(self.most(data)))
        return too_large(dearest, data) if dearest * data.total_weight >= LARGEST_COST else None

    def remark(self, graph: DecisionGraph, data: Dataset) -> str:
        value = self.evaluate(graph, data)
        sign = "-" if value > 1 else ""
        return (
            f"Matthews' correlation is {self.correlation(value):.6g}, which is {sign}sqrt({abs(1 - value)})"
        )
