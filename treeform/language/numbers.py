"""Numbers as they are meant: what a user writes, as exact fractions."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeGuard

import numpy as np

from treeform.data.exact import fraction_of
from treeform.errors import SpecError
from treeform.model import Expr, Model


def _meant(value: float | np.floating[Any]) -> Fraction:
    """The number that a float stands for: the decimal that it prints as, or 2/3 for 0.6666666666666666."""
    written = Fraction(str(value))  # the shortest text of the value's own precision: float32(0.8) is 4/5 too
    if written.denominator <= 10**14:
        return written
    near = Fraction(float(value)).limit_denominator(10**6)
    return near if float(near) == float(value) else written


def as_fraction(value: Any, what: str, instead: str = "use for example 0.8 or 4/5") -> Fraction:
    """A finite number as the fraction that it is written as: 0.8 is 4/5, and the float of 2/3 is 2/3.

    Raises SpecError, "... cannot be WHAT" with the advice ``instead``, if ``value`` is no finite number.
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
    raise SpecError(f"{value!r} cannot be {what}", cause="it is no finite number", fix=_number_instead(value, instead))


def _number_instead(value: Any, otherwise: str) -> str:
    """What to write in the place of what is no number: per cent as a decimal."""
    share = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", value) if isinstance(value, str) else None
    return otherwise if share is None else f"write {value.strip()} as {Decimal(share[1]) / 100}"


def not_negative(value: Any, what: str, refused: str, cause: str, fix: str) -> Fraction:
    """A number of at least 0, as `as_fraction` reads it.

    Raises SpecError if it is negative: ``refused``, with the number in the place of ``{}``, ``cause`` and ``fix``,
    which is also advised for what is no number.
    """
    number = as_fraction(value, what, fix)
    if number < 0:
        raise SpecError(refused.format(value), cause=cause, fix=fix)
    return number


LARGEST = 2**53
"""Solvers hold objectives in float64: whole numbers up to here are exact."""


def require_exact_sum(term: object, part: Expr, factor: int, scale: int, terms: int) -> None:
    """Raise SpecError if the coefficients of a term add up beyond what float64 holds exactly.

    ``part``, the term's expression, is multiplied by ``factor`` in the objective; ``scale`` whole units are one of the
    user's; the ``terms`` of the objective share the exact range.
    """
    largest = factor * float(np.abs(part.rows.vals).sum() + np.abs(part.const).sum())
    if largest > LARGEST / terms:
        raise SpecError(
            f"the term {term} reaches {largest:.3g} in the objective's whole units of 1/{scale}",
            cause="solvers hold objectives in float64, exact up to 2**53",
            fix="round sample weights and coefficients to fewer digits",
        )


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number, and not true or false, which Python counts among these."""
    return isinstance(value, int) and not isinstance(value, bool)


FEW = 31
"""Up to here a whole number is a sum of powers of two, which solvers of clauses take as well."""


def whole_number(model: Model, name: str, most: int) -> Expr:
    """A new variable with values from 0 to ``most``, or to the next power of two less 1."""
    if most > FEW:
        return model.integer(name, ub=most)
    return (model.bool(name, most.bit_length()) * (1 << np.arange(most.bit_length()))).sum()
