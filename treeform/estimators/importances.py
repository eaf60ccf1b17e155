"""How much each column contributes to a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.graph.routing import moved
from treeform.utils.arrays import Floats


def impurity_importances(graph: DecisionGraph, data: Dataset) -> Floats:
    """The decrease of the Gini impurity by the tests of each column, as shares of the whole.

    This is scikit-learn's definition (Breiman et al., 1984): a test that parts weight w into w_l and w_r contributes
    ``w gini - w_l gini_l - w_r gini_r``. In a diagram all rows that arrive at a node count there.

    ``data``: the training rows. Returns (columns of the table,) float64 that sum to 1; zeros where no test decreases
    the impurity, NaN where tests are hyperplanes, for a test on a weighted sum cannot be credited to one column.
    """
    classes = moved(graph, data.points.X, data.points.weights)[1].astype(np.float64)  # those that leave each side

    def decrease(node: int) -> float:
        left, right = classes[node]
        return _impurity(left + right) - _impurity(left) - _impurity(right)

    return _decreases(graph, data, decrease)


def variance_importances(graph: DecisionGraph, data: Dataset) -> Floats:
    """The decrease of the squared error by the tests of each column, as shares of the whole, whatever the loss.

    The target of ``data``, the training rows, is a quantity. Returns the same as `impurity_importances`.
    """
    assert data.quantity is not None
    sums = np.stack([data.weights, data.weights * data.quantity.deviations], axis=1)
    carried = moved(graph, data.X, sums)[1].tolist()  # the weight and the sum that leave each side

    def decrease(node: int) -> float:
        (left, low), (right, high) = carried[node]
        # of weights u, v and means a, b:  (a - b)^2 u v / (u + v)
        return (low * right - high * left) ** 2 / (left * right * (left + right)) if left and right else 0.0

    return _decreases(graph, data, decrease)


def _decreases(graph: DecisionGraph, data: Dataset, decrease: Callable[[int], float]) -> Floats:
    """What the tests of each column take off the impurity of the rows that reach them, as shares."""
    position = {name: j for j, name in enumerate(data.table.names)}
    gained = np.zeros(len(position))
    if not graph.is_univariate:
        return np.full(len(position), np.nan)
    for test in graph.tests():
        if not test.columns:  # a pass-through
            continue
        gained[position[graph.columns[test.columns[0]].source]] += decrease(test.node)
    whole = gained.sum()
    return gained / whole if whole > 0 else gained


def _impurity(weights: Floats) -> float:
    """w * gini = w - sum_k w_k^2 / w"""
    total = float(weights.sum())
    return total - float((weights**2).sum()) / total if total > 0 else 0.0
