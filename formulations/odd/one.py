"""One hyperplane of least error, by combinatorial Benders cuts: no big-M and no weights in the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.conflicts import binding, disjoint, separable
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.separate import ENOUGH, STATED, Cube, widest
from treeform.graph import DecisionGraph
from treeform.language.compiled import Compiled
from treeform.language.component import Component
from treeform.language.formulation import Formulation
from treeform.language.objective import Error, Objective
from treeform.language.ports import Ports, Shared
from treeform.language.requirement import Requirement
from treeform.model import Expr, Model, any_of
from treeform.shape import MARGIN, MULTIVARIATE, Shape
from treeform.utils.arrays import Bools, Floats, Ints

LIMIT = STATED * float(MARGIN)
"""Hulls nearer than this are inseparable."""


@dataclass(frozen=True)
class Members:
    """What can be right or wrong: a class at a point, with its weight."""

    point: Ints
    code: Ints

    @classmethod
    def of(cls, data: Dataset) -> Members:
        point, code = np.nonzero(data.points.weights)
        return cls(point.astype(np.int64), code.astype(np.int64))


@dataclass(frozen=True)
class Lost(Shared, publisher="TwoSides"):
    """Which members the hyperplane may give up."""

    members: Members
    lost: Expr
    """(members,)"""
    cube: Cube


@dataclass
class LastPoint(Shared, publisher="TwoSides"):
    """The point that was read last, until rows were added for it."""

    x: np.ndarray | None = None


class TwoSides(Component):
    """Which two classes get a side, and which members are given up.

    Notes
    -----
    ``lost[i] = 1`` gives a member up. Members of classes without a side are lost. Sets of members that no hyperplane
    parts lose at least one each; those that bind the linear relaxation are stated at once, others when a solution needs
    them (Codato and Fischetti, Operations Research 2006). Publishes ``correct``.
    """

    offers = frozenset({"correct"})

    def build(self, model: Model, ports: Ports) -> None:
        members = Members.of(ports.data)
        lost = model.bool("lost", len(members.point))
        side = model.bool("side", ports.n_classes)
        model.add(side.sum() <= 2, "two sides, one class each")
        model.add(lost >= 1 - side[members.code], "classes without a side are lost")
        number = np.full((ports.points.n_points, ports.n_classes), -1)
        number[members.point, members.code] = np.arange(len(members.point))
        cube = Cube.of(ports.data)
        for found in inseparable_pairs(cube.unit, members, ports.data.points.weights):
            model.add(any_of(lost[found], axis=0), "an inseparable set loses a member")
        ports.shared.publish(Lost(members, lost, cube))
        ports.shared.publish(LastPoint())
        ports.publish("correct", 1 - lost[number[ports.points.index, np.asarray(ports.data.y)]])


class OneHyperplane(Formulation):
    """A single multivariate test and two classes: the row of one test of a size table of hyperplanes."""

    name: ClassVar[str] = "odd-one-hyperplane"
    splits: ClassVar[frozenset[str]] = frozenset({MULTIVARIATE})

    def __init__(self) -> None:
        super().__init__([TwoSides()])

    def supports(self, shape: Shape, data: Dataset, objective: Objective) -> str | None:
        if sum(shape.widths) != 1:
            return f"it states a single test, and the shape is {shape}"
        return super().supports(shape, data, objective)

    @staticmethod
    def fits(shape: Shape, objective: Objective, requirements: Sequence[Requirement]) -> bool:
        """Whether it states the question: one multivariate test, errors only, no requirement."""
        plain = all(isinstance(term, Error) for _, term in objective.terms)
        return shape.splits == MULTIVARIATE and shape.widths == (1,) and plain and not requirements

    def decode(self, compiled: Compiled, x: np.ndarray) -> DecisionGraph:
        """The hyperplane that parts what was kept, if there is one; else the best of what was tried."""
        kept, codes = self._kept(compiled, x)
        if len(codes) < 2:
            return DecisionGraph.leaf(int(codes[0]) if len(codes) else 0, compiled.data)
        stated = compiled.shared.get(Lost)
        left = stated.members.code[kept] == codes[0]
        points = stated.members.point[kept]
        weight = compiled.data.points.weights[points, stated.members.code[kept]].astype(float)
        rest = separable(Hulls(stated.cube.unit[points], left), np.ones(len(left), bool), weight, LIMIT)
        if rest is None or left[rest].all() or not left[rest].any():
            return DecisionGraph.leaf(int(codes[0]), compiled.data)
        graph = part(compiled.data, stated.cube, points[rest], left[rest], codes)
        return graph or DecisionGraph.leaf(int(codes[0]), compiled.data)

    def refine(self, compiled: Compiled, graph: DecisionGraph) -> bool:
        """Rows for inseparable sets among the members that the last point kept, as many disjoint ones as there are."""
        last = compiled.shared.get(LastPoint)
        if last.x is None:
            return False
        stated = compiled.shared.get(Lost)
        members = stated.members
        kept, codes = self._kept(compiled, last.x)
        last.x = None
        if len(codes) < 2:
            return False
        refined = False
        for subset in inseparable(stated.cube.unit, members.point[kept], members.code[kept] == codes[0]):
            rows = stated.lost[kept[subset]]
            compiled.model.add(any_of(rows, axis=0), "an inseparable set loses a member")
            refined = True
        return refined

    def _kept(self, compiled: Compiled, x: np.ndarray) -> tuple[Ints, Ints]:
        """Members that a point keeps, and the classes that have a side and a member."""
        compiled.shared.get(LastPoint).x = x
        stated = compiled.shared.get(Lost)
        kept = np.flatnonzero(stated.lost.value(x) < 0.5)
        return kept, np.unique(stated.members.code[kept])


def part(data: Dataset, cube: Cube, points: Ints, left: Bools, codes: Ints) -> DecisionGraph | None:
    """One test that sends the points to the given sides and predicts a class on each side; None without the margin."""
    slope, margin = widest(cube.unit[points], left)
    if margin < ENOUGH * float(MARGIN):
        return None
    test = cube.test(points, left, slope)
    if test is None:
        return None
    nodes = [{**test, "left": 1, "right": 2}, {"label": int(codes[0])}, {"label": int(codes[1])}]
    return DecisionGraph.build(nodes, data)


def inseparable(unit: Floats, points: Ints, left: Bools) -> Iterator[Ints]:
    """Disjoint sets of positions that no hyperplane parts by the margin, small ones, until the rest can be parted."""
    alive = np.ones(len(points), dtype=bool)
    hulls = Hulls(unit[points], left)
    for found in disjoint(hulls, alive, np.ones(len(points)), LIMIT):
        alive[found] = False
        yield found
    while left[alive].any() and not left[alive].all():
        near = hulls.nearest(alive, LIMIT)  # hulls that do not meet may still be nearer than the margin
        if near is None:
            return
        alive[near] = False
        yield near


def inseparable_pairs(unit: Floats, members: Members, weights: Ints) -> Iterator[Ints]:
    """Sets of members that bind, for the pairs of classes that may be the two with a side.

    Pairs come by the weight of what has no side, as long as that is less than what a known pair loses altogether.
    """
    totals = weights.sum(axis=0)
    least = float(totals.sum())
    pairs = sorted(combinations(range(len(totals)), 2), key=lambda pair: -int(totals[list(pair)].sum()))
    for pair in pairs:
        missing = float(totals.sum() - totals[list(pair)].sum())
        own = np.flatnonzero(np.isin(members.code, pair))
        left = members.code[own] == pair[0]
        if missing >= least or left.all() or not left.any():
            continue
        weight = weights[members.point[own], members.code[own]].astype(float)
        hulls = Hulls(unit[members.point[own]], left)
        yield from (own[found] for found in binding(hulls, weight, LIMIT))
        kept = separable(hulls, np.ones(len(own), dtype=bool), weight, LIMIT)
        if kept is not None:
            least = min(least, missing + float(weight[~kept].sum()))
