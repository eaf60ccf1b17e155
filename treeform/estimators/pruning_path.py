"""The exact counterpart of scikit-learn's cost-complexity path: the best model for every price of a test."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from treeform.tradeoff import SizeTable


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
    # Fewer tests are best from the price on at which they break even with the next more.
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
    """The points (tests, value, ...), sorted, that are least at some price of a test; fewest tests first."""
    hull: list[tuple[int, Fraction, Any]] = []
    for point in points:
        if hull and point[1] >= hull[-1][1]:
            continue
        while len(hull) > 1 and slope(hull[-2], hull[-1]) >= slope(hull[-2], point):
            hull.pop()
        hull.append(point)
    return hull


def slope(a: tuple[int, Fraction, Any], b: tuple[int, Fraction, Any]) -> Fraction:
    """What a test more adds to the value between two points; negative."""
    return (b[1] - a[1]) / (b[0] - a[0])
