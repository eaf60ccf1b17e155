"""A short, plain search for the optimum: no bound, no cache, no special machine instructions.

It is there to be read. A bound that it confirms does not rest on any engine or solver. It tries every test at every
node, so it reaches small problems only; `least_value` estimates the work first and refuses what is out of reach.

Two ways. Where the objective counts errors, costs, tests or leaves of a tree, and requirements bound errors, tests or
the weight of leaves and tests, subtrees do not depend on each other: `_fewest` is the whole search. Everything else
(diagrams, fairness, requirements of one's own) is enumerated model by model, and each model is evaluated as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from treeform.certify.regression import least_loss
from treeform.certify.restated import restated
from treeform.graph import DecisionGraph
from treeform.language.costs import ClassCost
from treeform.language.losses import leaf_loss
from treeform.language.objective import Error
from treeform.language.question import Question
from treeform.language.requirement import asks_for_tests
from treeform.language.size_terms import Depth, Leaves, Nodes, price_without_tests
from treeform.solve.verification import verify
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

WORK = 5 * 10**9
"""Most additions of one search; a call of NumPy counts as 20 000."""
MODELS = 20_000
"""Most models that are enumerated and judged one by one."""
NOTHING = 2**61
"""The cost of a tree that does not exist; sums of two stay within 64 bits."""


def least_value(question: Question, budget: Budget | None = None) -> Fraction | None:
    """The optimum of the question in the user's units, by trying everything; None when no model is admissible.

    Of its requirements it reads what `treeform.certify.restated` states, and judges models.

    Raises OutOfReach before anything is searched, and Stopped once the budget is spent.
    """
    question = restated(question)
    if leaf_loss(question.objective) is not None:
        return least_loss(question, budget)
    budget = budget or Budget()
    plain = plain_part(question)
    return _by_enumeration(question, budget) if plain is None else _by_subtrees(question, plain, budget)


# -- trees whose subtrees do not depend on each other -----------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """Objective and requirements as numbers: ``worth * cost + price * tests + constant``, within limits."""

    cost: np.ndarray
    """(K, K) int64: ``cost[true, predicted]`` per unit of weight."""
    worth: Fraction
    """Of one unit of cost, in the user's units."""
    price: Fraction
    constant: Fraction
    per_level: Fraction
    """Price of a level of depth, where the depth is the objective."""
    max_nodes: int
    max_cost: int
    min_support: int
    min_flow: int


def plain_part(question: Question, unrolled: bool = False) -> Plain | None:
    """The question in these numbers, or None where it is more than that.

    With ``unrolled`` diagrams are taken for the trees that they unroll to, whose tests cost nothing.
    """
    data, shape = question.data, question.shape
    is_tree = shape.own_leaves
    if not (is_tree or unrolled) or not shape.reads_columns:
        return None
    wrong = 1 - np.eye(data.n_classes, dtype=np.int64)
    cost, worth = wrong, Fraction(0)
    price = per_level = Fraction(0)
    for weight, term in question.objective.terms:
        if isinstance(term, Error | ClassCost):
            if worth:
                return None  # two kinds of errors in one objective
            worth = weight * term.unit(data)
            cost = term.whole(data) if isinstance(term, ClassCost) else wrong
        elif isinstance(term, Depth):
            per_level += weight
        elif isinstance(term, Nodes | Leaves):
            price += weight if is_tree else 0
        else:
            return None
    if any(weight < 0 for weight, _ in question.objective.terms):
        return None
    constant, limits = price_without_tests(question.objective), question.limits
    counted = {"max_nodes", "min_support", "min_flow"} | ({"max_errors"} if cost is wrong else set())
    stated = [requirement.limits(data) for requirement in question.requirements]
    if any(one is None or not one.names <= counted for one in stated):
        return None
    if data.total_weight * int(cost.max()) >= NOTHING:
        return None
    most = 2**shape.depth if limits.max_nodes is None else min(2**shape.depth, limits.max_nodes)
    dearest = NOTHING - 1 if limits.max_errors is None else limits.max_errors
    support = max(limits.min_support, 1)
    return Plain(cost, worth, price, constant, per_level, most, dearest, support, limits.min_flow)


def _by_subtrees(question: Question, plain: Plain, budget: Budget) -> Fraction | None:
    points, depth = question.data.points, question.shape.depth
    X = np.asarray(points.X)
    n_tests = question.data.n_tests
    work = (2 * n_tests) ** (depth - 1) * (n_tests * len(X) * question.data.n_classes + 20_000)
    if work > WORK:
        raise OutOfReach(
            "the problem is out of reach of the reference search",
            cause=f"{n_tests} tests at depth {depth} take about {work:.1g} additions, more than {WORK:.1g}",
        )
    # Every test that sends some point each way, as the points that go right.
    tests = [X[:, f] > value for f in range(X.shape[1]) for value in np.unique(X[:, f])[:-1]]
    right = np.array(tests, dtype=bool).reshape(len(tests), len(X))
    search = _Search(right, np.asarray(points.weights, dtype=np.int64), plain, budget)
    costs: list[Fraction] = []
    for level in range(depth + 1) if plain.per_level else [depth]:
        # The least of all (cost, number of tests) pairs within the limits.
        for tests_, cost in enumerate(search.fewest(np.ones(len(X), dtype=bool), level).tolist()):
            if cost <= plain.max_cost and tests_ <= plain.max_nodes:
                value = plain.worth * cost + plain.price * tests_ + plain.constant
                costs.append(value + plain.per_level * level)
    return min(costs, default=None)


@dataclass(frozen=True)
class _Search:
    """All tests (T, P) as the points that go right, the weight (P, K) of the classes at each point, and limits."""

    right: np.ndarray
    weights: np.ndarray
    plain: Plain
    budget: Budget

    def fewest(self, rows: np.ndarray, depth: int) -> np.ndarray:
        """(2**depth,): entry m is the least cost of a tree on ``rows`` of at most this depth and m tests."""
        if self.budget.stop():
            raise Stopped
        class_weights = self.weights[rows].sum(axis=0)
        leaf = (class_weights @ self.plain.cost).min()  # the cheapest class for all rows
        best = np.full(2**depth, leaf)
        if depth == 0 or class_weights.sum() < self.plain.min_flow:
            return best
        if depth == 1:
            best[1] = min(best[0], self._one_test(rows, class_weights))
            return best
        for goes_right in self.right:
            low, high = rows & ~goes_right, rows & goes_right
            if min(self.weights[low].sum(), self.weights[high].sum()) < self.plain.min_support:
                continue
            below, above = self.fewest(low, depth - 1), self.fewest(high, depth - 1)
            for a, cost in enumerate(below.tolist()):  # a tests below, the rest above, and this one
                part = best[a + 1 : a + 1 + len(above)]
                np.minimum(part, cost + above, out=part)
        return np.minimum.accumulate(best)

    def _one_test(self, rows: np.ndarray, here: np.ndarray) -> int:
        """The least cost of one test and two leaves, all tests at once."""
        high = self.right[:, rows].astype(np.int64) @ self.weights[rows]
        low = here - high
        allowed = np.minimum(low.sum(axis=1), high.sum(axis=1)) >= self.plain.min_support
        cost = (low @ self.plain.cost).min(axis=1) + (high @ self.plain.cost).min(axis=1)
        return int(cost[allowed].min(initial=NOTHING))


# -- everything else: each model is made and judged -----------------------------------------------------------------


def _by_enumeration(question: Question, budget: Budget) -> Fraction | None:
    if not question.shape.reads_columns:
        raise OutOfReach(
            "the problem is out of reach of the reference search", cause="hyperplanes cannot be listed"
        )
    if _has_many_models(question, budget):
        raise OutOfReach(
            "the problem is out of reach of the reference search",
            cause=f"there are more than {MODELS} models of {question.shape}",
        )
    best: int | Fraction | None = None
    for nested in _models(question):
        if budget.stop():
            raise Stopped
        judged = verify(question, DecisionGraph.build(nested, question.data))
        if judged.ok and (best is None or judged.value < best):
            best = judged.value
    return None if best is None else question.to_units(best)


def _has_many_models(question: Question, budget: Budget) -> bool:
    """Whether there are more than `MODELS`: those of one test are counted, all others are listed."""
    if question.data.n_tests * question.data.n_classes**2 > MODELS:
        return True
    for number, _ in enumerate(islice(_models(question), MODELS + 1), start=1):
        if number > MODELS:
            return True
        if number % 64 == 0 and budget.stop():
            raise Stopped
    return False


def _models(question: Question) -> Iterator[dict[Any, Any]]:
    """Every model of the shape, as nodes for `DecisionGraph.build`; the root comes first.

    A test separates the samples that reach it, or it is a pass-through, which reads nothing. Where requirements ask for
    tests, those of a tree may have two leaves of one class.
    """
    X, shape = np.asarray(question.data.points.X), question.shape
    tests = []
    for f in range(X.shape[1]):
        values = np.unique(X[:, f])
        middles = [question.data.ranks.thresholds(f)[i] for i in range(len(values) - 1)]
        tests += [(f, float(t), X[:, f] > v) for t, v in zip(middles, values[:-1], strict=True)]
    leaves = {("leaf", k): {"label": k} for k in range(question.data.n_classes)}
    everybody = np.ones(len(X), dtype=bool)
    for leaf in leaves:  # a constant model
        yield {"root": leaves[leaf]}
    of_one_class = shape.own_leaves and asks_for_tests(question.requirements)
    for nodes in _layers(tests, tuple(leaves), shape.widths, shape.own_leaves, of_one_class, 0, (everybody,)):
        yield {**nodes, **leaves}


def _layers(
    tests: list[tuple[int, float, np.ndarray]],
    leaves: tuple[Any, ...],
    widths: tuple[int, ...],
    is_tree: bool,
    of_one_class: bool,
    layer: int,
    rows: tuple[np.ndarray, ...],
) -> Iterator[dict[Any, Any]]:
    """Every way to go on from the tests of a layer, which these ``rows`` reach."""
    if not rows:
        yield {}
        return
    width = widths[layer + 1] if layer + 1 < len(widths) else 0
    for nodes, below in _one_layer(tests, leaves, width, is_tree, of_one_class, layer, 0, rows, ()):
        for rest in _layers(tests, leaves, widths, is_tree, of_one_class, layer + 1, below):
            yield {**nodes, **rest}


def _one_layer(
    tests: list[tuple[int, float, np.ndarray]],
    leaves: tuple[Any, ...],
    width: int,
    is_tree: bool,
    of_one_class: bool,
    layer: int,
    index: int,
    rows: tuple[np.ndarray, ...],
    below: tuple[np.ndarray, ...],
) -> Iterator[tuple[dict[Any, Any], tuple[np.ndarray, ...]]]:
    """Every choice for the tests of a layer from ``index`` on, and the rows that reach the next layer then."""
    if index == len(rows):
        yield {}, below
        return

    def heads(
        moved: np.ndarray, opened: tuple[np.ndarray, ...]
    ) -> Iterator[tuple[Any, tuple[np.ndarray, ...]]]:
        """Where an arc can lead: a leaf, a test of the next layer, or the next one that is not there yet."""
        for leaf in leaves:
            yield leaf, opened
        for i, others in enumerate(() if is_tree else opened):
            yield (layer + 1, i), (*opened[:i], others | moved, *opened[i + 1 :])
        if len(opened) < width:
            yield (layer + 1, len(opened)), (*opened, moved)

    choices: list[tuple[dict[str, Any], tuple[np.ndarray, ...]]] = []
    arrived = rows[index]
    for head, after in heads(arrived, below):
        choices.append(({"pass": head}, after))
    for f, threshold, goes_right in tests:
        low, high = arrived & ~goes_right, arrived & goes_right
        if low.any() and high.any():
            for left, after_left in heads(low, below):
                for right, after in heads(high, after_left):
                    if of_one_class or left != right:  # else both arcs lead to one head: a pass-through, as above
                        choices.append(
                            ({"feature": f, "threshold": threshold, "left": left, "right": right}, after)
                        )
    name = "root" if layer == 0 else (layer, index)
    for node, after in choices:
        for nodes, final in _one_layer(tests, leaves, width, is_tree, of_one_class, layer, index + 1, rows, after):
            yield {name: node, **nodes}, final
