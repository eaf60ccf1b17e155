"""Fractions with bounded denominators: the neighbours of a number among them; common divisors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction


def least_at_least(value: Fraction, largest: int) -> Fraction:
    """The least fraction that is at least ``value`` and has a denominator of at most ``largest``.

    Notes
    -----
    The convergents and semiconvergents of the continued fraction of ``value`` (Graham, Knuth and Patashnik, Concrete
    Mathematics, 4.5): the last two with a small denominator enclose it, and no fraction with a small denominator is
    between these.
    """
    if value.denominator <= largest:
        return value
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = value.numerator, value.denominator
    while True:
        a = n // d
        if q0 + a * q1 > largest:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    k = (largest - q0) // q1
    return max(Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1))


def least_above(value: Fraction, largest: int) -> Fraction:
    """The least fraction greater than ``value`` with a denominator of at most ``largest``."""
    # Two different fractions are at least 1 / (product of their denominators) apart.
    return least_at_least(value + Fraction(1, 2 * value.denominator * largest), largest)


def common_divisor(numbers: Iterable[Fraction]) -> Fraction:
    """The largest fraction of which all of some fractions are whole multiples."""
    exact = list(numbers)
    below = math.lcm(*(number.denominator for number in exact))
    return Fraction(math.gcd(*(int(number * below) for number in exact)), below)
