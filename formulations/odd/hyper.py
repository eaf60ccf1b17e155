"""Hyperplanes between points of the compiled model and decision graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import midpoint
from treeform.formulations.odd.separate import Cube

if TYPE_CHECKING:
    from treeform.formulations.odd.coding import Plan
    from treeform.graph import DecisionGraph
    from treeform.language.formulation import Compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def tests_of(compiled: Compiled, x: Floats, used: Bools) -> dict[int, dict[str, Any]]:
    """The tests of all used nodes, in the user's units, parting the points as the flows do."""
    cube: Cube = compiled.state["cube"]
    a, b = compiled.ports.read("a").value(x), compiled.ports.read("b").value(x)
    w = np.concatenate([compiled.ports.read("w").value(x), compiled.state["w_last"].value(x)], axis=1) > 0.5
    univariate = "e" in compiled.state["columns"]
    out: dict[int, dict[str, Any]] = {}
    for u in np.flatnonzero(used).tolist():
        points = np.flatnonzero(w[:, u].any(axis=1))
        left = w[points, u, 0]
        j = int(np.abs(a[u]).argmax())
        test = None if univariate else cube.test(points, left, a[u])
        if test is not None and np.count_nonzero(list(test["weights"].values())) == 1:
            j = int(np.flatnonzero(list(test["weights"].values()))[0])
            test = _on_feature(cube, j, test["weights"][int(cube.kept[j])], points, left)
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
    """(P, V) whether points go left at the places where nodes of ``graph`` were laid."""
    X = graph.tested(compiled.data.points.X)
    out = np.zeros((len(X), len(node)), dtype=bool)
    used = np.flatnonzero(node >= 0)
    at = node[used]
    out[:, used] = (X[:, graph.feature[at]] <= graph.threshold[at]) ^ turned[used]
    return out


def put(compiled: Compiled, graph: DecisionGraph, plan: Plan, through: Bools, left: Bools, x: Floats) -> bool:
    """Write the hyperplanes of a laid graph; False when one of them lacks the margin of (13)."""
    cube: Cube = compiled.state["cube"]
    epsilon, centre = compiled.state["epsilon"], compiled.state["centre"]
    position = {int(f): j for j, f in enumerate(cube.kept)}
    slopes = np.zeros((len(plan.test), len(cube.kept)))
    offsets = np.zeros(len(plan.test))
    for u in np.flatnonzero(plan.test >= 0).tolist():
        feature = int(graph.feature[plan.test[u]])
        weights = {feature: 1.0}
        if feature >= len(graph.columns):
            form = graph.forms[feature - len(graph.columns)]
            weights = dict(zip(form.features, form.weights, strict=True))
        for f, weight in weights.items():
            if f in position:
                slopes[u, position[f]] = weight * cube.span[position[f]]
        slopes[u] *= (-1.0 if plan.turned[u] else 1.0) / np.abs(slopes[u]).max()
        value = (cube.unit - centre) @ slopes[u]
        below, above = value[through[:, u] & left[:, u]], value[through[:, u] & ~left[:, u]]
        offset = float(above.min() if len(above) else below.max() + epsilon)
        shrink = min(1.0, compiled.state["reach"] / max(abs(offset), 1e-300))
        slopes[u] *= shrink
        offsets[u] = offset * shrink
        if len(below) and below.max() * shrink + epsilon > offsets[u]:
            return False
    for name, values in (("a", slopes), ("b", offsets)):
        x[compiled.state["columns"][name].rows.cols] = values.ravel()
    if "e" in compiled.state["columns"]:
        chosen = slopes != 0
        if chosen.sum(axis=1).max(initial=0) > 1:
            return False
        x[compiled.state["columns"]["e"].rows.cols] = chosen.ravel()
    return True
