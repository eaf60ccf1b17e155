"""Numbers of the user as exact fractions, and the unit that several of them have in common."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from numbers import Rational
from typing import Any

import numpy as np

AUTO = "auto"
"""The grid that is as fine as there is room for, and is taken only where exact numbers have too many digits."""
LARGEST_EXPONENT = 1000
"""Of a decimal: no float comes near, and the digits of 1e999999999 would fill the memory."""
_EXPONENT = re.compile(r"[eE]([+-]?[\d_]+)")


def fraction_of(text: str) -> Fraction:
    """The number that a text writes, such as 12, 0.8, 4/5 or 1e-3.

    Raises ValueError or ZeroDivisionError if it is none, or has an exponent of more than 1000.
    """
    exponent = _EXPONENT.search(text)
    if exponent is not None and abs(int(exponent[1])) > LARGEST_EXPONENT:
        raise ValueError(f"{text!r} has too many digits")
    return Fraction(text.strip())


def plain(value: Any) -> Any:
    """A label or level of an array as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def exact_number(value: Any) -> Fraction | None:
    """The number that a value is, None where it is none; a float stands for the decimal that it prints as."""
    if isinstance(value, np.timedelta64):  # an np.integer, whose int() may be a duration
        return None
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        return Fraction(Decimal(str(value))) if math.isfinite(value) else None
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= LARGEST_EXPONENT:
        return Fraction(value)
    return None


def whole_numbers(values: Iterable[int]) -> Sequence[int]:
    """Whole numbers of any size, in eight bytes each where they all fit."""
    numbers = list(values)
    try:
        return array("q", numbers)
    except OverflowError:
        return numbers


def digits_of(values: Iterable[float]) -> tuple[Sequence[int], Sequence[int]]:
    """Finite floats as the decimals that they print as: whole numbers, and the powers of ten to multiply them by."""
    digits, powers = array("q"), array("h")
    for value in values:
        mantissa, _, power = repr(value).partition("e")
        whole, _, part = mantissa.partition(".")
        digits.append(int(whole + part))  # 17 digits at most
        powers.append(int(power or 0) - len(part))
    return digits, powers


def unit_of_decimals(digits: Sequence[int], powers: Sequence[int]) -> tuple[Sequence[int], Fraction]:
    """As `common_unit`, of such decimals."""
    least = min(powers)
    factor = {power: 10 ** (power - least) for power in set(powers)}
    step = reduce(math.gcd, (d * factor[p] for d, p in zip(digits, powers, strict=True)), 0)
    if step == 0:
        return digits, Fraction(1)
    units = whole_numbers(d * factor[p] // step for d, p in zip(digits, powers, strict=True))
    return units, step * Fraction(10) ** least


def common_unit(values: list[Fraction]) -> tuple[list[int], Fraction]:
    """Whole multiples of the largest unit that allows it; the unit is 1 where all values are 0."""
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [value.numerator * (denominator // value.denominator) for value in values]
    step = math.gcd(*whole) or denominator
    return [value // step for value in whole], Fraction(step, denominator)
