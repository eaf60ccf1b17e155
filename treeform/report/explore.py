"""What the page shows of each node when it is clicked: plain values that its script reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, CATEGORY, Column
from treeform.errors import TreeformError
from treeform.graph.evaluate import members, predictions
from treeform.graph.rules import amount_text, branches, class_text, leaves_in_order, question_text
from treeform.graph.svg import PALETTE, Picture
from treeform.report.fairness import Attribute
from treeform.requirements.groups import Groups

if TYPE_CHECKING:
    from treeform.graph import DecisionGraph

BINS = 20
MOST_NODES = 2000


def explore_values(
    graph: DecisionGraph,
    shown: DecisionGraph,
    data: Dataset,
    attributes: Sequence[tuple[str, Attribute]],
    favourable: int,
) -> dict[str, Any] | None:
    """The drawing and the facts of each node.

    Parameters
    ----------
    graph : DecisionGraph
        In the order of `treeform.graph.rewrite.ordered`.
    shown : DecisionGraph
        The same nodes, with the columns worded.
    data : Dataset
    attributes : sequence of (name, column or groups)
    favourable : int
        Class code.

    Returns
    -------
    dict or None
        None where the model has too many nodes to click through.
    """
    if len(graph.feature) > MOST_NODES:
        return None
    picture = Picture(shown)
    reached = members(graph, data)
    tested = graph.tested(data.X)
    known = _groups(data, attributes)
    selected = predictions(graph, data) == favourable
    rule = {leaf: number for number, leaf in enumerate(leaves_in_order(shown), start=1)}
    nodes = []
    for node, rows in enumerate(reached):
        box = picture.boxes[node]
        leaf = graph.feature[node] < 0
        counts = [amount_text(count) for count in graph.counts[node]]
        entry: dict[str, Any] = {
            "text": class_text(shown, node) if leaf else question_text(shown, node),
            "lines": box.lines,
            "detail": box.detail,
            "width": round(box.width, 1),
            "height": round(box.height, 1),
            "x": round(picture.layout.x[node], 1),
            "layer": picture.layout.layer[node],
            "counts": counts,
            "shares": [round(share, 6) for share in graph.shares[node].tolist()],
            "rows": len(rows),
            "arcs": [] if leaf else _arcs(picture, shown, node),
            "groups": [_group_counts(name, groups, rows, selected) for name, groups in known],
        }
        if leaf:
            entry |= {"label": int(graph.label[node]), "rule": rule[node]}
        elif not graph.passes[node]:
            column = shown.tested_columns[int(graph.feature[node])]
            values = tested[rows, graph.feature[node]]
            entry["column"] = column.source
            entry["spread"] = _spread(column, values, float(graph.threshold[node]))
        nodes.append(entry)
    return {
        "tree": graph.is_tree,
        "classes": [str(label) for label in graph.classes],
        "favourable": favourable,
        "colours": [PALETTE[code % len(PALETTE)] for code in range(graph.n_classes)],
        "nodes": nodes,
    }


def _arcs(picture: Picture, shown: DecisionGraph, node: int) -> list[list[Any]]:
    """Of each arc the answer, the child, and where it crosses the rows between."""
    return [
        [answer, child, [round(x, 1) for x in picture.layout.bends[node, side]]]
        for side, (answer, child) in enumerate(branches(shown, node))
    ]


def _groups(data: Dataset, attributes: Sequence[tuple[str, Attribute]]) -> list[tuple[str, Groups]]:
    groups = []
    for name, attribute in attributes:
        try:
            groups.append((name, Groups.of(attribute, data)))
        except TreeformError:
            continue
    return groups


def _group_counts(
    name: str, groups: Groups, rows: NDArray[np.int64], selected: NDArray[np.bool_]
) -> dict[str, Any]:
    """Rows of each group at a node, and how many of them are predicted the favourable class in the end."""
    count = np.bincount(groups.codes[rows], minlength=len(groups.labels))
    of_these = np.bincount(groups.codes[rows][selected[rows]], minlength=len(groups.labels))
    return {
        "name": name,
        "rows": [
            [str(label), int(n), int(m)] for label, n, m in zip(groups.labels, count, of_these, strict=True)
        ],
    }


def _spread(column: Column, values: NDArray[np.float64], threshold: float) -> dict[str, Any]:
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
    return {**_bins(column, known, threshold), "missing": missing}


def _bins(column: Column, known: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Bins of equal width, with an edge at the threshold where it is inside the range."""
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
