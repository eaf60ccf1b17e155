"""Terms of an objective that are no sums: a ratio of two sums, a loss of two counts, the largest of several, steps.

Each is minimised in parts that are sums (`treeform.solve.in_parts`), so that engines and solvers for sums serve it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.costs import Cost, SampleCost
from treeform.language.forms import Rows, Sum, values_of
from treeform.language.objective import Objective, Term
from treeform.language.ports import Ports
from treeform.language.requirement import Requirement
from treeform.model import Expr, Model
from treeform.shape import Shape


def cells_of(total: Sum, data: Dataset) -> tuple[np.ndarray, Fraction]:
    """(K, K) what a unit of weight adds to a sum, by true and predicted class; and its constant, in units of weight."""
    cells = np.full((data.n_classes, data.n_classes), Fraction(0))
    for part, weight in total.terms.items():
        assert not part.where and part.amount is None and part.per_test is None  # it counts all rows alike
        cells = cells + part.table.astype(object) * (weight / data.weight_unit)
    return cells, total.constant / data.weight_unit


def _values(sums: Iterable[Sum], graph: DecisionGraph, data: Dataset) -> list[Fraction]:
    """Sums of a model, in units of weight."""
    return [value / data.weight_unit for value in values_of(sums, graph, data)]


def sums_of(objective: Objective) -> tuple[tuple[Fraction, Term], ...]:
    """The terms that are sums, with their coefficients."""
    return tuple(item for item in objective.terms if item[1].is_sum)


def others_of(objective: Objective) -> tuple[tuple[Fraction, Term], ...]:
    """The terms that are no sums: one ratio, one loss of two counts, or terms with cases, once or more."""
    return tuple(item for item in objective.terms if not item[1].is_sum)


def cases_of(objective: Objective) -> tuple[tuple[Fraction, CasesTerm], ...]:
    """Those of them that are sums case by case."""
    return tuple((weight, term) for weight, term in others_of(objective) if isinstance(term, CasesTerm))


class UnstatedTerm(Term):
    """A term that no model for a solver states: it is minimised by solving for costs, again and again."""

    is_sum: ClassVar[bool] = False
    is_whole: ClassVar[bool] = False

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def build(self, model: Model, ports: Ports) -> Expr:
        raise SpecError(
            f"{self} is no part of a compiled objective",
            cause="it is minimised by solving for costs, again and again",
            fix="use problem.minimize(...) and problem.solve()",
        )


class RatioTerm(UnstatedTerm):
    """A ratio of two sums, ``numerator / denominator``, at least 0; the denominator is positive for every model."""

    @abstractmethod
    def numerator(self, rows: Rows) -> Sum:
        """Above the line."""

    @abstractmethod
    def denominator(self, rows: Rows) -> Sum:
        """Below the line."""

    @abstractmethod
    def least_denominator(self, data: Dataset) -> int:
        """The denominator of every model is at least this, which is positive."""

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        rows = Rows(data)
        above, below = _values((self.numerator(rows), self.denominator(rows)), graph, data)
        return above / below

    def at(self, data: Dataset, ratio: Fraction) -> tuple[Cost, Fraction]:
        """The question whether some model has a smaller ratio, as costs of predictions.

        Parameters
        ----------
        ratio : Fraction
            The value to compare with.

        Returns
        -------
        cost : Cost
            Costs by true and predicted class.
        c : Fraction
            A model has ``numerator - ratio * denominator >= 0`` exactly when its cost is at least c. The
            cost less c is that difference, times ``ratio.denominator`` and the weight's unit.
        """
        rows = Rows(data)
        sign = ratio.denominator * self.numerator(rows) - ratio.numerator * self.denominator(rows)
        cells, constant = cells_of(sign, data)
        least = cells.min(axis=1)  # costs are not negative
        constant += sum(m * int(w) for m, w in zip(least, data.class_weights, strict=True))
        return Cost((cells - least[:, None]).tolist()), -constant * data.weight_unit


class TwoCountTerm(UnstatedTerm):
    """A loss that depends on two counts x and y, such as false positives and false negatives, and grows with both.

    Attributes
    ----------
    turning : Fraction
        For every v up to here, the points of the rectangle with a loss of at least v form a convex set. So do their
        corners (X, 0) and (0, Y), which have at least this loss.
    """

    turning: ClassVar[Fraction]

    @abstractmethod
    def counts(self, rows: Rows) -> tuple[Sum, Sum]:
        """x and y: entries that are not negative, and no constant."""

    @abstractmethod
    def most(self, data: Dataset) -> tuple[int, int]:
        """The rectangle: x is at most X and y is at most Y."""

    @abstractmethod
    def loss(self, data: Dataset, x: Fraction, y: Fraction) -> Fraction:
        """The value at a point of the rectangle, whether or not a model has these counts.

        Parameters
        ----------
        x, y : Fraction
            The counts, in units of weight.
        """

    def point(self, graph: DecisionGraph, data: Dataset) -> tuple[int, int]:
        """The counts of a model.

        Returns
        -------
        x, y : int
            In units of weight.
        """
        x, y = map(int, _values(self.counts(Rows(data)), graph, data))
        return x, y

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        x, y = self.point(graph, data)
        return self.loss(data, Fraction(x), Fraction(y))

    def cost(self, data: Dataset, a: int, b: int) -> Cost:
        """``a x + b y`` as costs of predictions.

        Parameters
        ----------
        a, b : int
            Multipliers of the two counts, not negative.
        """
        x, y = self.counts(Rows(data))
        return Cost(cells_of(a * x + b * y, data)[0].tolist())


@dataclass(frozen=True)
class Case:
    """What a term is on some of the models: a sum, or an amount."""

    term: Term | None
    """The sum; None: 0."""
    rule: Requirement | None
    """Which models these are; None: all of the shape."""
    amount: Fraction = Fraction(0)
    """What is paid beside the sum."""


class CasesTerm(Term):
    """A term that is a sum or an amount case by case; each case costs its models no less than the term does."""

    is_sum: ClassVar[bool] = False
    nested: ClassVar[bool]
    """Whether every model of a case is one of all cases before it."""

    @abstractmethod
    def cases(self, data: Dataset, shape: Shape) -> Sequence[Case]:
        """The cases of the term.

        Parameters
        ----------
        data : Dataset
        shape : Tree or Diagram
            The shape of the models.

        Returns
        -------
        sequence of Case
            Every model of the shape belongs to at least one case that costs it what the term does.
        """

    def counted(self, data: Dataset) -> tuple[Term, int] | None:
        """A sum and what is free of it, where the amount is the sum's value beyond that, or 0; None where it is not."""
        return None


class LargestTerm(CasesTerm):
    """The largest of several sums."""

    needs: ClassVar[Set[str]] = frozenset({"predicted"})
    nested: ClassVar[bool] = False

    def cases(self, data: Dataset, shape: Shape) -> Sequence[Case]:
        return [Case(term, rule) for term, rule in self.members(data)]

    @abstractmethod
    def members(self, data: Dataset) -> Sequence[tuple[SampleCost | None, Requirement]]:
        """The sums, each with the requirement that no other one is larger; None stands for 0, and comes last."""

    def _sums(self, data: Dataset) -> list[SampleCost]:
        return [term for term, _ in self.members(data) if term is not None]

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return max(
            Fraction(0) if term is None else term.evaluate(graph, data) for term, _ in self.members(data)
        )

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1, math.lcm(*(term.unit(data).denominator for term in self._sums(data))))

    def build(self, model: Model, ports: Ports) -> Expr:
        # z >= each sum; it is minimised, so it is the largest one.
        unit = self.unit(ports.data)
        most = int(self.largest(ports.data, ports.shape) / unit)
        largest = model.integer(self.name, ub=most)
        for term in self._sums(ports.data):
            model.add(
                largest >= term.build(model, ports) * int(term.unit(ports.data) / unit),
                f"{self.name} >= {term}",
            )
        return largest

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        return max((Fraction(0), *(term.largest(data, shape) for term in self._sums(data))))


class SteppedTerm(CasesTerm):
    """What a model lacks of one of several nested requirements: the least amount among those that it satisfies."""

    nested: ClassVar[bool] = True

    def cases(self, data: Dataset, shape: Shape) -> Sequence[Case]:
        return [Case(None, rule, amount) for rule, amount in self.steps(data, shape)]

    @abstractmethod
    def steps(self, data: Dataset, shape: Shape) -> Sequence[tuple[Requirement | None, Fraction]]:
        """The requirements from the loosest to the tightest, each with the amount paid; None is any model of the shape.

        A model that satisfies one of them satisfies all before it, and the amounts fall to 0.
        """
