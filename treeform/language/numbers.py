"""Numbers as they are meant: what a user writes, as exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from treeform.errors import SpecError

_EXPONENT = re.compile(r"[eE]([+-]?[\d_]+)")
_LARGEST_EXPONENT = 1000
"""No float comes near; the digits of 1e999999999 would fill the memory."""


def fraction_of(text: str) -> Fraction:
    """The number that a text writes, such as 12, 0.8, 4/5 or 1e-3.

    Raises
    ------
    ValueError, ZeroDivisionError
        If it is none, or has an exponent of more than 1000.
    """
    exponent = _EXPONENT.search(text)
    if exponent is not None and abs(int(exponent[1])) > _LARGEST_EXPONENT:
        raise ValueError(f"{text!r} has too many digits")
    return Fraction(text.strip())


def _meant(value: float | np.floating[Any]) -> Fraction:
    """The number that a float stands for: the decimal that it prints as, or 2/3 for 0.6666666666666666."""
    written = Fraction(str(value))  # the shortest text of the value's own precision: float32(0.8) is 4/5 too
    if written.denominator <= 10**14:
        return written
    near = Fraction(float(value)).limit_denominator(10**6)
    return near if float(near) == float(value) else written


def as_fraction(value: Any, what: str) -> Fraction:
    """A finite number as the fraction that it is written as: 0.8 is 4/5, and the float of 2/3 is 2/3.

    Raises
    ------
    SpecError
        If ``value`` is no finite number.
    """
    try:
        if isinstance(value, str):
            return fraction_of(value)
        if isinstance(value, Rational) and not isinstance(value, bool):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, float | np.floating):
            return _meant(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        pass
    raise SpecError(
        f"{value!r} cannot be {what}", cause="it is no finite number", fix="use for example 0.8 or 4/5"
    )
