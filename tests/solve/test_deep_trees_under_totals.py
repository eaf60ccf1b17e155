"""Deep trees beside engines that support more than their search does: labels by program, prices, and small subtrees."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from ended_early import pressed_when
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.engines import ContinuousTotals
from treeform.engines.relaxation import relax
from treeform.language.question import Question
from treeform.solve import repair, schedule
from treeform.solve.choice import Plan
from treeform.solve.lagrangian import Lagrangian, rows_of
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve_low_subtrees
from treeform.solve.node import Node
from treeform.solve.pipeline import planned, search
from treeform.solve.repair import MOST_LISTED, cheapest_labels, relabel
from treeform.solve.stage.deep_trees import FIRST_WORK, DeepTrees, first_deep_trees, relaxed
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget

PLAN = Plan(ContinuousTotals(), None, None, None, None, ())


def question(rows: int, seed: int, depth: int, *more: Any, difference: str = "0.05") -> Question:
    """A table whose labels follow its groups, so that trees of few errors break parity."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    group = (X[:, 0] + rng.normal(0, 0.7, rows) > 0).astype(int)
    y = ((X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (rng.random(rows) < 0.1)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem += tf.StatisticalParity(groups=group, difference=difference, positive=1)
    problem += list(more)
    return problem.question


def errors(graph: tf.DecisionGraph, of: Question) -> int:
    wrong = graph.predict_codes(of.data.X) != of.data.y
    return int(of.data.weights[wrong].sum())


@pytest.mark.parametrize("seed", range(4))
def test_labels_by_program_are_the_best_ones(seed: int) -> None:
    of = question(120, seed, 4)
    rng = np.random.default_rng(seed)
    leaves = 7
    position = rng.integers(0, leaves, of.data.n_samples)
    weight = np.zeros((leaves, 2), dtype=np.int64)
    np.add.at(weight, (position, of.data.y), of.data.weights)
    wrong = weight.sum(axis=1, keepdims=True) - weight
    rows = of.requirements[0].prediction_rows(of.data)
    every = np.arange(of.data.n_samples)

    def fits(labels: np.ndarray) -> bool:
        guess = labels[position]
        return all(int((coef[every, guess] * of.data.weights).sum()) <= side for coef, side in rows)

    assignments = [np.array(labels) for labels in itertools.product(range(2), repeat=leaves)]
    best = min(int(wrong[np.arange(leaves), a].sum()) for a in assignments if fits(a))
    labels = cheapest_labels(of, position, leaves, wrong, 0.0, Budget())
    assert labels is not None and fits(labels)
    assert int(wrong[np.arange(leaves), labels].sum()) == best


def test_a_tree_of_many_leaves_is_relabelled() -> None:
    of = question(600, 5, 6)
    plain = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(6)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    graph = plain.reclassified(of.data)
    assert graph.n_leaves > 16 and of.requirements[0].violation(graph, of.data)
    repaired = relabel(of, graph, Budget())
    assert repaired is not None and not of.requirements[0].violation(repaired, of.data)
    assert errors(repaired, of) >= errors(graph, of)


@pytest.mark.parametrize("listed", [MOST_LISTED, 2**7], ids=["one after the other", "by program"])
@pytest.mark.parametrize("costs", [[[0, 9], [1, 0]], [[0, 1], [7, 0]]])
def test_labels_cost_least_under_the_objective(
    costs: list[list[int]], listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missed sample of one class costs several of the other one, so the labels of fewest errors are dearer."""
    monkeypatch.setattr(repair, "MOST_LISTED", listed)
    of = question(300, 9, 3).with_(objective=1 * tf.Cost(costs))
    plain = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(3)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    graph = plain.reclassified(of.data)
    leaves = np.flatnonzero(graph.feature < 0).tolist()
    assert (2 ** len(leaves) > listed) is (listed < MOST_LISTED)
    every = [
        graph.with_labels(dict(zip(leaves, labels, strict=True)))
        for labels in itertools.product(range(2), repeat=len(leaves))
    ]
    fair = [one for one in every if not of.requirements[0].violation(one, of.data)]
    least = min(of.objective.evaluate(one, of.data) for one in fair)
    repaired = relabel(of, graph, Budget())
    assert repaired is not None and of.objective.evaluate(repaired, of.data) == least


def test_labels_are_found_however_many_cheaper_ones_are_unfair() -> None:
    """Six of twelve leaves need the other label: 1586 assignments change fewer, more than are judged one by one."""
    cell = np.repeat(np.arange(12), 10)
    y = np.where(np.arange(cell.size) % 10 < 8, cell % 2, 1 - cell % 2)
    problem = tf.Problem(cell[:, None].astype(float), y, shape=tf.Tree(4))
    problem += tf.StatisticalParity(groups=cell % 2, difference="0", positive=1)

    def nested(low: int, high: int) -> Any:
        if high - low == 1:
            return low % 2
        middle = (low + high) // 2
        return 0, middle - 0.5, nested(low, middle), nested(middle, high)

    of = problem.question
    repaired = relabel(of, tf.DecisionGraph.from_nested(nested(0, 12), of.data), Budget())
    assert repaired is not None and not of.requirements[0].violation(repaired, of.data)
    assert errors(repaired, of) == 6 * 2 + 6 * 8


def test_lists_of_labels_have_a_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tests are at fault, a thousand of them took all of it."""
    of = question(300, 9, 3, tf.FeatureBudget(1))
    graph = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(3)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    parts: list[Budget] = []

    def over(budget: Budget) -> Budget:
        parts.append(budget.until(lambda: True))
        return parts[-1]

    monkeypatch.setattr(schedule, "RELABELLED", Mock(of=over))
    monkeypatch.setattr(repair, "judge_candidate", Mock(side_effect=AssertionError("a list was read")))
    model = graph.reclassified(of.data)
    assert relabel(of, model, Budget(), better_than=model) is None and parts


def test_kinds_of_the_same_costs_are_one() -> None:
    """Without prices a search has as many classes as the problem, and with them as many kinds as differ."""
    of = question(200, 3, 3)
    relaxation = relaxed(of)
    assert relaxation is not None
    dual = Lagrangian(of, tf.DeepTreeSearch(), relaxation, rows_of(of, relaxation.dropped))
    assert dual.n_kinds == 4
    sizes = [len(dual._price((Fraction(price), Fraction(0)))[0]) for price in (0, Fraction(1, 10**4))]
    assert sizes == [2, 4]


@pytest.mark.parametrize("more", [(), (tf.MinSupport(15),)], ids=["parity", "and support"])
def test_first_trees_are_fair_and_deep(more: tuple[Any, ...]) -> None:
    of = question(600, 6, 5, *more)
    ledger = Ledger(of, Budget())
    constants(of, ledger)
    alone = ledger.upper
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None and ledger.judged is not None and ledger.judged.ok
    assert alone is not None and ledger.upper is not None and ledger.upper < 0.6 * alone
    assert ledger.graph.depth > 3
    assert ledger.lower is None or ledger.lower <= 0  # nothing is proved


@pytest.mark.parametrize(("difference", "works"), [("0.9", [1, 4, 16, 64]), ("0.01", [1, 1, 1, 2])])
def test_longer_searches_without_prices_grow_sooner(
    difference: str, works: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to be tried around no price."""
    deep = DeepTrees(of := question(200, 7, 4, difference=difference), Ledger(of, Budget()))
    deep.first(Budget())
    asked: list[int] = []

    def searched(prices: object, work: int, *_: object) -> None:
        asked.append(work // FIRST_WORK)
        deep.moves += 1

    monkeypatch.setattr(deep, "_searched", searched)
    for _ in works:
        deep._step(ContinuousTotals(), Budget())
    assert asked == works


def test_prices_beat_labels_alone() -> None:
    """Under a strict rule, on a table whose labels follow the groups."""
    of = question(600, 7, 4, difference="0.01")
    plain = tf.Problem(of.data.X, of.data.y, shape=tf.Tree(4)).solve(tf.DeepTreeSearch(work_limit=1)).graph
    labels = relabel(of, plain.reclassified(of.data), Budget())
    ledger = Ledger(of, Budget())
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None
    assert labels is None or errors(ledger.graph, of) < errors(labels, of)


def test_rows_that_are_never_to_be_wrong() -> None:
    """Each of them has to cost more than one error, as many others lie between them."""
    of = question(600, 4, 4)
    plain = DecisionTreeClassifier(max_depth=4, max_features=2, random_state=2).fit(of.data.X, of.data.y)
    right = np.flatnonzero(plain.predict(of.data.X) == of.data.y)
    of = of.with_(requirements=(tf.MustClassifyRight(right[::6].tolist()).bind(of.data),))
    ledger = Ledger(of, Budget())
    first_deep_trees(Node(ledger, PLAN), Budget())
    assert ledger.graph is not None and ledger.judged is not None and ledger.judged.ok


def test_prices_have_the_unit_of_the_costs() -> None:
    prices = {}
    for unit in (1, 1000):
        of = question(600, 7, 4, difference="0.01").with_(objective=1 * tf.Cost([[0, unit], [unit, 0]]))
        node = Node(Ledger(of, Budget()), PLAN)
        first_deep_trees(node, Budget())
        prices[unit] = node.deep.prices
    assert any(prices[1]) and prices[1000] == [1000 * price for price in prices[1]]


def test_small_subtrees_are_solved_with_what_the_rest_leaves() -> None:
    of = question(300, 8, 4)
    ledger = Ledger(of, Budget())
    constants(of, ledger)
    first_deep_trees(Node(ledger, PLAN), Budget())
    before = ledger.upper
    relaxation = relax(of, ContinuousTotals())
    assert relaxation is not None and relaxation.exact and before is not None
    tried, known = set[int](), -1
    while len(tried) > known:
        known = len(tried)
        improve_low_subtrees(ContinuousTotals(), relaxation, ledger, Budget(), tried)
    assert ledger.upper is not None and ledger.upper < before
    assert ledger.judged is not None and ledger.judged.ok
    engine = Mock()
    improve_low_subtrees(engine, relaxation, ledger, Budget(), tried)
    assert tried and not engine.run.called


def test_what_is_proved_is_not_searched_again() -> None:
    of = question(40, 9, 4)
    node = Node(Ledger(of, Budget(30)), PLAN)
    names = [stage.name for stage in planned(node)]
    search(node)
    assert "longer search for deep trees" in names
    assert [run.name for run in node.ran][-1] == "exact search" and node.limit is None


@given(st.integers(0, 10**6), st.integers(30, 90), st.integers(4, 6), st.integers(1, 2), st.booleans())
@settings(max_examples=8, deadline=None)
def test_few_columns_are_no_worse_than_the_best_smaller_tree(
    seed: int, rows: int, depth: int, columns: int, fair: bool
) -> None:
    """Nothing is given; the run is ended when it has such a tree, or else by its limit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(rows, 4)).astype(float)
    y = ((X[:, 0] > 5) ^ (X[:, 1] * X[:, 2] > 30) ^ (rng.random(rows) < 0.1)).astype(int)
    y[:2] = 0, 1
    problems = [tf.Problem(X, y, shape=tf.Tree(size)) for size in (2, depth)]
    for problem in problems:
        problem += tf.FeatureBudget(columns)
        if fair:
            problem += tf.StatisticalParity(groups=np.arange(rows) % 2, difference="0.2", positive=1)
    smaller = problems[0].solve()
    assert smaller.status is tf.Status.OPTIMAL and smaller.objective is not None
    least = smaller.objective
    found = problems[1].solve(
        time_limit=250, on_progress=pressed_when(lambda now: now.upper is not None and now.upper <= least)
    )
    assert found.graph is not None and found.objective is not None and found.objective <= least
    assert problems[1].judge(found.graph).ok and len(found.graph.features_used()) <= columns
