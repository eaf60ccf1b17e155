"""Cuts: what a point is predicted, bounded by minimum cuts of its flow (Benders' decomposition)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from treeform.formulations.flow.branching import Design
from treeform.formulations.flow.heap import Heap
from treeform.formulations.flow.tests import BinaryTests
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared, SharedValues
from treeform.model import Expr, Model, constant
from treeform.utils.arrays import Ints


@dataclass(frozen=True)
class Guesses(Shared, publisher="CutFlow"):
    """What every point is taken to be predicted, and which cuts bound it."""

    g: Expr
    """Expr (P, K)"""
    stated: set[tuple[int, int]] = field(default_factory=set)
    """set of (int, int): point and node of the cuts in the model."""


class CutFlow(Component):
    """What every point is predicted, without its flow: bounded by cuts, which are added as candidates break them.

    Notes
    -----
    The flow of point i to the sink of class k is at most the capacity of each cut. For every set S of nodes with the
    root, of which all arcs that leave it are cut::

        g_ik <= sum over n in S with l(n) outside of  sum over f with x_if = 0 of b_nf
              + sum over n in S with r(n) outside of  sum over f with x_if = 1 of b_nf
              + sum over n in S of  w_nk

    For a tree, the set of the nodes that the point passes gives a minimum cut. Together with ``sum_k g_ik = 1`` these
    cuts say what every point is predicted. (The paper has one g_i for the class of the point, and the first row alone.)

    Publishes ``predicted``.
    """

    offers = frozenset({"predicted"})

    def build(self, model: Model, ports: Ports) -> None:
        g = model.bool("g", (ports.points.n_points, ports.n_classes))
        ports.shared.publish(Guesses(g))
        # sum_k g_ik = 1
        model.add(g.sum(axis=1) == 1, "one class for every point")
        ports.publish("predicted", g[ports.points.index])


def add_cuts(model: Model, shared: SharedValues, points: Ints, end: int) -> None:
    """State the cuts of ``points``, numbers (P,) of distinct feature vectors that are predicted at the node ``end``."""
    heap, design, tests, guesses = (
        shared.get(Heap),
        shared.get(Design),
        shared.get(BinaryTests),
        shared.get(Guesses),
    )
    nodes = [node for node, _ in heap.path(end)]
    # sum over n in S of w_nk, and both arcs below the last node of S
    classes = design.w[[*nodes, end]].sum(axis=0)
    if end < heap.n_branching:
        classes = classes + design.active[end]
    for group, left, right in tests.sides(design.b, design.b.sum(axis=1)):
        some = np.intersect1d(points, group)
        at = np.searchsorted(group, some)
        capacity = constant(np.zeros(len(some)))
        for node, side in heap.path(end):
            # The arc off the path: to the left child where the path goes right, and the other way round.
            capacity = capacity + (left[at, node] + design.passes[node] if side else right[at, node])
        model.add(guesses.g[some] <= capacity[:, None] + classes, f"cuts along the path to node {end}")
    guesses.stated.update((int(i), end) for i in points)
