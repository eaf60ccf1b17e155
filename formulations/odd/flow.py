"""Flow: the way of every point through the skeleton, equations (1)-(5).

Rows with equal features are one *point* and flow as one, so the equivalent-rows bound (points of several
classes cost at least their lighter classes) is part of every relaxation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeform.formulations.odd.skeleton import Skeleton
from treeform.ports import Component

if TYPE_CHECKING:
    from treeform.model import Expr, Model
    from treeform.ports import Ports


class Flow(Component):
    """Flow variables of every point and their conservation.

    Parameters
    ----------
    lambdas : bool
        Add the binaries and rows (4)-(5). They make the flows integral when splits are continuous
        hyperplanes (the paper's Theorem 1). Over univariate splits they are redundant: with binary arcs and
        split literals, rows (13)-(14) allow each point one side of each node and (9)-(10) one way on, so its
        flow is forced and the flow variables may be relaxed. Off by default, which measured faster.

    Notes
    -----
    Publishes ``w`` (P, V, 2), flow out of each side; ``z`` (P, A), along inner arcs; ``z_terminal``
    (P, V, 2, K), along long arcs; ``constant`` (K,), what goes from the source straight to a terminal, the same
    for every point. The paper always activates the root; with ``constant`` the model without tests is
    representable too, which then is the optimum of noisy data.
    """

    needs = frozenset[str]()
    offers = frozenset({"flow", "side", "w", "z", "z_terminal", "constant", "lambda"})

    def __init__(self, lambdas: bool = False) -> None:
        self.lambdas = lambdas

    def build(self, m: Model, t: Ports) -> None:
        skeleton = Skeleton.of(t.shape)
        t.state["skeleton"] = skeleton
        points, nodes = t.points.n_points, skeleton.n_nodes
        w = m.bool("w", (points, nodes, 2), relax=True)
        z_terminal = m.bool("z_terminal", (points, nodes, 2, t.n_classes), relax=True)
        constant = m.bool("constant", t.n_classes)
        through = w.sum(axis=2)
        if skeleton.is_tree:
            # A node of a tree has one arc into it: the flow along the arc is the flow through its head.
            z = through[:, skeleton.head]
        else:
            z = m.bool("z", (points, skeleton.n_arcs), relax=True)
        self._conserve(m, skeleton, w, z, z_terminal, constant)
        if self.lambdas:
            t.publish("lambda", self._one_side_per_layer(m, skeleton, w))
        t.publish("w", w)
        t.publish("z", z)
        t.publish("z_terminal", z_terminal)
        t.publish("constant", constant)
        if "flow" in t.wanted:
            t.publish("flow", through[t.points.index])
        if "side" in t.wanted:
            t.publish("side", w[t.points.index])

    def _conserve(
        self, m: Model, skeleton: Skeleton, w: Expr, z: Expr, z_terminal: Expr, constant: Expr
    ) -> None:
        through = w.sum(axis=2)
        # (1) at the root: w+_i0 + w-_i0 = 1, less what goes straight to a terminal
        m.add(through[:, 0] == 1 - constant.sum(), "(1) all points start at the root")
        if not skeleton.is_tree and skeleton.n_arcs:
            # (1) w+_iv + w-_iv = sum_{u in delta-(v)} (z+_iuv + z-_iuv)
            arriving = z @ skeleton.into
            m.add(through[:, 1:] == arriving[:, 1:], "(1) points arrive along arcs")
        # (2) w-_iu = sum_{v in delta+(u)} z-_iuv     (3) the same for w+
        leaving = z_terminal.sum(axis=3)
        if skeleton.n_arcs:
            leaving = leaving + (z @ skeleton.out_of).reshape(-1, skeleton.n_nodes, 2)
        m.add(w == leaving, "(2)-(3) points leave along arcs")

    def _one_side_per_layer(self, m: Model, skeleton: Skeleton, w: Expr) -> Expr:
        choice = m.bool("lambda", (w.shape[0], len(skeleton.widths)))
        layer_of_node = np.eye(len(skeleton.widths))[skeleton.layer]
        # (4) sum_{u in V_l} w-_iu <= 1 - lambda_il     (5) sum_{u in V_l} w+_iu <= lambda_il
        m.add(w[:, :, 0] @ layer_of_node <= 1 - choice, "(4) left only where lambda is 0")
        m.add(w[:, :, 1] @ layer_of_node <= choice, "(5) right only where lambda is 1")
        return choice
