"""Leaves with values, for regression: each arc that ends has a leaf of its own, whose value is a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.flow import Flows
from treeform.formulations.odd.skeleton import Plan, Skeleton
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.component import Component
from treeform.language.losses import LeafLoss
from treeform.language.ports import Ports, Shared
from treeform.model import Expr, Model, concatenate
from treeform.utils.arrays import Floats, Ints

WIDEST = 10**5
"""Most units between the least and the greatest target: solvers hold rows to a millionth of their coefficients."""


@dataclass(frozen=True)
class LeafValues(Shared, publisher="Values"):
    """The values of leaves and what points get of them, as deviations from the target's centre, in its unit."""

    number: Ints
    """(V, 2) int64: the leaf that the arc on a side of a test ends in, if it ends."""
    of_leaf: Expr
    """(L,): columns; ``low + step * column`` is the value."""
    of_point: Expr
    """(P,): likewise."""
    low: int
    step: int
    is_whole: bool
    """Whether values are whole multiples of the unit."""


class Values(Component):
    """A value for each leaf, and the value predicted for each point.

    Parameters
    ----------
    is_whole : bool
        Whether values are whole multiples of the target's unit.

    Notes
    -----
    Takes the place of `Accuracy` where the objective is a loss of values. The target is a whole multiple of a unit, and
    so are the values under absolute errors, where the best one is a target. Under squared errors it is a mean: then
    columns in [0, 1] say where between the least and the greatest target a value is. Publishes ``value`` (n,).
    """

    restricts: ClassVar[bool | None] = False
    needs = frozenset({"z_terminal", "w_last", "constant"})
    offers = frozenset({"value"})

    def __init__(self, is_whole: bool = True) -> None:
        self.is_whole = is_whole

    def build(self, model: Model, ports: Ports) -> None:
        quantity = ports.data.quantity
        assert quantity is not None
        skeleton, points = ports.shared.get(Skeleton), ports.points.n_points
        number = leaf_numbers(skeleton)
        n_leaves = int(number.max()) + 1
        low, high = quantity.lowest, quantity.highest
        if self.is_whole:
            low_of, step, span = 0, 1, high - low
            of_leaf = model.integer("leaf value", n_leaves, low, high)
            of_point = model.integer("predicted value", points, low, high)
        else:
            low_of, step, span = low, max(1, high - low), 1
            of_leaf = model.continuous("leaf value", n_leaves)
            of_point = model.continuous("predicted value", points)
        ends = _ends(ports).reshape(points, number.size)
        # A constant model has no other leaf, so it may have the first one.
        constant = ports.constant.sum() * (np.arange(n_leaves) == number[0, 0])
        arrives = ends @ (number.ravel()[:, None] == np.arange(n_leaves)).astype(np.int64) + constant
        # a_il = 1 if point i ends in leaf l:   |p_i - v_l| <= R (1 - a_il),   R = max y - min y, or 1 in [0, 1]
        elsewhere = span * (1 - arrives)
        model.add(of_point[:, None] - of_leaf <= elsewhere, "points have at most the value of their leaf")
        model.add(of_leaf - of_point[:, None] <= elsewhere, "points have at least the value of their leaf")
        ports.shared.publish(LeafValues(number, of_leaf, of_point, low_of, step, self.is_whole))
        ports.publish("value", of_point[ports.points.index] * step + low_of)


def _ends(ports: Ports) -> Expr:
    """(P, V, 2): what of each point ends at an arc."""
    last = ports.shared.get(Flows).last.z
    assert last is not None  # `w_last` is read
    return concatenate([ports.z_terminal[:, :, :, 0], last[:, :, :, 0]], axis=1)


def leaf_numbers(skeleton: Skeleton) -> Ints:
    """(V, 2) the leaf that an arc ends in.

    In a tree, an arc that ends above the last layer has no tests below: it takes the leftmost leaf that they would
    have.
    """
    if not skeleton.is_tree:
        return np.arange(2 * skeleton.n_nodes).reshape(-1, 2)
    place = np.concatenate([np.arange(len(nodes)) for nodes in skeleton.layers])
    below = skeleton.layer.max() - skeleton.layer
    return np.asarray((2 * place[:, None] + np.arange(2)) << below[:, None], dtype=np.int64)


def refusal(data: Dataset) -> str | None:
    """Why rows cannot state these targets, or None."""
    assert data.quantity is not None
    span = data.quantity.highest - data.quantity.lowest
    if span <= WIDEST:
        return None
    grid = 10 ** (len(str(-(-span // WIDEST) - 1))) * data.quantity.unit
    return (
        f"the targets span {span} multiples of {data.quantity.unit}, and rows are stated for {WIDEST} at most; "
        f"round them to a coarser grid, for example tf.AbsoluteError(grid={str(grid)!r})"
    )


def read(compiled: Compiled, x: Floats, plan: Plan) -> None:
    """Put the values of a point's leaves into the plan, as the next whole multiples of the unit."""
    leaves = compiled.shared.get(LeafValues)
    values = leaves.low + leaves.step * leaves.of_leaf.value(x)
    plan.value = np.rint(values).astype(np.int64)[leaves.number]


def embed(compiled: Compiled, graph: DecisionGraph) -> Floats | None:
    """(K,) the values of a graph as deviations; None where some are out of range, or not whole if they have to be."""
    quantity = compiled.data.quantity
    assert quantity is not None
    deviations = [quantity.in_units(value) for value in graph.values]
    is_whole = compiled.shared.get(LeafValues).is_whole
    fits = all(quantity.lowest <= d <= quantity.highest for d in deviations)
    fits = fits and not (is_whole and any(d.denominator != 1 for d in deviations))
    return np.array([float(d) for d in deviations]) if fits else None


def put(compiled: Compiled, graph: DecisionGraph, plan: Plan, x: Floats) -> None:
    """Write the values of leaves and points; leaves that are not in use have the least one."""
    leaves = compiled.shared.get(LeafValues)
    quantity = compiled.data.quantity
    assert quantity is not None and plan.value is not None
    of_leaf = np.full(leaves.of_leaf.size, float(quantity.lowest))
    ends = plan.child >= len(plan.child)
    of_leaf[leaves.number[ends]] = plan.value[ends]
    of_point = np.array([float(quantity.in_units(value)) for value in graph.values])
    if plan.constant >= 0:
        of_leaf[leaves.number[0, 0]] = of_point[0]
    x[leaves.of_leaf.rows.cols] = (of_leaf - leaves.low) / leaves.step
    of_each = of_point[graph.predict_codes(compiled.data.points.X)]
    x[leaves.of_point.rows.cols] = (of_each - leaves.low) / leaves.step


def with_best_values(compiled: Compiled, graph: DecisionGraph) -> DecisionGraph:
    """The graph with the best value at each leaf that has points, unless a requirement reads values."""
    if any("value" in requirement.needs for requirement in compiled.requirements):
        return graph
    loss = next((term for _, term in compiled.objective.terms if isinstance(term, LeafLoss)), None)
    if loss is None:
        return graph
    leaves = np.flatnonzero(graph.feature < 0)
    reached = graph.apply(compiled.data.X)
    values = [graph.values[code] for code in graph.label[leaves].tolist()]
    for place, leaf in enumerate(leaves.tolist()):
        rows = np.flatnonzero(reached == leaf)
        if len(rows):
            values[place] = loss.best_value(compiled.data, rows)
    label = np.full(len(graph.feature), -1)
    label[leaves] = np.arange(len(leaves))
    arrays = (graph.feature, graph.threshold, graph.left, graph.right)
    return DecisionGraph.from_arrays(*arrays, label, compiled.data, graph.forms, tuple(values))
