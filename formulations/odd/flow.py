"""Flow: the way of every point through the skeleton, equations (1)-(5).

Rows with equal features are one *point* and flow as one, so the equivalent-rows bound (points of several
classes cost at least their lighter classes) is part of every relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.formulations.odd.skeleton import Skeleton
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared
from treeform.model import Expr, Model, concatenate


@dataclass(frozen=True)
class LastLayer:
    """The flow of points from each test of the last layer."""

    arrival: Expr
    """(P, V'', K): at each terminal, from either side."""
    z: Expr | None = None
    """(P, V'', 2, K), or None: the same by side; None where the sides are not read, and ``arrival`` are columns."""
    w: Expr | None = None
    """(P, V'', 2), or None: flow out of each side."""


@dataclass(frozen=True)
class Flows(Shared, publisher="Flow"):
    """The flow of points through the skeleton."""

    constant: Expr
    """(K,)"""
    w: Expr
    """(P, V', 2)"""
    z: Expr | None
    """(P, A), or None: none in trees, where the flow along an arc is the flow through its head."""
    z_terminal: Expr
    """(P, V', 2, K)"""
    last: LastLayer
    right_in_layer: Expr | None
    """(P, layers), or None: lambda of (4)-(5)."""


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
    From the last layer all arcs go to terminals. What matters there is which terminal a point arrives at, and
    not by which side, so ``arrival`` merges the two sides; they are kept apart only when
    ``branch`` or ``w_last`` is read.

    Publishes, for the layers above the last, ``w`` (P, V', 2), flow out of each side, and ``z_terminal``
    (P, V', 2, K), along long arcs; for the last layer ``arrival`` (P, V'', K) and on demand ``w_last``
    (P, V'', 2); ``z`` (P, A), along inner arcs; ``constant`` (K,), what goes from the source straight to a
    terminal, the same for every point. The paper always activates the root; with ``constant`` the model without
    tests is representable too, which then is the optimum of noisy data.
    """

    needs = frozenset[str]()
    offers = frozenset({"reaches", "branch", "w", "w_last", "z", "z_terminal", "arrival", "constant"})

    def __init__(self, lambdas: bool = False) -> None:
        self.lambdas = lambdas

    def build(self, model: Model, ports: Ports) -> None:
        skeleton = ports.shared.publish(Skeleton.of(ports.shape))
        points, n_inner = ports.points.n_points, len(skeleton.inner)
        constant = model.bool("constant", ports.n_classes)
        w = model.bool("w", (points, n_inner, 2), relax=True)
        long = (points, n_inner, 2, ports.n_classes)
        z_terminal = model.bool("z_terminal", long, relax=True)
        last = self._last_layer(model, ports, skeleton)
        through = concatenate([w.sum(axis=2), last.arrival.sum(axis=2)], axis=1)
        columns = None if skeleton.is_tree else model.bool("z", (points, skeleton.n_arcs), relax=True)
        # A node of a tree has one arc into it: the flow along the arc is the flow through its head.
        z = through[:, skeleton.head] if columns is None else columns
        _conserve(model, skeleton, w, through, z, z_terminal, constant)
        right_in_layer = None
        if self.lambdas and last.w is not None:
            right_in_layer = _one_side_per_layer(model, skeleton, concatenate([w, last.w], axis=1))
        ports.shared.publish(Flows(constant, w, columns, z_terminal, last, right_in_layer))
        for name, expr in {"w": w, "z": z, "z_terminal": z_terminal, "constant": constant}.items():
            ports.publish(name, expr)
        ports.publish("arrival", last.arrival)
        if last.w is not None:
            ports.publish("w_last", last.w)
        if "reaches" in ports.wanted:
            ports.publish("reaches", through[ports.points.index])
        if "branch" in ports.wanted and last.w is not None:
            ports.publish("branch", concatenate([w, last.w], axis=1)[ports.points.index])

    def _last_layer(self, model: Model, ports: Ports, skeleton: Skeleton) -> LastLayer:
        """What goes from each node of the last layer to each terminal."""
        shape = (ports.points.n_points, len(skeleton.last), ports.n_classes)
        if not self.lambdas and not ports.wanted & {"branch", "w_last"}:
            return LastLayer(model.bool("arrival", shape, relax=True))
        by_side = (*shape[:2], 2, shape[2])
        z = model.bool("z_last", by_side, relax=True)
        return LastLayer(arrival=z.sum(axis=2), z=z, w=z.sum(axis=3))


def _conserve(
    model: Model, skeleton: Skeleton, w: Expr, through: Expr, z: Expr, z_terminal: Expr, constant: Expr
) -> None:
    # (1) at the root: w+_i0 + w-_i0 = 1, less what goes straight to a terminal
    model.add(through[:, 0] == 1 - constant.sum(), "(1) all points start at the root")
    if skeleton.n_arcs == 0:
        return
    if not skeleton.is_tree:
        # (1) w+_iv + w-_iv = sum_{u in delta-(v)} (z+_iuv + z-_iuv)
        arriving = z @ skeleton.into
        model.add(through[:, 1:] == arriving[:, 1:], "(1) points arrive along arcs")
    # (2) w-_iu = sum_{v in delta+(u)} z-_iuv     (3) the same for w+
    n_inner = len(skeleton.inner)
    along_arcs = (z @ skeleton.out_of[:, : 2 * n_inner]).reshape(-1, n_inner, 2)
    model.add(w == z_terminal.sum(axis=3) + along_arcs, "(2)-(3) points leave along arcs")


def _one_side_per_layer(model: Model, skeleton: Skeleton, w: Expr) -> Expr:
    """lambda (P, layers): which points go right in a layer."""
    choice = model.bool("lambda", (w.shape[0], len(skeleton.widths)))
    layer_of_node = np.eye(len(skeleton.widths))[skeleton.layer]
    # (4) sum_{u in V_l} w-_iu <= 1 - lambda_il     (5) sum_{u in V_l} w+_iu <= lambda_il
    model.add(w[:, :, 0] @ layer_of_node <= 1 - choice, "(4) left only where lambda is 0")
    model.add(w[:, :, 1] @ layer_of_node <= choice, "(5) right only where lambda is 1")
    return choice


class NormalForm(Component):
    """Each test has points on both sides, and each pass-through has points.

    Notes
    -----
    A test that parts nothing decides nothing. Without these rows a node could count as a test of a column although all
    its points leave on one side, or count as in use although no point arrives. Where tests only cost, no optimum is
    lost either way, and the rows are left out; a requirement that demands tests would be satisfied by
    tests that decide nothing.
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"d", "passes", "w", "w_last"})

    def build(self, model: Model, ports: Ports) -> None:
        w = concatenate([ports.w, ports.w_last], axis=1)
        # sum_i w-_iv >= d_v,   sum_i w+_iv >= d_v - p_v, where p_v = 1 at pass-throughs
        model.add(w[:, :, 0].sum(axis=0) >= ports.d, "a used node has points on its left")
        model.add(w[:, :, 1].sum(axis=0) >= ports.d - ports.passes, "a test has points on its right")
