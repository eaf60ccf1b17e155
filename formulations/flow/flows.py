"""Flows: each point goes from the source down to a node that predicts, and from there to a sink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeform.formulations.flow.branching import Design
from treeform.formulations.flow.heap import Heap
from treeform.formulations.flow.tests import BinaryTests
from treeform.language.component import Component
from treeform.language.ports import Ports, Shared
from treeform.model import Expr, Model, concatenate, stack
from treeform.utils.arrays import Ints


@dataclass(frozen=True)
class Flows(Shared, publisher="ClassFlow"):
    """Columns of the flows."""

    into: Expr
    """(R, B - 1) or (R, B): z_i,a(n),n: the flow into each node of B, without the root where all of it starts there."""
    to_sink: Expr
    """(R, N, K) or (R, N): z_i,n,t: what goes from node n to the sink of each class, or of the point's own class."""
    point: Ints
    """(R,) int64: the point of each flow."""
    wanted: Ints | None
    """(R,) int64, or None: the one class whose sink a flow may go to; None where there is a sink for each class."""


class ClassFlow(Component):
    """The flow of every point, with one sink for each class.

    Notes
    -----
    All of a point flows, z_i,s,1 = 1, and it ends in the sink of the class that it is predicted: the flow
    formulation with the sinks t_k that its authors use for fairness (Jo, Aghaei, Benson, Gomez and Vayanos). Rows with
    equal features are one point and flow as one.

    With b, p and w whole the flow of a point is forced, so that its columns may be relaxed.

    Publishes ``predicted``, ``leaf`` and, where they are read, ``reaches`` and ``branch``.
    """

    needs = frozenset[str]()
    offers = frozenset({"predicted", "leaf", "reaches", "branch"})

    def build(self, model: Model, ports: Ports) -> None:
        heap, design = ports.shared.get(Heap), ports.shared.get(Design)
        points, inner = ports.points.n_points, heap.n_branching
        into = model.bool("z", (points, inner - 1), relax=True)
        to_sink = model.bool("z_sink", (points, heap.n_nodes, ports.n_classes), relax=True)
        ports.shared.publish(Flows(into, to_sink, np.arange(points), None))
        ends = to_sink.sum(axis=2)
        # z_i,s,1 = 1
        through = concatenate([np.ones((points, 1)), into, ends[:, inner:]], axis=1)
        _conserve(model, ports, through, ends, np.arange(points))
        # z_i,n,tk <= w_nk
        model.add(to_sink <= design.w, "to the sink of a class from a node that predicts it")
        index = ports.points.index
        ports.publish("predicted", to_sink.sum(axis=1)[index])
        if "leaf" in ports.wanted:
            ports.publish("leaf", ends[index])
        if "reaches" in ports.wanted:
            ports.publish("reaches", (through[:, :inner] - ends[:, :inner])[index])
        if "branch" in ports.wanted:
            ports.publish("branch", stack([through[:, heap.left], through[:, heap.right]], axis=2)[index])


class CorrectFlow(Component):
    """The flow of the points that are classified right: FlowOCT as the paper states it.

    Notes
    -----
    A point flows only if it ends at a node that predicts its class, z_i,s,1 <= 1, and the objective has it flow. One
    flow stands for the samples of one class at a point. ``correct`` is at most what it should be, so this
    states problems in which nothing but an objective that rewards it reads it; `FlowOCT` sees to that.
    """

    needs = frozenset[str]()
    offers = frozenset({"correct"})

    def build(self, model: Model, ports: Ports) -> None:
        heap, design = ports.shared.get(Heap), ports.shared.get(Design)
        point, label = np.nonzero(ports.points.weights)
        number = np.full(ports.points.weights.shape, -1)
        number[point, label] = np.arange(len(point))
        into = model.bool("z", (len(point), heap.n_branching), relax=True)
        to_sink = model.bool("z_sink", (len(point), heap.n_nodes), relax=True)
        ports.shared.publish(Flows(into, to_sink, point, label))
        through = concatenate([into, to_sink[:, heap.n_branching :]], axis=1)
        _conserve(model, ports, through, to_sink, point)
        # z_i,n,t <= w_n,y_i
        model.add(
            to_sink <= design.w.T[label], "to the sink from a node that predicts the class of the point"
        )
        ports.publish("correct", to_sink.sum(axis=1)[number[ports.points.index, np.asarray(ports.data.y)]])


def _conserve(model: Model, ports: Ports, through: Expr, ends: Expr, point: Ints) -> None:
    """Flow ``through`` (R, N) the nodes goes on to the children that tests allow, or ``ends`` (R, N) there."""
    heap, design = ports.shared.get(Heap), ports.shared.get(Design)
    tests = ports.shared.get(BinaryTests)
    inner = heap.n_branching
    left, right = through[:, heap.left], through[:, heap.right]
    # z_i,a(n),n = z_i,n,l(n) + z_i,n,r(n) + z_i,n,t for n in B;  z_i,a(n),n = z_i,n,t for n in T, by substitution
    model.add(through[:, :inner] == left + right + ends[:, :inner], "flow is conserved")
    for points, on_left, on_right in tests.sides(design.b, design.b.sum(axis=1)):
        flows = np.flatnonzero(np.isin(point, points))
        at = np.searchsorted(points, point[flows])
        # z_i,n,l(n) <= sum over f with x_if = 0 of b_nf     z_i,n,r(n) <= sum over f with x_if = 1 of b_nf
        model.add(left[flows] <= on_left[at] + design.passes, "to the left where the test sends the point")
        model.add(right[flows] <= on_right[at], "to the right where the test sends the point")
