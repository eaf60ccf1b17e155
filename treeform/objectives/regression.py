"""Losses of regression: leaves predict values, and samples pay for their distance from them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from treeform.data.exact import AUTO
from treeform.data.quantity import Quantity
from treeform.errors import SpecError
from treeform.language.numbers import as_fraction
from treeform.language.objective import Term
from treeform.language.objective_text import settings_in
from treeform.model import constant, sum_of_squares
from treeform.objectives.settings import only

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model, Quadratic
    from treeform.shape import Shape

L = TypeVar("L", bound="LeafLoss")
EXACT = "exact"
"""In texts: no grid."""
SAFE = 2**62
"""Sums up to here are taken in int64."""


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
        """The data with the target as a quantity; see `Term.reading`."""
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
        for node in np.flatnonzero(np.bincount(leaf)).tolist():
            value = quantity.in_units(graph.values[graph.label[node]])
            total += self.of_rows(quantity.deviations, data.weights, np.flatnonzero(leaf == node), value)
        return total * self.per_unit(data)

    def unit(self, data: Dataset) -> Fraction:
        return Fraction(1)

    def largest(self, data: Dataset, shape: Shape) -> Fraction:
        """The loss of the best constant: models with the best values have no more."""
        return self.of_best(data, np.arange(data.n_samples)) * self.per_unit(data)

    def of_best(self, data: Dataset, rows: NDArray[np.int64]) -> Fraction:
        """The least loss of one value for these rows, as `per_unit` counts."""
        quantity = quantity_of(data, self)
        value = self.best(quantity.deviations, data.weights, rows)
        return self.of_rows(quantity.deviations, data.weights, rows, value)

    def best_value(self, data: Dataset, rows: NDArray[np.int64]) -> Fraction:
        """The value with the least loss for these rows, exactly."""
        quantity = quantity_of(data, self)
        return quantity.to_value(self.best(quantity.deviations, data.weights, rows))

    @abstractmethod
    def per_unit(self, data: Dataset) -> Fraction:
        """The size of one unit of the whole numbers below."""

    @abstractmethod
    def best(
        self, deviations: NDArray[np.int64], weights: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Fraction:
        """The best deviation to predict."""

    @abstractmethod
    def of_rows(
        self,
        deviations: NDArray[np.int64],
        weights: NDArray[np.int64],
        rows: NDArray[np.int64],
        value: Fraction,
    ) -> Fraction:
        """The loss of predicting this deviation."""

    @classmethod
    def from_text(cls, inside: str | None) -> LeafLoss:
        given = only(settings_in(inside, cls.name), ("grid",), cls.name)
        return cls(given.get("grid", AUTO))

    def __str__(self) -> str:
        return self.name if self.grid == AUTO else f"{self.name}[grid={self.grid or EXACT}]"


def quantity_of(data: Dataset, term: Term) -> Quantity:
    """The target as a quantity.

    Raises
    ------
    SpecError
        If it was read as classes.
    """
    if data.quantity is None:
        raise SpecError(
            f"{term.name} needs a quantity as the target",
            cause="the data were read with classes",
            fix="use tf.Problem(...).minimize(...), which reads the target as the objective needs it",
        )
    return data.quantity


@dataclass(frozen=True)
class SquaredError(LeafLoss):
    """Sum over samples of weight times the square of target less value; the best value of a leaf is the mean.

    Parameters
    ----------
    grid : number, "auto" or None
        Targets are rounded to multiples of it; with "auto" only where they have too many digits to be added exactly.
        With None they are refused then.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[0], [1], [2]], [1.5, 1.0, 4.0], shape=tf.Tree(1)).minimize(tf.SquaredError())
    >>> problem.solve().objective
    Fraction(1, 8)
    """

    name: ClassVar[str] = "squared_error"
    kind: ClassVar[Literal["squared", "absolute"]] = "squared"
    is_squared: ClassVar[bool] = True

    def build(self, model: Model, ports: Ports) -> Quadratic:
        # sum_i w_i (d_i - p_i)^2, where samples of one point have one prediction p and weights W, sums S, squares Q:
        # sum over points of  W (p - S / W)^2  +  sum over points of  Q - S^2 / W
        quantity, points = quantity_of(ports.data, self), ports.points
        weight, total, squares = np.zeros((3, points.n_points))
        np.add.at(weight, points.index, ports.weights)
        np.add.at(total, points.index, ports.weights * quantity.deviations)
        np.add.at(squares, points.index, ports.weights * quantity.deviations.astype(np.float64) ** 2)
        _, first = np.unique(points.index, return_index=True)
        within = constant(float((squares - total**2 / weight).sum()))
        spread = sum_of_squares(ports.value[first] - total / weight, weight)
        return (spread + within) * float(self.per_unit(ports.data))

    def per_unit(self, data: Dataset) -> Fraction:
        return quantity_of(data, self).unit ** 2 * data.weight_unit

    def best(
        self, deviations: NDArray[np.int64], weights: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Fraction:
        local = weights[rows]
        return Fraction(int(local @ deviations[rows]), int(local.sum()))

    def of_rows(
        self,
        deviations: NDArray[np.int64],
        weights: NDArray[np.int64],
        rows: NDArray[np.int64],
        value: Fraction,
    ) -> Fraction:
        # sum w (d - p/q)^2 = (q^2 sum w d^2 - 2 p q sum w d + p^2 sum w) / q^2
        weight, total, squares = _sums(deviations[rows], weights[rows])
        p, q = value.numerator, value.denominator
        return Fraction(q * q * squares - 2 * p * q * total + p * p * weight, q * q)


@dataclass(frozen=True)
class AbsoluteError(LeafLoss):
    """Sum over samples of weight times the distance of the target from the value; the best value is the median.

    Of two medians the lower one is taken.

    Parameters
    ----------
    grid : number, "auto" or None
        As in `SquaredError`.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[0], [1], [2]], [1.5, 1.0, 4.0], shape=tf.Tree(1)).minimize(tf.AbsoluteError())
    >>> problem.solve().objective
    Fraction(1, 2)
    """

    name: ClassVar[str] = "absolute_error"
    kind: ClassVar[Literal["squared", "absolute"]] = "absolute"
    has_whole_values: ClassVar[bool] = True

    def unit(self, data: Dataset) -> Fraction:
        """Of models whose values are whole multiples of the target's unit."""
        return self.per_unit(data)

    def build(self, model: Model, ports: Ports) -> Expr:
        # |d_i - p_i| is the least r_i with  r_i >= d_i - p_i,  r_i >= p_i - d_i;  equal rows of equal target once
        quantity = quantity_of(ports.data, self)
        of_sample = np.column_stack([ports.points.index, quantity.deviations])
        _, first, group = np.unique(of_sample, axis=0, return_index=True, return_inverse=True)
        weight = np.zeros(len(first), dtype=np.int64)
        np.add.at(weight, group.reshape(-1), ports.weights)
        deviations = quantity.deviations[first]
        residual = model.integer("residual", len(first), 0, quantity.highest - quantity.lowest)
        predicted = ports.value[first]
        model.add(residual >= deviations - predicted, "residuals of samples above their value")
        model.add(residual >= predicted - deviations, "residuals of samples below their value")
        return (residual * weight).sum()

    def per_unit(self, data: Dataset) -> Fraction:
        return quantity_of(data, self).unit * data.weight_unit

    def best(
        self, deviations: NDArray[np.int64], weights: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> Fraction:
        order = np.argsort(deviations[rows], kind="stable")
        below = np.cumsum(weights[rows][order])
        return Fraction(int(deviations[rows][order][int(np.searchsorted(2 * below, below[-1]))]))

    def of_rows(
        self,
        deviations: NDArray[np.int64],
        weights: NDArray[np.int64],
        rows: NDArray[np.int64],
        value: Fraction,
    ) -> Fraction:
        p, q = value.numerator, value.denominator
        local = deviations[rows]
        if (
            max(abs(p), q * max(abs(int(local.max())), abs(int(local.min())))) * int(weights[rows].sum())
            < SAFE // 2
        ):
            return Fraction(int((weights[rows] * np.abs(q * local - p)).sum()), q)
        pairs = zip(local.tolist(), weights[rows].tolist(), strict=True)
        return Fraction(sum(w * abs(q * d - p) for d, w in pairs), q)


def _sums(deviations: NDArray[np.int64], weights: NDArray[np.int64]) -> tuple[int, int, int]:
    """Sums of w, w d and w d^2, exactly."""
    largest = int(np.abs(deviations).max())
    weighted = weights * deviations
    weight, total = int(weights.sum()), int(weighted.sum())
    if largest * largest * weight < SAFE:
        return weight, total, int(weighted @ deviations)
    pairs = zip(deviations.tolist(), weights.tolist(), strict=True)
    return weight, total, sum(w * d * d for d, w in pairs)
