"""What the page shows of each node when it is clicked: plain values that its script reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.columns import BOOLEAN, CATEGORY, Column
from treeform.errors import TreeformError
from treeform.graph.evaluate import members, predictions
from treeform.graph.rules import amount_text, branches, class_text, leaves_in_order, question_text
from treeform.graph.svg import PALETTE, Picture
from treeform.report import targets
from treeform.report.bins import bins
from treeform.report.fairness import Attribute
from treeform.requirements.groups import Groups

if TYPE_CHECKING:
    from treeform.graph import DecisionGraph

MOST_NODES = 2000


def explore_values(
    graph: DecisionGraph,
    shown: DecisionGraph,
    data: Dataset,
    attributes: Sequence[tuple[str, Attribute]],
    positive: int = 0,
) -> dict[str, Any] | None:
    """The drawing and the facts of each node.

    Returns None where the model has too many nodes to click through.

    Parameters
    ----------
    graph : DecisionGraph
        In the order of `treeform.graph.rewrite.ordered`.
    shown : DecisionGraph
        The same nodes, with the columns worded.
    positive : int
        Class code; without meaning in regression.
    """
    if len(graph.feature) > MOST_NODES:
        return None
    picture = Picture(shown)
    reached = members(graph, data)
    tested = graph.tested(data.X)
    known = _groups(data, attributes)
    of_group = targets.group_facts(graph, data) if graph.is_regression else _selected(graph, data, positive)
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
            entry |= targets.node_facts(graph, data, node, rows)
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


def _groups(data: Dataset, attributes: Sequence[tuple[str, Attribute]]) -> list[tuple[str, Groups]]:
    groups = []
    for name, attribute in attributes:
        try:
            groups.append((name, Groups.of(attribute, data)))
        except TreeformError:
            continue
    return groups


def _selected(
    graph: DecisionGraph, data: Dataset, positive: int
) -> Callable[[Groups, NDArray[np.int64]], list[list[Any]]]:
    """Of rows, how many are of each group, and how many of these are predicted the positive class in the end."""
    selected = predictions(graph, data) == positive

    def counted(groups: Groups, rows: NDArray[np.int64]) -> list[list[Any]]:
        count = np.bincount(groups.codes[rows], minlength=len(groups.labels))
        of_these = np.bincount(groups.codes[rows][selected[rows]], minlength=len(groups.labels))
        return [
            [str(label), int(n), int(m)] for label, n, m in zip(groups.labels, count, of_these, strict=True)
        ]

    return counted


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
    return {**bins(column, known, threshold), "missing": missing}
