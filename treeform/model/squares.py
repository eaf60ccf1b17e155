"""Squares in objectives: an affine expression plus weighted squares of columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treeform.errors import ModelError
from treeform.model.csr import Floats, Ints
from treeform.model.expr import Expr, constant


@dataclass(frozen=True, eq=False)
class Squares:
    """``sum(vals * x[cols] ** 2)``; columns are distinct and sorted, weights positive, so that it is convex."""

    cols: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    vals: Floats = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.cols)

    def value(self, x: Any) -> float:
        """The sum at a point ``(n_cols,)``."""
        return float(self.vals @ np.asarray(x, dtype=np.float64)[self.cols] ** 2)


class Quadratic:
    """A scalar objective with squares of columns.

    Parameters
    ----------
    linear : Expr
        A scalar.
    """

    def __init__(self, linear: Expr, squares: Squares) -> None:
        self.linear = linear
        self.squares = squares

    def __mul__(self, factor: float) -> Quadratic:
        return Quadratic(self.linear * factor, Squares(self.squares.cols, self.squares.vals * factor))

    def __add__(self, other: Any) -> Quadratic:
        if isinstance(other, Quadratic):
            return Quadratic(self.linear + other.linear, _sum(self.squares, other.squares))
        return Quadratic(self.linear + other, self.squares)

    def coalesced(self) -> Quadratic:
        """The same with each column once."""
        return Quadratic(self.linear.coalesced(), self.squares)

    def value(self, x: Any) -> float:
        """The value at a point ``(n_cols,)``."""
        return float(np.asarray(self.linear.value(x))) + self.squares.value(x)


def sum_of_squares(expr: Expr, weights: Any) -> Quadratic:
    """``sum(weights * expr ** 2)`` of expressions with one column each.

    Raises ModelError if an entry has no column or several.

    Parameters
    ----------
    expr : Expr, shape (k,)
        Entries ``a + b x`` with one column x.
    """
    entries = expr.coalesced()
    weight = np.asarray(weights, dtype=np.float64)
    if not bool((entries.rows.lengths == 1).all()) or bool((weight <= 0).any()):
        raise ModelError(
            f"the squares of {expr.describe()} cannot be stated",
            cause="squares are of expressions with one column each, with positive weights",
            fix="declare a continuous column that equals the expression",
        )
    # w (a + b x)^2 = w b^2 x^2 + 2 w a b x + w a^2
    cols, factors, consts = entries.rows.cols, entries.rows.vals, entries.const
    plain = Expr(entries.shape, entries.rows, np.zeros(len(consts)), entries.owner, entries.name)
    linear = (plain * (2 * weight * consts)).sum() + constant(float(weight @ consts**2))
    return Quadratic(linear, _sum(Squares(cols, weight * factors**2), Squares()))


def _sum(a: Squares, b: Squares) -> Squares:
    cols, place = np.unique(np.concatenate([a.cols, b.cols]), return_inverse=True)
    vals = np.zeros(len(cols))
    np.add.at(vals, place.reshape(-1), np.concatenate([a.vals, b.vals]))
    return Squares(cols, vals)
