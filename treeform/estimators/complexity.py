"""The complexity penalty: the price of a test as a share of the total weight, scikit-learn's ``ccp_alpha``.

The prices at which the optimum changes are the exact counterpart of scikit-learn's cost-complexity path.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from treeform.data import Dataset
from treeform.language.numbers import not_negative
from treeform.language.objective import Objective
from treeform.language.size_terms import Nodes
from treeform.utils.rows import setting_text

if TYPE_CHECKING:
    from treeform.tradeoff import SizeTable

MOST_DENOMINATOR = 10_000
"""Of a price that stands for a float; see `price_of`."""


def total_weight(data: Dataset) -> Fraction:
    """The weight of all rows, in the user's units."""
    return Fraction(data.total_weight * data.weight_unit)


def price_of(alpha: Any, data: Dataset) -> Fraction:
    """The price of a test in units of the objective, ``alpha`` times the total weight.

    Of all prices that stand for the same float, one that is a simple multiple of the unit of weights is taken where
    there is one: searches count in whole numbers, and are faster with smaller ones. A float may be text, too, as the
    command line has it.

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
    is_float = isinstance(alpha, Real | str) and not isinstance(alpha, Fraction)
    kept = simple if is_float and float(simple / data.total_weight) == float(share) else in_units
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


def pruning_path(table: SizeTable) -> Bunch:
    """Prices at which the optimum changes, from the size table.

    With e(m) the least error of a model with at most m tests, the models that are best at some price are those on the
    lower convex hull of the points (m, e(m)).

    Returns ``ccp_alphas`` (k,), increasing: from this price per test on, in shares of the total weight, the model is
    best; ``errors`` (k,), the share of the total weight that it gets wrong; ``n_nodes`` (k,), its number of tests;
    ``graphs``, the models; ``proved``, whether all of it is.
    """
    points = [
        (row.graph.n_nodes, Fraction(row.upper), row.graph)
        for row in table.rows
        if row.graph is not None and row.upper is not None
    ]
    hull = lower_hull(sorted(points, key=lambda point: point[:2]))
    total = table.question.data.total_weight * table.question.data.weight_unit
    # A size is best from the price on at which it equals the next larger size.
    prices = [Fraction(0)]
    for few, more in zip(hull[-2::-1], hull[:0:-1], strict=True):
        prices.append(-slope(few, more) / total)
    ordered = hull[::-1]
    return Bunch(
        ccp_alphas=np.array([float(price) for price in prices]),
        errors=np.array([float(value / total) for _, value, _ in ordered]),
        n_nodes=np.array([tests for tests, _, _ in ordered]),
        graphs=[graph for _, _, graph in ordered],
        proved=table.proved,
    )  # fmt: skip


def lower_hull(points: list[tuple[int, Fraction, Any]]) -> list[tuple[int, Fraction, Any]]:
    """The sorted points (tests, value, ...) that are optimal at some price of a test; fewest tests first."""
    hull: list[tuple[int, Fraction, Any]] = []
    for point in points:
        if hull and point[1] >= hull[-1][1]:
            continue
        while len(hull) > 1 and slope(hull[-2], hull[-1]) >= slope(hull[-2], point):
            hull.pop()
        hull.append(point)
    return hull


def slope(a: tuple[int, Fraction, Any], b: tuple[int, Fraction, Any]) -> Fraction:
    """Slope of the value per test between two points; negative."""
    return (b[1] - a[1]) / (b[0] - a[0])
