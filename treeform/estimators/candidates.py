"""The trees of several depths and sizes that are learnt from one table.

Each depth is solved from the best tree of the depth before. Where that is proved early, the size table of the depth
gives the optimum of every size; in any case each tree is pruned at all prices of a test. A tree of one depth serves
all greater ones. CART's tree is pruned, too: where several trees have no errors, its prunings are often the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treeform.data import Dataset
from treeform.engines.pruning import PrunedTree, prunings, prunings_of_tests
from treeform.estimators.base import OptimalEstimator
from treeform.estimators.complexity import simplest_between, total_weight
from treeform.estimators.pruning_path import lower_hull, slope
from treeform.graph import DecisionGraph
from treeform.language.objective import Leaves, Nodes, Objective
from treeform.language.question import Question
from treeform.problem import Problem
from treeform.shape import Tree
from treeform.solve import Limit, Status
from treeform.solve.verification import judge_candidate
from treeform.utils.budget import Budget

MOST_PRICES = 12
"""Prices of a test that are tried for each depth."""
DEEPEST_SIZE_TABLE = 3
"""Greater depths are seldom proved in time, and their size tables take several times as long. Under requirements,
rows of a table may need a solver."""
MOST_CELLS = 2_000_000
"""Of a table for which CART's tree is grown, which takes up to two seconds then and cannot be stopped."""


@dataclass(frozen=True)
class Candidate:
    """One tree."""

    depth: int
    """Of the shape that it was learnt for."""
    tests: int
    cost: Fraction
    """Its loss as a share of the total weight, tests for nothing."""
    make: Callable[[], DecisionGraph]
    """Builds its graph; most of the candidates are never asked for it."""

    @cached_property
    def graph(self) -> DecisionGraph:
        """The tree."""
        return self.make()


class Candidates:
    """The trees of one table."""

    def __init__(self, data: Dataset, trees: Sequence[Candidate]) -> None:
        self.data, self.trees = data, tuple(trees)

    def best(self, depth: int, alpha: Fraction) -> Candidate:
        """The tree of at most this depth that is best at the price ``alpha``, a share of the total weight."""
        return min(self._up_to(depth), key=lambda one: (one.cost + alpha * one.tests, one.tests))

    def alphas(self, depth: int) -> list[Fraction]:
        """Prices at which different trees of at most this depth are best, from 0 on; one in each interval.

        A middle of its interval suits trees of other samples better than an end (Breiman et al., 1984, section 3.4).
        """
        points = sorted((one.tests, one.cost) for one in self._up_to(depth))
        hull = lower_hull([(*point, None) for point in points])
        ends = [-slope(few, more) for few, more in pairwise(hull)][::-1]
        weight = self.data.total_weight  # in units of weights, so that prices are simple multiples of them
        inner = [simplest_between(low * weight, high * weight) / weight for low, high in pairwise(ends)]
        # Far beyond the last end the constant is best on other samples, too.
        constant = [simplest_between(2 * ends[-1] * weight, None) / weight] if ends else []
        return [Fraction(0), *_some_of(inner, MOST_PRICES - 2), *constant]

    def _up_to(self, depth: int) -> list[Candidate]:
        return [one for one in self.trees if one.depth <= depth]


def _some_of(values: list[Fraction], most: int) -> list[Fraction]:
    """Evenly drawn, first and last among them."""
    if len(values) <= most:
        return values
    return [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]


def learn(
    estimators: dict[int, OptimalEstimator], data: Dataset, sensitive_features: Any, budget: Budget
) -> Candidates:
    """Learn trees of every depth.

    Parameters
    ----------
    estimators : dict from depth to estimator
        Without a time limit of their own.
    data : Dataset
        As these estimators read it.
    sensitive_features : array or None
    budget : Budget
        For all of it, shared by the depths that are left.

    Raises
    ------
    SpecError
        If no model satisfies the requirements.
    KeyboardInterrupt
    """
    trees: list[Candidate] = []
    for place, depth in enumerate(sorted(estimators)):
        constant = estimators[depth]._constant(data)
        if constant is not None:
            return Candidates(data, [Candidate(0, 0, Fraction(0), partial(_itself, constant))])
        best = min(trees, key=lambda one: one.cost, default=None)
        start = None if best is None else best.graph
        share = _part_of(budget, len(estimators) - place)
        trees += _of_depth(estimators[depth], depth, data, sensitive_features, start, share)
    deepest = max(estimators)
    trees += _greedy(estimators[deepest]._problem(data, sensitive_features).question, deepest)
    return Candidates(data, trees)


def _positive(budget: Budget) -> float | None:
    """What is left, as a limit: where nothing is, the first model is still wanted."""
    return None if budget.remaining is None else max(budget.remaining, 0.01)


def _part_of(budget: Budget, parts: int) -> Budget:
    left = budget.remaining
    return Budget(None if left is None else max(left / parts, 0.01), budget)


def _of_depth(
    estimator: OptimalEstimator,
    depth: int,
    data: Dataset,
    sensitive_features: Any,
    start: DecisionGraph | None,
    budget: Budget,
) -> Iterator[Candidate]:
    problem = estimator._problem(data, sensitive_features)
    estimator.set_params(time_limit=_positive(budget))
    if start is not None and isinstance(estimator.warm_start, str) and estimator.warm_start == "auto":
        estimator.set_params(warm_start=start)
    result = estimator._solve(data, sensitive_features)
    if result.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    found = [] if result.graph is None else [result.graph]
    native = not problem.requirements and depth <= DEEPEST_SIZE_TABLE
    if native and result.status is Status.OPTIMAL and not budget.stop():
        found += _of_every_size(problem, budget)
    question = problem.question
    for graph in found:
        yield from _pruned(question, graph, depth)


def _greedy(question: Question, depth: int) -> Iterator[Candidate]:
    """CART's tree, cut at each depth, and its prunings."""
    data = question.data
    if depth == 0 or data.X.size > MOST_CELLS:
        return
    if data.X.size and np.abs(data.X).max() > np.finfo(np.float32).max:  # beyond what it takes
        return
    if data.quantity is None:
        tree, y = DecisionTreeClassifier(max_depth=depth, random_state=0), data.classes[data.y]
    else:  # only its tests are used, so that unit and origin of the values do not matter
        tree, y = (
            DecisionTreeRegressor(max_depth=depth, random_state=0),
            data.quantity.deviations.astype(float),
        )
    tree.fit(data.X, y, sample_weight=data.weights)
    graph = DecisionGraph.from_sklearn(tree, data)
    for most, pruned in prunings_of_tests(question, graph, range(1, depth + 1)):
        yield from _candidates(question, pruned, most)


def _pruned(question: Question, graph: DecisionGraph, depth: int) -> Iterator[Candidate]:
    """The prunings of a tree."""
    for pruned in prunings(question, graph):
        yield from _candidates(question, pruned, depth)


def _candidates(question: Question, pruned: PrunedTree, depth: int) -> Iterator[Candidate]:
    """A pruned tree; under requirements if it satisfies them."""
    if question.requirements or pruned.cost is None:
        yield from _admissible(question, pruned.graph, depth)
    else:
        make = partial(_simplified, question, pruned, depth)
        yield Candidate(depth, pruned.tests, pruned.cost / total_weight(question.data), make)


def _itself(graph: DecisionGraph) -> DecisionGraph:
    return graph


def _simplified(question: Question, pruned: PrunedTree, depth: int) -> DecisionGraph:
    graph, judged = judge_candidate(question.with_(shape=Tree(depth)), pruned.graph)
    assert judged.ok  # nothing but the shape is asked for
    return graph


def _of_every_size(problem: Problem, budget: Budget) -> list[DecisionGraph]:
    table = problem.size_table(time_limit=_positive(budget))
    if table.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    return [row.graph for row in table.rows if row.graph is not None]


def _admissible(question: Question, graph: DecisionGraph, depth: int) -> Iterator[Candidate]:
    """The graph with its loss, if it has the shape and satisfies the requirements."""
    graph, judged = judge_candidate(question.with_(shape=Tree(depth)), graph)
    if judged.ok:
        losses = Objective(
            (weight, term)
            for weight, term in question.objective.terms
            if not isinstance(term, Nodes | Leaves)
        )
        cost = losses.evaluate(graph, question.data) / total_weight(question.data)
        yield Candidate(depth, graph.n_nodes, Fraction(cost), partial(_itself, graph))
