"""Lower bounds for one and two hyperplanes, by inseparable sets that cannot all be right.

One test ends in two terminals, and each inseparable set of their classes loses a sample. Two tests end in three
terminals: the root sends one class away, and the other test separates two. Where the three are different classes, every
sample that is right is on its side of both hyperplanes, so each inseparable set of one class against the two others,
or of these two against each other, loses a sample. Where they are not, at most two classes are ever right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from treeform.data import Dataset
from treeform.formulations.odd.conflicts import binding
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.polyhedra import errors_of_two_half_spaces
from treeform.formulations.odd.separate import STATED, Cube
from treeform.shape import MARGIN
from treeform.utils.arrays import Floats, Ints

LIMIT = STATED * float(MARGIN)
WORK = 2 * 10**6
"""Of the linear programs of one family of sets: under half a second."""


def errors_of_one(data: Dataset) -> Iterator[int | None]:
    """Weight that every model of at most one hyperplane gets wrong; None before time is spent."""
    bounds = _Bounds(data)
    least = bounds.missing(bounds.present[:1])
    for pair in combinations(bounds.present, 2):
        if bounds.missing(pair) < least:
            yield None
            sets = bounds.sets(pair[:1], pair[1:])
            least = min(least, bounds.missing(pair) + covered(sets, bounds.weight))
    yield least


def errors_of_two(data: Dataset) -> Iterator[int | None]:
    """The same for at most two hyperplanes."""
    bounds = _Bounds(data)
    if len(bounds.present) < 3:
        yield from errors_of_two_half_spaces(data) if len(bounds.present) == 2 else ()
        return
    least = bounds.missing(bounds.present[:2])  # two classes, and no error among them
    for three in combinations(bounds.present, 3):
        for first in three:
            if bounds.missing(three) >= least:
                break
            others = tuple(k for k in three if k != first)
            yield None
            sets = bounds.sets((first,), others)
            yield None
            sets += bounds.sets(others[:1], others[1:])
            least = min(least, bounds.missing(three) + covered(sets, bounds.weight))
    yield least


class _Bounds:
    """What can be right or wrong: a class at a point, with its weight; and which of it is inseparable.

    ``present`` has the classes with samples, the heaviest first.
    """

    def __init__(self, data: Dataset) -> None:
        weights = data.points.weights
        self.unit = Cube.of(data).unit
        self.point, self.code = np.nonzero(weights)
        self.weight = weights[self.point, self.code]
        self.totals = weights.sum(axis=0)
        heaviest = np.argsort(-self.totals, kind="stable").tolist()
        self.present = tuple(k for k in heaviest if self.totals[k])

    def missing(self, classes: tuple[int, ...]) -> int:
        """Weight of all other classes."""
        return int(self.totals.sum() - self.totals[list(classes)].sum())

    def sets(self, ours: tuple[int, ...], theirs: tuple[int, ...]) -> list[Ints]:
        """Inseparable sets of some classes against others."""
        own = np.flatnonzero(np.isin(self.code, (*ours, *theirs)))
        if not self.unit.shape[1]:
            return []
        hulls = Hulls(self.unit[self.point[own]], np.isin(self.code[own], ours))
        return [own[one] for one in binding(hulls, self.weight[own].astype(float), LIMIT, WORK)]


def covered(sets: list[Ints], weight: Ints) -> int:
    """A weight that is lost when every set loses a member, by the prices of the linear relaxation.

    Prices of sets of which no member carries more than its weight add up to a lower bound. They are those of a
    solver, as fractions, and made smaller until that holds, so that the bound does not rest on what it answers.
    """
    if not sets:
        return 0
    price = [Fraction(p).limit_denominator(10**6) for p in _prices(sets, weight.astype(float)).tolist()]
    load: dict[int, Fraction] = {}
    for one, p in zip(sets, price, strict=True):
        for member in one.tolist():
            load[member] = load.get(member, Fraction(0)) + p
    shrink = max((load[member] / int(weight[member]) for member in load), default=Fraction(0))
    return math.ceil(sum(price, Fraction(0)) / max(shrink, Fraction(1)))


def _prices(sets: list[Ints], weight: Floats) -> Floats:
    """The dual of the covering problem's linear relaxation, roughly; at least 0."""
    row = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    table = csr_array((np.ones(len(row)), (row, np.concatenate(sets))), shape=(len(sets), len(weight)))
    answer = linprog(weight, A_ub=-table, b_ub=-np.ones(len(sets)), bounds=(0, None), method="highs-ds")
    if answer.x is None:
        return np.zeros(len(sets))
    return np.asarray(np.maximum(-np.asarray(answer.ineqlin.marginals), 0.0))
