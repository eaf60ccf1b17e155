"""Leaves with values, for regression: each arc that ends has a leaf of its own, whose value is a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeform.formulations.odd.flow import Flows
from treeform.formulations.odd.plan import Plan
from treeform.formulations.odd.skeleton import Ints, Skeleton
from treeform.graph import DecisionGraph
from treeform.language.component import Component
from treeform.language.shared import Shared
from treeform.model import concatenate
from treeform.objectives.regression import LeafLoss

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.language.formulation import Compiled
    from treeform.language.ports import Ports
    from treeform.model import Expr, Model

Floats = NDArray[np.float64]

WIDEST = 10**5
"""Most units between the least and the greatest target: solvers hold rows to a millionth of their coefficients."""


@dataclass(frozen=True)
class LeafValues(Shared):
    """The values of leaves and what points get of them, as deviations from the target's centre, in its unit.

    Attributes
    ----------
    number : (V, 2) int64
        The leaf that the arc on a side of a test ends in, if it ends.
    of_leaf : Expr (L,)
    of_point : Expr (P,)
    """

    publisher: ClassVar[str] = "Values"
    number: Ints
    of_leaf: Expr
    of_point: Expr


class Values(Component):
    """A whole value for each leaf, and the value predicted for each point.

    Notes
    -----
    Takes the place of `Accuracy` where the objective is a loss of values. The target is a whole multiple of a unit, and
    so are the values: the best one of absolute errors is a target. Publishes ``value`` (n,).
    """

    needs = frozenset({"z_terminal", "w_last", "constant"})
    offers = frozenset({"value"})

    def build(self, model: Model, ports: Ports) -> None:
        quantity = ports.data.quantity
        assert quantity is not None
        skeleton, points = ports.shared.get(Skeleton), ports.points.n_points
        number = leaf_numbers(skeleton)
        n_leaves = int(number.max()) + 1
        low, high = quantity.lowest, quantity.highest
        of_leaf = model.integer("leaf value", n_leaves, low, high)
        of_point = model.integer("predicted value", points, low, high)
        ends = _ends(ports).reshape(points, number.size)
        # A constant model has no other leaf, so it may have the first one.
        constant = ports.constant.sum() * (np.arange(n_leaves) == number[0, 0])
        arrives = ends @ (number.ravel()[:, None] == np.arange(n_leaves)).astype(np.int64) + constant
        # a_il = 1 if point i ends in leaf l:   |p_i - v_l| <= R (1 - a_il),   R = max y - min y
        elsewhere = (high - low) * (1 - arrives)
        model.add(of_point[:, None] - of_leaf <= elsewhere, "points have at most the value of their leaf")
        model.add(of_leaf - of_point[:, None] <= elsewhere, "points have at least the value of their leaf")
        ports.shared.publish(LeafValues(number, of_leaf, of_point))
        ports.publish("value", of_point[ports.points.index])


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
    """Put the values of a point's leaves into the plan."""
    leaves = compiled.shared.get(LeafValues)
    plan.value = np.rint(leaves.of_leaf.value(x)).astype(np.int64)[leaves.number]


def embed(compiled: Compiled, graph: DecisionGraph) -> Ints | None:
    """(K,) the values of a graph as deviations; None where some are no whole multiples of the unit in range."""
    quantity = compiled.data.quantity
    assert quantity is not None
    deviations = [quantity.in_units(value) for value in graph.values]
    fits = all(d.denominator == 1 and quantity.lowest <= d <= quantity.highest for d in deviations)
    return np.array([int(d) for d in deviations], dtype=np.int64) if fits else None


def put(compiled: Compiled, graph: DecisionGraph, plan: Plan, x: Floats) -> None:
    """Write the values of leaves and points; leaves that are not in use have the least one."""
    leaves = compiled.shared.get(LeafValues)
    quantity = compiled.data.quantity
    assert quantity is not None and plan.value is not None
    of_leaf = np.full(leaves.of_leaf.size, quantity.lowest)
    ends = plan.child >= len(plan.child)
    of_leaf[leaves.number[ends]] = plan.value[ends]
    of_point = np.array([int(quantity.in_units(value)) for value in graph.values])
    if plan.constant >= 0:
        of_leaf[leaves.number[0, 0]] = of_point[0]
    x[leaves.of_leaf.rows.cols] = of_leaf
    x[leaves.of_point.rows.cols] = of_point[graph.predict_codes(compiled.data.points.X)]


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
