"""The trees of several depths and sizes that are learnt from one table.

CART's tree comes first, cut at each depth and pruned: it is there where the time is short, and where several trees have
no errors its prunings are often the smallest. Each depth is solved from the best tree that is known. If it is proved
early, the best tree at every price of a test is found, too. Every tree is pruned at all prices. Prunings of a tree
that was learnt for few errors are not the best small trees, so the greatest depth is also solved at several prices. A
tree of one depth is a candidate for all greater ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treeform.data import Dataset
from treeform.engines.pruning import prunings, prunings_of_tests
from treeform.errors import SpecError
from treeform.estimators.base import OptimalEstimator
from treeform.estimators.complexity import lower_hull, simplest_between, slope, total_weight
from treeform.graph import DecisionGraph
from treeform.language.losses import loss_of, without_tests
from treeform.language.question import Question
from treeform.result import Result
from treeform.shape import Tree
from treeform.solve import Limit, Status
from treeform.solve.verification import judge_candidate
from treeform.utils.budget import Budget

MOST_PRICES = 12
"""Prices of a test that are tried for each depth."""
DEEPEST_AT_EVERY_PRICE = 3
"""Greater depths are seldom proved in time."""
NEARLY = Fraction(1001, 1000)
"""By which factor a price may differ from a breakpoint: at a simple fraction, costs are smaller whole numbers."""
LEAST_SECONDS = 0.1
"""For the tree of one price, where the greatest depth took less."""
SOLVED_PRICES = 6
"""Prices at which trees of the greatest depth are learnt, if they are not learnt at every price."""
MOST_CELLS = 2_000_000
"""From which CART's tree is grown, which takes up to two seconds then and cannot be stopped; of more, of a sample."""
SAMPLED_CELLS, SAMPLED = 100_000, 16
"""From so many cells on, one row in so many tells how long that takes."""
GREEDY_PART = 0.25
"""Of the time that is left, for CART's tree."""


@dataclass(frozen=True)
class Candidate:
    """One tree."""

    depth: int
    """Of the shape that it was learnt for."""
    tests: int
    cost: Fraction
    """Its objective, without a complexity penalty, as a share of the total weight."""
    make: Callable[[], DecisionGraph]
    """Builds its graph; most of the candidates are never asked for it."""

    @cached_property
    def graph(self) -> DecisionGraph:
        """The tree."""
        return self.make()


class Candidates:
    """The trees of one table; of values, ``unit`` is the share of the total weight that searches count in."""

    def __init__(self, data: Dataset, trees: Sequence[Candidate], unit: Fraction | None = None) -> None:
        self.data, self.trees, self.unit = data, tuple(trees), unit

    def best(self, depth: int, alpha: Fraction) -> Candidate | None:
        """The tree of at most this depth that is best at the price ``alpha``, a share of the total weight.

        None where no tree that satisfies the requirements is known.
        """
        trees = self._up_to(depth)
        return _cheapest(trees, alpha) if trees else None

    def alphas(self, depth: int) -> list[Fraction]:
        """Prices at which different trees of at most this depth are best, from 0 on; one in each interval.

        A middle of its interval suits trees of other samples better than an end (Breiman et al., 1984, section 3.4).
        """
        ends = _breakpoints(self._up_to(depth))
        weight = self.data.total_weight  # in units of weights, so that prices are simple multiples of them
        inner = [simplest_between(low * weight, high * weight) / weight for low, high in pairwise(ends)]
        whole = [price for price in inner if (price * weight).denominator == 1]  # costs need no factor at these
        inner = whole if len(whole) >= MOST_PRICES - 2 else inner
        # Far beyond the last end the constant is best on other samples, too.
        far = [2 * end * weight for end in ends[-1:]]
        constant = [simplest_between(low, None if self.unit is None else 2 * low) / weight for low in far]
        prices = [*_some_of(inner, MOST_PRICES - 2), *constant]
        return [Fraction(0), *(self._counted(price) for price in prices)]

    def _counted(self, price: Fraction) -> Fraction:
        """A price of few digits in units of the search near the given one, which has few in those of the user."""
        if self.unit is None or (price / self.unit).denominator == 1:
            return price
        return _simple(price, NEARLY, self.unit)

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
    """Learn trees of every depth, by estimators without a time limit of their own, within one budget for all of them.

    Raises KeyboardInterrupt.
    """
    trees: list[Candidate] = []
    deepest = max(estimators)
    priced = deepest > DEEPEST_AT_EVERY_PRICE
    given = estimators[deepest].warm_start
    own_starts = isinstance(given, str) and given == "auto"
    constant = estimators[deepest]._constant(data)
    if constant is not None:
        return Candidates(data, [Candidate(0, 0, Fraction(0), lambda: constant)])
    question = estimators[deepest]._problem(data, sensitive_features).question
    trees += _greedy(question, deepest, budget)
    for place, depth in enumerate(sorted(estimators)):
        if trees and depth < deepest and budget.stop():
            continue  # no time is left: trees of smaller depths are those that are known, and prunings of the deepest
        share = Budget(part_of(budget, len(estimators) * (1 + 2 * priced) - place), budget)
        began = budget.seconds
        trees += _of_depth(estimators[depth], depth, data, sensitive_features, trees, own_starts, share)
        lasted = budget.seconds - began
    if priced:
        each = max(LEAST_SECONDS, lasted)
        trees += _at_prices(estimators[deepest], data, sensitive_features, trees, own_starts, budget, each)
    return Candidates(data, trees, None if data.quantity is None else _unit(question))


def _cheapest(trees: Sequence[Candidate], price: Fraction = Fraction(0)) -> Candidate:
    """The best tree at the price of a test, a share of the total weight."""
    return min(trees, key=lambda one: (one.cost + price * one.tests, one.tests))


def _breakpoints(trees: Sequence[Candidate]) -> list[Fraction]:
    """The breakpoints of the cost-complexity path, rising: prices at which two trees are both the best."""
    points = sorted((one.tests, one.cost) for one in trees)
    hull = lower_hull([(*point, None) for point in points])
    return [-slope(few, more) for few, more in pairwise(hull)][::-1]


def part_of(budget: Budget, parts: float = 1) -> float | None:
    """Seconds of each of so many parts of what is left: where nothing is, a first model is still wanted."""
    return None if budget.remaining is None else max(budget.remaining / parts, 0.01)


def _of_depth(
    estimator: OptimalEstimator,
    depth: int,
    data: Dataset,
    sensitive_features: Any,
    smaller: Sequence[Candidate],
    own_starts: bool,
    budget: Budget,
) -> Iterator[Candidate]:
    """The tree of a depth with its prunings; if it is proved early, the best trees at every price as well.

    The problem is solved at each breakpoint of the known trees. Either a better tree is found there, which adds
    breakpoints, or it is proved that there is none.
    """
    question = estimator._problem(data, sensitive_features).question
    known, asked, price = [one for one in smaller if one.depth <= depth], set[Fraction](), Fraction(0)
    while True:
        start = _cheapest(known, price) if own_starts and known else None
        try:
            result = _solved(estimator, data, sensitive_features, start, budget, price)
        except SpecError:
            if price == 0:
                raise
            return  # weights have so many digits that costs with a price are no exact numbers
        if result.graph is not None:
            made = list(_pruned(question, result.graph, depth))
            known += made
            yield from made
        asked.add(price)
        proved = result.status is Status.OPTIMAL
        if question.requirements or depth > DEEPEST_AT_EVERY_PRICE or not proved or budget.stop():
            return
        simple = (_simple(price, NEARLY, _unit(question)) for price in _breakpoints(known))
        following = next((price for price in simple if price not in asked), None)
        if following is None:
            return
        price = following


def _at_prices(
    estimator: OptimalEstimator,
    data: Dataset,
    sensitive_features: Any,
    trees: Sequence[Candidate],
    own_starts: bool,
    budget: Budget,
    most: float,
) -> Iterator[Candidate]:
    """The tree of each of some prices of a test, with its prunings; it may start from the best that is known.

    The least price comes first, so that prunings of its tree are starts of others. Larger trees have more of the time,
    none more than ``most`` seconds.
    """
    question = estimator._problem(data, sensitive_features).question
    known = list(trees)
    prices = _prices(known, question)
    parts = [1 + _cheapest(known, price).tests for price in prices]
    for place, price in enumerate(prices):
        if budget.stop():
            return
        share = Budget(part_of(budget, sum(parts[place:]) / parts[place]), budget).share(most)
        start = _cheapest(known, price) if own_starts else None
        result = _solved(estimator, data, sensitive_features, start, share, price)
        if result.graph is not None:
            made = list(_pruned(question, result.graph, max(1, result.graph.depth)))
            known += made
            yield from made


def _unit(question: Question) -> Fraction:
    """What the search counts in, as a share of the total weight."""
    data, unit = question.data, Fraction(question.data.weight_unit)
    if data.quantity is not None:
        weight, loss = loss_of(question.objective)
        unit = weight * loss.per_unit(data)
    return unit / total_weight(data)


def _simple(price: Fraction, factor: Fraction, unit: Fraction) -> Fraction:
    """The simplest number of units within a factor of the given price."""
    return simplest_between(price / unit / factor, price / unit * factor) * unit


def _prices(trees: Sequence[Candidate], question: Question) -> list[Fraction]:
    """Shares of the total weight, rising: from about a row's part of it to half of what tests save.

    Of errors they are whole numbers, so that costs need no factor.
    """
    costs = [one.cost for one in trees] or [Fraction(0)]
    most, data = max(costs) - min(costs), question.data
    if most == 0:
        return []
    least = float(most if data.quantity is not None else 1) / data.n_samples
    ratio = max(2.0, (float(most) / 2 / least) ** (1 / (SOLVED_PRICES - 1)))
    wanted = [float(most) / 2 / ratio**step for step in reversed(range(SOLVED_PRICES))]
    unit = _unit(question)
    return [_simple(Fraction(price), Fraction(3, 2), unit) for price in wanted if price > 0.9 * least]


def _solved(
    estimator: OptimalEstimator,
    data: Dataset,
    sensitive_features: Any,
    start: Candidate | None,
    budget: Budget,
    price: Fraction,
) -> Result:
    estimator.set_params(time_limit=part_of(budget), ccp_alpha=price)
    if start is not None:
        estimator.set_params(warm_start=start.graph)
    result = estimator._solve(data, sensitive_features)
    estimator.set_params(ccp_alpha=0)  # costs of candidates are without it
    if result.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _greedy(question: Question, depth: int, budget: Budget) -> Iterator[Candidate]:
    """CART's tree, cut at each depth, and its prunings; that of a sample where all rows would take too long."""
    data = question.data
    if depth == 0:
        return
    if data.X.size and np.abs(data.X).max() > np.finfo(np.float32).max:  # beyond what it takes
        return
    graph = DecisionGraph.from_sklearn(_cart_in_time(data, depth, budget), data)
    for most, pruned in prunings_of_tests(question, graph, range(1, depth + 1)):
        yield from _candidates(question, most, pruned.tests, pruned.cost, pruned.make)


def _cart_in_time(data: Dataset, depth: int, budget: Budget) -> DecisionTreeClassifier | DecisionTreeRegressor:
    step = max(1, -(-data.X.size // MOST_CELLS))
    if budget.remaining is not None and data.X.size > SAMPLED_CELLS * step:
        began = budget.seconds
        tree = _cart(data, depth, slice(None, None, SAMPLED * step))
        whole, room = SAMPLED * (budget.seconds - began), GREEDY_PART * budget.remaining
        if whole >= SAMPLED * room:
            return tree
        step *= max(1, math.ceil(whole / room))
    return _cart(data, depth, slice(None, None, step))


def _cart(data: Dataset, depth: int, rows: slice) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Of its tree only the tests are used, so that unit and origin of values do not matter."""
    if data.quantity is None:
        tree, y = DecisionTreeClassifier(max_depth=depth, random_state=0), data.classes[data.y]
    else:
        tree, y = DecisionTreeRegressor(max_depth=depth, random_state=0), data.quantity.deviations.astype(float)
    return tree.fit(data.X[rows], y[rows], sample_weight=data.weights[rows])


def _pruned(question: Question, graph: DecisionGraph, depth: int) -> Iterator[Candidate]:
    """The prunings of a tree."""
    for pruned in prunings(question, graph):
        yield from _candidates(question, depth, pruned.tests, pruned.cost, pruned.make)


def _candidates(
    question: Question, depth: int, tests: int, cost: Fraction | None, make: Callable[[], DecisionGraph]
) -> Iterator[Candidate]:
    """A pruned tree; under requirements if it satisfies them."""
    if question.requirements or cost is None:
        yield from _admissible(question, make(), depth)
    else:
        made = partial(_simplified, question, make, depth)
        yield Candidate(depth, tests, _with_tests(question, cost, tests), made)


def _simplified(question: Question, make: Callable[[], DecisionGraph], depth: int) -> DecisionGraph:
    graph, judged = judge_candidate(question.with_(shape=Tree(depth)), make())
    assert judged.ok  # nothing but the shape is asked for
    return graph


def _admissible(question: Question, graph: DecisionGraph, depth: int) -> Iterator[Candidate]:
    """The graph with its loss, if it has the shape and satisfies the requirements."""
    graph, judged = judge_candidate(question.with_(shape=Tree(depth)), graph)
    if judged.ok:
        cost = without_tests(question.objective).evaluate(graph, question.data)
        yield Candidate(depth, graph.n_nodes, _with_tests(question, cost, graph.n_nodes), lambda: graph)


def _with_tests(question: Question, losses: Fraction, tests: int) -> Fraction:
    """Losses, and what the objective itself asks for tests or leaves, as a share of the total weight."""
    price = sum(weight for weight, term in question.objective.terms if term.of_size)
    return Fraction(losses + price * tests) / total_weight(question.data)
