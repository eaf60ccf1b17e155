"""Losses of values at leaves: samples pay for their distance from the value of their leaf."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from treeform.data import Dataset
from treeform.data.exact import AUTO
from treeform.data.quantity import Quantity
from treeform.data.views import chunks
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.numbers import as_fraction
from treeform.language.objective import Objective, Term
from treeform.language.objective_text import only, settings_in
from treeform.language.requirement import Requirement
from treeform.shape import UNIVARIATE, Shape, Tree
from treeform.utils.arrays import Ints

L = TypeVar("L", bound="LeafLoss")
EXACT = "exact"
"""In texts: no grid."""


@dataclass(frozen=True)
class LeafLoss(Term):
    """A loss of values at leaves.

    Parameters
    ----------
    grid : number, "auto" or None
        Targets are rounded to multiples of it; with "auto" only where they have too many digits to be added exactly,
        to as many as there is room for. With None ("exact" in texts) they are refused then. What was rounded is in
        the notes, and the grid in the certificate.
    """

    grid: Any = AUTO
    needs: ClassVar[Set[str]] = frozenset({"value"})
    is_whole: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    kind: ClassVar[Literal["squared", "absolute"]]

    def __post_init__(self) -> None:
        if self.grid is None or (isinstance(self.grid, str) and self.grid in (AUTO, EXACT)):
            object.__setattr__(self, "grid", AUTO if self.grid == AUTO else None)
            return
        grid = as_fraction(self.grid, f"the grid of {self.name}")
        if grid <= 0:
            raise SpecError(
                f"the grid of {self.name} is {grid}",
                cause="it has to be positive",
                fix="use for example 0.001",
            )
        object.__setattr__(self, "grid", grid)

    def reading(self, data: Dataset) -> Dataset:
        if data.options.abstain is not None:
            raise SpecError(
                f"a model cannot abstain under {self.name}",
                cause="abstaining is a class, and the leaves of a regression model hold values",
                fix="leave out abstain",
            )
        return data.as_quantity(self.grid) if data.quantity is None else data

    def bind(self: L, data: Dataset, **context: Any) -> L:
        if self.grid != AUTO:
            return self
        quantity = quantity_of(data, self)
        return replace(self, grid=quantity.unit) if quantity.note else self

    def evaluate(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        quantity = quantity_of(data, self)
        leaf = graph.apply(data.X)
        total = Fraction(0)
        for part in chunks(len(leaf), 32):
            deviations, weights = quantity.deviations[part], data.weights[part]
            for node in np.flatnonzero(np.bincount(leaf[part])).tolist():
                value, here = quantity.in_units(graph.values[graph.label[node]]), leaf[part] == node
                total += self.of_rows(deviations[here], weights[here], value)
        return total * self.per_unit(data)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if shape.splits == UNIVARIATE:
            return None
        what = "trees" if isinstance(shape, Tree) else "diagrams"
        return SpecError(
            f"{self} cannot be minimised over {what} of hyperplanes",
            cause="the searches and rows for regression models are over tests of one column",
            fix="use splits='univariate'",
        )

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        """The loss of the best constant: models with the best values have no more."""
        return self.of_best(data, np.arange(data.n_samples)) * self.per_unit(data)

    def of_best(self, data: Dataset, rows: Ints) -> Fraction:
        """The least loss of one value for some rows.

        Parameters
        ----------
        data : Dataset
        rows : (m,) int64 array
            The positions of these rows.

        Returns
        -------
        Fraction
            In the whole numbers of `per_unit`.
        """
        quantity = quantity_of(data, self)
        deviations, weights = quantity.deviations[rows], data.weights[rows]
        return self.of_rows(deviations, weights, self.best(deviations, weights))

    def best_value(self, data: Dataset, rows: Ints) -> Fraction:
        """The value with the least loss for some rows, exactly.

        Parameters
        ----------
        data, rows
            As for `of_best`.

        Returns
        -------
        Fraction
            In the units of the target.
        """
        quantity = quantity_of(data, self)
        return quantity.to_value(self.best(quantity.deviations[rows], data.weights[rows]))

    @abstractmethod
    def per_unit(self, data: Dataset) -> Fraction:
        """The size of one unit of the whole numbers below."""

    @abstractmethod
    def best(self, deviations: Ints, weights: Ints) -> Fraction:
        """The best deviation to predict for some rows.

        Parameters
        ----------
        deviations : (m,) int array
            Their targets less the centre, in units of the quantity.
        weights : (m,) int array
            Their weights, in units of weight.
        """

    @abstractmethod
    def of_rows(self, deviations: Ints, weights: Ints, value: Fraction) -> Fraction:
        """The loss of one prediction for some rows, in the whole numbers of `per_unit`.

        Parameters
        ----------
        deviations, weights : (m,) int arrays
            As for `best`.
        value : Fraction
            The predicted deviation.
        """

    @classmethod
    def from_text(cls, inside: str | None) -> LeafLoss:
        given = only(settings_in(inside, cls.name), ("grid",), cls.name)
        return cls(given.get("grid", AUTO))

    def __str__(self) -> str:
        return self.name if self.grid == AUTO else f"{self.name}[grid={self.grid or EXACT}]"


def quantity_of(data: Dataset, term: Term) -> Quantity:
    """The target as a quantity. Raises SpecError if it was read as classes."""
    if data.quantity is None:
        raise SpecError(
            f"{term.name} needs a quantity as the target",
            cause="the data were read with classes",
            fix="use tf.Problem(...).minimize(...), which reads the target as the objective needs it",
        )
    return data.quantity


def leaf_loss(objective: Objective) -> tuple[Fraction, LeafLoss] | None:
    """The loss of values at leaves and its coefficient; None where leaves hold classes."""
    return next(((weight, term) for weight, term in objective.terms if isinstance(term, LeafLoss)), None)


def loss_of(objective: Objective) -> tuple[Fraction, LeafLoss]:
    """The loss of a regression problem and its coefficient."""
    found = leaf_loss(objective)
    assert found is not None
    return found


def without_tests(objective: Objective) -> Objective:
    """The objective without the prices of tests and leaves."""
    return Objective(item for item in objective.terms if not item[1].of_size)


def goal_of_any_model(objective: Objective) -> Objective:
    """What to minimise where any admissible model will do: nothing, but a loss says that leaves hold values."""
    return Objective(()) if leaf_loss(objective) is None else objective


def has_whole_values(objective: Objective) -> bool:
    """Whether the best values of leaves are whole multiples of the target's unit."""
    return any(term.has_whole_values for _, term in objective.terms)


def constant_models(objective: Objective, data: Dataset) -> Iterator[DecisionGraph]:
    """The models without a test: of the best value, or of each class, the most frequent one first."""
    found = leaf_loss(objective)
    if found is not None:
        yield DecisionGraph.constant(found[1].best_value(data, np.arange(data.n_samples)), data)
        return
    for label in np.argsort(-data.class_weights, kind="stable").tolist():
        yield DecisionGraph.leaf(label, data)


def check_leaves(objective: Objective, requirements: Iterable[Requirement]) -> None:
    """Refuse requirements that read classes where leaves hold values. Raises SpecError naming the requirement."""
    if leaf_loss(objective) is None:
        return
    for requirement in requirements:
        if not requirement.of_values:
            raise SpecError(
                f"{requirement} cannot be required under {objective}",
                cause="it speaks of predicted classes, and the leaves of a regression model hold values",
                fix="leave it out; MinSupport, Stability, MaxNodes, FeatureBudget and NoTestOn bound regression "
                "models, Monotone and MeanParity their values",
            )
