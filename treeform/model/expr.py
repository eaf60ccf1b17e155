"""Arrays of affine expressions: one Python object for a whole family of rows.

An :class:`Expr` of shape ``S`` holds, for each of its entries, the terms ``(column, coefficient)`` of an
affine expression and a constant. Terms lie in three flat arrays (COO triples sorted by entry, the entries
compressed to row starts), so that a family of a million rows costs a handful of NumPy calls. Shapes broadcast
as in NumPy. A comparison of two gives a :class:`Relation`, which a model stores as rows. A :class:`Quadratic` has
multiples of squares of columns beside them, for an objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import numpy as np

from treeform.errors import ModelError
from treeform.model import csr
from treeform.model.array import AffineArray, Owner, normalise_axes
from treeform.model.columns import as_constant
from treeform.model.csr import Rows
from treeform.model.text import matmul_error, shape_error, strict_error
from treeform.utils.arrays import Floats, Ints

Sense = Literal["<=", ">=", "=="]


class Expr(AffineArray):
    """An immutable array of affine expressions over the columns of one model.

    Expressions come from :meth:`Model.bool`, :meth:`Model.integer` and :meth:`Model.continuous` and from
    arithmetic; the constructor is for treeform itself.

    Attributes
    ----------
    shape : tuple of int
    rows : Rows
        Terms of the entries in C order. Equal columns may repeat in an entry until they are summed or stored.
    const : ndarray of float64, shape (size,)
        The constants.
    name : str or None
        Used in error messages.
    """

    __slots__ = ()
    # With these, ndarray defers to the reflected operators below.
    __array_ufunc__ = None
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    # -- arithmetic ------------------------------------------------------------------------------------------

    def __neg__(self) -> Expr:
        return self._scaled(-1.0)

    def __pos__(self) -> Expr:
        return self

    def __invert__(self) -> Expr:
        """``1 - e``: the negation of 0/1 expressions."""
        out = 1.0 - self
        return out.named(None if self.name is None else f"~{self.name}")

    def __add__(self, other: Any) -> Expr:
        return _sum(self, self._other(other), 1.0)

    def __radd__(self, other: Any) -> Expr:
        return _sum(self._other(other), self, 1.0)

    def __sub__(self, other: Any) -> Expr:
        return _sum(self, self._other(other), -1.0)

    def __rsub__(self, other: Any) -> Expr:
        return _sum(self._other(other), self, -1.0)

    def __mul__(self, other: Any) -> Expr:
        other = self._other(other)
        if self.n_terms and other.n_terms:
            raise ModelError(
                f"{self.describe()} * {other.describe()} is not linear",
                cause="both factors hold variables",
                fix="state the product of 0/1 variables by rows: p <= a, p <= b, p >= a + b - 1",
            )
        factor, expr = (other, self) if not other.n_terms else (self, other)
        shape = _common_shape(self, other)
        out = expr.broadcast_to(shape)._scaled(factor.broadcast_to(shape).const)
        return Expr(out.shape, out.rows, out.const, self.owner or other.owner, expr.name)

    def __rmul__(self, other: Any) -> Expr:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Expr:
        divisor = self._other(other)
        if divisor.n_terms or not bool(divisor.const.all()):
            raise ModelError(
                f"{self.describe()} cannot be divided by {divisor.describe()}",
                cause="a divisor is a number or an array of numbers other than 0",
                fix="multiply the other side of the relation instead",
            )
        return self * Expr(divisor.shape, divisor.rows, 1.0 / divisor.const, None)

    def _other(self, other: Any) -> Expr:
        """The other operand; an unusable one is reported with this one's name."""
        try:
            return as_expr(other)
        except ModelError as error:
            what = f"{error.what}, in arithmetic with {self.describe()}"
            raise ModelError(what, cause=error.cause, fix=error.fix) from None

    def _scaled(self, factor: Any) -> Expr:
        """Entries times ``factor``, a number or one number per entry."""
        rows, const = self.rows, self.const * factor
        if np.ndim(factor) == 0:
            out = Rows(rows.indptr, rows.cols, rows.vals * factor)
        else:
            out = Rows(rows.indptr, rows.cols, rows.vals * np.repeat(factor, rows.lengths))
        nonzero = out.vals != 0.0
        if not bool(nonzero.all()):
            out = csr.keep_terms(out, nonzero)
        return Expr(self.shape, out, const, self.owner, self.name)

    def __matmul__(self, other: Any) -> Expr:
        """``e @ A`` with a constant array or sparse matrix ``A``."""
        matrix = _matrix(other, self)
        if self.ndim == 1:
            return _product(matrix.T, self)
        if self.ndim != 2:
            raise matmul_error(self.describe(), other)
        return _product(matrix.T, self.T).T

    def __rmatmul__(self, other: Any) -> Expr:
        """``A @ e`` with a constant array or sparse matrix ``A``."""
        return _product(_matrix(other, self), self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        # A scalar object array: NumPy and SciPy then do not unpack the entries one by one but defer.
        out = np.empty((), dtype=object)
        out[()] = self
        return out

    def sum(self, axis: int | tuple[int, ...] | None = None, *, dtype: None = None, out: None = None) -> Expr:
        """Sum over one axis, several, or all; equal columns are added up.

        Parameters
        ----------
        axis : int, tuple of int or None
            None sums everything to a scalar expression.
        dtype, out : None
            Accepted so that ``np.sum(e)`` works; leave them alone.
        """
        axes = tuple(range(self.ndim)) if axis is None else normalise_axes(axis, self.ndim, self.describe())
        rest = tuple(a for a in range(self.ndim) if a not in axes)
        shape = tuple(self.shape[a] for a in rest)
        count = int(np.prod([self.shape[a] for a in axes]))
        moved = self if (*rest, *axes) == tuple(range(self.ndim)) else self.transpose((*rest, *axes))
        size = int(np.prod(shape))
        starts = moved.rows.indptr[np.arange(size + 1) * count]
        rows = csr.coalesce(Rows(starts, moved.rows.cols, moved.rows.vals))
        return Expr(shape, rows, moved.const.reshape(size, count).sum(axis=1), self.owner, self.name)

    # -- relations -------------------------------------------------------------------------------------------

    def __le__(self, other: Any) -> Relation:
        return Relation(self - other, "<=")

    def __ge__(self, other: Any) -> Relation:
        return Relation(self - other, ">=")

    def __eq__(self, other: Any) -> Relation:  # type: ignore[override]
        return Relation(self - other, "==")

    def __ne__(self, other: Any) -> Any:
        raise strict_error("!=")

    def __lt__(self, other: Any) -> Any:
        raise strict_error("<")

    def __gt__(self, other: Any) -> Any:
        raise strict_error(">")


@dataclass(frozen=True, eq=False)
class Relation:
    """``expr (sense) 0`` for each entry of ``expr``.

    Parameters
    ----------
    expr : Expr
        Left side minus right side, broadcast.
    """

    expr: Expr
    sense: Sense

    @property
    def shape(self) -> tuple[int, ...]:
        return self.expr.shape

    def __bool__(self) -> NoReturn:
        raise ModelError(
            "a comparison of expressions has no truth value",
            cause="it states rows for the solver; its truth is known only after solving",
            fix="pass it to model.add(...); write a chain a <= e <= b as two comparisons",
        )

    def __repr__(self) -> str:
        return f"Relation({self.expr!r} {self.sense} 0)"


def constant(values: Any, name: str | None = None) -> Expr:
    """An expression array without variables.

    Parameters
    ----------
    values : array-like of finite numbers
        Of any shape, which is that of the expression.
    name : str, optional
        Used in error messages.
    """
    array = as_constant(values, name)
    empty = Rows(np.zeros(array.size + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Expr(array.shape, empty, array.flatten(), None, name)


def common_owner(*exprs: Expr) -> Owner | None:
    """The one model that owns the columns of all expressions. Raises ModelError if columns of two models meet."""
    owner: Owner | None = None
    for expr in exprs:
        if owner is not None and expr.owner is not None and expr.owner is not owner:
            raise ModelError(
                f"{exprs[0].describe()} and {expr.describe()} belong to different models",
                cause="an expression may only hold columns of one model",
                fix="declare all variables on the model that the rows are added to",
            )
        owner = owner if expr.owner is None else expr.owner
    return owner


def as_expr(other: Any) -> Expr:
    """``other`` itself if it is an expression, else a constant."""
    return other if isinstance(other, Expr) else constant(other)


def _common_shape(a: Expr, b: Expr) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise shape_error(a.describe(), b.describe()) from None


def _sum(a: Expr, b: Expr, sign: float) -> Expr:
    owner = common_owner(a, b)
    shape = _common_shape(a, b)
    name = a.name if not b.n_terms else b.name if not a.n_terms else None
    left, right = a.broadcast_to(shape), b.broadcast_to(shape)
    terms = right.rows if sign > 0 else Rows(right.rows.indptr, right.rows.cols, -right.rows.vals)
    return Expr(shape, csr.add_rows(left.rows, terms), left.const + sign * right.const, owner, name)


def _matrix(other: Any, expr: Expr) -> Any:
    if isinstance(other, Expr):
        raise ModelError(
            f"{other.describe()} @ {expr.describe()} is not linear",
            cause="both factors of the product are expressions",
            fix="one factor of @ must be a plain array",
        )
    from scipy.sparse import issparse

    if not issparse(other):
        return as_constant(other, None)
    as_constant(other.data, None)
    return other


def _product(a: Any, e: Expr) -> Expr:
    """``a @ e`` with a constant ``a`` of one or two dimensions."""
    if a.ndim not in (1, 2) or e.ndim not in (1, 2) or a.shape[-1] != e.shape[0]:
        raise matmul_error(e.describe(), a)
    matrix = a if a.ndim == 2 else a.reshape(1, -1)
    width = 1 if e.ndim == 1 else e.shape[1]
    rows = csr.multiply(matrix, e.rows, width)
    const = np.asarray(matrix @ e.const.reshape(e.shape[0], width), dtype=np.float64).ravel()
    return Expr((*a.shape[:-1], *e.shape[1:]), rows, const, e.owner, e.name)


__all__ = ["concatenate", "stack"]


def concatenate(parts: Sequence[Any], axis: int = 0) -> Expr:
    """Join along an existing axis, as ``numpy.concatenate``.

    Raises ModelError if the list is empty or the shapes do not agree.

    Parameters
    ----------
    parts : sequence of Expr or array-like
        At least one; shapes agree except along ``axis``.
    """
    exprs = [as_expr(part) for part in parts]
    if not exprs:
        raise ModelError(
            "nothing to join", cause="the list of expressions is empty", fix="pass at least one expression"
        )
    # NumPy joins the positions, so that its rules on shapes hold and one gather does the work.
    offsets = np.cumsum([0, *(e.size for e in exprs)])
    places = [
        np.arange(off, off + e.size, dtype=np.int64).reshape(e.shape)
        for e, off in zip(exprs, offsets[:-1], strict=True)
    ]
    try:
        index = np.concatenate(places, axis=axis)
    except ValueError as error:
        raise ModelError(
            "shape mismatch: " + " against ".join(e.describe() for e in exprs[:4]),
            cause=str(error),
            fix="bring the parts to the same shape except along the axis of joining",
        ) from None
    rows = csr.concatenate_rows([e.rows for e in exprs])
    const = np.concatenate([e.const for e in exprs])
    names = {e.name for e in exprs}
    joined = Expr((len(const),), rows, const, common_owner(*exprs), names.pop() if len(names) == 1 else None)
    return joined[index]


def stack(parts: Sequence[Any], axis: int = 0) -> Expr:
    """Join along a new axis, as ``numpy.stack``.

    Parameters
    ----------
    parts : sequence of Expr, array or number
        All of one shape.
    axis : int
        The place of the new axis in the shape of the result.
    """
    exprs = [as_expr(part) for part in parts]
    return concatenate([e[_new_axis(axis, e.ndim)] for e in exprs], axis=axis)


def _new_axis(axis: int, ndim: int) -> tuple[Any, ...]:
    place = axis + ndim + 1 if axis < 0 else axis
    if not 0 <= place <= ndim:
        raise ModelError(
            f"axis {axis} is not possible in stack",
            cause=f"the parts have {ndim} dimensions",
            fix=f"use an axis from {-ndim - 1} to {ndim}",
        )
    return (*[slice(None)] * place, None)


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
            return Quadratic(self.linear + other.linear, _sum_of_squares(self.squares, other.squares))
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
    return Quadratic(linear, _sum_of_squares(Squares(cols, weight * factors**2), Squares()))


def _sum_of_squares(a: Squares, b: Squares) -> Squares:
    cols, place = np.unique(np.concatenate([a.cols, b.cols]), return_inverse=True)
    vals = np.zeros(len(cols))
    np.add.at(vals, place.reshape(-1), np.concatenate([a.vals, b.vals]))
    return Squares(cols, vals)
