"""What the page shows of the nodes of a regression model: how the targets lie, and how far predictions are off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.columns import Column
from treeform.report.bins import bins
from treeform.report.residuals import figure_text, figures
from treeform.requirements.groups import Groups

if TYPE_CHECKING:
    from treeform.graph import DecisionGraph


def node_facts(graph: DecisionGraph, data: Dataset, node: int, rows: NDArray[np.int64]) -> dict[str, Any]:
    """The targets of the rows at one node, as names and texts, and their distribution.

    A mark stands at the prediction of a leaf, and at the mean of any other node. All figures but the extremes are by
    weight.
    """
    assert data.quantity is not None
    if not len(rows):
        return {"targets": [], "targetSpread": None}
    leaf = graph.feature[node] < 0
    target = np.asarray(data.quantity.values[rows], dtype=np.float64)
    weight = data.weights[rows]
    predicted = graph.leaf_values[graph.apply(data.X[rows])]
    mean, _, residual, absolute, _, largest = figures(target, predicted, weight)
    size = float(abs(target).max())
    deviation = np.sqrt(np.average((target - np.average(target, weights=weight)) ** 2, weights=weight))
    lower, middle, upper = (quantile(target, weight, quarter) for quarter in (1, 2, 3))
    known = [
        ("mean", mean),
        ("deviation", figure_text(float(deviation), size)),
        ("smallest", figure_text(float(target.min()), size)),
        ("lower quartile", figure_text(lower, size)),
        ("median", figure_text(middle, size)),
        ("upper quartile", figure_text(upper, size)),
        ("largest", figure_text(float(target.max()), size)),
        ("mean residual", residual),
        ("mean absolute residual", absolute),
        ("largest residual", largest),
    ]
    mark = float(graph.leaf_values[node]) if leaf else float(np.average(target, weights=weight))
    spread = bins(Column(data.target or "target"), target, mark)
    return {
        "targets": known,
        "targetSpread": {**spread, "missing": 0, "mark": "prediction" if leaf else "mean"},
    }


def quantile(values: NDArray[np.float64], weight: NDArray[np.int64], quarter: int) -> float:
    """The least value up to which at least so many quarters of the weight lie."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(4 * reached, quarter * int(reached[-1]))])


def group_facts(
    graph: DecisionGraph, data: Dataset
) -> Callable[[Groups, NDArray[np.int64]], list[list[Any]]]:
    """Of rows, for each group its label, rows, and mean target, prediction and residual."""
    assert data.quantity is not None
    target = np.asarray(data.quantity.values, dtype=np.float64)
    predicted = graph.leaf_values[graph.apply(data.X)]

    def described(groups: Groups, rows: NDArray[np.int64]) -> list[list[Any]]:
        lines: list[list[Any]] = []
        for code, label in enumerate(groups.labels):
            of = rows[groups.codes[rows] == code]
            texts = figures(target[of], predicted[of], data.weights[of])[:3] if len(of) else ("–",) * 3
            lines.append([str(label), len(of), *texts])
        return lines

    return described
