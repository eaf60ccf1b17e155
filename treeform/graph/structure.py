"""What makes flat node arrays a decision graph: checks, levels, and the order of nodes."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeform.graph import forms

Ints = NDArray[np.int32]


def fault(
    feature: Ints,
    threshold: NDArray[np.float64],
    left: Ints,
    right: Ints,
    label: Ints,
    *,
    n_features: int,
    n_classes: int,
) -> str | None:
    """What is wrong with node arrays, or None.

    Children have larger indices than their parents, so a graph that passes is free of cycles.
    """
    sizes = {len(array) for array in (feature, threshold, left, right, label)}
    if len(sizes) != 1 or 0 in sizes:
        return "the node arrays are empty or have different lengths"
    if _sound((feature, threshold, left, right, label), n_features, n_classes):
        return None
    index = np.arange(len(feature))
    test = feature >= 0
    for side, child in (("left", left), ("right", right)):
        wrong = test & ((child <= index) | (child >= len(feature)))
        if wrong.any():
            node = int(np.flatnonzero(wrong)[0])
            return (
                f"the {side} child of node {node} is {int(child[node])}; it has to come after its parent, "
                f"below {len(feature)}"
            )
    checks = [
        (test & (feature >= n_features), f"tests a feature beyond the {n_features} known ones"),
        (test & ~np.isfinite(threshold), "has a threshold that is not finite"),
        (test & (label != -1), "is a test and has a label"),
        (~test & (feature != -1), "has a negative feature other than -1"),
        (~test & ((left != -1) | (right != -1)), "is a leaf and has children"),
        (~test & ~np.isnan(threshold), "is a leaf and has a threshold"),
        (~test & ((label < 0) | (label >= n_classes)), f"has a label outside the {n_classes} classes"),
    ]
    wrong, what = next((wrong, what) for wrong, what in checks if wrong.any())
    return f"node {int(np.flatnonzero(wrong)[0])} {what}"


def _sound(arrays: tuple[NDArray[Any], ...], n_features: int, n_classes: int) -> bool:
    """Whether there is no fault; most graphs are small, and lists are the faster ones for these."""
    size = len(arrays[0])
    nodes = zip(*(array.tolist() for array in arrays), strict=True)
    for node, (read, limit, lower, upper, code) in enumerate(nodes):
        if read >= 0:
            if not (read < n_features and node < lower < size and node < upper < size and code == -1):
                return False
            if not math.isfinite(limit):
                return False
        elif not (read == lower == upper == -1 and limit != limit and 0 <= code < n_classes):
            return False
    return True


def level_by_level(feature: Ints, left: Ints, right: Ints) -> bool:
    """Whether the nodes are a tree whose levels follow each other, each from left to right.

    Then no node is shared, the root leads to all of them, and `tidy_order` is their order.
    """
    following = 1
    heads = zip(feature.tolist(), left.tolist(), right.tolist(), strict=True)
    for read, lower, upper in heads:
        if read >= 0:
            if lower != following or upper != following + 1:
                return False
            following += 2
    return following == len(feature)


def levels(feature: Ints, left: Ints, right: Ints) -> NDArray[np.int64]:
    """Longest distance of every node from the root in tests, -1 where the root does not lead."""
    level = [-1] * len(feature)
    level[0] = 0
    arcs = zip(feature.tolist(), left.tolist(), right.tolist(), strict=True)
    for node, (read, lower, upper) in enumerate(arcs):
        if read >= 0 and level[node] >= 0:
            for child in (lower, upper):
                level[child] = max(level[child], level[node] + 1)
    return np.array(level, dtype=np.int64)


def tidy_order(root: Any, children: Any) -> list[Any]:
    """Order nodes by level (longest distance from the root), left to right within a level.

    Parameters
    ----------
    root : hashable
    children : callable
        Gives ``(left, right)`` of a node, or ``()`` for a leaf.

    Returns
    -------
    list
        Every node that the root leads to, parents before children.

    Raises
    ------
    ValueError
        If the nodes form a cycle; its argument is a node on it.
    """
    below = _parents_first(root, children)
    level = dict.fromkeys(below, 0)
    for node, heads in below.items():
        for child in heads:
            level[child] = max(level[child], level[node] + 1)
    layers: list[list[Any]] = [[] for _ in range(max(level.values()) + 1)]
    layers[0].append(root)
    placed = {root}
    for layer in layers:
        for node in layer:
            for child in below[node]:
                if child not in placed:  # its first parent in the order so far, left before right
                    placed.add(child)
                    layers[level[child]].append(child)
    return [node for layer in layers for node in layer]


def _parents_first(root: Any, children: Any) -> dict[Any, Any]:
    """The children of every node that the root leads to, in depth-first topological order; without recursion."""
    below: dict[Any, Any] = {}
    finished: dict[Any, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in below:
            stack.pop()
            finished.setdefault(node)
            continue
        below[node] = children(node)
        for child in reversed(below[node]):
            if child not in below:
                stack.append(child)
            elif child not in finished:
                raise ValueError(child)
    return {node: below[node] for node in reversed(finished)}


class Parts(Protocol):
    """What is checked; see `DecisionGraph`."""

    @property
    def feature(self) -> Any: ...
    @property
    def threshold(self) -> Any: ...
    @property
    def left(self) -> Any: ...
    @property
    def right(self) -> Any: ...
    @property
    def label(self) -> Any: ...
    @property
    def columns(self) -> tuple[Any, ...]: ...
    @property
    def classes(self) -> Any: ...
    @property
    def counts(self) -> Any: ...
    @property
    def moments(self) -> Any: ...
    @property
    def values(self) -> tuple[Any, ...]: ...
    @property
    def forms(self) -> tuple[forms.LinearForm, ...]: ...
    @property
    def passes(self) -> Any: ...


def fault_of_parts(graph: Parts) -> str | None:
    """The first thing that is wrong, or None."""
    size, outcomes = len(graph.feature), len(graph.values or graph.classes)
    arrays = (graph.feature, graph.threshold, graph.left, graph.right, graph.label)
    n_features = len(graph.columns) + len(graph.forms)
    wrong = fault(*arrays, n_features=n_features, n_classes=outcomes)
    if wrong is None and graph.forms:
        wrong = forms.fault(graph.forms, len(graph.columns)) or forms.fault_of_passes(
            graph.passes, graph.threshold, graph.left, graph.right
        )
    if wrong is None and graph.counts.shape != (size, len(graph.classes)):
        wrong = f"counts has shape {graph.counts.shape}"
    if wrong is None and graph.moments.shape != (size, 2):
        wrong = f"moments has shape {graph.moments.shape}"
    return wrong
