"""Conversion of the native core's diagrams to decision graphs, and of a model to begin with to what the core takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.data import midpoints
from treeform.engines.task import TreeTask
from treeform.graph import DecisionGraph, normalised
from treeform.graph.forms import PASS

if TYPE_CHECKING:
    from treeform.data import Dataset

NO_FEATURE = -1
"""What the core writes in place of a feature at a pass-through."""


@dataclass(frozen=True)
class Start:
    """A model to begin with, in the normal form that it is judged in.

    Attributes
    ----------
    graph : DecisionGraph
    tests : int
        Pass-throughs included.
    cost : int
        Weight units, without the price of tests.
    """

    graph: DecisionGraph
    tests: int
    cost: int


def to_diagram(found: dict[str, Any], data: Dataset, is_tree: bool = False) -> DecisionGraph:
    """The core's flat diagram as a graph, with thresholds between the values it names.

    A diagram has one leaf per class, a tree one per arc that ends.
    """
    feature = np.array(found["feature"], dtype=np.int32)
    if not len(feature):
        return DecisionGraph.leaf(int(found["constant"]), data)
    passes = feature == NO_FEATURE
    feature[passes] = data.n_features
    threshold = np.zeros(len(feature))
    low, high = np.asarray(found["low"], dtype=float), np.asarray(found["high"], dtype=float)
    threshold[~passes] = midpoints(low[~passes], high[~passes])
    heads, labels = _with_leaves(np.array([found["left"], found["right"]], dtype=np.int64), is_tree)
    none = np.full(len(labels), -1)
    return DecisionGraph.from_arrays(
        feature=np.concatenate([feature, none]),
        threshold=np.concatenate([threshold, np.full(len(labels), np.nan)]),
        left=np.concatenate([heads[0], none]),
        right=np.concatenate([heads[1], none]),
        label=np.concatenate([np.full(len(feature), -1), labels]),
        data=data,
        forms=(PASS,) if passes.any() else (),
    )


def _with_leaves(arcs: np.ndarray, is_tree: bool) -> tuple[np.ndarray, np.ndarray]:
    """Arcs (2, tests), ``~class`` where they end, as positions of nodes, and the labels of the leaves after them."""
    tests, ends = arcs.shape[1], arcs < 0
    labels = ~arcs[ends] if is_tree else np.unique(~arcs[ends])
    heads = arcs.copy()
    heads[ends] = tests + (np.arange(len(labels)) if is_tree else np.searchsorted(labels, ~arcs[ends]))
    return heads, labels


def admissible_diagram(graph: DecisionGraph, data: Dataset, task: TreeTask) -> Start | None:
    """The model's normal form, its tests and its cost, or None when it is not admissible under the task."""
    if len(graph.columns) != data.n_features or graph.n_classes != data.n_classes:
        return None
    graph = normalised(graph, data, own_leaves=task.widths is None)
    tests = np.flatnonzero(graph.feature >= 0)
    fits = graph.is_tree if task.widths is None else _is_layered(graph, task.widths)
    if not fits or graph.depth > task.depth or not graph.is_univariate:
        return None
    if task.max_nodes is not None and len(tests) > task.max_nodes:
        return None
    X, weight = data.points.X, data.points.weights.sum(axis=1)
    if len(tests) and max(task.min_flow, task.min_support) > 0:
        through = graph.route(X)[:, tests]
        left = graph.goes_left(X)[:, tests]
        if (weight @ through).min() < task.min_flow:
            return None
        if min((weight @ (through & left)).min(), (weight @ (through & ~left)).min()) < task.min_support:
            return None
    elif not len(tests) and weight.sum() < task.min_support:
        return None
    predicted = graph.predict_codes(data.X)
    unit = (data.y != predicted).astype(np.int64) if task.cost is None else task.cost[data.y, predicted]
    return Start(graph, len(tests), int((data.weights * unit).sum()))


def _is_layered(graph: DecisionGraph, widths: tuple[int, ...]) -> bool:
    """Whether arcs lead to the next layer or to a leaf, and the layers fit the widths."""
    layer = {0: 0}
    for u in np.flatnonzero(graph.feature >= 0).tolist():
        if u not in layer:
            return False
        for v in (int(graph.left[u]), int(graph.right[u])):
            if graph.feature[v] >= 0 and layer.setdefault(v, layer[u] + 1) != layer[u] + 1:
                return False
    sizes = np.bincount([level for v, level in layer.items() if graph.feature[v] >= 0], minlength=len(widths))
    return len(sizes) <= len(widths) and bool((sizes <= np.asarray(widths)).all())
