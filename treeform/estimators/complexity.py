"""The complexity penalty: the price of a test as a share of the total weight, scikit-learn's ``ccp_alpha``."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

from treeform.data import Dataset
from treeform.language.numbers import not_negative
from treeform.language.objective import Nodes, Objective
from treeform.utils.rows import setting_text

MOST_DENOMINATOR = 10_000
"""Of a price that stands for a float; see `price_of`."""


def total_weight(data: Dataset) -> Fraction:
    """The weight of all rows, in the user's units."""
    return Fraction(data.total_weight * data.weight_unit)


def price_of(alpha: Any, data: Dataset) -> Fraction:
    """The price of a test in units of the objective, ``alpha`` times the total weight.

    Of all prices that stand for the same float, one that is a simple multiple of the unit of weights is taken where
    there is one: searches count in whole numbers, and are faster with smaller ones.

    Raises SpecError if ``alpha`` is negative or no finite number.
    """
    share = not_negative(
        alpha,
        "ccp_alpha",
        f"{setting_text('ccp_alpha', alpha)} is negative",
        cause="it is the price of a test, as a share of the total weight",
        fix=f"use 0 for no penalty, or for example {setting_text('ccp_alpha', 0.001)}",
    )
    in_units = share * data.total_weight
    simple = in_units.limit_denominator(MOST_DENOMINATOR)
    is_float = isinstance(alpha, Real) and not isinstance(alpha, Fraction)
    kept = simple if is_float and float(simple / data.total_weight) == float(alpha) else in_units
    return kept * data.weight_unit


def with_penalty(objective: Any, alpha: Any, data: Dataset) -> Objective:
    """The objective, and ``alpha`` times the total weight for each test."""
    return Objective.of(objective) + price_of(alpha, data) * Nodes()


def simplest_between(low: Fraction, high: Fraction | None) -> Fraction:
    """The fraction of least denominator strictly between two others; ``high=None`` is infinity (Stern-Brocot)."""
    whole = Fraction(math.floor(low) + 1)
    if high is None or whole < high:
        return whole
    below = Fraction(math.floor(low))
    # low and high lie in [below, below + 1]; the reciprocals change places.
    least = None if low == below else 1 / (low - below)
    return below + 1 / simplest_between(1 / (high - below), least)
