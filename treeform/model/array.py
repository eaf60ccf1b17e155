"""The storage of expression arrays: shapes, gathering, reading. Arithmetic is in ``expr.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np

from treeform.errors import ModelError
from treeform.model import csr
from treeform.model.csr import Rows
from treeform.model.text import affine_text, shape_error
from treeform.utils.arrays import Bools, Floats, Ints

#: Codes of constant entries among signed literals: see :meth:`Expr.literal_codes`.
FALSE = 0
TRUE = int(np.iinfo(np.int64).max)
MOST_TERMS = 6
"""Of an entry that is written out."""


class Owner(Protocol):
    """What an expression needs to know about the model that owns its columns."""

    @property
    def is_binary(self) -> Bools: ...

    def column_name(self, col: int) -> str: ...

    def variables_in(self, cols: Ints) -> list[str]: ...


class AffineArray:
    """Affine expressions in an array of some shape; see :class:`treeform.model.Expr`."""

    __slots__ = ("const", "name", "owner", "rows", "shape")

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
    def T(self) -> Self:
        return self.transpose()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a scalar expression")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def named(self, name: str | None) -> Self:
        """The same expressions under a name that error messages use."""
        return type(self)(self.shape, self.rows, self.const, self.owner, name)

    def reshape(self, *shape: Any) -> Self:
        """As ``ndarray.reshape`` in C order; one length may be -1."""
        sizes = shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape
        target = tuple(int(s) for s in sizes)
        known = int(np.prod([s for s in target if s != -1]))
        if target.count(-1) == 1 and known and self.size % known == 0:
            target = tuple(self.size // known if s == -1 else s for s in target)
        if min(target, default=0) < 0 or int(np.prod(target)) != self.size:
            raise ModelError(
                f"{self.describe()} cannot be reshaped to {tuple(target)}",
                cause=f"it has {self.size} entries",
                fix="give a shape with as many entries",
            )
        return type(self)(target, self.rows, self.const, self.owner, self.name)

    def ravel(self) -> Self:
        """The entries in C order, one dimension."""
        return self.reshape(self.size)

    def transpose(self, *axes: Any) -> Self:
        """As ``ndarray.transpose``."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else (axes or None)
        if self.ndim < 2 and order is None:
            return self
        return self._gather(self._positions().transpose(order))

    def broadcast_to(self, shape: tuple[int, ...]) -> Self:
        """As ``numpy.broadcast_to``; repeated entries share nothing but their meaning."""
        if shape == self.shape:
            return self
        try:
            index = np.broadcast_to(self._positions(), shape)
        except ValueError:
            raise shape_error(self.describe(), f"the shape {shape}") from None
        return self._gather(index)

    def __getitem__(self, key: Any) -> Self:
        try:
            index = self._positions()[key]
        except IndexError as error:
            raise IndexError(f"{self.describe()}: {error}") from None
        return self._gather(np.asarray(index))

    def _positions(self) -> Ints:
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def _gather(self, index: Ints) -> Self:
        flat = index.ravel()
        return type(self)(
            index.shape, csr.take_rows(self.rows, flat), self.const[flat], self.owner, self.name
        )

    # -- reading ---------------------------------------------------------------------------------------------

    def coalesced(self) -> Self:
        """The same expressions, each column at most once per entry, sorted, no zero coefficients."""
        return type(self)(self.shape, csr.coalesce(self.rows), self.const, self.owner, self.name)

    def value(self, x: Any) -> Floats:
        """Evaluate at a point.

        Parameters
        ----------
        x : array of float, shape (n_cols,)
            A value for each column of the model.
        """
        point = np.asarray(x, dtype=np.float64)
        return (csr.at_point(self.rows, point) + self.const).reshape(self.shape)

    def literal_codes(self) -> Ints:
        """Signed literals ``+-(col + 1)`` and the constants ``FALSE`` (0) and ``TRUE``, flat (size,).

        Raises ModelError if an entry is anything but a 0/1 column, one minus a 0/1 column, 0 or 1.
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

        Raises ModelError if an entry is anything else.
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

    def entry_text(self, entry: int) -> str:
        """One entry of the flattened array written out, for messages: ``2 z[0] - b[3] + 1``."""
        rows = csr.coalesce(csr.take_rows(self.rows, np.array([entry])))
        name = self.owner.column_name if self.owner is not None else str
        return affine_text(rows.cols, rows.vals, float(self.const[entry]), name, MOST_TERMS)

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


def normalise_axes(axis: int | tuple[int, ...], ndim: int, what: str) -> tuple[int, ...]:
    """Axes as distinct non-negative integers."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    out = tuple(sorted({a + ndim if a < 0 else a for a in axes}))
    if len(out) != len(axes) or (out and not 0 <= out[0] <= out[-1] < ndim):
        raise ModelError(
            f"axis {axis} is not possible for {what}",
            cause=f"it has {ndim} dimensions",
            fix=f"use axes from {-ndim} to {ndim - 1}, each once",
        )
    return out
