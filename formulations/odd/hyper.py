"""Hyperplanes between points of the compiled model and decision graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeform.data import midpoint
from treeform.formulations.odd.hyperplanes import FeatureChoice, Hyperplanes
from treeform.formulations.odd.separate import Cube
from treeform.formulations.odd.skeleton import Plan
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.utils.arrays import Bools, Floats, Ints


def flows(compiled: Compiled, x: Floats) -> Bools:
    """(P, V, 2) by which side points leave nodes."""
    w = np.concatenate([compiled.ports.read("w").value(x), compiled.ports.read("w_last").value(x)], axis=1)
    return np.asarray(w > 0.5)


def pass_on(compiled: Compiled, x: Floats, plan: Plan) -> None:
    """Make pass-throughs of the nodes that all their points leave by one side; the other arc carries nothing."""
    taken: Bools = np.asarray(flows(compiled, x).any(axis=0))
    for u in np.flatnonzero((plan.test >= 0) & ~taken.all(axis=1)).tolist():
        plan.passes[u], plan.test[u] = True, -1
        plan.child[u] = plan.child[u, int(taken[u, 1])], -1


def tests_of(compiled: Compiled, x: Floats, testing: Bools) -> dict[int, dict[str, Any]]:
    """The tests of nodes in the user's units, parting the points as the flows do."""
    stated = compiled.shared.get(Hyperplanes)
    cube = stated.cube
    a, b = stated.a.value(x), stated.b.value(x)
    w = flows(compiled, x)
    univariate = compiled.shared.find(FeatureChoice) is not None
    signs = None
    if stated.signs is not None:
        signs = stated.signs.falling.value(x) > 0.5, stated.signs.rising.value(x) > 0.5
    out: dict[int, dict[str, Any]] = {}
    for u in np.flatnonzero(testing).tolist():
        points = np.flatnonzero(w[:, u].any(axis=1))
        left = w[points, u, 0]
        j = int(np.abs(a[u]).argmax())
        allowed = None if signs is None else (signs[0][u], signs[1][u])
        test = None if univariate else cube.test(points, left, a[u], allowed)
        if test is not None and np.count_nonzero(list(test["weights"].values())) == 1:
            j = int(np.flatnonzero(list(test["weights"].values()))[0])
            weight = test["weights"][int(cube.kept[j])]
            # Where sides are read, the left side stays the left side.
            if weight > 0 or not stated.upright:
                test = _on_feature(cube, j, weight, points, left)
        elif univariate:
            test = _on_feature(cube, j, float(a[u, j]), points, left)
        if (
            test is None
        ):  # the solver used up its tolerance: take its numbers, and leave it to exact evaluation
            weights = a[u] / cube.span
            offset = b[u] + stated.centre * a[u].sum() - stated.epsilon / 2
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


def sides(compiled: Compiled, graph: DecisionGraph, plan: Plan) -> Bools:
    """(P, V) whether points go left at the places where ``graph`` was embedded; all do at pass-throughs."""
    left = graph.goes_left(compiled.data.points.X)
    out = np.zeros((len(left), len(plan.test)), dtype=bool)
    used = np.flatnonzero(plan.test >= 0)
    out[:, used] = left[:, plan.test[used]] ^ plan.turned[used]
    out[:, plan.passes] = True
    return out


def put(compiled: Compiled, graph: DecisionGraph, plan: Plan, through: Bools, left: Bools, x: Floats) -> bool:
    """Write the hyperplanes of an embedded graph; False when one of them lacks the margin of (13)."""
    stated = compiled.shared.get(Hyperplanes)
    cube, epsilon = stated.cube, stated.epsilon
    position = {int(f): j for j, f in enumerate(cube.kept)}
    tests = {test.node: test for test in graph.tests()}
    slopes = np.zeros((len(plan.test), len(cube.kept)))
    offsets = np.where(plan.passes, epsilon, 0.0)  # (13) with a = 0: all points of a pass-through are below
    for u in np.flatnonzero(plan.test >= 0).tolist():
        test = tests[int(plan.test[u])]
        for f in test.columns:
            if f in position:
                slopes[u, position[f]] = test.weight(f) * cube.span[position[f]]
        largest = np.abs(slopes[u]).max(initial=0.0)
        if largest == 0 and not test.passes:
            return False
        slopes[u] *= (-1.0 if plan.turned[u] else 1.0) / (largest or 1.0)
        value = (cube.unit - stated.centre) @ slopes[u]
        below, above = value[through[:, u] & left[:, u]], value[through[:, u] & ~left[:, u]]
        offset = float(above.min() if len(above) else below.max() + epsilon)
        shrink = min(1.0, stated.reach / max(abs(offset), 1e-300))
        slopes[u] *= shrink
        offsets[u] = offset * shrink
        if len(below) and below.max() * shrink + epsilon > offsets[u]:
            return False
    if (slopes < compiled.model.lb[stated.a.rows.cols].reshape(slopes.shape)).any():
        return False  # a test that is turned around where the left side has to stay the left side
    x[stated.a.rows.cols] = slopes.ravel()
    x[stated.b.rows.cols] = offsets
    choice = compiled.shared.find(FeatureChoice)
    if choice is not None:
        chosen = slopes != 0
        if chosen.sum(axis=1).max(initial=0) > 1:
            return False
        x[choice.e.rows.cols] = chosen.ravel()
    if stated.signs is not None:
        x[stated.signs.rising.rows.cols] = (slopes > 0).ravel()
        x[stated.signs.falling.rows.cols] = (slopes < 0).ravel()
    return True
