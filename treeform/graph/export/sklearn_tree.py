"""A model as a fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor`` of scikit-learn.

Its arrays are set as scikit-learn's own pickles set them.

scikit-learn rounds every value to single precision before it compares it with a threshold. So a threshold is moved to
the nearest number that sends the training rows the same way. Where two of them round to the same number and part here,
there is none, and the model is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.data.columns import LARGEST_PRESENT
from treeform.errors import SpecError
from treeform.graph.encoded import with_nan
from treeform.graph.graph import FlatGraph
from treeform.utils.arrays import Floats

MOST_NODES = 100_000
_SHOWN = 10


def to_sklearn(graph: FlatGraph, encoded: Floats) -> Any:
    """See `DecisionGraph.to_sklearn`; the rows are encoded."""
    if not graph.is_univariate:
        raise SpecError(
            "a tree of scikit-learn cannot state hyperplanes",
            cause="each of its tests reads one feature",
            fix="use graph.to_json(), or fit with univariate splits",
        )
    _check_range(graph, encoded)
    nodes = _unrolled(graph)
    thresholds = _thresholds(graph, encoded)
    return _fitted(graph, nodes, thresholds)


def _check_range(graph: FlatGraph, encoded: Floats) -> None:
    large = np.abs(np.nan_to_num(with_nan(graph.columns, encoded))) > np.finfo(np.float32).max
    rows = np.flatnonzero(large.any(axis=1)).tolist()
    if rows:
        raise SpecError(
            f"a tree of scikit-learn cannot read {len(rows)} of the rows",
            cause="it reads values in single precision, and theirs are beyond its range; rows (counted from 0): "
            + ", ".join(map(str, rows[:_SHOWN])),
            fix="export to ONNX, treelite, Python, C or JavaScript, which keep double precision",
        )


def _unrolled(graph: FlatGraph) -> list[tuple[int, int, int]]:
    """(node of the graph, left, right) of every node of the tree in pre-order, -1 at leaves; no pass-throughs."""
    made: list[tuple[int, int, int]] = []
    waiting = [(0, -1, False)]
    while waiting:
        node, parent, to_right = waiting.pop()
        while graph.passes[node]:
            node = int(graph.left[node])
        at = len(made)
        if at >= MOST_NODES:
            raise SpecError(
                f"the model becomes a tree of more than {MOST_NODES} nodes",
                cause="a tree of scikit-learn has no shared nodes, so each way to one is written out",
                fix="export it to Python, C or JavaScript",
            )
        made.append((node, -1, -1))
        if parent >= 0:
            above, left, right = made[parent]
            made[parent] = (above, left, at) if to_right else (above, at, right)
        if graph.feature[node] >= 0:
            waiting += [(int(graph.right[node]), at, True), (int(graph.left[node]), at, False)]
    return made


def _thresholds(graph: FlatGraph, X: Floats) -> dict[int, float]:
    """For each test of the graph, the nearest threshold that parts the rows in single precision alike.

    Raises SpecError if rows on both sides round to the same number.
    """
    found: dict[int, float] = {}
    differing: list[tuple[int, int]] = []
    with np.errstate(over="ignore"):
        single = X.astype(np.float32).astype(np.float64)
    reached = graph.route(X)
    for test in graph.tests():
        if test.column is None:
            continue
        column = graph.columns[test.column]
        if column.missing and abs(test.threshold) > LARGEST_PRESENT:
            found[test.node] = (
                -np.inf if test.threshold < 0 else np.inf
            )  # asks only whether a value is missing
            continue
        rows = np.flatnonzero(reached[:, test.node] & ~column.missing_values(X[:, test.column]))
        left = X[rows, test.column] <= test.threshold
        low = single[rows[left], test.column].max(initial=-np.inf)
        high = single[rows[~left], test.column].min(initial=np.inf)
        if low >= high and left.any() and not left.all():
            rounded = single[rows, test.column]
            differing += [(test.node, int(row)) for row in rows[~left & (rounded <= low)]]
            continue
        found[test.node] = min(max(test.threshold, low), np.nextafter(high, -np.inf))
    if differing:
        node, _ = differing[0]
        listed = ", ".join(str(row) for row in sorted({row for _, row in differing})[:_SHOWN])
        raise SpecError(
            f"a tree of scikit-learn would send {len({row for _, row in differing})} training rows another way",
            cause=f"it rounds values to single precision, in which rows on both sides of {_test(graph, node)} "
            f"are equal; rows (counted from 0): {listed}",
            fix="export to ONNX, treelite, Python, C or JavaScript, which keep double precision",
        )
    return found


def _test(graph: FlatGraph, node: int) -> str:
    return graph.columns[int(graph.feature[node])].test(float(graph.threshold[node]))


def _fitted(graph: FlatGraph, nodes: list[tuple[int, int, int]], thresholds: dict[int, float]) -> Any:
    """Fitted on one row for each class, so that every attribute of a fitted tree is there, and with our nodes then."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import Tree

    features = len(graph.columns)
    if graph.values:
        classes, order = 1, np.zeros(1, dtype=np.intp)
        made = DecisionTreeRegressor(max_depth=1).fit(np.zeros((1, features)), [0.0])
    else:
        classes = len(graph.classes)
        # Fitted on codes: scikit-learn refuses labels such as 0.5, which it takes for a quantity.
        made = DecisionTreeClassifier(max_depth=1).fit(np.zeros((classes, features)), np.arange(classes))
        order = np.argsort(np.argsort(graph.classes, kind="stable"))  # scikit-learn sorts classes
        made.classes_ = np.sort(graph.classes)
    state = made.tree_.__getstate__()
    arrays = np.zeros(len(nodes), dtype=state["nodes"].dtype)
    values = np.zeros((len(nodes), 1, classes))
    for at, (node, left, right) in enumerate(nodes):
        counts = graph.counts[node].astype(np.float64)
        values[at, 0, order] = _values(graph, node)
        entry = arrays[at]
        entry["left_child"], entry["right_child"] = left, right
        entry["n_node_samples"], entry["weighted_n_node_samples"] = round(counts.sum()), counts.sum()
        entry["impurity"] = _impurity(graph, node)
        if left < 0:
            entry["feature"], entry["threshold"] = -2, -2.0
            continue
        feature = int(graph.feature[node])
        entry["feature"], entry["threshold"] = feature, thresholds[node]
        entry["missing_go_to_left"] = graph.columns[feature].missing == "below"
    tree = Tree(features, np.array([classes], dtype=np.intp), 1)
    depth = _depth(nodes)
    tree.__setstate__(
        {**state, "max_depth": depth, "node_count": len(nodes), "nodes": arrays, "values": values}
    )
    made.tree_ = tree
    made.set_params(max_depth=max(1, depth))
    return made


def _impurity(graph: FlatGraph, node: int) -> float:
    """Gini's of the classes, the variance of values."""
    if graph.values:
        return float(graph.moments[node, 1]) ** 2
    return 1.0 - float((graph.shares[node] ** 2).sum())


def _values(graph: FlatGraph, node: int) -> Floats:
    """Shares of the classes; at a leaf whose label is not the most frequent class, the label alone.

    In regression the value of a leaf, and the mean at other nodes.
    """
    if graph.values:
        return np.array([graph.leaf_values[node] if graph.feature[node] < 0 else graph.moments[node, 0]])
    shares = graph.shares[node]
    if graph.feature[node] >= 0:
        return np.asarray(shares)
    label = int(graph.label[node])
    others = np.delete(shares, label)
    return np.asarray(shares if shares[label] > others.max(initial=-1.0) else np.eye(len(shares))[label])


def _depth(nodes: list[tuple[int, int, int]]) -> int:
    depth = [0] * len(nodes)
    for at, (_, left, right) in enumerate(nodes):
        for child in (left, right):
            if child >= 0:
                depth[child] = depth[at] + 1
    return max(depth)
