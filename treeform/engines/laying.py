"""Between the native core's diagrams and decision graphs: handing out, and judging a model to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.task import TreeTask

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph


def to_diagram(found: dict[str, Any], data: Dataset, is_tree: bool = False) -> DecisionGraph:
    """The core's flat diagram as a graph, with thresholds between the values it names.

    A diagram has one leaf per class, a tree one per arc that ends.
    """
    from treeform.data import midpoints
    from treeform.graph import DecisionGraph

    feature = np.asarray(found["feature"], dtype=np.int32)
    if not len(feature):
        return DecisionGraph.leaf(int(found["constant"]), data)
    tests = len(feature)
    arcs = np.array([found["left"], found["right"]], dtype=np.int64)
    ends = arcs < 0
    labels = ~arcs[ends] if is_tree else np.unique(~arcs[ends])
    heads = arcs.copy()
    heads[ends] = tests + (np.arange(len(labels)) if is_tree else np.searchsorted(labels, ~arcs[ends]))
    none = np.full(len(labels), -1)
    threshold = midpoints(np.asarray(found["low"], dtype=float), np.asarray(found["high"], dtype=float))
    return DecisionGraph.from_arrays(
        feature=np.concatenate([feature, none]),
        threshold=np.concatenate([threshold, np.full(len(labels), np.nan)]),
        left=np.concatenate([heads[0], none]),
        right=np.concatenate([heads[1], none]),
        label=np.concatenate([np.full(tests, -1), labels]),
        data=data,
    )


def admissible_diagram(graph: DecisionGraph, data: Dataset, task: TreeTask) -> tuple[int, int] | None:
    """(number of tests, cost without their price) of a model under the task, or None when it is not admissible."""
    tests = np.flatnonzero(graph.feature >= 0)
    fits = _is_layered(graph, task.widths) if task.widths is not None else graph.is_tree
    if not fits or graph.depth > task.depth or graph.feature.max() >= data.n_features:
        return None
    if task.max_nodes is not None and len(tests) > task.max_nodes:
        return None
    X, weight = data.points.X, data.points.weights.sum(axis=1)
    if len(tests) and max(task.min_flow, task.min_support) > 0:
        through = graph.route(X)[:, tests]
        left = X[:, graph.feature[tests]] <= graph.threshold[tests]
        if (weight @ through).min() < task.min_flow:
            return None
        if min((weight @ (through & left)).min(), (weight @ (through & ~left)).min()) < task.min_support:
            return None
    elif not len(tests) and weight.sum() < task.min_support:
        return None
    predicted = graph.predict_codes(data.X)
    unit = (data.y != predicted).astype(np.int64) if task.cost is None else task.cost[data.y, predicted]
    return len(tests), int((data.weights * unit).sum())


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
