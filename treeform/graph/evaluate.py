"""Exact evaluation of a graph on data, in integers.

Nothing here is shared with solvers, nor with `DecisionGraph.apply`: samples are pushed through the graph
node by node as index sets, on the original float64 values.
"""

from __future__ import annotations

import numpy as np

from treeform.data.dataset import Dataset
from treeform.errors import DataError
from treeform.graph.decision import DecisionGraph
from treeform.utils.arrays import Ints


def members(graph: DecisionGraph, data: Dataset) -> list[Ints]:
    """Rows of `data` that reach each node: a list of N index arrays, each increasing.

    Raises DataError if graph and data differ in features or classes.
    """
    _check_same_meaning(graph, data)
    arriving: list[list[Ints]] = [[] for _ in graph.feature]
    arriving[0].append(np.arange(data.n_samples))
    reached, nobody = [], np.empty(0, dtype=np.int64)
    for node, parts in enumerate(arriving):
        rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate([nobody, *parts]))
        reached.append(rows)
        if graph.feature[node] >= 0:
            low = graph.values_read(data.X, int(graph.feature[node]))[rows] <= graph.threshold[node]
            arriving[graph.left[node]].append(rows[np.flatnonzero(low)])
            arriving[graph.right[node]].append(rows[np.flatnonzero(~low)])
    return reached


def predictions(graph: DecisionGraph, data: Dataset) -> Ints:
    """Class code predicted for each row: (n,) int64."""
    codes = np.full(data.n_samples, -1, dtype=np.int64)
    for node, rows in enumerate(members(graph, data)):
        if graph.feature[node] < 0:
            codes[rows] = graph.label[node]
    return codes


def errors(graph: DecisionGraph, data: Dataset) -> int:
    """Number of rows of `data` that are misclassified."""
    return int((predictions(graph, data) != data.y).sum())


def counted_errors(graph: DecisionGraph, data: Dataset) -> int | None:
    """Number of rows that are misclassified; None where leaves hold values."""
    return None if graph.values else errors(graph, data)


def weighted_errors(graph: DecisionGraph, data: Dataset) -> int:
    """Weight of the misclassified rows, in weight units."""
    return int(data.weights[predictions(graph, data) != data.y].sum())


def confusion(graph: DecisionGraph, data: Dataset, *, weighted: bool = False) -> Ints:
    """Rows (or weight units) by true class and predicted class: (K, K) int64."""
    table = np.zeros((data.n_classes, data.n_classes), dtype=np.int64)
    amount = data.weights if weighted else np.ones(data.n_samples, dtype=np.int64)
    np.add.at(table, (data.y, predictions(graph, data)), amount)
    return table


def support(graph: DecisionGraph, data: Dataset, *, weighted: bool = True) -> Ints:
    """Weight units (or rows) that reach each node: (N,) int64."""
    amount = data.weights if weighted else np.ones(data.n_samples, dtype=np.int64)
    return np.array([int(amount[rows].sum()) for rows in members(graph, data)], dtype=np.int64)


def _check_same_meaning(graph: DecisionGraph, data: Dataset) -> None:
    if graph.columns != data.columns:
        raise DataError(
            "the model and the data have different features",
            cause=f"{len(graph.columns)} in the model, {data.n_features} in the data, or other names",
            fix="use the data that the model was fitted on, or graph.predict for new tables",
        )
    if list(graph.classes) != list(data.classes) or bool(graph.values) != (data.quantity is not None):
        raise DataError(
            "the model and the data have different classes",
            cause=f"{list(map(str, graph.classes))} in the model, {list(map(str, data.classes))} in the data",
            fix="use data with the same labels",
        )
