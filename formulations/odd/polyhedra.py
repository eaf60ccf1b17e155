"""Two classes that k hyperplanes separate: one class in an intersection of k half-spaces, the other outside it.

Each point outside is outside one of the half-spaces, which gets a colour. Points of one colour are on one side of a
hyperplane, and the class inside is on the other. So points outside of which some mixture is a mixture of points inside
have at least two colours; where that holds for all such sets, there is a hyperplane for each colour (k-polyhedral
separability: Megiddo, Discrete and Computational Geometry 1988). Sets are found when a colouring breaks them. A search
finds the next colouring, or refutes them all; the sets that a refutation rests on lose a point.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.colouring import Colouring, GaveUp
from treeform.formulations.odd.half_spaces import graph_of, half_space
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.intersections import intersections
from treeform.formulations.odd.separate import STATED, Cube
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import errors
from treeform.shape import MARGIN, Shape
from treeform.utils.arrays import Bools, Floats, Ints

LIMIT = STATED * float(MARGIN)
WORK = 3 * 10**6
"""Entries of the tables of points, over all linear programs of all numbers of half-spaces: under a second."""
WORK_OF_BOUND = 15 * 10**5
"""The same for a bound: what is refuted is refuted soon."""
MOST = 4
"""Half-spaces of a first model; with more, the models of other methods are about as good."""


class Polyhedron:
    """The search for k half-spaces that hold some points and leave out others; at least one of each.

    ``groups``, of (.,) int64: the points outside each half-space, once they are found. ``core``, (.,) int64: once it is
    refuted: positions in ``outer`` followed by ``inner`` that no k half-spaces divide so. ``hopeless``: a point outside
    is a mixture of points inside: refuted for every k.
    """

    def __init__(self, unit: Floats, inner: Ints, outer: Ints, k: int) -> None:
        self.inner, self.outer, self.k = inner, outer, k
        points = np.concatenate([outer, inner])
        self.is_outer: Bools = np.arange(len(points)) < len(outer)
        self.hulls = Hulls(unit[points], self.is_outer)
        self.rng = np.random.default_rng(0)
        self.colouring = Colouring(self.rng.integers(k, size=len(outer)).tolist(), k)
        self.sets: list[Ints] = []
        self.groups: list[Ints] | None = None
        self.core: Ints | None = None
        self.hopeless = False

    @property
    def work(self) -> int:
        """Entries of the tables of points, over all linear programs so far."""
        return self.hulls.unit.size * (len(self.sets) + 1)

    def rounds(self, work: int) -> Iterator[None]:
        """Colouring after colouring until it is decided, or so much work is done."""
        while self.work < work:
            yield None
            colour = np.array(self.colouring.colour)
            new = [found for c in range(self.k) for found in self._broken(colour == c)]
            if not new:
                self.groups = [self.outer[colour == c] for c in range(self.k)]
                return
            for found in new:
                self.sets.append(found)
                self.colouring.add(found[self.is_outer[found]])
            try:
                if not self.colouring.solve():
                    used = [self.sets[j] for j in sorted(self.colouring.used)]
                    self.hopeless = any(self.is_outer[one].sum() == 1 for one in used)
                    # One set of a single point is enough.
                    self.core = min(used, key=len) if self.hopeless else np.unique(np.concatenate(used))
                    return
            except GaveUp:
                return

    def _broken(self, group: Bools) -> Iterator[Ints]:
        """Inseparable sets of points of one colour and points inside, with no point outside in common."""
        alive = ~self.is_outer
        alive[: len(group)] = group
        while alive[self.is_outer].any():
            # Costs at random: sets that differ from round to round.
            found = self.hulls.meet(alive, self.rng.random(len(alive)), LIMIT)
            if found is None:
                found = self.hulls.nearest(alive, LIMIT)
            if found is None:
                return
            yield found
            alive[found[self.is_outer[found]]] = False


def regions(data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None]:
    """Models of `intersections`, and one without errors that has fewer tests than theirs; None where time was spent."""
    fewest = MOST + 1
    for graph in intersections(data, shape):
        if graph is not None and graph.n_nodes < fewest and not errors(graph, data):
            fewest = graph.n_nodes
        yield graph
    yield from polyhedra(data, min(len(shape.widths), fewest - 1))


def polyhedra(data: Dataset, most: int) -> Iterator[DecisionGraph | None]:
    """A model without errors, with as few tests one below the other as are found, at most so many, of two classes.

    None stands where time was spent without a model.
    """
    weights = data.points.weights
    classes = np.flatnonzero(weights.sum(axis=0)).tolist()
    cube = Cube.of(data)
    if len(classes) != 2 or not len(cube.kept):
        return
    sides = [tuple(classes), tuple(classes[::-1])]
    work = WORK
    for k in range(2, most + 1):
        for inner, outer in list(sides):
            search = Polyhedron(
                cube.unit, np.flatnonzero(weights[:, inner]), np.flatnonzero(weights[:, outer]), k
            )
            yield from search.rounds(work)
            work -= search.work
            if search.hopeless:
                sides.remove((inner, outer))
            if search.groups is not None:
                yield _model(data, cube, search, inner, outer)
                return


def _model(data: Dataset, cube: Cube, search: Polyhedron, inner: int, outer: int) -> DecisionGraph | None:
    """The hyperplanes one below the other; None when one just misses the margin."""
    spaces = []
    seen = np.arange(len(cube.unit))
    for group in search.groups or ():
        group = group[np.isin(group, seen)]
        if not len(group):
            continue
        found = half_space(cube.unit, search.inner, group, seen)
        if found is None:
            return None
        spaces.append(found)
        seen = seen[~found.outside(cube.unit[seen])]
    return graph_of(data, cube, spaces, inner, outer)


def errors_of_two_half_spaces(data: Dataset) -> Iterator[int | None]:
    """Weight of two classes that every model of at most two hyperplanes gets wrong; None before time is spent.

    A model with three terminals for two classes has one of them in an intersection of two half-spaces.
    """
    weights = data.points.weights
    unit = Cube.of(data).unit
    classes = np.flatnonzero(weights.sum(axis=0)).tolist()
    least: int | None = None
    for inner, outer in (classes, classes[::-1]):
        found = 0
        for lost in _lost(unit, weights[:, inner].copy(), weights[:, outer].copy(), least):
            if lost is None:
                yield None
            else:
                found = lost
        least = found if least is None else min(least, found)
        if not least:
            break
    yield least


def _lost(unit: Floats, inside: Ints, outside: Ints, most: int | None) -> Iterator[int | None]:
    """The weight that the refutations found lose together, up to ``most``; each takes weight from its points."""
    lost, work = 0, WORK_OF_BOUND
    while work > 0 and (most is None or lost < most) and inside.any() and outside.any():
        search = Polyhedron(unit, np.flatnonzero(inside), np.flatnonzero(outside), 2)
        yield from search.rounds(work)
        work -= search.work
        if search.core is None:
            break
        points = np.concatenate([search.outer, search.inner])[search.core]
        outer = search.is_outer[search.core]
        step = int(np.where(outer, outside[points], inside[points]).min())
        outside[points[outer]] -= step
        inside[points[~outer]] -= step
        lost += step
    yield lost
