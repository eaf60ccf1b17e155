"""Losses of regression: leaves predict values, and samples pay for their distance from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.language.losses import LeafLoss, quantity_of
from treeform.language.ports import Ports
from treeform.model import Expr, Model, Quadratic, constant, sum_of_squares
from treeform.utils.arrays import Ints

SAFE = 2**62
"""Sums up to here are taken in int64."""


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

    def best(self, deviations: Ints, weights: Ints) -> Fraction:
        return Fraction(int(weights @ deviations), int(weights.sum()))

    def of_rows(self, deviations: Ints, weights: Ints, value: Fraction) -> Fraction:
        # sum w (d - p/q)^2 = (q^2 sum w d^2 - 2 p q sum w d + p^2 sum w) / q^2
        weight, total, squares = _sums(deviations, weights)
        p, q = value.numerator, value.denominator
        return Fraction(q * q * squares - 2 * p * q * total + p * p * weight, q * q)


@dataclass(frozen=True)
class AbsoluteError(LeafLoss):
    """Sum over samples of weight times the distance of the target from the value; the best value is the median.

    Of two medians the lower one is taken.

    Parameters
    ----------
    grid
        See `SquaredError`.

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

    def best(self, deviations: Ints, weights: Ints) -> Fraction:
        order = np.argsort(deviations, kind="stable")
        below = np.cumsum(weights[order])
        return Fraction(int(deviations[order][int(np.searchsorted(2 * below, below[-1]))]))

    def of_rows(self, deviations: Ints, weights: Ints, value: Fraction) -> Fraction:
        p, q = value.numerator, value.denominator
        largest = max(abs(int(deviations.max())), abs(int(deviations.min())))
        if max(abs(p), q * largest) * int(weights.sum()) < SAFE // 2:
            return Fraction(int((weights * np.abs(q * deviations - p)).sum()), q)
        pairs = zip(deviations.data, weights.data, strict=True)
        return Fraction(sum(w * abs(q * d - p) for d, w in pairs), q)


def _sums(deviations: Ints, weights: Ints) -> tuple[int, int, int]:
    """Sums of w, w d and w d^2, exactly."""
    high, low = _core.sum_of_squares(deviations, weights)
    return int(weights.sum()), int(weights @ deviations), (high << 64) + low
