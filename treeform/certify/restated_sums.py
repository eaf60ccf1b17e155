"""Sums over samples as the check states them: sample by sample, by predicted class."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.language.forms import Rows
from treeform.language.linear import LinearRequirement
from treeform.language.numbers import LARGEST
from treeform.language.requirement import Requirement
from treeform.language.totals import TotalRow, Totals
from treeform.utils.arrays import Mask


class Table:
    """Samples by predicted class: totals are added column by column."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.truth = np.asarray(data.y)
        self.weights = [int(w) for w in data.weights]
        self.right = self.truth[:, None] == np.arange(data.n_classes)
        self.columns: list[NDArray[np.int64]] = []
        self.rows: list[tuple[dict[int, int], int | None, int | None]] = []

    def total(self, counted: Any) -> int:
        """A total of what is counted (n, K) of each prediction; its number."""
        self.columns.append(np.broadcast_to(np.asarray(counted), self.right.shape).astype(np.int64))
        return len(self.columns) - 1

    def row(self, coef: dict[int, int], hi: int | Fraction, lo: int | Fraction | None = None) -> None:
        """Whole coefficients; totals are whole numbers, so that a common divisor is taken out and the sides rounded."""
        step = math.gcd(*coef.values()) or 1
        reduced = {total: c // step for total, c in coef.items()}
        low = None if lo is None else math.ceil(Fraction(lo) / step)
        self.rows.append((reduced, math.floor(Fraction(hi) / step), low))

    def weight(self, rows: Mask) -> int:
        return sum(w for w, chosen in zip(self.weights, rows.tolist(), strict=True) if chosen)

    def predicted(self, code: int) -> Mask:
        return np.asarray(np.arange(self.data.n_classes) == code)[None, :]

    def totals(self) -> Totals:
        width = len(self.columns)
        rows = (
            TotalRow(tuple(coef.get(k, 0) for k in range(width)), lo=lo, hi=hi) for coef, hi, lo in self.rows
        )
        added = np.stack(self.columns, axis=2)
        return Totals(tuple(f"total {k + 1}" for k in range(width)), added, tuple(rows))


def one_row(table: Table, counted: Any, hi: int | Fraction) -> Totals:
    table.row({table.total(counted): 1}, hi)
    return table.totals()


def is_judged_as_written(one: Requirement) -> bool:
    """Whether `violation` is the excess of the inequalities that the requirement is made of."""
    return getattr(one.violation, "__func__", None) is LinearRequirement.violation


def as_written(one: Any, data: Dataset) -> Totals | None:
    """These inequalities, each total sample by sample; None where tests count, or numbers are too large."""
    table = Table(data)
    sides = [inequality.excess for inequality in one.forms(Rows(data))]
    place = {
        total: t for t, total in enumerate(dict.fromkeys(total for side in sides for total in side.terms))
    }
    if any(total.per_test is not None for total in place):
        return None
    for side in sides:
        terms, constant = side.terms, side.constant
        if not terms:
            continue  # `bind` has refused what no model satisfies
        scale = math.lcm(constant.denominator, *(c.denominator for c in terms.values()))
        table.row({place[total]: int(c * scale) for total, c in terms.items()}, -constant * scale)
    for total in place:
        table.total(_entries(table, total.table, total.amount, total.where))
    largest = [sum(table.weights) * int(np.abs(column).max(initial=0)) for column in table.columns]
    if any(sum(abs(c) * largest[t] for t, c in coef.items()) > LARGEST for coef, _, _ in table.rows):
        return None
    return table.totals() if table.rows else None


def _entries(table: Table, by_truth: Any, amounts: Any, conditions: Any) -> NDArray[np.object_]:
    """(n, K) what a unit of weight of each sample adds by predicted class: to a total that is made of these."""
    counts = np.ones(len(table.truth), dtype=np.int64)
    for codes, code in conditions:
        counts &= np.asarray(codes) == code
    # Whole numbers of Python do not overflow.
    each = counts.astype(object) * (1 if amounts is None else np.asarray(amounts).astype(object))
    return np.asarray(np.array(by_truth, dtype=object)[table.truth] * each[:, None])
