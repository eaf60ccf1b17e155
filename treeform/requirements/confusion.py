"""Bounds on rates of the confusion matrix: precision, recall, specificity, false-positive rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import plain
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.classes import plain_label, positive_code
from treeform.language.forms import Inequality, Rows, Sum
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import as_fraction
from treeform.language.rational import least_above
from treeform.requirements.amount import percent_text
from treeform.utils.arguments import renamed
from treeform.utils.arrays import Mask
from treeform.utils.rows import worded
from treeform.utils.text import decimal_text

R = TypeVar("R", bound="RateBound")


class RateBound(LinearRequirement, Bounded, listed=False):
    """A bound on one rate of the confusion matrix: the weight of some cells, of the weight of these and others.

    A rate of nothing is no rate, and satisfies every bound.

    Raises SpecError if the rate is not within [0, 1], or there is no such class.

    Parameters
    ----------
    at_least : float, str or Fraction
        The bound; of an upper bound the parameter is called ``at_most``.
        Within [0, 1]; taken as the decimal that it is written as.
    positive : label, optional
        The positive class; all others count as negative. By default, with two classes, the greater label.
    """

    name: ClassVar[str] = "rate_bound"
    bare: ClassVar[tuple[str, ...]] = ("at_least",)
    moves: ClassVar[str] = "at_least"
    least: ClassVar[bool] = True
    """Whether the rate is at least the bound; else at most."""
    wording: ClassVar[str] = ""
    """Of which rows how many have to be what, with places for `positive` and `share`."""

    @renamed(rate="at_least")
    def __init__(self, at_least: Fraction | float | str, positive: Any = None) -> None:
        self._set(at_least, positive)
        self.at_least = self.rate

    def _set(self, rate: Fraction | float | str, positive: Any) -> None:
        self.rate = as_fraction(rate, f"the rate of {self.name}")
        self.positive = positive
        if not 0 <= self.rate <= 1:
            raise SpecError(
                f"{self.name} of {decimal_text(abs(self.rate))} is not possible",
                cause="a rate is within [0, 1]",
                fix=f"write for example {worded(f'{type(self).__name__}(0.8)', f'{self.name}:0.8')}",
            )

    def bind(self: R, data: Dataset, **context: Any) -> R:
        return self._copy(positive=plain(data.classes[self._code(data)]))

    def _code(self, data: Dataset) -> int:
        return positive_code(self.positive, data, self)

    @abstractmethod
    def counted_among(self, rows: Rows, yes: Mask) -> tuple[Sum, Any]:
        """The counted weight, and the weight that it is a part of: a sum, or a number if predictions do not change it.

        Parameters
        ----------
        rows : Rows
        yes : (K,) bool
            Whether each class is the positive one.
        """

    def _weight(self, rows: Rows, truth: Mask | None = None, predicted: Mask | None = None) -> Any:
        return rows.weight(truth=truth, predicted=predicted, name=str(self))

    def _tallied(self, rows: Rows) -> tuple[Sum, Any]:
        return self.counted_among(rows, np.arange(rows.data.n_classes) == self._code(rows.data))

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        counted, among = self._tallied(rows)
        if isinstance(among, Sum):
            yield counted >= self.rate * among if self.least else counted <= self.rate * among
        elif among:  # a rate of nothing is no rate
            yield counted / among >= self.rate if self.least else counted / among <= self.rate

    def value(self, graph: DecisionGraph, data: Dataset) -> Fraction | None:
        """The rate of a model, exactly; None where nothing is among what it is a rate of."""
        counted, among = self._counted(graph, data)
        return counted / among if among else None

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        short = self.rate - self.measured(graph, data)
        return max(Fraction(0), short if self.least else -short)

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def is_upper(self) -> bool:
        return not self.least

    @property
    def bound_name(self) -> str:
        return self.name.split("_", 1)[1].replace("_", " ")

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        value = self.value(graph, data)
        return Fraction(int(self.least)) if value is None else value

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        if value == int(self.least):
            return None
        exact, weight = Fraction(value), data.total_weight
        return least_above(exact, weight) if self.least else 1 - least_above(1 - exact, weight)

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        parameters: dict[str, Any] = {"at_least" if self.least else "at_most": decimal_text(self.rate)}
        if self.positive is not None:
            parameters["positive"] = plain_label(self.positive)
        return {"name": self.name, "parameters": parameters}

    def in_words(self) -> str:
        positive = "the positive class" if self.positive is None else self.positive
        return self.wording.format(positive=positive, share=percent_text(self.rate))


class MinPrecision(RateBound):
    """Of the weight that is predicted positive, at least this share is: ``TP / (TP + FP) >= at_least``.

    A model that predicts nothing positive satisfies it. Soft, what lacks is ``at_least * (TP + FP) - TP``, a weight of
    samples: the rate itself is no sum.

    Parameters
    ----------
    at_least, positive
        See `RateBound`.
    """

    name: ClassVar[str] = "min_precision"
    samples: ClassVar[tuple[str, ...]] = ("min_precision:0.7,positive=1",)
    wording: ClassVar[str] = "of the rows predicted {positive}, at least {share} are {positive}"

    def counted_among(self, rows: Rows, yes: Mask) -> tuple[Sum, Any]:
        return self._weight(rows, truth=yes, predicted=yes), self._weight(rows, predicted=yes)


class MinRecall(RateBound):
    """Of the positive weight, at least this share is predicted positive: ``TP / (TP + FN) >= at_least``.

    Parameters
    ----------
    at_least, positive
        See `RateBound`.
    """

    name: ClassVar[str] = "min_recall"
    samples: ClassVar[tuple[str, ...]] = ("min_recall:0.5,positive=1",)
    wording: ClassVar[str] = "of the rows that are {positive}, at least {share} are predicted {positive}"

    def counted_among(self, rows: Rows, yes: Mask) -> tuple[Sum, Any]:
        return self._weight(rows, truth=yes, predicted=yes), self._weight(rows, truth=yes)


class MinSpecificity(RateBound):
    """Of the negative weight, at least this share is predicted negative: ``TN / (TN + FP) >= at_least``.

    Parameters
    ----------
    at_least, positive
        See `RateBound`.
    """

    name: ClassVar[str] = "min_specificity"
    samples: ClassVar[tuple[str, ...]] = ("min_specificity:0.6,positive=0",)
    wording: ClassVar[str] = (
        "of the rows that are not {positive}, at least {share} are not predicted {positive}"
    )

    def counted_among(self, rows: Rows, yes: Mask) -> tuple[Sum, Any]:
        return self._weight(rows, truth=~yes, predicted=~yes), self._weight(rows, truth=~yes)


class MaxFalsePositiveRate(RateBound):
    """Of the negative weight, at most this share is predicted positive: ``FP / (FP + TN) <= at_most``.

    Parameters
    ----------
    at_most, positive
        See `RateBound`.
    """

    name: ClassVar[str] = "max_false_positive_rate"
    bare: ClassVar[tuple[str, ...]] = ("at_most",)
    samples: ClassVar[tuple[str, ...]] = ("max_false_positive_rate:0.3,positive=0",)
    wording: ClassVar[str] = "of the rows that are not {positive}, at most {share} are predicted {positive}"
    least: ClassVar[bool] = False
    moves: ClassVar[str] = "at_most"

    @renamed(rate="at_most")
    def __init__(self, at_most: Fraction | float | str, positive: Any = None) -> None:
        self._set(at_most, positive)
        self.at_most = self.rate

    def counted_among(self, rows: Rows, yes: Mask) -> tuple[Sum, Any]:
        return self._weight(rows, truth=~yes, predicted=yes), self._weight(rows, truth=~yes)
