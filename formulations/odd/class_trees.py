"""Trees that separate classes without an error: of m tests and m + 1 classes, no model of m tests is better.

Groups of classes that one hyperplane separates are common where there are many features. A tree whose every test separates
two groups loses only the classes that it has no leaf for. With the heaviest classes that meets the lower bound
for few terminals, row after row of a size table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.formulations.odd.hulls import Bools, Floats, Hulls, Ints
from treeform.formulations.odd.separate import ENOUGH, Cube
from treeform.graph import DecisionGraph
from treeform.shape import MARGIN

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.shape import Shape

Classes = tuple[int, ...]

PROGRAMS = 400
"""Linear programs that ask whether two groups are separable, altogether."""
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


@dataclass
class Separations:
    """Which groups of classes hyperplanes separate, found when asked for."""

    unit: Floats
    weights: Ints
    programs: int = PROGRAMS
    known: dict[Classes, list[Split]] = field(default_factory=dict)

    def of(self, classes: Classes) -> list[Split]:
        """The ways that were found to separate a set of classes into two groups."""
        if classes not in self.known:
            self.known[classes] = list(self._separable(classes))
        return self.known[classes]

    def _separable(self, classes: Classes) -> Iterator[Split]:
        present = np.flatnonzero(self.weights[:, classes].any(axis=1))
        if (np.count_nonzero(self.weights[np.ix_(present, classes)], axis=1) > 1).any() and len(classes) == 2:
            return
        for group in self._promising(classes, present)[:PER_SET]:
            if not self.programs:
                return
            self.programs -= 1
            rest = tuple(k for k in classes if k not in group)
            left = self.weights[np.ix_(present, group)].any(axis=1)
            if (left & self.weights[np.ix_(present, rest)].any(axis=1)).any():
                continue
            slope, margin = Hulls(self.unit[present], left).widest()
            if margin >= ENOUGH * float(MARGIN):
                yield Split(group, rest, slope)

    def _promising(self, classes: Classes, present: Ints) -> list[Classes]:
        """Groups, the ones that least squares separates best before the others."""
        most = len(classes) // 2 if len(classes) <= GROUPS else 2
        groups = [group for size in range(1, most + 1) for group in combinations(classes, size)]
        table = np.column_stack([self.unit[present], np.ones(len(present))])
        own = (self.weights[np.ix_(present, classes)] > 0).astype(float)
        fitted = table @ np.linalg.lstsq(table, own, rcond=None)[0]
        inside = np.array([[k in group for k in classes] for group in groups]).T.astype(float)
        wrong = ((fitted @ inside > 0.5) != (own @ inside > 0.5)).sum(axis=0)
        return [groups[i] for i in np.argsort(wrong, kind="stable").tolist()]


@dataclass
class Search:
    """A tree of separations that fits the widths of layers, layer after layer."""

    widths: tuple[int, ...]
    separations: Separations
    refuted: set[tuple[int, tuple[Classes, ...]]] = field(default_factory=set)

    def tree(self, sets: tuple[Classes, ...], layer: int = 0) -> dict[Classes, Split] | None:
        """A split for every set of two and more classes, from this layer on; None where none was found."""
        if not sets:
            return {}
        left = self.widths[layer:]
        too_many = len(sets) > (left[0] if left else 0) or sum(len(one) - 1 for one in sets) > sum(left)
        if too_many or max(len(one) for one in sets) > 2 ** len(left) or (layer, sets) in self.refuted:
            return None
        found = self._layer(sets, (), layer)
        if found is None:
            self.refuted.add((layer, sets))
        return found

    def _layer(
        self, sets: tuple[Classes, ...], below: tuple[Classes, ...], layer: int
    ) -> dict[Classes, Split] | None:
        """The rest of a layer, when the sets before send ``below`` to the next one."""
        if not sets:
            return self.tree(tuple(sorted(below)), layer + 1)
        for split in self.separations.of(sets[0]):
            heads = tuple(group for group in (split.left, split.right) if len(group) > 1)
            rest = self._layer(sets[1:], below + heads, layer)
            if rest is not None:
                return {**rest, sets[0]: split}
        return None


def class_trees(data: Dataset, shape: Shape) -> Iterator[DecisionGraph]:
    """Trees of 1, 2, ... tests that separate the heaviest classes, as long as there are any.

    Parameters
    ----------
    data : Dataset
    shape : Shape
        Multivariate; a tree takes the places that its layers have.
    """
    cube = Cube.of(data)
    weights = data.points.weights
    heaviest = np.argsort(-weights.sum(axis=0), kind="stable")[: np.count_nonzero(weights.any(axis=0))].tolist()
    separations = Separations(cube.unit, weights)
    for count in range(2, min(len(heaviest), sum(shape.widths) + 1) + 1 if len(cube.kept) else 0):
        classes = tuple(sorted(heaviest[:count]))
        found = Search(tuple(shape.widths), separations).tree((classes,))
        if found is None:
            return
        graph = _graph(data, cube, found, classes)
        if graph is not None:
            yield graph


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
