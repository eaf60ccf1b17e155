"""Squared errors with prices on rows over values, as squared errors of moved targets: exact bounds at any depth.

With multipliers u >= 0 of the rows  sum_i a_ki v_i <= b_k  and  c = u A,

    sum_i w_i (y_i - v_i)^2 + c_i v_i = sum_i w_i (z_i - v_i)^2 + c_i y_i - c_i^2 / (4 w_i),
    z_i = y_i - c_i / (2 w_i).

So the search without requirements, asked with the targets z, bounds the loss of all trees that satisfy the rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeform.data.quantity import LARGEST_SUM, Quantity
from treeform.language.question import Question
from treeform.language.values import ValueRule
from treeform.utils.arrays import Floats

DIGITS = 12
"""Binary digits of the greatest multiplier."""


def moved_targets(question: Question, rule: ValueRule, prices: Floats) -> tuple[Question, Fraction] | None:
    """The question with the targets z at nearby multipliers, and what its optimum lacks to a lower bound, in units of
    the loss of the targets y; None where the multipliers have too many digits."""
    data = question.data
    assert data.quantity is not None
    largest = float(prices.max(initial=0.0))
    if largest <= 0:
        return None
    digits = max(0, math.ceil(DIGITS - math.log2(largest)))
    times = [round(float(price) * 2**digits) for price in prices]
    paid = sum((np.array(row.coef, dtype=object) * t for row, t in zip(rule.rows, times, strict=True)), 0)
    weights = np.array(data.weights, dtype=object)
    if (paid % weights).any():
        return None
    # c = paid / 2^digits, so z is a multiple of 1 / finer
    finer, y = 2 ** (digits + 1), np.array(data.quantity.deviations, dtype=object)
    targets = y * finer - paid // weights
    centre = int((weights * targets).sum()) // int(weights.sum())
    targets = targets - centre
    if int((weights * np.abs(targets)).sum()) > LARGEST_SUM:
        return None
    quantity = Quantity(targets.astype(np.int64), centre, data.quantity.unit / finer)
    constant = Fraction(int((paid * y).sum()), 2**digits)
    constant -= Fraction(int((paid // weights * paid).sum()), finer**2)
    constant -= sum((Fraction(t * row.side, 2**digits) for row, t in zip(rule.rows, times, strict=True)))
    return question.with_(data=replace(data, quantity=quantity)), constant
