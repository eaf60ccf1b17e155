"""Logical statements over literals, before a model stores them as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from treeform.errors import ModelError
from treeform.model.array import normalise_axes
from treeform.model.expr import Expr, as_expr, common_owner
from treeform.utils.arrays import Ints

__all__ = [
    "CardinalitySpec",
    "ClauseSpec",
    "SignedClauses",
    "any_of",
    "at_least",
    "at_most",
    "clauses",
    "exactly",
]

L = TypeVar("L", Ints, Expr)
#: Stands for "no upper limit" in cardinalities.
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class _OfSlices(Generic[L]):
    """Statements about the literals of each slice along the last axis."""

    literals: L

    @property
    def shape(self) -> tuple[int, ...]:
        return self.literals.shape[:-1]


@dataclass(frozen=True, eq=False)
class ClauseSpec(_OfSlices[Ints]):
    """At least one literal of each slice along the last axis is true.

    Parameters
    ----------
    literals : ndarray of int64, shape (..., width)
        As ``Expr.literal_codes``.
    owner : Expr
        Any expression over the model that the literals belong to.
    """

    owner: Expr


class SignedClauses(_OfSlices[Ints]):
    """Clauses as an array of signed literals ``+-(col + 1)``, one per slice along the last axis; 0 pads."""


@dataclass(frozen=True, eq=False)
class CardinalitySpec(_OfSlices[Expr]):
    """The number of true literals of each slice along the last axis is from ``lo`` to ``hi``."""

    lo: Ints
    hi: Ints


def any_of(*literals: Any, axis: int | tuple[int, ...] | None = None) -> ClauseSpec:
    """Clauses: at least one of the literals is true.

    Parameters
    ----------
    *literals : Expr
        Arrays of literals (0/1 variables or their negations ``~x``), broadcast against each other. There is
        one clause per entry, over the corresponding entries of all of them.
    axis : int or tuple of int, optional
        One clause per slice along these axes instead: ``any_of(x, axis=1)``.

    Examples
    --------
    >>> from treeform.model import Model, any_of
    >>> m = Model()
    >>> x, y = m.bool("x", (3, 4)), m.bool("y", 4)
    >>> any_of(~x, y).shape, any_of(x, axis=1).shape
    ((3, 4), (3,))
    """
    if not literals:
        raise ModelError("any_of() of nothing", cause="a clause has literals", fix="pass an expression")
    exprs = [as_expr(e) for e in literals]
    shape, owner = _together(exprs)
    # Literals are plain numbers: broadcasting them is far cheaper than broadcasting expressions.
    parts = [np.broadcast_to(e.literal_codes().reshape(e.shape), shape) for e in exprs]
    codes = np.stack(parts, axis=-1)
    if axis is None:
        return ClauseSpec(codes, owner)
    axes = normalise_axes(axis, len(shape), "any_of(...)")
    rest = tuple(a for a in range(len(shape)) if a not in axes)
    moved = codes.transpose((*rest, *axes, len(shape)))
    width = int(np.prod([shape[a] for a in axes])) * len(exprs)
    return ClauseSpec(moved.reshape((*(shape[a] for a in rest), width)), owner)


def clauses(literals: Any) -> SignedClauses:
    """Clauses from signed literals, for those who generate them by the million.

    Parameters
    ----------
    literals : array of int, shape (..., width)
        As ``Expr.as_literals`` returns them; one clause per slice along the last axis, padded with 0.

    Examples
    --------
    >>> from treeform.model import Model, clauses
    >>> m = Model()
    >>> x = m.bool("x", 3).as_literals()
    >>> m.add(clauses([[x[0], -x[1], 0], [x[0], x[1], x[2]]])).n_rows
    2
    """
    array = np.asarray(literals)
    if array.ndim < 1 or array.dtype.kind not in "iu":
        raise ModelError(
            f"clauses() was given an array of {array.dtype} with {array.ndim} dimensions",
            cause="signed literals are whole numbers, and the last axis is the clause",
            fix="pass what Expr.as_literals() returns, or use any_of() on expressions",
        )
    return SignedClauses(array.astype(np.int64, copy=False))


def _together(exprs: list[Expr]) -> tuple[tuple[int, ...], Expr]:
    """The common shape of expressions over one model, and one of them that knows the model."""
    owner = exprs[0]
    for expr in exprs[1:]:
        common_owner(owner, expr)
        owner = expr if owner.owner is None else owner
    try:
        return np.broadcast_shapes(*(e.shape for e in exprs)), owner
    except ValueError:
        raise ModelError(
            "shape mismatch in any_of: " + " against ".join(e.describe() for e in exprs),
            cause="the literals of one clause are the corresponding entries of all expressions",
            fix="add an axis with e[:, None], or transpose one of them",
        ) from None


def at_most(literals: Any, k: Any, axis: int | tuple[int, ...] | None = -1) -> CardinalitySpec:
    """At most ``k`` literals of each slice along ``axis`` are true.

    Parameters
    ----------
    literals : Expr
        Array of literals of at least one dimension.
    k : int or array of int
        The limit, broadcast to the slices.
    axis : int, tuple of int or None
        The axes that are counted over; None counts over all entries.
    """
    return _cardinality(literals, axis, None, k)


def at_least(literals: Any, k: Any, axis: int | tuple[int, ...] | None = -1) -> CardinalitySpec:
    """At least ``k`` literals of each slice along ``axis`` are true; parameters as of :func:`at_most`."""
    return _cardinality(literals, axis, k, None)


def exactly(literals: Any, k: Any, axis: int | tuple[int, ...] | None = -1) -> CardinalitySpec:
    """Exactly ``k`` literals of each slice along ``axis`` are true; parameters as of :func:`at_most`."""
    return _cardinality(literals, axis, k, k)


def _cardinality(literals: Any, axis: int | tuple[int, ...] | None, lo: Any, hi: Any) -> CardinalitySpec:
    expr = as_expr(literals)
    axes = tuple(range(expr.ndim)) if axis is None else normalise_axes(axis, expr.ndim, expr.describe())
    expr.literal_codes()  # refuses entries that are not literals
    moved = _last(expr, axes)
    shape = moved.shape[:-1]
    lower = np.zeros(shape, np.int64) if lo is None else _limit(lo, shape, expr)
    upper = np.full(shape, NO_LIMIT) if hi is None else _limit(hi, shape, expr)
    return CardinalitySpec(moved, lower, upper)


def _last(expr: Expr, axes: tuple[int, ...]) -> Expr:
    """The given axes merged into one last axis."""
    rest = tuple(a for a in range(expr.ndim) if a not in axes)
    order = (*rest, *axes)
    moved = expr if order == tuple(range(expr.ndim)) else expr.transpose(order)
    shape = tuple(expr.shape[a] for a in rest)
    return moved.reshape((*shape, int(np.prod([expr.shape[a] for a in axes]))))


def _limit(k: Any, shape: tuple[int, ...], expr: Expr) -> Ints:
    array = np.asarray(k)
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool((array == np.floor(array)).all()))
    if not whole:
        raise ModelError(
            f"the limit {k!r} on the number of true literals of {expr.describe()} is not a whole number",
            cause="literals are counted",
            fix="round it in the direction that is meant",
        )
    try:
        return np.broadcast_to(array.astype(np.int64), shape)
    except ValueError:
        raise ModelError(
            f"shape mismatch: a limit of shape {array.shape} against {shape} counts over {expr.describe()}",
            cause="there is one count for each slice",
            fix="give one limit, or one for each slice",
        ) from None
