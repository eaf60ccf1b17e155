"""Plain numbers on their way into expressions: finite, exactly representable, or refused."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from treeform.errors import ModelError
from treeform.model.csr import Floats

#: Integers beyond this are not all float64 values.
EXACT_INTEGER = 2**53


def exact(value: float) -> Fraction:
    """The decimal number that a float is written as: ``exact(0.1) == Fraction(1, 10)``."""
    return Fraction(int(value)) if value == int(value) else Fraction(repr(float(value)))


def as_constant(values: Any, name: str | None) -> Floats:
    """Numbers as a float64 array.

    Raises
    ------
    ModelError
        If they are not numbers, not finite, or integers or fractions that float64 cannot hold.
    """
    label = f"{name!r}" if name else "the array"
    array = np.asarray(values)
    if array.dtype == object:
        array = _from_objects(array, label)
    if array.dtype.kind not in "biuf":
        raise ModelError(
            f"{label} of shape {array.shape} and type {array.dtype} cannot be used in an expression",
            cause="coefficients are finite real numbers",
            fix="convert it to a numeric array first",
        )
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
            raise ModelError(
                f"{label} holds {value!r}, which is not a number",
                cause="coefficients are finite real numbers",
                fix="convert it to a numeric array first",
            )
    return out


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
