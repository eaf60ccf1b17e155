"""Near-optimal trees by exhaustive enumeration: each once, in its normal form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

import treeform as tf
from treeform.errors import SpecError
from treeform.testing.brute import LARGEST, Nested, Worlds, price_of
from treeform.testing.cases import GROUP, Case, draw_cases

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

NEAR_OPTIMAL_REQUIREMENTS: tuple[tuple[tf.Requirement, ...], ...] = (
    (),
    (tf.StatisticalParity(groups=GROUP, difference="0.3"),),
    (tf.StatisticalParity(groups=GROUP, ratio="0.6"), tf.MinSupport(2)),
    (tf.Stability(0.4), tf.MaxNodes(2)),
    (tf.FeatureBudget(1),),
    (tf.MaxErrors(0.45), tf.EqualOpportunity(groups=GROUP, difference="0.4")),
    (tf.NoTestOn("age"),),
    (tf.Monotone("owner"),),
)
"""Requirements on tables of `draw_near_optimal`."""

NO_TREE = 1 << 40
"""In place of the price of a test with two leaves of one class, which is no tree in normal form."""


def normal_form(
    graph: DecisionGraph, data: Dataset, node: int = 0, rows: frozenset[int] | None = None
) -> object:
    """A tree as what it does: the column of each test, and the two sets of samples with what becomes of them.

    None for a tree that is in no normal form: some test separates nothing, or has two leaves of one class.
    """
    rows = frozenset(range(data.n_samples)) if rows is None else rows
    f = int(graph.feature[node])
    if f < 0:
        return int(graph.label[node])
    if f >= data.n_features:
        return None
    left = frozenset(i for i in rows if data.X[i, f] <= graph.threshold[node])
    sides = [(left, int(graph.left[node])), (rows - left, int(graph.right[node]))]
    if not all(side for side, _ in sides):
        return None
    below = [(side, normal_form(graph, data, child, side)) for side, child in sides]
    ends = [end for _, end in below]
    if None in ends or (isinstance(ends[0], int) and ends[0] == ends[1]):
        return None
    return data.columns[f].source, frozenset(below)


def near_optimal_forms(problem: tf.Problem, within: Fraction) -> dict[object, Fraction]:
    """The normal forms of all near-optimal trees of a tiny problem, with their values.

    Every tree is built and priced. In the order of their prices they are evaluated and judged by the definitions of the
    objective and the requirements, up to the last near-optimal one.

    Parameters
    ----------
    within : Fraction
        The share of the optimum by which a tree may be worse.
    """
    data, every = problem.data, _EveryTree(problem)
    found: dict[object, Fraction] = {}
    most: Fraction | None = None
    for value, nested in every.by_price():
        if most is not None and value > most:
            break
        graph = every.worlds.graph(nested, problem.shape)
        evaluated = Fraction(problem.objective.evaluate(graph, data))
        if evaluated != value:
            raise AssertionError(f"evaluate() gives {evaluated}, adding up gives {value}\n{graph!r}")
        if any(r.violation(graph, data) for r in problem.requirements):
            continue
        form = normal_form(graph, data)
        assert form is not None and form not in found
        found[form] = value
        if most is None:
            most = value * (1 + within)
    return found


class _EveryTree:
    """All trees in normal form: no bound, nothing is left out, only their prices are added as arrays."""

    def __init__(self, problem: tf.Problem) -> None:
        data, self.depth = problem.data, problem.shape.depth
        price = price_of(problem.objective, data)
        assert price is not None  # errors, costs and prices of tests
        self.price = price
        self.worlds, self.labels = Worlds(data, None), range(data.n_classes)
        self._prices: dict[tuple[int, int], np.ndarray] = {}

    def by_price(self) -> Iterator[tuple[Fraction, Nested]]:
        """All trees, the cheapest first."""
        prices = self.prices(self.worlds.everybody, self.depth)
        for index in np.argsort(prices, kind="stable").tolist():
            if prices[index] >= NO_TREE:
                break
            price = (int(prices[index]) + self.price.constant) * self.price.unit
            yield price, self.tree(self.worlds.everybody, self.depth, index)

    def prices(self, mask: int, depth: int) -> np.ndarray:
        """Of the trees on some samples: first the leaves, then a block for each test."""
        if (mask, depth) not in self._prices:
            parts = [np.array([self.price.leaf(mask, c) for c in self.labels])]
            for _, right in self.tests(mask) if depth else ():
                low, high = self.prices(mask & ~right, depth - 1), self.prices(mask & right, depth - 1)
                both = low[:, None] + high + self.price.test
                both[self.labels, self.labels] = NO_TREE  # two leaves of one class
                parts.append(np.minimum(both, NO_TREE).ravel())
            if sum(map(len, parts)) > LARGEST:
                raise SpecError(f"{sum(map(len, parts)):,} trees are too many to try")
            self._prices[mask, depth] = np.concatenate(parts)
        return self._prices[mask, depth]

    def tests(self, mask: int) -> list[tuple[int, int]]:
        """One of each column and way to part the samples."""
        columns = self.worlds.data.columns
        found: dict[object, tuple[int, int]] = {}
        for test, right in self.worlds.splits(mask):
            read, _ = self.worlds.tests[test]
            assert isinstance(read, int)
            found.setdefault((columns[read].source, frozenset((mask & right, mask & ~right))), (test, right))
        return list(found.values())

    def tree(self, mask: int, depth: int, index: int) -> Nested:
        """By its place among `prices`."""
        if index < len(self.labels):
            return index
        index -= len(self.labels)
        for test, right in self.tests(mask):
            low, high = mask & ~right, mask & right
            wide = len(self.prices(high, depth - 1))
            block = len(self.prices(low, depth - 1)) * wide
            if index < block:
                below = self.tree(low, depth - 1, index // wide), self.tree(high, depth - 1, index % wide)
                return (test, *below)
            index -= block
        raise AssertionError("no such tree")


def draw_near_optimal(count: int, seed: int, requirements: tuple[tf.Requirement, ...]) -> Iterator[tf.Problem]:
    """Tiny problems of two and three classes under requirements; those that these refuse are left out."""
    for number, case in enumerate(draw_cases(count, seed, (tf.Tree(2), tf.Tree(1), tf.Tree(3)))):
        case = _longer(case, np.random.default_rng((seed, number))) if number % 6 == 3 else case
        problem = tf.Problem(
            case.frame, case.labels, shape=case.shape, sample_weight=case.weights, exclude=[GROUP]
        ).minimize(case.objective)
        try:
            for requirement in requirements:
                problem += requirement
        except SpecError:
            continue
        yield problem


def _longer(case: Case, rng: np.random.Generator) -> Case:
    """Twice the rows, and numbers of more values, some of them missing."""
    n = 2 * len(case.labels)
    columns = {name: values * 2 for name, values in case.columns.items()}
    columns["age"] = rng.choice([18.5, 20, 30.25, 33, 41, 47, np.nan], n).tolist()
    weights = None if case.weights is None else case.weights * 2
    return replace(case, columns=columns, labels=rng.permutation(case.labels * 2).tolist(), weights=weights)
