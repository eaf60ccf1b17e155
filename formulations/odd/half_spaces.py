"""Half-spaces whose intersection is the region of one class, and the model of them: one test below the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.separate import ENOUGH, Cube
from treeform.graph import DecisionGraph
from treeform.shape import MARGIN
from treeform.utils.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class HalfSpace:
    """What a hyperplane sends to the terminal of the other class."""

    slope: Floats
    offset: float

    def outside(self, unit: Floats) -> Bools:
        """(n,) whether points are outside the half-space, and with it outside the region."""
        return np.asarray(unit @ self.slope > self.offset)


def half_space(unit: Floats, inner: Ints, outer: Ints, seen: Ints) -> HalfSpace | None:
    """With the points ``inner`` inside and ``outer`` outside, by the margin; None when there is none.

    It is in the widest gap between the two sides among all points that are ``seen``.
    """
    points = np.concatenate([inner, outer])
    slope, margin = Hulls(unit[points], np.arange(len(points)) < len(inner)).widest()
    if margin < ENOUGH * float(MARGIN):
        return None
    value = unit @ slope
    low, high = value[inner].max(), value[outer].min()
    between = np.unique(value[seen][(value[seen] >= low) & (value[seen] <= high)])
    at = int(np.diff(between).argmax())
    return HalfSpace(slope, float((between[at] + between[at + 1]) / 2))


def graph_of(
    data: Dataset, cube: Cube, spaces: list[HalfSpace], inner: int, outer: int
) -> DecisionGraph | None:
    """One test below the other; a hyperplane that separates nothing is left out."""
    tests: list[dict[str, Any]] = []
    points = np.arange(len(cube.unit))
    for space in spaces:
        out = space.outside(cube.unit[points])
        if not out.any() or out.all():
            continue
        test = cube.test(points, ~out, space.slope)
        if test is None:
            return None
        tests.append(test)
        points = points[~out]
    if not tests:
        return None
    nodes: dict[Any, dict[str, Any]] = {}
    for j, test in enumerate(tests):
        nodes[j] = {**test, "left": j + 1 if j + 1 < len(tests) else "inner", "right": "outer"}
    return DecisionGraph.build({**nodes, "inner": {"label": inner}, "outer": {"label": outer}}, data)
