"""Columns of a model, growing only at the end, and the plain numbers that enter expressions and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from treeform.errors import ModelError
from treeform.utils.arrays import Bools, Floats, Ints

#: Integers beyond this are not all float64 values.
EXACT_INTEGER = 2**53


def exact(value: float) -> Fraction:
    """The decimal number that a float is written as: ``exact(0.1) == Fraction(1, 10)``."""
    return Fraction(int(value)) if value == int(value) else Fraction(repr(float(value)))


def as_constant(values: Any, name: str | None) -> Floats:
    """Numbers as a float64 array.

    Raises ModelError if they are not numbers, not finite, or integers or fractions that float64 cannot hold.
    """
    label = f"{name!r}" if name else "the array"
    array = np.asarray(values)
    if array.dtype == object:
        array = _from_objects(array, label)
    if array.dtype.kind not in "biuf":
        raise _no_number(f"{label} of shape {array.shape} and type {array.dtype} cannot be used in an expression")
    if array.dtype.kind in "iu" and array.size and int(abs(array).max()) > EXACT_INTEGER:
        raise ModelError(f"{label} holds integers beyond 2**53", **_inexact())
    out = np.asarray(array, dtype=np.float64)
    finite = np.isfinite(out)
    if not bool(finite.all()):
        where = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ModelError(
            f"{label} of shape {out.shape} holds {out[where]} at {where}",
            cause="coefficients and constants of rows are finite",
            fix="remove NaN and infinite values; leave out a bound instead of making it infinite",
        )
    return out


def _from_objects(array: Any, label: str) -> Any:
    out = np.empty(array.shape, dtype=np.float64)
    for where, value in np.ndenumerate(array):
        if isinstance(value, Rational):
            out[where] = _from_rational(Fraction(value), label)
        elif isinstance(value, float | np.floating):
            out[where] = float(value)
        else:
            raise _no_number(f"{label} holds {value!r}, which is not a number")
    return out


def _no_number(what: str) -> ModelError:
    cause = "coefficients are finite real numbers"
    return ModelError(what, cause=cause, fix="convert it to a numeric array first")


def _from_rational(value: Fraction, label: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number) or exact(number) != value:
        raise ModelError(f"{label} holds {value}, which no float64 is written as", **_inexact())
    return number


def _inexact() -> dict[str, str]:
    return {
        "cause": "coefficients are held as float64 and must be exact",
        "fix": "multiply the row by its common denominator, or divide it by its greatest common divisor",
    }


class VariableKind(Enum):
    """What values a family of variables takes."""

    BOOL = "bool"
    """0 or 1."""
    RELAXED = "relaxed bool"
    """0 or 1 in some optimal solution, so that solvers may take [0, 1] instead."""
    INTEGER = "integer"
    CONTINUOUS = "continuous"


@dataclass(frozen=True)
class VariableBlock:
    """A family of variables: columns ``start`` to ``start + size - 1`` in C order of ``shape``."""

    name: str
    start: int
    shape: tuple[int, ...]
    kind: VariableKind

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def entry_name(self, col: int) -> str:
        """The name of one column of the family: ``z[3, 0]``."""
        if not self.shape:
            return self.name
        index = np.unravel_index(col - self.start, self.shape)
        return f"{self.name}[{', '.join(str(int(i)) for i in index)}]"


class Columns:
    """Growing arrays over columns; reading concatenates once and caches."""

    def __init__(self) -> None:
        self.variables: list[VariableBlock] = []
        self.n_cols = 0
        self._parts: list[tuple[Floats, Floats, Bools, Bools, Bools]] = []
        self._starts: list[int] = []
        none: Floats = np.zeros(0)
        no: Bools = np.zeros(0, dtype=bool)
        self._arrays = (none, none, no, no, no)

    def append(self, block: VariableBlock, lb: Floats, ub: Floats) -> None:
        """Add the columns of ``block`` with flat bounds."""
        integer = np.full(len(lb), block.kind in (VariableKind.BOOL, VariableKind.INTEGER))
        relaxed = np.full(len(lb), block.kind is VariableKind.RELAXED)
        binary = integer & (lb >= 0.0) & (ub <= 1.0)
        self._parts.append((lb, ub, integer, relaxed, binary))
        self.variables.append(block)
        self._starts.append(block.start)
        self.n_cols += len(lb)

    def arrays(self) -> tuple[Floats, Floats, Bools, Bools, Bools]:
        """``lb, ub, is_integer, is_relaxed, is_binary`` over all columns, read-only."""
        if self._parts:
            lists = zip(self._arrays, *self._parts, strict=True)
            joined = tuple(np.concatenate(parts) for parts in lists)
            for array in joined:
                array.setflags(write=False)
            self._arrays = (joined[0], joined[1], joined[2], joined[3], joined[4])
            self._parts = []
        return self._arrays

    def family(self, col: int) -> VariableBlock:
        """The family that a column belongs to."""
        # Empty families share their start with the next one; the last that starts here owns the column.
        return self.variables[int(np.searchsorted(self._starts, col, side="right")) - 1]

    def families_of(self, cols: Ints) -> list[VariableBlock]:
        """The families that occur among columns, in order of declaration."""
        index = np.searchsorted(self._starts, cols, side="right") - 1
        return [self.variables[i] for i in np.unique(index).tolist()]


def bounds(name: str, shape: tuple[int, ...], lb: Any, ub: Any, integer: bool) -> tuple[Floats, Floats]:
    """Bounds broadcast to the shape and flat.

    Raises ModelError if they are NaN, crossed, of another shape, or hold no whole number for an integer variable.
    """
    try:
        low = np.broadcast_to(np.asarray(lb, dtype=np.float64), shape).ravel()
        high = np.broadcast_to(np.asarray(ub, dtype=np.float64), shape).ravel()
    except (ValueError, TypeError):
        raise ModelError(
            f"shape mismatch: bounds {np.shape(lb)} and {np.shape(ub)} against variable {name!r} {shape}",
            cause="bounds are numbers, or arrays that broadcast to the variable",
            fix="give one bound for all, or one for each entry",
        ) from None
    if integer:
        low, high = np.ceil(low), np.floor(high)
    bad = ~(low <= high) | (low == np.inf) | (high == -np.inf)
    if bool(bad.any()):
        at = int(np.argmax(bad))
        raise ModelError(
            f"variable {name!r} has the empty range [{low[at]:g}, {high[at]:g}]",
            cause="the lower bound exceeds the upper one, or one of them is NaN",
            fix="give lb <= ub" + (" with a whole number between them" if integer else ""),
        )
    if integer and bool((np.abs(np.where(np.isfinite(high - low), high - low, 0.0)) > EXACT_INTEGER).any()):
        raise ModelError(
            f"integer variable {name!r} has a range beyond 2**53",
            cause="such integers are not all float64 values",
            fix="scale the variable",
        )
    return np.array(low), np.array(high)


def shape_of(name: str, shape: Any) -> tuple[int, ...]:
    """A shape argument as a tuple of non-negative integers."""
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if not all(isinstance(s, int | np.integer) and not isinstance(s, bool) and s >= 0 for s in sizes):
        raise ModelError(
            f"variable {name!r} cannot have the shape {shape!r}",
            cause="a shape is a whole number or a tuple of them, none negative",
            fix="use for example (n, k)",
        )
    return tuple(int(s) for s in sizes)
