"""Trees that separate classes without an error: of m tests and m + 1 classes, no model of m tests is better.

Groups of classes that one hyperplane separates are common where there are many features. A tree whose every test
separates two groups loses only the classes that it has no leaf for. With the heaviest classes that meets the lower
bound for few terminals, row after row of a size table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.separate import ENOUGH, Cube
from treeform.graph import DecisionGraph
from treeform.shape import MARGIN, Shape
from treeform.utils.arrays import Bools, Floats, Ints

Classes = tuple[int, ...]

PROGRAMS = 200
"""Linear programs that ask whether two groups are separable: for all classes, and for all smaller numbers of them."""
PER_SET = 16
"""Of those, for one set of classes: the groups that least squares separates best."""
GROUPS = 12
"""Classes up to which all groups are ranked; of more, only those of at most two classes."""


@dataclass(frozen=True)
class Split:
    """Two groups of classes, and the weights of a hyperplane that separates them."""

    left: Classes
    right: Classes
    slope: Floats

Steps = Generator[None, None, dict[Classes, Split] | None]


@dataclass
class Separations:
    """Which groups of classes hyperplanes separate, found when asked for."""

    unit: Floats
    weights: Ints
    programs: int = PROGRAMS
    ranked: dict[Classes, list[Classes]] = field(default_factory=dict)
    known: dict[tuple[Classes, Classes], Split | None] = field(default_factory=dict)

    def of(self, classes: Classes, most: int) -> Iterator[Split | None]:
        """The ways to separate a set of classes into two groups of at most so many; None after each program."""
        if classes not in self.ranked:
            self.ranked[classes] = self._promising(classes)
        fitting = (g for g in self.ranked[classes] if max(len(g), len(classes) - len(g)) <= most)
        for group in islice(fitting, PER_SET):
            if (classes, group) not in self.known:
                if not self.programs:
                    return
                self.programs -= 1
                self.known[classes, group] = self._separated(classes, group)
                yield None
            split = self.known[classes, group]
            if split is not None:
                yield split

    def _separated(self, classes: Classes, group: Classes) -> Split | None:
        rest = tuple(k for k in classes if k not in group)
        present = self.weights > 0
        left: Bools = np.asarray(present[:, group].any(axis=1))
        right: Bools = np.asarray(present[:, rest].any(axis=1))
        if (left & right).any():  # identical rows of both groups
            return None
        own = left | right
        slope, margin = Hulls(self.unit[own], left[own]).widest()
        return Split(group, rest, slope) if margin >= ENOUGH * float(MARGIN) else None

    def _promising(self, classes: Classes) -> list[Classes]:
        """Groups, the ones that least squares separates best before the others."""
        most = len(classes) // 2 if len(classes) <= GROUPS else 2
        groups = [group for size in range(1, most + 1) for group in combinations(classes, size)]
        present = np.flatnonzero(self.weights[:, classes].any(axis=1))
        table = np.column_stack([self.unit[present], np.ones(len(present))])
        own = (self.weights[present][:, classes] > 0).astype(float)
        fitted = table @ np.linalg.lstsq(table, own, rcond=None)[0]
        inside = np.array([[k in group for k in classes] for group in groups]).T.astype(float)
        wrong = ((fitted @ inside > 0.5) != (own @ inside > 0.5)).sum(axis=0)
        return [groups[i] for i in np.argsort(wrong, kind="stable").tolist()]


@dataclass
class Search:
    """A tree of separations that fits the widths of layers, layer after layer.

    Its generators give None whenever time was spent, and return what they find.
    """

    widths: tuple[int, ...]
    separations: Separations
    refuted: set[tuple[int, tuple[Classes, ...]]] = field(default_factory=set)

    def tree(self, sets: tuple[Classes, ...], layer: int = 0) -> Steps:
        """A split for every set of two and more classes, from this layer on; None where none was found."""
        if not sets:
            return {}
        left = self.widths[layer:]
        too_many = len(sets) > (left[0] if left else 0) or sum(len(one) - 1 for one in sets) > sum(left)
        if too_many or max(len(one) for one in sets) > 2 ** len(left) or (layer, sets) in self.refuted:
            return None
        found = yield from self._layer(sets, (), layer)
        if found is None:
            self.refuted.add((layer, sets))
        return found

    def _layer(self, sets: tuple[Classes, ...], below: tuple[Classes, ...], layer: int) -> Steps:
        """The rest of a layer, when the sets before send ``below`` to the next one."""
        if not sets:
            return (yield from self.tree(tuple(sorted(below)), layer + 1))
        for split in self.separations.of(sets[0], 2 ** (len(self.widths) - layer - 1)):
            if split is None:
                yield None
                continue
            heads = tuple(group for group in (split.left, split.right) if len(group) > 1)
            rest = yield from self._layer(sets[1:], below + heads, layer)
            if rest is not None:
                return {**rest, sets[0]: split}
        return None


def class_trees(data: Dataset, shape: Shape) -> Iterator[DecisionGraph | None]:
    """Trees that separate classes: all that there are places for, then the heaviest two, three, ...

    A tree takes the places that the layers of a multivariate shape have. None stands where time was spent, so that the
    caller can end it.
    """
    cube = Cube.of(data)
    totals = data.points.weights.sum(axis=0)
    heaviest = np.argsort(-totals, kind="stable")[: np.count_nonzero(totals)].tolist()
    separations = Separations(cube.unit, data.points.weights)
    most = min(len(heaviest), sum(shape.widths) + 1) if len(cube.kept) else 0
    for count in [most, *range(2, most)] if most > 1 else []:
        classes = tuple(sorted(heaviest[:count]))
        found = yield from Search(tuple(shape.widths), separations).tree((classes,))
        if found is not None:
            yield _graph(data, cube, found, classes)
        if (found is None) == (count < most):  # all classes, or as many as can be separated
            return
        if count == most:
            separations.programs = PROGRAMS


def _graph(data: Dataset, cube: Cube, found: dict[Classes, Split], classes: Classes) -> DecisionGraph | None:
    """The tree; samples of classes without a leaf go where the tests send them."""
    nodes: dict[Any, dict[str, Any]] = {}
    open_: list[tuple[Classes, Ints]] = [(classes, np.arange(len(cube.unit)))]
    while open_:
        group, points = open_.pop()
        if len(group) == 1:
            nodes[group] = {"label": group[0]}
            continue
        split = found[group]
        left = _sides(cube.unit[points] @ split.slope, data.points.weights[points], split)
        test = None if left is None else cube.test(points, left, split.slope)
        if left is None or test is None:
            return None
        nodes[group] = {**test, "left": split.left, "right": split.right}
        open_ += [(split.left, points[left]), (split.right, points[~left])]
    order: Sequence[Classes] = sorted(nodes, key=lambda group: (-len(group), group))
    return DecisionGraph.build({group: nodes[group] for group in order}, data)


def _sides(value: Floats, weights: Ints, split: Split) -> Bools | None:
    """Which points go left when the threshold is in the widest gap that separates the two groups."""
    low = value[weights[:, split.left].any(axis=1)].max()
    high = value[weights[:, split.right].any(axis=1)].min()
    between = np.unique(value[(value >= low) & (value <= high)])
    if len(between) < 2:
        return None
    at = int(np.diff(between).argmax())
    return np.asarray(value <= between[at])
