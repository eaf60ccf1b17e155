"""Arrays of affine expressions: one Python object for a whole family of rows.

An :class:`Expr` of shape ``S`` holds, for each of its entries, the terms ``(column, coefficient)`` of an
affine expression and a constant. Terms lie in three flat arrays (COO triples sorted by entry, the entries
compressed to row starts), so that a family of a million rows costs a handful of NumPy calls. Shapes broadcast
as in NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from treeform.errors import ModelError
from treeform.model import csr
from treeform.model.constants import as_constant
from treeform.model.csr import Bools, Floats, Ints, Rows
from treeform.model.relation import Relation
from treeform.model.text import affine_text, matmul_error, shape_error, strict_error

#: Codes of constant entries among signed literals: see :meth:`Expr.literal_codes`.
FALSE = 0
TRUE = int(np.iinfo(np.int64).max)


class Owner(Protocol):
    """What an expression needs to know about the model that owns its columns."""

    @property
    def is_binary(self) -> Bools: ...

    def column_name(self, col: int) -> str: ...

    def variables_in(self, cols: Ints) -> list[str]: ...


class Expr:
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

    __slots__ = ("const", "name", "owner", "rows", "shape")
    # With these, ndarray defers to the reflected operators below.
    __array_ufunc__ = None
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: tuple[int, ...], rows: Rows, const: Floats, owner: Owner | None, name: str | None = None
    ) -> None:
        self.shape = shape
        self.rows = rows
        self.const = const
        self.owner = owner
        self.name = name

    # -- shape -----------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        return len(self.const)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def n_terms(self) -> int:
        """Number of stored terms over all entries."""
        return len(self.rows.cols)

    @property
    def T(self) -> Expr:
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a scalar expression")
        return self.shape[0]

    def __iter__(self) -> Iterator[Expr]:
        return (self[i] for i in range(len(self)))

    def named(self, name: str | None) -> Expr:
        """The same expressions under a name that error messages use."""
        return Expr(self.shape, self.rows, self.const, self.owner, name)

    def reshape(self, *shape: Any) -> Expr:
        """As ``ndarray.reshape`` in C order; one length may be -1."""
        target = _shape_argument(shape)
        known = int(np.prod([s for s in target if s != -1]))
        if target.count(-1) == 1 and known and self.size % known == 0:
            target = tuple(self.size // known if s == -1 else s for s in target)
        if min(target, default=0) < 0 or int(np.prod(target)) != self.size:
            raise ModelError(
                f"{self.describe()} cannot be reshaped to {tuple(target)}",
                cause=f"it has {self.size} entries",
                fix="give a shape with as many entries",
            )
        return Expr(target, self.rows, self.const, self.owner, self.name)

    def ravel(self) -> Expr:
        """The entries in C order, one dimension."""
        return self.reshape(self.size)

    def transpose(self, *axes: Any) -> Expr:
        """As ``ndarray.transpose``."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else (axes or None)
        if self.ndim < 2 and order is None:
            return self
        return self._gather(self._positions().transpose(order))

    def broadcast_to(self, shape: tuple[int, ...]) -> Expr:
        """As ``numpy.broadcast_to``; repeated entries share nothing but their meaning."""
        if shape == self.shape:
            return self
        try:
            index = np.broadcast_to(self._positions(), shape)
        except ValueError:
            raise shape_error(self.describe(), f"the shape {shape}") from None
        return self._gather(index)

    def __getitem__(self, key: Any) -> Expr:
        try:
            index = self._positions()[key]
        except IndexError as error:
            raise IndexError(f"{self.describe()}: {error}") from None
        return self._gather(np.asarray(index))

    def _positions(self) -> Ints:
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def _gather(self, index: Ints) -> Expr:
        flat = index.ravel()
        return Expr(index.shape, csr.take_rows(self.rows, flat), self.const[flat], self.owner, self.name)

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
        axes = tuple(range(self.ndim)) if axis is None else normalise_axes(axis, self)
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

    # -- reading ---------------------------------------------------------------------------------------------

    def coalesced(self) -> Expr:
        """The same expressions, each column at most once per entry, sorted, no zero coefficients."""
        return Expr(self.shape, csr.coalesce(self.rows), self.const, self.owner, self.name)

    def value(self, x: Any) -> Floats:
        """Evaluate at a point.

        Parameters
        ----------
        x : array of float, shape (n_cols,)
            A value for each column of the model.

        Returns
        -------
        ndarray of float64, of the expression's shape
        """
        point = np.asarray(x, dtype=np.float64)
        out = csr.as_matrix(self.rows, len(point)) @ point + self.const
        return np.asarray(out, dtype=np.float64).reshape(self.shape)

    def literal_codes(self) -> Ints:
        """Signed literals ``+-(col + 1)`` and the constants ``FALSE`` (0) and ``TRUE``, flat (size,).

        Raises
        ------
        ModelError
            If an entry is anything but a 0/1 column, one minus a 0/1 column, 0 or 1.
        """
        rows = csr.coalesce(self.rows)
        length = rows.lengths
        codes = np.where(self.const == 1.0, TRUE, FALSE).astype(np.int64)
        good = (length == 0) & ((self.const == 0.0) | (self.const == 1.0))
        single = length == 1
        at = rows.indptr[:-1][single]
        cols, vals, const = rows.cols[at], rows.vals[at], self.const[single]
        binary = self.owner.is_binary[cols] if self.owner is not None else np.zeros(len(cols), bool)
        positive = (vals == 1.0) & (const == 0.0)
        codes[single] = np.where(positive, cols + 1, -cols - 1)
        good[single] = binary & (positive | ((vals == -1.0) & (const == 1.0)))
        if not bool(good.all()):
            raise self._literal_error(int(np.argmin(good)))
        return codes

    def as_literals(self) -> Ints:
        """Signed literals ``+(col + 1)`` for a 0/1 column, ``-(col + 1)`` for one minus it, in this shape.

        Raises
        ------
        ModelError
            If an entry is anything else.
        """
        codes = self.literal_codes()
        constant = (codes == FALSE) | (codes == TRUE)
        if bool(constant.any()):
            raise self._literal_error(int(np.argmax(constant)))
        return codes.reshape(self.shape)

    def _literal_error(self, entry: int) -> ModelError:
        where = tuple(int(i) for i in np.unravel_index(entry, self.shape)) if self.shape else ()
        return ModelError(
            f"entry {where} of {self.describe()} is not a literal: {self.entry_text(entry)}",
            cause="a literal is a 0/1 variable x, or its negation ~x, and no relaxed or integer one",
            fix="declare the variable with model.bool(name, shape), without relax",
        )

    def entry_text(self, entry: int, limit: int = 6) -> str:
        """One entry written out, for messages: ``2 z[0] - b[3] + 1``."""
        rows = csr.coalesce(csr.take_rows(self.rows, np.array([entry])))
        name = self.owner.column_name if self.owner is not None else str
        return affine_text(rows.cols, rows.vals, float(self.const[entry]), name, limit)

    def describe(self) -> str:
        """How messages call this expression: ``'flow' (10, 3)``."""
        if self.name is not None:
            return f"{self.name!r} {self.shape}"
        if not self.n_terms:
            return f"array {self.shape}" if self.shape else f"number {self.const[0]:g}"
        names = self.owner.variables_in(self.rows.cols) if self.owner is not None else []
        return f"expression over {', '.join(map(repr, names[:3]))} {self.shape}"

    def __repr__(self) -> str:
        return f"Expr({self.describe()}, {self.n_terms} terms)"



def constant(values: Any, name: str | None = None) -> Expr:
    """An expression array without variables.

    Parameters
    ----------
    values : array-like of finite numbers
    name : str, optional
        Used in error messages.
    """
    array = as_constant(values, name)
    empty = Rows(np.zeros(array.size + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Expr(array.shape, empty, array.ravel(), None, name)


def common_owner(*exprs: Expr) -> Owner | None:
    """The one model that owns the columns of all expressions.

    Raises
    ------
    ModelError
        If columns of two models meet.
    """
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


def normalise_axes(axis: int | tuple[int, ...], expr: Expr) -> tuple[int, ...]:
    """Axes as distinct non-negative integers."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    out = tuple(sorted({a + expr.ndim if a < 0 else a for a in axes}))
    if len(out) != len(axes) or (out and not 0 <= out[0] <= out[-1] < expr.ndim):
        raise ModelError(
            f"axis {axis} is not possible for {expr.describe()}",
            cause=f"it has {expr.ndim} dimensions",
            fix=f"use axes from {-expr.ndim} to {expr.ndim - 1}, each once",
        )
    return out


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
    if not sparse.issparse(other):
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



def _shape_argument(shape: tuple[Any, ...]) -> tuple[int, ...]:
    given = shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape
    return tuple(int(s) for s in given)
