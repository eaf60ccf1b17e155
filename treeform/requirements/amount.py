"""Amounts of samples: a count, or a fraction of all, exactly."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.utils.arguments import renamed
from treeform.utils.rows import worded
from treeform.utils.text import count_of, decimal_text

MOST_COUNT = 10**9
"""A fraction above 1 may have been meant as a count, below this one."""


def _written(value: Any) -> str:
    """A number as it was written; of a fraction the first digits, since a float cannot hold 1e400."""
    if not isinstance(value, Fraction):
        return str(value)
    return str((Decimal(value.numerator) / value.denominator).normalize())


def _stated(owner: str, value: object) -> str:
    """A requirement with its amount: ``MinSupport(20)``, or on the command line ``min_support:20``."""
    return worded(f"{owner}({value})", f"{owner}:{value}")


def percent_text(share: Fraction) -> str:
    """``5 %`` for 1/20, ``1/3`` for what has no finite decimal form."""
    percent = decimal_text(100 * share)
    return str(share) if "/" in percent else f"{percent} %"


@dataclass(frozen=True, repr=False)
class Amount:
    """A count (whole number) or a fraction of the total weight."""

    count: int | None = None
    fraction: Fraction | None = None

    @classmethod
    def of(cls, owner: str, amount: Any, count: Any, fraction: Any) -> Amount:
        """From a positional or a named argument: a positional whole number is a count, anything else a fraction.

        ``owner`` is the requirement, for messages.
        """
        example = f"write {_stated(owner, 20)} for 20 samples, or {_stated(owner, 0.05)} for 5 % of all"
        stated = [value for value in (amount, count, fraction) if value is not None]
        if len(stated) != 1:
            raise SpecError(
                f"{owner} takes one amount and was given {len(stated)}",
                cause="it is either a count of samples or a fraction of all",
                fix=example,
            )
        value = stated[0]
        if count is not None or (amount is not None and _is_whole(amount)):
            if not _is_whole(value) or value < 0:
                raise SpecError(
                    f"{owner}: the count {value!r} is not possible",
                    cause="a count is a whole number >= 0",
                    fix=example,
                )
            return cls(count=int(value))
        share = as_fraction(value, f"the fraction of {owner}")
        if not 0 <= share <= 1:
            raise SpecError(
                f"{owner}: the fraction {_written(value)} is not possible",
                cause="a fraction of all samples is within [0, 1]",
                fix=f"write {_stated(owner, int(share))} for a count"
                if 1 < share < MOST_COUNT
                else f"write {_stated(owner, 0.05)} for 5 % of all",
            )
        return cls(fraction=share)

    def weight(self, data: Dataset) -> Fraction:
        """The amount in the user's weight units."""
        if self.count is not None:
            return Fraction(self.count)
        assert self.fraction is not None
        return self.fraction * data.total_weight * data.weight_unit

    def at_least(self, data: Dataset) -> int:
        """The smallest whole weight (in weight units) that reaches the amount."""
        return math.ceil(self.weight(data) / data.weight_unit)

    def at_most(self, data: Dataset) -> int:
        """The largest whole weight (in weight units) within the amount, of the weight that there is."""
        return min(math.floor(self.weight(data) / data.weight_unit), data.total_weight)

    def to_json(self) -> dict[str, Any]:
        return {"count": self.count} if self.count is not None else {"fraction": str(self.fraction)}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.fraction is None:
            return str(self.count)
        # A whole fraction needs its name: the bare number would be read as a count.
        return ("fraction=" if self.fraction.denominator == 1 else "") + decimal_text(self.fraction)

    @property
    def words(self) -> str:
        """``20 rows``, ``5 % of the rows``; by weight where rows have weights."""
        if self.fraction is not None:
            return f"{percent_text(self.fraction)} of the rows"
        return count_of(self.count, "row")


def whole_bound(bound: Value) -> int:
    """A bound that has to be a whole number. Raises SpecError if it is not."""
    if isinstance(bound, bool) or Fraction(bound).denominator != 1:
        raise SpecError(
            f"the bound {bound} is not possible",
            cause="what is bounded is a whole number",
            fix=f"use {math.floor(bound)} or {math.ceil(bound)}",
        )
    return int(bound)


class OfAmount(Bounded, listed=False):
    """Base of requirements that bound an amount of samples.

    Where the amount is a count, so is its bound; where it is a fraction, the bound is one of the total weight.
    """

    called: ClassVar[tuple[str, str]] = ("weight", "share")
    """What is bounded, as a count and as a fraction."""

    amount: Amount
    count: int | None = None
    """None; the parameter of this name says only how a number is meant."""
    fraction: Fraction | None
    """The fraction where it is a whole number, so that its name says what it is; else None."""

    def _set(self, amount: Any, count: Any, fraction: Any) -> int | Fraction | None:
        """Take the amount; as a number that says by itself whether it is a count, None for fractions of 0 and 1."""
        self.amount = Amount.of(worded(type(self).__name__, self.name), amount, count, fraction)
        exact = self.amount.fraction
        self.fraction = exact if exact is not None and exact.denominator == 1 else None
        return self.amount.count if exact is None else None if exact.denominator == 1 else exact

    @abstractmethod
    def weight_of(self, graph: DecisionGraph, data: Dataset) -> int:
        """The weight that is bounded, in units of ``data.weight_unit``."""

    @property
    def bound_name(self) -> str:
        return self.called[self.amount.count is None]

    @property
    def bound(self) -> Value:
        amount = self.amount
        if amount.count is not None:
            return amount.count
        assert amount.fraction is not None
        return amount.fraction

    @property
    def measure(self) -> str:
        return f"{{}} {self.bound_name}" if self.amount.count is not None else f"{self.bound_name} {{}}"

    def with_bound(self, bound: Value) -> Any:
        counted = self.amount.count is not None
        kind: Any = type(self)
        return kind(count=whole_bound(bound)) if counted else kind(fraction=Fraction(bound))

    def measured(self, graph: DecisionGraph, data: Dataset) -> Value:
        return self._in_bounds(self.weight_of(graph, data), data)

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        step = self._in_bounds(1, data)
        other = value - step if self.is_upper else value + step
        return other if 0 <= other <= self._in_bounds(data.total_weight, data) else None

    def _in_bounds(self, units: int, data: Dataset) -> Value:
        """A weight on the scale of the bound."""
        if self.amount.count is None:
            return Fraction(units, data.total_weight)
        if data.weight_unit.denominator != 1:
            raise SpecError(
                f"the count of {self.name} cannot be moved step by step",
                cause=f"sample weights are multiples of {data.weight_unit}, and counts are whole numbers",
                fix=f"give it as a fraction, such as {type(self).__name__}(0.05)",
            )
        return units * int(data.weight_unit)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "parameters": self.amount.to_json()}

    def __str__(self) -> str:
        return f"{self.name}:{self.amount}"


class AtLeastAmount(OfAmount, listed=False):
    """A lower bound on an amount."""

    alternatives: ClassVar[tuple[str, ...]] = ("at_least", "count", "fraction")

    @renamed(amount="at_least")
    def __init__(
        self,
        at_least: int | Fraction | float | None = None,
        *,
        count: int | None = None,
        fraction: Fraction | float | None = None,
    ) -> None:
        self.at_least = self._set(at_least, count, fraction)

    @property
    def is_upper(self) -> bool:
        return False

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return data.weight_unit * max(0, self.amount.at_least(data) - self.weight_of(graph, data))


class AtMostAmount(OfAmount, listed=False):
    """An upper bound on an amount."""

    alternatives: ClassVar[tuple[str, ...]] = ("at_most", "count", "fraction")

    @renamed(amount="at_most")
    def __init__(
        self,
        at_most: int | Fraction | float | None = None,
        *,
        count: int | None = None,
        fraction: Fraction | float | None = None,
    ) -> None:
        self.at_most = self._set(at_most, count, fraction)

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return data.weight_unit * max(0, self.weight_of(graph, data) - self.amount.at_most(data))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
