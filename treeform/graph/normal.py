"""The normal form of a model on training data: tests that decide nothing become pass-throughs.

Unlike `DecisionGraph.simplified`, which drops such tests, the normal form keeps them in their layers. It is what
models are judged in (see "Admissible models" in the design documents).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.graph.build import arrays_from_nodes
from treeform.graph.forms import PASS
from treeform.graph.routing import sides_taken

if TYPE_CHECKING:
    from treeform.data.dataset import Dataset
    from treeform.graph.decision import DecisionGraph

Head = int | tuple[int, ...]


def normalised(graph: DecisionGraph, data: Dataset, *, own_leaves: bool = False) -> DecisionGraph:
    """Rewrite tests that decide nothing on the training samples as pass-throughs; layers stay.

    A test through which all samples that reach it leave by one side becomes a pass-through to that side, and so
    does a test whose two arcs lead to one head. Nodes that no arc leads to any more are dropped.

    Parameters
    ----------
    graph : DecisionGraph
    data : Dataset
        Training samples; the model reads its features.
    own_leaves : bool
        True for trees: each arc that ends has a leaf of its own, so that a test with two leaves of one class has
        two heads. False for diagrams, which have one terminal per class: such a test is a pass-through.

    Returns
    -------
    DecisionGraph
        Predicts the same on all samples of `data`, with at most as many tests and at most the same depth; the
        counts are those of `data`. The normal form of a normal form is itself.
    """
    taken = sides_taken(graph, data)
    if own_leaves and graph.is_level_by_level and taken[graph.feature >= 0].all():
        return graph.with_counts(data)
    passing = len(graph.columns) + len(graph.forms)
    nodes: dict[Hashable, Any] = {} if graph.feature[0] >= 0 else {0: {"label": int(graph.label[0])}}
    reached: set[Head] = {0}
    for node in np.flatnonzero(graph.feature >= 0).tolist():  # parents come before their children
        if node not in reached:
            continue
        heads = [_head(graph, node, side, own_leaves) for side in (0, 1) if taken[node, side]]
        reached.update(heads)
        feature, threshold = int(graph.feature[node]), float(graph.threshold[node])
        if len(set(heads)) == 1:
            feature, threshold = passing, 0.0
        nodes[node] = {"feature": feature, "threshold": threshold, "left": heads[0], "right": heads[-1]}
    nodes |= {leaf: {"label": leaf[0]} for leaf in reached if isinstance(leaf, tuple)}
    arrays: dict[str, Any] = arrays_from_nodes(nodes)
    if all(np.array_equal(array, getattr(graph, name), equal_nan=True) for name, array in arrays.items()):
        return graph.with_counts(data)
    unknown = np.empty((0, 0), dtype=np.int64)
    bare = replace(graph, **arrays, forms=(*graph.forms, PASS), counts=unknown, moments=np.empty((0, 2)))
    return bare.with_counts(data)


def _head(graph: DecisionGraph, node: int, side: int, own_leaves: bool) -> Head:
    """Where an arc leads: the number of a test, or a leaf as (class code, and the arc if the leaf is its own)."""
    child = int((graph.left, graph.right)[side][node])
    if graph.feature[child] >= 0:
        return child
    code = int(graph.label[child])
    return (code, node, side) if own_leaves else (code,)
