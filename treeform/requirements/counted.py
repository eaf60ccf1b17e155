"""At most so many of something: what requirements that count have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from numbers import Integral
from typing import ClassVar

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.forms import Inequality, Rows, Sum
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import whole_number
from treeform.language.objective import Term
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Expr, Model
from treeform.requirements.amount import whole_bound
from treeform.shape import Shape


def whole_count(count: object, least: int, refused: str, example: str) -> int:
    """A whole number of at least ``least``; ``refused`` and ``example`` are the error's sentence and its remedy.

    Raises SpecError.
    """
    if isinstance(count, bool) or not isinstance(count, Integral) or count < least:
        raise SpecError(
            f"{refused} is not possible",
            cause=f"it is a whole number, at least {least}",
            fix=f"use for example {example}",
        )
    return int(count)


class AtMostNumber(Bounded):
    """What `measured` gives is at most ``at_most``. A subclass takes ``at_most`` and states the rows."""

    moves: ClassVar[str] = "at_most"
    at_most: int | Fraction

    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        return max(type(self.at_most)(0), self.measured(graph, data) - self.at_most)


class SumsAtMost(LinearRequirement, Bounded):
    """Each of some nonnegative sums over rows is at most ``at_most``."""

    moves: ClassVar[str] = "at_most"
    at_most: Fraction

    @abstractmethod
    def sums(self, rows: Rows) -> Iterable[Sum]:
        """What is bounded."""

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        for one in self.sums(rows):
            yield one <= self.at_most


class AtMost(AtMostNumber):
    """One that counts."""

    bare: ClassVar[tuple[str, ...]] = ("at_most",)
    counts: ClassVar[str]
    """What is counted, for tables and names of rows."""
    least: ClassVar[int] = 0
    """The smallest bound."""
    demands_tests: ClassVar[bool] = False
    at_most: int

    @property
    def bound_name(self) -> str:
        return self.counts

    @property
    def measure(self) -> str:
        return f"{{}} {self.counts}"

    def with_bound(self, bound: Value) -> Requirement:
        return super().with_bound(whole_bound(bound))

    def beyond(self, value: Value, data: Dataset) -> Value | None:
        return int(value) - 1 if value > self.least else None


class PayableAtMost(AtMost):
    """One whose excess can be paid: `number` states the count as an expression."""

    size: ClassVar[Term | None] = None
    """The term of an objective that counts the same, where there is one with a price per test."""

    def build(self, model: Model, ports: Ports) -> None:
        # number <= at_most
        if self.at_most < self.most(ports.data, ports.shape):
            model.add(self.number(model, ports) <= self.at_most, str(self))

    @abstractmethod
    def number(self, model: Model, ports: Ports) -> Expr:
        """What is counted, over the ports in `needs`: a scalar, or several of which the largest counts."""

    @abstractmethod
    def most(self, data: Dataset, shape: Shape) -> int:
        """No model of ``shape`` has more."""

    def steps(self, data: Dataset, shape: Shape) -> list[tuple[Requirement | None, Fraction]]:
        """From any model of the shape down to ``at_most``, each bound with what lies between; see `SteppedTerm`."""
        most = self.most(data, shape)
        bounds = range(most - 1, self.at_most - 1, -1)
        return [
            (None, Fraction(max(0, most - self.at_most))),
            *((self.with_bound(bound), Fraction(bound - self.at_most)) for bound in bounds),
        ]

    def slack_unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        return max(0, self.most(data, shape) - self.at_most)

    def slack(self, model: Model, ports: Ports) -> Expr:
        amount = whole_number(model, f"{self}: beyond", self.largest_slack(ports.data, ports.shape))
        model.add(amount >= self.number(model, ports) - self.at_most, f"{self}: {self.counts} beyond")
        return amount
