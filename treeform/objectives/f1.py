"""The F1 score, as a loss: a ratio of two counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from treeform.data import Dataset
from treeform.language.composed import RatioTerm
from treeform.language.forms import Rows, Sum
from treeform.objectives.of_class import OfClass
from treeform.shape import Shape


@dataclass(frozen=True)
class F1Loss(OfClass, RatioTerm):
    """1 less the F1 score of one class: ``(FP + FN) / (2 TP + FP + FN)``.

    Minimised exactly by Dinkelbach's iterations: each solves for costs of false positives and false negatives, with all
    requirements of the problem; the last one proves that no model has a smaller loss.

    Parameters
    ----------
    positive : label, optional
        The class whose F1 score counts. By default, with two classes, the greater label, as in
        scikit-learn's ``f1_score``.

    Raises
    ------
    SpecError
        When bound to data: there is no such class, or there are more than two and none is named.

    Notes
    -----
    Dinkelbach, On nonlinear fractional programming, Management Science 13, 1967. With P the weight of the positive
    class, 2 TP + FP + FN = 2 P + FP - FN, which is at least P.
    """

    name: ClassVar[str] = "f1_loss"

    def numerator(self, rows: Rows) -> Sum:
        false_positives, false_negatives = self._mistakes(rows)
        return false_positives + false_negatives

    def denominator(self, rows: Rows) -> Sum:
        false_positives, false_negatives = self._mistakes(rows)
        return 2 * self._positives(rows.data) * rows.data.weight_unit + false_positives - false_negatives

    def least_denominator(self, data: Dataset) -> int:
        return self._positives(data)

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(1)
