"""Hyperplanes between points of the compiled model and decision graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import midpoint
from treeform.formulations.odd.plan import Plan
from treeform.formulations.odd.separate import Cube

if TYPE_CHECKING:
    from treeform.graph import DecisionGraph
    from treeform.language.formulation import Compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def flows(compiled: Compiled, x: Floats) -> Bools:
    """(P, V, 2) by which side points leave nodes."""
    w = np.concatenate([compiled.ports.read("w").value(x), compiled.state["w_last"].value(x)], axis=1)
    return np.asarray(w > 0.5)


def pass_on(compiled: Compiled, x: Floats, plan: Plan) -> None:
    """Make pass-throughs of the nodes that all their points leave by one side; the other arc carries nothing."""
    taken: Bools = np.asarray(flows(compiled, x).any(axis=0))
    for u in np.flatnonzero((plan.test >= 0) & ~taken.all(axis=1)).tolist():
        plan.passes[u], plan.test[u] = True, -1
        plan.child[u] = plan.child[u, int(taken[u, 1])], -1


def tests_of(compiled: Compiled, x: Floats, testing: Bools) -> dict[int, dict[str, Any]]:
    """The tests of nodes in the user's units, parting the points as the flows do."""
    cube: Cube = compiled.state["cube"]
    a, b = compiled.ports.read("a").value(x), compiled.ports.read("b").value(x)
    w = flows(compiled, x)
    columns = compiled.state["columns"]
    univariate, upright = "e" in columns, compiled.state["upright"]
    signs = {name: columns[name].value(x) > 0.5 for name in ("falling", "rising") if name in columns}
    out: dict[int, dict[str, Any]] = {}
    for u in np.flatnonzero(testing).tolist():
        points = np.flatnonzero(w[:, u].any(axis=1))
        left = w[points, u, 0]
        j = int(np.abs(a[u]).argmax())
        allowed = (signs["falling"][u], signs["rising"][u]) if signs else None
        test = None if univariate else cube.test(points, left, a[u], allowed)
        if test is not None and np.count_nonzero(list(test["weights"].values())) == 1:
            j = int(np.flatnonzero(list(test["weights"].values()))[0])
            weight = test["weights"][int(cube.kept[j])]
            # Where somebody reads sides, the left side stays the left side.
            if weight > 0 or not upright:
                test = _on_feature(cube, j, weight, points, left)
        elif univariate:
            test = _on_feature(cube, j, float(a[u, j]), points, left)
        if test is None:  # the solver's tolerance was spent: its own numbers, and exact evaluation judges
            weights = a[u] / cube.span
            offset = b[u] + compiled.state["centre"] * a[u].sum() - compiled.state["epsilon"] / 2
            by_feature = dict(zip(cube.kept.tolist(), weights.tolist(), strict=True))
            test = {"weights": by_feature, "threshold": float(offset + weights @ cube.low)}
        out[u] = test
    return out


def _on_feature(cube: Cube, j: int, slope: float, points: Ints, left: Bools) -> dict[str, Any] | None:
    """A hyperplane with one weight as the test of a feature; None when the points are not so ordered."""
    value, turned = cube.X[points, j], slope < 0
    low = left != turned
    if low.all():
        threshold = float(value.max(initial=0.0))
    elif not low.any():
        threshold = float(value.min()) - float(cube.span[j])
    elif value[low].max() < value[~low].min():
        threshold = midpoint(float(value[low].max()), float(value[~low].min()))
    else:
        return None
    return {"feature": int(cube.kept[j]), "threshold": threshold, "turned": turned}


def sides(compiled: Compiled, graph: DecisionGraph, node: Ints, turned: Bools) -> Bools:
    """(P, V) whether points go left at the places where nodes of ``graph`` were embedded."""
    left = graph.goes_left(compiled.data.points.X)
    out = np.zeros((len(left), len(node)), dtype=bool)
    used = np.flatnonzero(node >= 0)
    out[:, used] = left[:, node[used]] ^ turned[used]
    return out


def put(compiled: Compiled, graph: DecisionGraph, plan: Plan, through: Bools, left: Bools, x: Floats) -> bool:
    """Write the hyperplanes of an embedded graph; False when one of them lacks the margin of (13)."""
    cube: Cube = compiled.state["cube"]
    epsilon, centre = compiled.state["epsilon"], compiled.state["centre"]
    position = {int(f): j for j, f in enumerate(cube.kept)}
    tests = {test.node: test for test in graph.tests()}
    slopes = np.zeros((len(plan.test), len(cube.kept)))
    offsets = np.zeros(len(plan.test))
    for u in np.flatnonzero(plan.test >= 0).tolist():
        test = tests[int(plan.test[u])]
        for f in test.columns:
            if f in position:
                slopes[u, position[f]] = test.weight(f) * cube.span[position[f]]
        largest = np.abs(slopes[u]).max(initial=0.0)
        if largest == 0 and not test.passes:
            return False
        slopes[u] *= (-1.0 if plan.turned[u] else 1.0) / (largest or 1.0)
        value = (cube.unit - centre) @ slopes[u]
        below, above = value[through[:, u] & left[:, u]], value[through[:, u] & ~left[:, u]]
        offset = float(above.min() if len(above) else below.max() + epsilon)
        shrink = min(1.0, compiled.state["reach"] / max(abs(offset), 1e-300))
        slopes[u] *= shrink
        offsets[u] = offset * shrink
        if len(below) and below.max() * shrink + epsilon > offsets[u]:
            return False
    if (slopes < compiled.model.lb[compiled.state["columns"]["a"].rows.cols].reshape(slopes.shape)).any():
        return False  # a test that is turned around where the left side has to stay the left side
    for name, values in (("a", slopes), ("b", offsets)):
        x[compiled.state["columns"][name].rows.cols] = values.ravel()
    if "e" in compiled.state["columns"]:
        chosen = slopes != 0
        if chosen.sum(axis=1).max(initial=0) > 1:
            return False
        x[compiled.state["columns"]["e"].rows.cols] = chosen.ravel()
    for name, written in (("rising", slopes > 0), ("falling", slopes < 0)):
        if name in compiled.state["columns"]:
            x[compiled.state["columns"][name].rows.cols] = written.ravel()
    return True
