"""Step 1 for hyperplanes: models to start from, grown best first with linear classifiers at their tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.formulations.odd.separate import ENOUGH, LARGE, Cube, widest
from treeform.graph import DecisionGraph
from treeform.shape import MARGIN, Shape
from treeform.utils.arrays import Bools, Floats, Ints

Parting = frozenset[bytes]  # the points of each leaf

ROUNDS = 1000
REPEATS = 20
"""Rounds in a row that bring nothing but trees seen before: on a small table the draws have run out."""
STRENGTHS = (1.0, 10.0, 100.0, 1e4)
FEATURES = 0.6


@dataclass
class Leaf:
    """Points that end at a side of a test: where that is, how deep, and how much weight per class."""

    points: Ints
    layer: int
    weights: Ints
    parent: int = -1
    side: str = ""
    settled: bool = False

    @property
    def errors(self) -> int:
        return int(self.weights.sum() - self.weights.max())


@dataclass(frozen=True)
class Draw:
    """What a round draws."""

    rng: np.random.Generator
    number: int

    @property
    def everything(self) -> bool:
        """Whether classifiers see all features."""
        return self.number % 2 == 0

    def groups(self, totals: Ints) -> list[Ints]:
        """Groups of classes to part from the others: each alone at first, later a few at random."""
        present = np.flatnonzero(totals)
        if len(present) == 2:
            return [present[:1]]
        singles = [np.array([k]) for k in present]
        if self.number == 0:
            return singles
        sizes = self.rng.integers(1, len(present) // 2 + 1, 3)
        return [self.rng.permutation(present)[:size] for size in sizes]

    def strength(self) -> float:
        """Weight of errors in a classifier."""
        return STRENGTHS[int(self.rng.integers(len(STRENGTHS)))]

    def columns(self, n: int) -> Ints:
        """The features that a classifier sees."""
        if self.everything:
            return np.arange(n)
        return np.sort(self.rng.permutation(n)[: max(1, round(FEATURES * n))])


def grown(data: Dataset, shape: Shape, seed: int = 0) -> Iterator[DecisionGraph]:
    """Trees within the layers of ``shape``, one after every test added; round after round with other draws.

    A leaf is parted by the linear classifier that leaves the least impurity among several: one class or a group of
    classes against the others, separated exactly where a linear program shows that they can be. The first round tries
    each class; later ones draw groups, every second one over a random part of the features (60 %, as in Step 1 of
    the paper). A tree that parts the points as an earlier one does is left out, and `REPEATS` rounds of such trees
    are the end.
    """
    rng = np.random.default_rng(seed)
    cube = Cube.of(data)
    if not len(cube.kept):
        return
    seen: set[Parting] = set()
    repeats = 0
    for number in range(ROUNDS):
        before = len(seen)
        yield from _one_tree(data, shape, cube, Draw(rng, number), seen)
        repeats = 0 if len(seen) > before else repeats + 1
        if repeats == REPEATS:
            return


def _one_tree(
    data: Dataset, shape: Shape, cube: Cube, draw: Draw, seen: set[Parting]
) -> Iterator[DecisionGraph]:
    weights = data.points.weights
    room = list(shape.widths)
    leaves = [Leaf(np.arange(len(weights)), 0, weights.sum(axis=0))]
    nodes: dict[Any, dict[str, Any]] = {}
    while sum(room):
        open_ = [x for x in leaves if not x.settled and x.errors and x.layer < len(room) and room[x.layer]]
        if not open_:
            return
        leaf = max(open_, key=lambda x: x.errors)
        split = _split(cube, weights, leaf.points, draw)
        if split is None:
            leaf.settled = True
            continue
        test, left = split
        room[leaf.layer] -= 1
        number = len(nodes)
        nodes[number] = test
        if leaf.parent >= 0:
            nodes[leaf.parent][leaf.side] = number
        leaves = [x for x in leaves if x is not leaf]
        for side, points in (("left", leaf.points[left]), ("right", leaf.points[~left])):
            leaves.append(Leaf(points, leaf.layer + 1, weights[points].sum(axis=0), number, side))
        parting = frozenset(x.points.tobytes() for x in leaves)
        if parting not in seen:
            seen.add(parting)
            yield _graph(data, nodes, leaves)


def _graph(data: Dataset, nodes: dict[Any, dict[str, Any]], leaves: list[Leaf]) -> DecisionGraph:
    made: dict[Any, dict[str, Any]] = {key: dict(node) for key, node in nodes.items()}
    for number, leaf in enumerate(leaves):
        made["leaf", number] = {"label": int(leaf.weights.argmax())}
        made[leaf.parent][leaf.side] = ("leaf", number)
    for node in made.values():
        if node.pop("turned", False):
            node["left"], node["right"] = node["right"], node["left"]
    return DecisionGraph.build(made, data)


def _split(cube: Cube, weights: Ints, points: Ints, draw: Draw) -> tuple[dict[str, Any], Bools] | None:
    """The test that leaves least impurity, and which points it sends left; None when no test lessens it."""
    best = None
    at = weights[points]
    for group in draw.groups(at.sum(axis=0)):
        slope = _classifier(cube.unit[points], at, group, draw)
        if slope is None:
            continue
        left = slope[1]
        if left.all() or not left.any():
            continue
        score = _impurity(at[left].sum(axis=0)) + _impurity(at[~left].sum(axis=0))
        if best is None or score < best[0]:
            best = (score, slope[0], left)
    if best is None or best[0] >= _impurity(at.sum(axis=0)) - 1e-9:
        return None
    test = cube.test(points, best[2], best[1])
    return None if test is None else (test, best[2])


def _classifier(unit: Floats, at: Ints, group: Ints, draw: Draw) -> tuple[Floats, Bools] | None:
    """Weights of a hyperplane for a group of classes against the others, and the points below it."""
    inside = at[:, group].sum(axis=1)
    outside = at.sum(axis=1) - inside
    if draw.everything and unit.size <= LARGE and not ((inside > 0) & (outside > 0)).any():
        slope, margin = widest(unit, inside > 0)
        if margin >= ENOUGH * float(MARGIN):
            return slope, inside > 0
    return _support_vectors(unit, draw.columns(unit.shape[1]), inside, outside, draw.strength())


def _support_vectors(
    unit: Floats, columns: Ints, inside: Ints, outside: Ints, strength: float
) -> tuple[Floats, Bools] | None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    table = unit[:, columns]
    target = np.repeat([0, 1], len(unit))
    weight = np.concatenate([inside, outside])
    seen = weight > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(C=strength, dual=False, max_iter=200)
        model.fit(np.vstack([table, table])[seen], target[seen], sample_weight=weight[seen])
    slope = np.zeros(unit.shape[1])
    slope[columns] = model.coef_[0]
    if not np.abs(slope).max():
        return None
    return slope, np.asarray(model.decision_function(table) <= 0)


def _impurity(totals: Ints) -> float:
    """Gini impurity times weight."""
    total = totals.sum()
    return float(total - (totals.astype(float) ** 2).sum() / total) if total else 0.0
