"""Native trees and diagrams as decision graphs, and models to begin with in the form that the core takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.data import midpoints
from treeform.engines.task import TreeTask
from treeform.graph import DecisionGraph, normalised
from treeform.graph.forms import PASS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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


def tree_between_values(tree: dict[str, Any], data: Dataset) -> DecisionGraph:
    """The core's tree as a graph, with thresholds between the neighbouring values it names."""
    feature = tree["feature"]
    threshold = np.full(len(feature), np.nan)
    tests = feature >= 0
    if tests.any():
        threshold[tests] = midpoints(tree["low"][tests], tree["high"][tests])
    return DecisionGraph.from_arrays(
        feature=feature,
        threshold=threshold,
        left=tree["left"],
        right=tree["right"],
        label=tree["label"],
        data=data,
    )


def tree_over_tests(
    tree: dict[str, Any], feature: NDArray[Any], threshold: NDArray[Any], data: Dataset
) -> DecisionGraph:
    """The core's tree over tests as a graph: test j is ``x[feature[j]] <= threshold[j]``."""
    test = np.asarray(tree["feature"])
    inner = np.flatnonzero(test >= 0)
    features, thresholds = np.full(len(test), -1, dtype=np.int32), np.full(len(test), np.nan)
    features[inner], thresholds[inner] = feature[test[inner]], threshold[test[inner]]
    return DecisionGraph.from_arrays(features, thresholds, tree["left"], tree["right"], tree["label"], data)


def tree_of_tests(
    graph: DecisionGraph | None, test_of: Callable[[int, float], int | None]
) -> tuple[NDArray[np.int32], ...] | None:
    """A tree as the core takes it to begin with; None when there is no tree, or a test is not among the engine's.

    Parameters
    ----------
    test_of : callable
        ``test_of(feature, threshold)`` gives the number of the test that sends every sample the same way.
    """
    if graph is None or not graph.is_plain_tree:
        return None
    test = np.full(len(graph.feature), -1, dtype=np.int32)
    for node in np.flatnonzero(graph.feature >= 0):
        number = test_of(int(graph.feature[node]), float(graph.threshold[node]))
        if number is None:
            return None
        test[node] = number
    arrays = (test, graph.left, graph.right, graph.label)
    return tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays)


def number_of_test(
    data: Dataset, features: NDArray[Any], thresholds: NDArray[Any], feature: int, threshold: float
) -> int | None:
    """The test that sends every sample the way of ``feature <= threshold``; None when there is none."""
    tests = np.flatnonzero(features == feature)
    exact = tests[thresholds[tests] == threshold]
    if len(exact):
        return int(exact[0])
    values = data.X[:, feature]
    for number in tests:
        if np.array_equal(values <= threshold, values <= thresholds[number]):
            return int(number)
    return None


def start_over_ranks(
    graph: DecisionGraph | None, data: Dataset, depth: int, columns: NDArray[Any] | None = None
) -> dict[str, Any]:
    """A tree as searches over ranks take it to begin with: its arrays, and how many distinct values go left.

    ``columns`` are those that the search sees; None: all. Nothing where the graph is no tree of the depth, or has a
    test that separates nothing or that the search does not see.
    """
    nothing: dict[str, Any] = {"start": None, "start_key": []}
    if graph is None or not graph.is_plain_tree or graph.depth > depth:
        return nothing
    feature, key = np.array(graph.feature, dtype=np.int32), np.zeros(len(graph.feature), dtype=np.int64)
    for node in np.flatnonzero(graph.feature >= 0):
        values = np.unique(data.X[:, graph.feature[node]])
        key[node] = np.searchsorted(values, graph.threshold[node], side="right")
        place = feature[node : node + 1] if columns is None else np.flatnonzero(columns == feature[node])
        if key[node] in (0, len(values)) or not len(place):
            return nothing
        feature[node] = place[0]
    arrays = (feature, graph.left, graph.right, graph.label)
    return {
        "start": tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays),
        "start_key": key.tolist(),
    }


def cost_of_admissible_tree(graph: DecisionGraph, data: Dataset, task: TreeTask) -> int | None:
    """What a tree costs under the task, or None when it is not admissible, or not univariate without pass-throughs."""
    if not graph.is_plain_tree or graph.depth > task.depth:
        return None
    if task.max_nodes is not None and graph.n_nodes > task.max_nodes:
        return None
    leaf = np.asarray(graph.apply(data.X))
    support = np.bincount(leaf, weights=None, minlength=len(graph.feature))
    if task.min_support:
        support = np.zeros(len(graph.feature), dtype=np.int64)
        np.add.at(support, leaf, data.weights)
        if (support[graph.feature < 0] < task.min_support).any():
            return None
    predicted = graph.label[leaf]
    unit = (data.y != predicted).astype(np.int64) if task.cost is None else task.cost[data.y, predicted]
    return int((data.weights * unit).sum()) + task.node_penalty * int((graph.feature >= 0).sum())


def to_diagram(native: dict[str, Any], data: Dataset, is_tree: bool = False) -> DecisionGraph:
    """The core's flat diagram as a graph, with thresholds between the values it names.

    A diagram has one leaf per class, a tree one per arc that ends.
    """
    feature = np.array(native["feature"], dtype=np.int32)
    if not len(feature):
        return DecisionGraph.leaf(int(native["constant"]), data)
    passes = feature == NO_FEATURE
    feature[passes] = data.n_features
    threshold = np.zeros(len(feature))
    low, high = np.asarray(native["low"], dtype=float), np.asarray(native["high"], dtype=float)
    threshold[~passes] = midpoints(low[~passes], high[~passes])
    heads, labels = _with_leaves(np.array([native["left"], native["right"]], dtype=np.int64), is_tree)
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
