"""Text for people: "1 error", "2 errors"; fractions that are hard to read; notes that come first."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

_THINGS = {"leaf": "leaves", "class": "classes", "entry": "entries"}
_VERBS = {"are": "is", "were": "was", "have": "has", "reach": "reaches"}
_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LARGEST_PLAIN = 1000
"""Denominators up to here are read as they are."""
_LONGEST_PLAIN = 10**20
"""Whole numbers below are written out."""


def count_of(count: object, thing: str, verb: str | None = None) -> str:
    """A number and its thing: ``1 row``, ``0 rows``; with a verb ``1 row is``, ``2 rows are``.

    The number may be text. The thing is in the singular, of several words the last one takes the plural; the verb is in
    the plural.
    """
    one = str(count) == "1"
    doing = "" if verb is None else f" {_VERBS.get(verb, f'{verb}s') if one else verb}"
    return f"{count} {thing if one else plural(thing)}{doing}"


def plural(thing: str) -> str:
    """The plural of a thing: ``leaves``, ``training rows``."""
    *before, last = thing.split(" ")
    return " ".join([*before, _THINGS.get(last, f"{last}s")])


def snake_case(name: str) -> str:
    """The name of a class as texts have it: ``MinRecall`` is ``min_recall``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def one_line(text: str) -> str:
    r"""Text whose line breaks and other control characters are written as escapes, so that a name cannot end a line.

    >>> one_line("if a\nb <= 3")
    'if a\\nb <= 3'
    """
    return _BREAKS.sub(lambda found: ascii(found[0])[1:-1], text)


def exact_text(value: Fraction | int) -> str:
    """A number exactly, with six digits before it where its fraction is hard to read.

    >>> exact_text(Fraction(7, 3)), exact_text(Fraction(10213587224, 94875))
    ('7/3', '107653 (exactly 10213587224/94875)')
    """
    number = Fraction(value)
    if number.denominator <= _LARGEST_PLAIN:
        return str(number)
    return f"{short_text(number, 6)} (exactly {number})"


def decimal_text(value: Fraction | int) -> str:
    """``0.8`` for 4/5, ``1/3`` for what has no finite decimal form."""
    number = Fraction(value)  # not negative
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(number)
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    text = str(int(number * 10**digits)).zfill(digits + 1)
    return text if digits == 0 else f"{text[:-digits]}.{text[-digits:]}"


def decimal_or_plain(value: Fraction) -> str:
    """Decimal text where it is finite and not negative, else p/q."""
    return decimal_text(value) if value >= 0 else str(value)


def short_text(value: Fraction | int, digits: int = 3) -> str:
    """A number with so many digits; it may be larger or smaller than any float.

    >>> short_text(Fraction(7, 3)), short_text(10**400)
    ('2.33', '1e+400')
    """
    try:
        near = float(value)
    except OverflowError:
        near = 0.0
    if near or not value:
        return rounded_text(near, digits)
    number = Fraction(value)
    return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():.{digits}g}"


def rounded_text(value: float, digits: int = 6) -> str:
    """A number with so many digits, and without an exponent from a millionth to a thousand million million.

    >>> rounded_text(480491031.75), rounded_text(0.25), rounded_text(0.0000125), rounded_text(1.5e-9)
    ('480491032', '0.25', '0.0000125', '1.5e-09')
    """
    short = f"{value:.{digits}g}"
    if "e" not in short or not 1e-6 <= abs(value) < 1e15:
        return short
    return f"{value:.0f}" if abs(value) >= 1 else f"{value:.{digits + 5}f}".rstrip("0")


def value_text(value: Fraction | float | None) -> str:
    """A value to be read: whole numbers exactly if they have at most twenty digits, others to six digits."""
    if value is None or not math.isfinite(value):
        return "-" if value is None else str(value)
    value = Fraction(value)
    if abs(value) >= _LONGEST_PLAIN:
        return short_text(value, 6)
    return str(value.numerator) if value.denominator == 1 else rounded_text(float(value))


class Caution(str):
    """A note that names a probable mistake: it is shown before all others, and never left out."""

    __slots__ = ()
