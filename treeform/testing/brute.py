"""Exhaustive search over all models of a tiny shape: slow, simple, and independent of every solver.

Nothing is shared with formulations: samples are routed as bit masks (one Python integer per set of samples),
all choices are enumerated, and models are judged by `Objective.evaluate` and `Requirement.violation` alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, product
from operator import itemgetter
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.errors import Infeasible, SpecError
from treeform.graph import DecisionGraph, LinearForm
from treeform.language.costs import ClassCost
from treeform.language.objective import Error, Objective
from treeform.language.requirement import Requirement
from treeform.language.size_terms import Leaves, Nodes
from treeform.objectives.regression import AbsoluteError
from treeform.requirements import MaxErrors, MaxNodes, MinSupport, Stability, StatisticalParity
from treeform.shape import UNIVARIATE, Shape, Tree
from treeform.testing.dichotomies import Dichotomies

LARGEST = 3_000_000

# A model as nested tuples: a class code, or (test, left, right). Subtrees of diagrams are shared.
Nested = Any
Priced = tuple[int, Nested]
Target = tuple[str, int]
Row = tuple[int, int, int, int]  # number of the test (-1 at leaves), left, right, label


def brute_force(
    data: Dataset,
    shape: Shape,
    objective: Objective | Any,
    requirements: Sequence[Requirement] = (),
    *,
    limit: int = LARGEST,
) -> tuple[Fraction, DecisionGraph] | None:
    """The optimum by enumeration.

    Every test that separates the samples of its node, and a pass-through, is tried at every node, and every class
    at every leaf; in diagrams, every choice of arcs (a node of the next layer, or a terminal). Constant models are
    among the candidates. These are the admissible models in normal form; see "Admissible models" in the design
    documents. In multivariate shapes the tests of a node are one hyperplane for each way to part its samples, and,
    where a requirement may read columns or sides, for each sign of the weights; see `treeform.testing.dichotomies`.
    Where the target is a quantity, leaves have each whole multiple of its unit within its range, which is enough for
    `AbsoluteError`.

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
    worlds = Worlds(data, price_of(goal, data), shape.splits, by_sign=not all(_blind(r) for r in bound))
    count = worlds.count(shape)
    if count > limit:
        raise SpecError(
            f"{shape} has {count:,} models on these data, too many to try",
            cause=f"{len(worlds.splits(worlds.everybody))} tests separate the samples",
            fix="use fewer rows, fewer distinct values or a smaller shape",
        )
    if worlds.price is None:
        return _best_by_evaluation(worlds, shape, goal, bound)
    for units, nested in sorted(worlds.models(shape), key=itemgetter(0)):
        value, graph = units * worlds.price.unit, worlds.graph(nested, shape)
        evaluated = goal.evaluate(graph, data)
        if evaluated != value:
            raise AssertionError(
                f"objective {goal}: evaluate() gives {evaluated}, counting gives {value}\n{graph!r}"
            )
        if all(requirement.violation(graph, data) == 0 for requirement in bound):
            return value, graph
    return None


def all_models(
    data: Dataset, shape: Shape, *, limit: int = LARGEST, rng: np.random.Generator | None = None
) -> Iterator[DecisionGraph]:
    """Every model that `brute_force` enumerates.

    Raises SpecError if there are too many.

    Parameters
    ----------
    data : Dataset
    shape : Tree or Diagram
    limit : int
        The largest number of models.
    rng : numpy.random.Generator, optional
        Draws a random order, from which the first ones are a sample.
    """
    worlds = Worlds(data, None, shape.splits)
    if worlds.count(shape) > limit:
        raise SpecError(f"{shape} has more than {limit:,} models on these data")
    models: Iterable[Priced] = worlds.models(shape)
    if rng is not None:
        every = list(models)
        models = (every[i] for i in rng.permutation(len(every)))
    for _, nested in models:
        yield worlds.graph(nested, shape)


def _blind(requirement: Requirement) -> bool:
    """Whether it is certain that a requirement reads no columns and no order of sides."""
    return type(requirement) in (MaxErrors, MaxNodes, MinSupport, Stability, StatisticalParity)


@dataclass(frozen=True)
class Price:
    """What a leaf and a test add to the objective, in whole units, which are added up and sorted fast."""

    unit: Fraction
    leaf: Callable[[int, int], int]
    """Of a set of samples (mask) and a class code."""
    test: int
    constant: int


def price_of(goal: Objective, data: Dataset) -> Price | None:
    """The objective as a sum over leaves and tests; None when some term is no such sum."""
    test = constant = Fraction(0)
    labels = range(len(values_of(data)) or data.n_classes)
    costs = [[Fraction(0) for _ in labels] for _ in range(data.n_samples)]
    for weight, term in goal.terms:
        if isinstance(term, Nodes | Leaves):
            test += weight
            constant += weight if isinstance(term, Leaves) else 0
        elif isinstance(term, Error | ClassCost | AbsoluteError):
            entry = _entry(term, data)
            for i, label in product(range(data.n_samples), labels):
                costs[i][label] += weight * entry(i, label) * data.weight_unit * int(data.weights[i])
        else:
            return None
    many = math.lcm(*(number.denominator for number in chain((test, constant), *costs)))
    whole = [[int(cost * many) for cost in row] for row in costs]

    @cache
    def leaf(mask: int, label: int) -> int:
        return sum(row[label] for i, row in enumerate(whole) if mask >> i & 1)

    return Price(Fraction(1, many), leaf, int(test * many), int(constant * many))


def _entry(term: Error | ClassCost | AbsoluteError, data: Dataset) -> Callable[[int, int], Fraction]:
    """What a sample of weight 1 pays at a label; of values, its distance."""
    if isinstance(term, ClassCost):
        return lambda i, label: term.entry(data, int(data.y[i]), label)
    if isinstance(term, Error):
        return lambda i, label: Fraction(int(data.y[i] != label))
    assert data.quantity is not None
    values = values_of(data)
    targets = [data.quantity.to_value(d) for d in data.quantity.deviations.tolist()]
    return lambda i, label: abs(targets[i] - values[label])


def values_of(data: Dataset) -> tuple[Fraction, ...]:
    """The values that leaves may have where the target is a quantity: whole multiples of its unit in its range."""
    quantity = data.quantity
    if quantity is None:
        return ()
    return tuple(quantity.to_value(d) for d in range(quantity.lowest, quantity.highest + 1))


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


Read = int | LinearForm | None  # a column, a linear form, or nothing
Split = tuple[int, int]  # number of a test, mask of those who go right

PASS = 0
"""Number of the pass-through among the tests."""


class Worlds:
    """All models over one data set.

    Parameters
    ----------
    price : Price or None
        The objective; None leaves all values at 0.
    kind : {"univariate", "multivariate"}
        What tests may read.
    by_sign : bool
        As for `Dichotomies`.
    """

    def __init__(
        self, data: Dataset, price: Price | None, kind: str = UNIVARIATE, by_sign: bool = False
    ) -> None:
        self.data = data
        self.price = price
        self.values = values_of(data)
        self.n_labels = len(self.values) or data.n_classes
        self.everybody = (1 << data.n_samples) - 1
        self.tests: list[tuple[Read, float]] = [(None, 0.0)]  # what is compared with which threshold
        self._splits: dict[int, list[Split]] = {}
        if kind == UNIVARIATE:
            self._on_columns = self._all_on_columns()
        else:
            self._hyperplanes = Dichotomies(data, by_sign)
        self._kind = kind

    def _all_on_columns(self) -> list[Split]:
        out = []
        for f in range(self.data.n_features):
            column = self.data.X[:, f]
            for threshold in np.asarray(self.data.ranks.thresholds(f)).tolist():
                right = sum(1 << i for i in np.flatnonzero(column > threshold).tolist())
                out.append((len(self.tests), right))
                self.tests.append((f, threshold))
        return out

    def splits(self, mask: int) -> list[Split]:
        """The tests that part a set of samples: (number, mask of all who go right)."""
        if mask not in self._splits:
            self._splits[mask] = (
                [(t, right) for t, right in self._on_columns if mask & right and mask & ~right]
                if self._kind == UNIVARIATE
                else self._by_hyperplanes(mask)
            )
        return self._splits[mask]

    def _by_hyperplanes(self, mask: int) -> list[Split]:
        point = np.asarray(self.data.points.index).tolist()
        present = 0
        for i, p in enumerate(point):
            present |= (mask >> i & 1) << p
        out = []
        for cut in self._hyperplanes.cuts(present):
            out.append((len(self.tests), sum((cut.right >> p & 1) << i for i, p in enumerate(point))))
            self.tests.append((cut.form, cut.threshold))
        return out

    # -- counting, before anything is listed ------------------------------------------------------

    def count(self, shape: Shape) -> int:
        """Number of models, or an upper estimate for diagrams."""
        if isinstance(shape, Tree):
            return self._count_trees(self.everybody, shape.depth)
        classes, total = self.n_labels, 1
        for layer, width in enumerate(shape.widths):
            below = shape.widths[layer + 1] if layer + 1 < shape.depth else 0
            heads = min(below + classes, 2 + classes if layer == 0 else 99)
            total *= (len(self.splits(self.everybody)) * heads**2 + heads + 1) ** width
        return total + classes

    def _count_trees(self, mask: int, depth: int) -> int:
        total = self.n_labels
        if depth:
            total += self._count_trees(mask, depth - 1)
            for _, right in self.splits(mask):
                low = self._count_trees(mask & ~right, depth - 1)
                total += low * self._count_trees(mask & right, depth - 1)
                if total > 10 * LARGEST:
                    break
        return total

    # -- listing ------------------------------------------------------------------------------------

    def models(self, shape: Shape) -> Iterator[Priced]:
        """Every model with its value in units (0 where there is no price)."""
        base = self.price.constant if self.price else 0
        if isinstance(shape, Tree):
            for value, nested in self._trees(self.everybody, shape.depth):
                yield value + base, nested
            return
        for label in range(self.n_labels):
            yield self._leaf(self.everybody, label) + base, label
        for value, layers in self._layers(shape.widths, 0, (self.everybody,)):
            yield value + base, layers

    def _leaf(self, mask: int, label: int) -> int:
        return self.price.leaf(mask, label) if self.price else 0

    def _test_price(self) -> int:
        return self.price.test if self.price else 0

    def _trees(self, mask: int, depth: int) -> list[Priced]:
        out: list[Priced] = [(self._leaf(mask, label), label) for label in range(self.n_labels)]
        if not depth:
            return out
        price = self._test_price()
        out += [(value + price, (PASS, x, x)) for value, x in self._trees(mask, depth - 1)]
        for t, right in self.splits(mask):
            low, high = self._trees(mask & ~right, depth - 1), self._trees(mask & right, depth - 1)
            out += [(a + b + price, (t, x, y)) for (a, x), (b, y) in product(low, high)]
        return out

    def _layers(
        self, widths: tuple[int, ...], layer: int, masks: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Ways to route the samples from the nodes of a layer on: (value, one tuple of nodes per layer)."""
        if not masks:
            yield 0, ()
            return
        width = widths[layer + 1] if layer + 1 < len(widths) else 0
        for value, nodes, below in self._one_layer(masks, width, ()):
            for rest, layers in self._layers(widths, layer + 1, below):
                yield value + rest, (nodes, *layers)

    def _one_layer(
        self, masks: tuple[int, ...], width: int, below: tuple[int, ...]
    ) -> Iterator[tuple[int, tuple[Any, ...], tuple[int, ...]]]:
        """Choices for the remaining nodes of a layer: a test and its targets each, two or (to pass) one.

        A target is ``("node", index)`` of the next layer or ``("leaf", class)``; nodes of the next layer are
        opened in order, so that renumbered copies do not repeat.
        """
        if not masks:
            yield 0, (), below
            return
        mask, *others = masks
        for t, low, high, price, after in self._one_node(mask, width, below):
            for value, nodes, final in self._one_layer(tuple(others), width, after):
                yield price + self._test_price() + value, ((t, low, high), *nodes), final

    def _one_node(
        self, mask: int, width: int, below: tuple[int, ...]
    ) -> Iterator[tuple[int, Target, Target, int, tuple[int, ...]]]:
        for price, only, after in self._targets(mask, width, below):
            yield PASS, only, only, price, after
        for t, right in self.splits(mask):
            for low_price, low, after_low in self._targets(mask & ~right, width, below):
                for high_price, high, after in self._targets(mask & right, width, after_low):
                    if low != high:  # (8) two arcs lead to different heads
                        yield t, low, high, low_price + high_price, after

    def _targets(
        self, mask: int, width: int, below: tuple[int, ...]
    ) -> Iterator[tuple[int, Target, tuple[int, ...]]]:
        for label in range(self.n_labels):
            yield self._leaf(mask, label), ("leaf", label), below
        for i, children in enumerate(below):
            yield 0, ("node", i), (*below[:i], children | mask, *below[i + 1 :])
        if len(below) < width:
            yield 0, ("node", len(below)), (*below, mask)

    # -- graphs -------------------------------------------------------------------------------------

    def graph(self, nested: Nested, shape: Shape) -> DecisionGraph:
        """The model as a `DecisionGraph`."""
        if isinstance(nested, int):
            rows = [(-1, -1, -1, nested)]
        else:
            rows = self._tree_rows(nested) if isinstance(shape, Tree) else self._diagram_rows(nested)
        test, left, right, label = zip(*rows, strict=True)
        forms: list[LinearForm] = []
        feature, threshold = [], []
        for t in test:
            read, value = self.tests[t] if t >= 0 else (-1, np.nan)
            if not isinstance(read, int):
                forms.append(LinearForm((), ()) if read is None else read)
                read = self.data.n_features + len(forms) - 1
            feature.append(read)
            threshold.append(value)
        arrays = (feature, threshold, left, right, label)
        return DecisionGraph.from_arrays(*arrays, self.data, tuple(forms), self.values)

    def _tree_rows(self, nested: Nested) -> list[Row]:
        """Nodes in preorder."""
        if isinstance(nested, int):
            return [(-1, -1, -1, nested)]
        t, low, high = nested
        left = self._tree_rows(low)
        right = [] if t == PASS else self._tree_rows(high)
        moved = [
            (test, k + shift if k >= 0 else -1, m + shift if m >= 0 else -1, label)
            for shift, part in ((1, left), (1 + len(left), right))
            for test, k, m, label in part
        ]
        return [(t, 1, 1 if t == PASS else 1 + len(left), -1), *moved]

    def _diagram_rows(self, layers: tuple[Any, ...]) -> list[Row]:
        """Nodes layer by layer, then one leaf for each class that some arc leads to."""
        start = np.cumsum([0, *(len(nodes) for nodes in layers)]).tolist()
        arcs = [(layer, *node) for layer, nodes in enumerate(layers) for node in nodes]
        labels = sorted({i for _, _, *ends in arcs for kind, i in ends if kind == "leaf"})

        def number(layer: int, target: Target) -> int:
            kind, index = target
            return int(start[layer + 1] + index if kind == "node" else start[-1] + labels.index(index))

        tests = [(t, number(layer, low), number(layer, high), -1) for layer, t, low, high in arcs]
        return tests + [(-1, -1, -1, label) for label in labels]
