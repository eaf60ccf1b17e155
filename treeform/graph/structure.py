"""Flat node arrays: made from descriptions that people and solvers write, checked, in levels and in order."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.errors import SpecError, did_you_mean, listing
from treeform.utils.arrays import Floats

Ints = NDArray[np.int32]


def fault(
    feature: Ints, threshold: Floats, left: Ints, right: Ints, label: Ints, *, n_features: int, n_classes: int
) -> str | None:
    """What is wrong with node arrays, or None.

    Children have larger indices than their parents, so a graph that passes is free of cycles.
    """
    arrays = (feature, threshold, left, right, label)
    size = len(feature)
    if not size or any(len(array) != size for array in arrays):
        return "the node arrays are empty or have different lengths"
    nodes = zip(*(array.tolist() for array in arrays), strict=True)
    for node, (read, limit, lower, upper, code) in enumerate(nodes):
        if read >= 0:
            for side, child in (("left", lower), ("right", upper)):
                if not node < child < size:
                    return f"the {side} child of node {node} is {child}; it has to come after its parent, below {size}"
            if read >= n_features:
                return f"node {node} tests a feature beyond the {n_features} known ones"
            if not math.isfinite(limit):
                return f"node {node} has a threshold that is not finite"
            if code != -1:
                return f"node {node} is a test and has a label"
        elif read != -1:
            return f"node {node} has a negative feature other than -1"
        elif lower != -1 or upper != -1:
            return f"node {node} is a leaf and has children"
        elif limit == limit:
            return f"node {node} is a leaf and has a threshold"
        elif not 0 <= code < n_classes:
            return f"node {node} has a label outside the {n_classes} classes"
    return None


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
    """Order nodes by level (longest distance from the root), left to right within a level: parents before children.

    ``children`` gives ``(left, right)`` of a node, or ``()`` for a leaf. Raises ValueError if the nodes form a cycle;
    its argument is a node on it.
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


Arrays = dict[str, NDArray[Any]]


def arrays_from_nodes(nodes: Mapping[Hashable, Any] | Sequence[Any]) -> Arrays:
    """Turn described nodes into flat arrays, parents first, without nodes that the root does not lead to.

    Each node is ``{"feature", "threshold", "left", "right"}`` or ``{"label"}``. In a sequence, children are positions
    and the root is node 0; in a mapping, they are keys and the root is the first one. Raises SpecError if a node is
    malformed, a child is missing or the nodes form a cycle.
    """
    table: dict[Any, Any] = dict(nodes) if isinstance(nodes, Mapping) else dict(enumerate(nodes))
    if not table:
        raise _malformed("there are no nodes")
    for key, node in table.items():
        _check_node(key, node, table)

    def children(key: Any) -> tuple[Any, ...]:
        node = table[key]
        return () if "label" in node else (node["left"], node["right"])

    try:
        order = tidy_order(next(iter(table)), children)
    except ValueError as cycle:
        raise _malformed(f"node {cycle.args[0]!r} can be reached from itself") from None
    position = {key: index for index, key in enumerate(order)}
    return flat_arrays(
        [
            (-1, np.nan, -1, -1, node["label"])
            if "label" in node
            else (node["feature"], node["threshold"], position[node["left"]], position[node["right"]], -1)
            for node in (table[key] for key in order)
        ]
    )


def class_code(label: Any) -> int:
    """A class code as a whole number. Raises SpecError if it is none."""
    try:
        return operator.index(label)
    except TypeError:
        raise SpecError(
            f"{label!r} is no class code",
            cause="a leaf holds the position of a class among data.classes",
            fix="use for example list(data.classes).index(label)",
        ) from None


def arrays_from_nested(nested: Any, data: Dataset) -> Arrays:
    """Turn ``(feature, threshold, left, right)`` tuples with class codes at the leaves into flat arrays."""
    refuse_no_data(data)
    table: dict[int, Any] = {}
    waiting: list[tuple[int, Any]] = [(0, nested)]
    fresh = 1
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            table[key] = {"label": int(value)}
            continue
        if not isinstance(value, tuple | list) or len(value) != 4:
            raise _malformed(f"{value!r} is neither a class code nor (feature, threshold, left, right)")
        table[key] = {
            "feature": _feature(value[0], data),
            "threshold": value[1],
            "left": fresh,
            "right": fresh + 1,
        }
        waiting += [(fresh, value[2]), (fresh + 1, value[3])]
        fresh += 2
    return arrays_from_nodes(dict(sorted(table.items())))


def refuse_no_data(data: Any) -> None:
    """Refuse a table in the place of the data set that it was read as. Raises SpecError."""
    if not isinstance(data, Dataset):
        raise SpecError(
            f"{type(data).__name__} is no data set",
            cause="the tests of a model read the features that a table became",
            fix="pass problem.data, or tf.Dataset.from_user(X, y)",
        )


def _feature(named: Any, data: Dataset) -> Any:
    """An encoded feature: by its position, its name, or the name of the column that it alone stands for."""
    if not isinstance(named, str):
        return named
    found = [f for f, column in enumerate(data.columns) if column.name == named]
    found = found or [f for f, column in enumerate(data.columns) if column.source == named]
    if len(found) == 1:
        return found[0]
    names = [column.name for column in data.columns]
    raise SpecError(
        f"a test names {named!r}, which is {'no feature' if not found else f'{len(found)} features'}",
        cause=f"the features are {listing(map(repr, names))}",
        fix=did_you_mean(named, names) or "name one of these, or give its position",
    )


def flat_arrays(rows: list[tuple[Any, ...]]) -> Arrays:
    """Columns of (feature, threshold, left, right, label) rows as arrays of the types a graph holds."""
    feature, threshold, left, right, label = zip(*rows, strict=True)
    return {
        "feature": np.array(feature, dtype=np.int32),
        "threshold": np.array(threshold, dtype=np.float64),
        "left": np.array(left, dtype=np.int32),
        "right": np.array(right, dtype=np.int32),
        "label": np.array(label, dtype=np.int32),
    }


def _check_node(key: Hashable, node: Any, table: dict[Any, Any]) -> None:
    if not isinstance(node, Mapping):
        raise _malformed(f"node {key!r} is not a dict")
    if set(node) == {"label"}:
        _whole(node["label"], f"the label of node {key!r}")
        return
    if set(node) != {"feature", "threshold", "left", "right"}:
        raise _malformed(
            f"node {key!r} has the keys {sorted(map(str, node))}; a test has feature, threshold, left and "
            "right, a leaf has label"
        )
    _whole(node["feature"], f"the feature of node {key!r}")
    if isinstance(node["threshold"], str | bytes) or not _is_number(node["threshold"]):
        raise _malformed(f"the threshold of node {key!r} is {node['threshold']!r}, which is no number")
    for side in ("left", "right"):
        if not isinstance(node[side], Hashable) or node[side] not in table:
            raise _malformed(f"the {side} child of node {key!r} is {node[side]!r}, which is no node")


def _whole(value: Any, what: str) -> None:
    if isinstance(value, int | np.integer):
        return
    if not isinstance(value, float | np.floating) or not float(value).is_integer():
        raise _malformed(f"{what} is {value!r}, which is no whole number")


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _malformed(cause: str) -> SpecError:
    return SpecError(
        "the nodes do not describe a decision graph",
        cause=cause,
        fix="see DecisionGraph.build for the form of nodes",
    )
