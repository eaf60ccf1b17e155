"""Joining arrays of expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeform.errors import ModelError
from treeform.model import csr
from treeform.model.expr import Expr, as_expr, common_owner

__all__ = ["concatenate", "stack"]


def concatenate(parts: Sequence[Any], axis: int = 0) -> Expr:
    """Join along an existing axis, as ``numpy.concatenate``.

    Parameters
    ----------
    parts : sequence of Expr or array-like
        At least one; shapes agree except along ``axis``.
    axis : int

    Raises
    ------
    ModelError
        If the list is empty or the shapes do not agree.
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
    """Join along a new axis, as ``numpy.stack``; the parts have one shape."""
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
