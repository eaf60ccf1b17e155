"""The F1 score, as a loss: a ratio of two counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.language.composed import Count, RatioTerm
from treeform.language.objective_text import quoted, settings_in
from treeform.objectives.settings import only
from treeform.requirements.groups import favourable_code

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.shape import Shape


@dataclass(frozen=True)
class F1Loss(RatioTerm):
    """1 less the F1 score of one class: ``(FP + FN) / (2 TP + FP + FN)``.

    Minimised exactly by Dinkelbach's iterations: each solves for costs of false positives and false negatives, with all
    requirements of the problem; the last one proves that no model has a smaller loss.

    Parameters
    ----------
    positive : label, optional
        The class whose F1 score counts. With two classes it may be left out: the greater label then, as in
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

    positive: Any = None
    name: ClassVar[str] = "f1_loss"

    def bind(self, data: Dataset, **context: Any) -> F1Loss:
        label = data.classes[favourable_code(self.positive, data, self, "positive")]
        return replace(self, positive=label.item() if isinstance(label, np.generic) else label)

    def numerator(self, data: Dataset) -> Count:
        """FP + FN."""
        return Count(self._cells(data, false_positive=1, false_negative=1))

    def denominator(self, data: Dataset) -> Count:
        """2 P + FP - FN."""
        return Count(self._cells(data, false_positive=1, false_negative=-1), 2 * self._positives(data))

    def least_denominator(self, data: Dataset) -> int:
        return self._positives(data)

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return Fraction(1)

    def _code(self, data: Dataset) -> int:
        return favourable_code(self.positive, data, self, "positive")

    def _positives(self, data: Dataset) -> int:
        return int(data.class_weights[self._code(data)])

    def _cells(self, data: Dataset, false_positive: int, false_negative: int) -> tuple[tuple[int, ...], ...]:
        code, classes = self._code(data), range(data.n_classes)
        return tuple(
            tuple(
                false_positive * (truth != code and guess == code)
                + false_negative * (truth == code and guess != code)
                for guess in classes
            )
            for truth in classes
        )

    @classmethod
    def from_text(cls, inside: str | None) -> F1Loss:
        settings = only(settings_in(inside, cls.name), ("positive",), cls.name)
        return cls(settings.get("positive"))

    def __str__(self) -> str:
        return self.name if self.positive is None else f"{self.name}[positive={quoted(str(self.positive))}]"
