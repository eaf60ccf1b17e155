"""Models of two classes whose one region is an intersection of half-spaces: few hyperplanes, few errors.

Each test sends to a terminal what one hyperplane separates from the region, and the others on to the next test. One
hyperplane after the other is added and separates what the others leave; then each is found again with all others fixed,
as in tree alternating optimisation (Carreira-Perpinan and Tavallali, NeurIPS 2018).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.conflicts import separable
from treeform.formulations.odd.half_spaces import HalfSpace, graph_of, half_space
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.separate import ENOUGH, Cube
from treeform.graph import DecisionGraph
from treeform.shape import MARGIN, Shape
from treeform.utils.arrays import Bools, Floats

ROUNDS = 4
"""Times that each hyperplane is found again; what helps does so in the first."""
INSIDE = 8.0
"""A point of the region is given up for so many outside it, which another hyperplane may still separate."""


def intersections(data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None]:
    """Models of 1, 2, ... tests, one below the other, for each of the two heaviest classes as the region.

    None stands where time was spent without a model.
    """
    cube = Cube.of(data)
    weights = data.points.weights
    heaviest = np.argsort(-weights.sum(axis=0), kind="stable")[:2].tolist()
    if len(heaviest) < 2 or not len(cube.kept):
        return
    for inner, outer in (heaviest, heaviest[::-1]):
        search = _Search(cube, weights[:, inner].astype(float), weights[:, outer].astype(float))
        for spaces in search.grow(len(shape.widths)):
            yield None if spaces is None else graph_of(data, cube, spaces, inner, outer)


class _Search:
    """Half-spaces whose intersection holds the weight ``inside`` and leaves out the weight ``outside``."""

    def __init__(self, cube: Cube, inside: Floats, outside: Floats) -> None:
        self.unit, self.inside, self.outside = cube.unit, inside, outside

    def grow(self, most: int) -> Iterator[list[HalfSpace] | None]:
        """Lists of half-spaces, each one longer, until nothing is wrong; None after each step."""
        spaces: list[HalfSpace] = []
        least = float(self.outside.sum())
        while len(spaces) < most and least > 0:
            added = self._found(spaces)
            if added is None:
                return
            spaces = [*spaces, added]
            for j in list(range(len(spaces) - 1)) * ROUNDS:
                yield None
                if not self.errors(spaces):
                    break
                others = spaces[:j] + spaces[j + 1 :]
                again = self._found(others)
                if again is not None and self.errors([*others, again]) <= self.errors(spaces):
                    spaces = [*others, again]
            if self.errors(spaces) >= least:
                return
            least = self.errors(spaces)
            yield spaces

    def errors(self, spaces: list[HalfSpace]) -> float:
        """Weight inside that a half-space leaves out, and outside that none does."""
        out = self._left_out(spaces)
        return float(self.inside[out].sum() + self.outside[~out].sum())

    def _left_out(self, spaces: list[HalfSpace]) -> Bools:
        out = np.zeros(len(self.unit), dtype=bool)
        for space in spaces:
            out |= space.outside(self.unit)
        return out

    def _found(self, others: list[HalfSpace]) -> HalfSpace | None:
        """A half-space for what the others leave: all inside, and little of what is outside."""
        seen = np.flatnonzero(~self._left_out(others))
        kept = [seen[self.inside[seen] > 0], seen[self.outside[seen] > 0]]
        if not len(kept[0]) or not len(kept[1]):
            return None
        points = np.concatenate(kept)
        left = np.arange(len(points)) < len(kept[0])
        weight = np.concatenate([INSIDE * self.inside[kept[0]], self.outside[kept[1]]])
        rest = separable(
            Hulls(self.unit[points], left), np.ones(len(points), bool), weight, ENOUGH * float(MARGIN)
        )
        if rest is None or left[rest].all() or not left[rest].any():
            return None
        return half_space(self.unit, points[rest & left], points[rest & ~left], seen)
