"""Exhaustive search over all models of a tiny shape: slow, simple, and independent of every solver.

Nothing is shared with formulations: samples are routed as bit masks (one Python integer per set of samples),
all choices are enumerated, and models are judged by `Objective.evaluate` and `Requirement.violation` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.objective import Cost, Error, Leaves, Nodes, Objective
from treeform.language.requirement import Requirement
from treeform.shape import Shape, Tree

LARGEST = 3_000_000

# A model as nested tuples: a class code, or (test, left, right). Subtrees of diagrams are shared.
Nested = Any
Priced = tuple[Fraction, Nested]


def brute_force(
    data: Dataset,
    shape: Shape,
    objective: Objective | Any,
    requirements: Sequence[Requirement] = (),
    *,
    limit: int = LARGEST,
) -> tuple[Fraction, DecisionGraph] | None:
    """The optimum by enumeration.

    Every test that separates the samples of its node, on every feature, is tried at every node, and every
    class at every leaf; in diagrams, every choice of arcs (a node of the next layer, or a terminal). Constant
    models are among the candidates.

    Parameters
    ----------
    data : Dataset
        Tiny: a dozen rows and a handful of distinct tests.
    shape : Tree or Diagram
    objective : Objective, Term or str
    requirements : sequence of Requirement
        Bound to the data or not.
    limit : int
        Refuse when there are more models than this.

    Returns
    -------
    (Fraction, DecisionGraph) or None
        The best value and a model that has it; None when no model satisfies all requirements.

    Raises
    ------
    SpecError
        If there are more than ``limit`` models.
    """
    goal = Objective.of(objective)
    try:
        bound = [requirement.bind(data) for requirement in requirements]
    except Infeasible:
        return None
    worlds = Worlds(data, _price(goal, data))
    count = worlds.count(shape)
    if count > limit:
        raise SpecError(
            f"{shape} has {count:,} models on these data, too many to try",
            cause=f"{len(worlds.tests)} tests separate the samples",
            fix="use fewer rows, fewer distinct values or a smaller shape",
        )
    if worlds.price is None:
        return _best_by_evaluation(worlds, shape, goal, bound)
    for value, nested in sorted(worlds.models(shape), key=lambda item: item[0]):
        graph = worlds.graph(nested, shape)
        evaluated = goal.evaluate(graph, data)
        if evaluated != value:
            raise AssertionError(
                f"objective {goal}: evaluate() gives {evaluated}, counting gives {value}\n{graph!r}"
            )
        if all(requirement.violation(graph, data) == 0 for requirement in bound):
            return value, graph
    return None


def all_models(data: Dataset, shape: Shape, *, limit: int = LARGEST) -> Iterator[DecisionGraph]:
    """Every model that `brute_force` looks at."""
    worlds = Worlds(data, _price(Objective(()), data))
    if worlds.count(shape) > limit:
        raise SpecError(f"{shape} has more than {limit:,} models on these data")
    for _, nested in worlds.models(shape):
        yield worlds.graph(nested, shape)


@dataclass(frozen=True)
class Price:
    """What a leaf and a test add to the objective."""

    leaf: Callable[[int, int], Fraction]
    """Of a set of samples (mask) and a class code."""
    test: Fraction
    constant: Fraction


def _price(goal: Objective, data: Dataset) -> Price | None:
    """The objective as a sum over leaves and tests; None when some term is no such sum."""
    classes = range(data.n_classes)
    matrix = [[Fraction(0) for _ in classes] for _ in classes]
    test = constant = Fraction(0)
    for weight, term in goal.terms:
        if isinstance(term, Error | Cost):
            for truth, guess in product(classes, classes):
                unit = (
                    term.entry(data, truth, guess)
                    if isinstance(term, Cost)
                    else Fraction(int(truth != guess))
                )
                matrix[truth][guess] += weight * unit * data.weight_unit
        elif isinstance(term, Nodes | Leaves):
            test += weight
            constant += weight if isinstance(term, Leaves) else 0
        else:
            return None
    rows = [(int(y), int(w)) for y, w in zip(data.y, data.weights, strict=True)]

    @cache
    def leaf(mask: int, label: int) -> Fraction:
        return sum((matrix[y][label] * w for i, (y, w) in enumerate(rows) if mask >> i & 1), Fraction(0))

    return Price(leaf, test, constant)


def _best_by_evaluation(
    worlds: Worlds, shape: Shape, goal: Objective, bound: Sequence[Requirement]
) -> tuple[Fraction, DecisionGraph] | None:
    best: tuple[Fraction, DecisionGraph] | None = None
    for _, nested in worlds.models(shape):
        graph = worlds.graph(nested, shape)
        value = goal.evaluate(graph, worlds.data)
        if best is not None and value >= best[0]:
            continue
        if all(requirement.violation(graph, worlds.data) == 0 for requirement in bound):
            best = value, graph
    return best


class Worlds:
    """All models over one data set.

    Parameters
    ----------
    data : Dataset
    price : Price or None
        What models are worth; None leaves all at 0.
    """

    def __init__(self, data: Dataset, price: Price | None) -> None:
        self.data = data
        self.price = price
        self.everybody = (1 << data.n_samples) - 1
        self.tests: list[tuple[int, float, int]] = []  # feature, threshold, mask of those who go right
        for f in range(data.n_features):
            column = data.X[:, f]
            for threshold in np.asarray(data.ranks.thresholds(f)).tolist():
                right = sum(1 << i for i in np.flatnonzero(column > threshold).tolist())
                self.tests.append((f, threshold, right))

    # -- counting, before anything is listed ------------------------------------------------------

    def count(self, shape: Shape) -> int:
        """Number of models, or an upper estimate for diagrams."""
        if isinstance(shape, Tree):
            return self._count_trees(self.everybody, shape.depth)
        classes, total = self.data.n_classes, 1
        for layer, width in enumerate(shape.widths):
            below = shape.widths[layer + 1] if layer + 1 < shape.depth else 0
            total *= (len(self.tests) * min(below + classes, 2 if layer == 0 else 99) ** 2 + 1) ** width
        return total + classes

    def _count_trees(self, mask: int, depth: int) -> int:
        total = self.data.n_classes
        if depth:
            for _, _, right in self.tests:
                if mask & right and mask & ~right:
                    low = self._count_trees(mask & ~right, depth - 1)
                    total += low * self._count_trees(mask & right, depth - 1)
                if total > 10 * LARGEST:
                    break
        return total

    # -- listing ------------------------------------------------------------------------------------

    def models(self, shape: Shape) -> Iterator[Priced]:
        """Every model with its value (0 where there is no price)."""
        base = self.price.constant if self.price else Fraction(0)
        if isinstance(shape, Tree):
            for value, nested in self._trees(self.everybody, shape.depth):
                yield value + base, nested
            return
        for label in range(self.data.n_classes):
            yield self._leaf(self.everybody, label) + base, label
        for value, layers in self._layers(shape.widths, 0, (self.everybody,)):
            yield value + base, layers

    def _leaf(self, mask: int, label: int) -> Fraction:
        return self.price.leaf(mask, label) if self.price else Fraction(0)

    def _test_price(self) -> Fraction:
        return self.price.test if self.price else Fraction(0)

    def _trees(self, mask: int, depth: int) -> list[Priced]:
        out: list[Priced] = [(self._leaf(mask, label), label) for label in range(self.data.n_classes)]
        if not depth:
            return out
        for t, (_, _, right) in enumerate(self.tests):
            if not mask & right or not mask & ~right:
                continue
            low, high = self._trees(mask & ~right, depth - 1), self._trees(mask & right, depth - 1)
            price = self._test_price()
            out += [(a + b + price, (t, x, y)) for (a, x), (b, y) in product(low, high)]
        return out

    def _layers(
        self, widths: tuple[int, ...], layer: int, masks: tuple[int, ...]
    ) -> Iterator[tuple[Fraction, tuple[Any, ...]]]:
        """Ways to route the samples from the nodes of a layer on: (value, one tuple of nodes per layer)."""
        if not masks:
            yield Fraction(0), ()
            return
        width = widths[layer + 1] if layer + 1 < len(widths) else 0
        for value, nodes, below in self._one_layer(masks, width, ()):
            for rest, layers in self._layers(widths, layer + 1, below):
                yield value + rest, (nodes, *layers)

    def _one_layer(
        self, masks: tuple[int, ...], width: int, below: tuple[int, ...]
    ) -> Iterator[tuple[Fraction, tuple[Any, ...], tuple[int, ...]]]:
        """Choices for the remaining nodes of a layer: a test and two targets each.

        A target is ``("node", index)`` of the next layer or ``("leaf", class)``; nodes of the next layer are
        opened in order, so that renumbered copies do not repeat.
        """
        if not masks:
            yield Fraction(0), (), below
            return
        mask, *others = masks
        for t, (_, _, right) in enumerate(self.tests):
            sides = (mask & ~right, mask & right)
            for low_price, low, after_low in self._targets(sides[0], width, below):
                for high_price, high, after in self._targets(sides[1], width, after_low):
                    if low == high or (low[0] == high[0] == "leaf" and 0 in sides):
                        continue  # a test without effect, other than one that hands its samples on
                    price = low_price + high_price + self._test_price()
                    for value, nodes, final in self._one_layer(tuple(others), width, after):
                        yield price + value, ((t, low, high), *nodes), final

    def _targets(
        self, mask: int, width: int, below: tuple[int, ...]
    ) -> Iterator[tuple[Fraction, tuple[str, int], tuple[int, ...]]]:
        if not mask:  # nobody goes this way: any terminal will do
            yield Fraction(0), ("leaf", 0), below
            return
        for label in range(self.data.n_classes):
            yield self._leaf(mask, label), ("leaf", label), below
        for i, held in enumerate(below):
            yield Fraction(0), ("node", i), (*below[:i], held | mask, *below[i + 1 :])
        if len(below) < width:
            yield Fraction(0), ("node", len(below)), (*below, mask)

    # -- graphs -------------------------------------------------------------------------------------

    def graph(self, nested: Nested, shape: Shape) -> DecisionGraph:
        """The model as a `DecisionGraph`."""
        if isinstance(nested, int):
            rows = [(-1, np.nan, -1, -1, nested)]
        else:
            rows = self._tree_rows(nested) if isinstance(shape, Tree) else self._diagram_rows(nested)
        feature, threshold, left, right, label = zip(*rows, strict=True)
        return DecisionGraph.from_arrays(feature, threshold, left, right, label, self.data)

    def _tree_rows(self, nested: Nested) -> list[tuple[int, float, int, int, int]]:
        """Nodes (feature, threshold, left, right, label) in preorder."""
        if isinstance(nested, int):
            return [(-1, np.nan, -1, -1, nested)]
        t, low, high = nested
        left, right = self._tree_rows(low), self._tree_rows(high)
        moved = [
            (f, c, k + shift if k >= 0 else -1, m + shift if m >= 0 else -1, label)
            for shift, part in ((1, left), (1 + len(left), right))
            for f, c, k, m, label in part
        ]
        return [(self.tests[t][0], self.tests[t][1], 1, 1 + len(left), -1), *moved]

    def _diagram_rows(self, layers: tuple[Any, ...]) -> list[tuple[int, float, int, int, int]]:
        """Nodes layer by layer, then one leaf for each class that some arc leads to."""
        start = np.cumsum([0, *(len(nodes) for nodes in layers)]).tolist()
        arcs = [(layer, *node) for layer, nodes in enumerate(layers) for node in nodes]
        labels = sorted({i for _, _, *ends in arcs for kind, i in ends if kind == "leaf"})

        def number(layer: int, target: tuple[str, int]) -> int:
            kind, index = target
            return int(start[layer + 1] + index if kind == "node" else start[-1] + labels.index(index))

        tests = [
            (self.tests[t][0], self.tests[t][1], number(layer, low), number(layer, high), -1)
            for layer, t, low, high in arcs
        ]
        return tests + [(-1, np.nan, -1, -1, label) for label in labels]
