"""What the page shows of each node when it is clicked: plain values that its script reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, CATEGORY, Column
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import members, predictions
from treeform.graph.rules import amount_text, branches, class_text, leaves_in_order, question_text
from treeform.graph.svg import PALETTE, Picture
from treeform.report.fairness import Attribute, groups_on
from treeform.report.residuals import figure_text, figures
from treeform.requirements.groups import Groups
from treeform.utils.arrays import Floats, Ints

MOST_NODES = 2000


def explore_values(
    graph: DecisionGraph,
    shown: DecisionGraph,
    data: Dataset,
    attributes: Sequence[tuple[str, Attribute]],
    positive: int = 0,
) -> dict[str, Any] | None:
    """The drawing and the facts of each node, in the order of `treeform.graph.rewrite.ordered`.

    ``shown`` has the same nodes, with the columns worded; ``positive`` is a class code, without meaning in regression.
    None where the model has too many nodes to click through.
    """
    if len(graph.feature) > MOST_NODES:
        return None
    picture = Picture(shown)
    reached = members(graph, data)
    tested = graph.tested(data.X)
    known = [(name, groups) for name, groups in groups_on(attributes, data) if isinstance(groups, Groups)]
    of_group = group_facts(graph, data) if graph.is_regression else _selected(graph, data, positive)
    rule = {leaf: number for number, leaf in enumerate(leaves_in_order(shown), start=1)}
    nodes = []
    for node, rows in enumerate(reached):
        box = picture.boxes[node]
        leaf = graph.feature[node] < 0
        entry: dict[str, Any] = {
            "text": class_text(shown, node) if leaf else question_text(shown, node),
            "lines": box.lines,
            "detail": box.detail,
            "width": round(box.width, 1),
            "height": round(box.height, 1),
            "x": round(picture.layout.x[node], 1),
            "layer": picture.layout.layer[node],
            "rows": len(rows),
            "arcs": [] if leaf else _arcs(picture, shown, node),
            "groups": [{"name": name, "rows": of_group(groups, rows)} for name, groups in known],
        }
        if graph.is_regression:
            entry |= node_facts(graph, data, node, rows)
        else:
            entry["counts"] = [amount_text(count) for count in graph.counts[node]]
            entry["shares"] = [round(share, 6) for share in graph.shares[node].tolist()]
        if leaf:
            entry |= {"label": int(graph.label[node]), "rule": rule[node]}
        elif not graph.passes[node]:
            column = shown.tested_columns[int(graph.feature[node])]
            values = tested[rows, graph.feature[node]]
            entry["column"] = column.source
            entry["spread"] = _spread(column, values, float(graph.threshold[node]))
        nodes.append(entry)
    classes = (
        {}
        if graph.is_regression
        else {"classes": [str(label) for label in graph.classes], "positive": positive}
    )
    colours = [PALETTE[code % len(PALETTE)] for code in range(max(1, graph.n_classes))]
    return {"tree": graph.is_tree, **classes, "colours": colours, "nodes": nodes}


def _arcs(picture: Picture, shown: DecisionGraph, node: int) -> list[list[Any]]:
    """Of each arc the answer, the child, and where it crosses the rows between."""
    return [
        [answer, child, [round(x, 1) for x in picture.layout.bends[node, side]]]
        for side, (answer, child) in enumerate(branches(shown, node))
    ]


def _selected(
    graph: DecisionGraph, data: Dataset, positive: int
) -> Callable[[Groups, Ints], list[list[Any]]]:
    """Of rows, how many are of each group, and how many of these are predicted the positive class in the end."""
    selected = predictions(graph, data) == positive

    def counted(groups: Groups, rows: Ints) -> list[list[Any]]:
        count = np.bincount(groups.codes[rows], minlength=len(groups.labels))
        of_these = np.bincount(groups.codes[rows][selected[rows]], minlength=len(groups.labels))
        return [
            [str(label), int(n), int(m)] for label, n, m in zip(groups.labels, count, of_these, strict=True)
        ]

    return counted


def _spread(column: Column, values: Floats, threshold: float) -> dict[str, Any]:
    """The distribution of the tested feature on the rows of a node: bins on either side of the threshold."""
    gaps = column.missing_values(values)
    known = values[~gaps]
    missing = int(gaps.sum())
    if column.missing and abs(threshold) > 2.0**1000:
        return {"bars": [["missing", missing, False], ["not missing", len(known), True]], "missing": 0}
    if column.kind in (BOOLEAN, CATEGORY):
        low = int((known <= threshold).sum())
        names = [column.test(threshold, negate=side) for side in (False, True)]
        plain = [name.removesuffix(" or missing") for name in names]
        return {"bars": [[plain[0], low, True], [plain[1], len(known) - low, False]], "missing": missing}
    if not len(known):
        return {"bars": [], "missing": missing}
    return {**bins(column, known, threshold), "missing": missing}


def node_facts(graph: DecisionGraph, data: Dataset, node: int, rows: Ints) -> dict[str, Any]:
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


def quantile(values: Floats, weight: Ints, quarter: int) -> float:
    """The least value up to which at least so many quarters of the weight lie."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(4 * reached, quarter * int(reached[-1]))])


def group_facts(graph: DecisionGraph, data: Dataset) -> Callable[[Groups, Ints], list[list[Any]]]:
    """Of rows, for each group its label, rows, and mean target, prediction and residual."""
    assert data.quantity is not None
    target = np.asarray(data.quantity.values, dtype=np.float64)
    predicted = graph.leaf_values[graph.apply(data.X)]

    def described(groups: Groups, rows: Ints) -> list[list[Any]]:
        lines: list[list[Any]] = []
        for code, label in enumerate(groups.labels):
            of = rows[groups.codes[rows] == code]
            texts = figures(target[of], predicted[of], data.weights[of])[:3] if len(of) else ("–",) * 3
            lines.append([str(label), len(of), *texts])
        return lines

    return described


BINS = 20


def bins(column: Column, known: Floats, threshold: float) -> dict[str, Any]:
    """Counts of known values in bins of equal width, with an edge at the threshold where it is inside the range.

    As the page's script reads it: counts and edges (shares of the range), or one bar for a single value.
    """
    low, high = float(known.min()), float(known.max())
    if low == high or not np.isfinite(high - low):
        return {"bars": [[column.value_text(low), len(known), low <= threshold]]}
    inside = low < threshold < high
    width = (high - low) / BINS
    edges = np.linspace(low, high, BINS + 1)
    if inside:  # a whole number of bins on either side
        left = min(BINS - 1, max(1, round((threshold - low) / width)))
        edges = np.concatenate(
            [np.linspace(low, threshold, left + 1), np.linspace(threshold, high, BINS - left + 1)[1:]]
        )
    # Bins are (a, b], as tests are x <= t; the first one holds its lower end.
    place = np.clip(np.searchsorted(edges, known, side="left") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    return {
        "counts": counts.tolist(),
        "edges": [round(float(edge - low) / (high - low), 6) for edge in edges],
        "low": column.value_text(low),
        "high": column.value_text(high),
        "cut": (threshold - low) / (high - low) if inside else None,
        "threshold": column.value_text(threshold),
    }
