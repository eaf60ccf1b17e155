"""Diagrams under rows over predictions: the search through what the Lagrangian bound leaves open, by brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import Draw

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch
from treeform.engines.relaxation import relax
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.solve.lagrangian import Lagrangian, rows_of
from treeform.solve.ledger import Ledger
from treeform.solve.stage.engine_search import BY, search_within_gap
from treeform.testing import brute_force
from treeform.utils.budget import Budget

WIDTHS = [(1, 2), (1, 1, 2), (1, 2, 1), (1, 1), (1, 1, 1), (1,)]


def random_question(seed: int) -> tuple[Question, np.random.Generator]:
    """Up to nine rows with groups, one or two requirements, often weights, costs or a bound on the tests."""
    rng = np.random.default_rng(seed)
    widths = WIDTHS[seed % len(WIDTHS)]
    n, classes = int(rng.integers(5, 10 if len(widths) < 3 else 8)), 2 if seed % 3 else 3
    X = rng.integers(0, 2 if len(widths) > 2 else 3, (n, 2)).astype(float)
    X[:2] = [[0, 1], [1, 0]]
    y = rng.integers(0, classes, n)
    y[:classes] = range(classes)
    data = Dataset.from_user(X, y, rng.integers(1, 4, n) if rng.random() < 0.4 else None)
    group, other = rng.integers(0, 2, n), rng.integers(0, 2, n)
    group[:2] = other[1:3] = [0, 1]
    problem = tf.Problem(data, None, shape=tf.Diagram(*widths))
    share = str(rng.choice(["0", "0.1", "0.3", "0.5"]))
    if rng.random() < 0.5:
        problem += tf.StatisticalParity(group, difference=share, positive=0)
    else:
        problem += tf.StatisticalParity(group, ratio="0.8", positive=1)
    if rng.random() < 0.4:
        problem += tf.EqualOpportunity(other, difference=share, positive=0)
    if rng.random() < 0.3:
        problem += tf.MaxNodes(int(rng.integers(1, 4)))
    if rng.random() < 0.4:
        problem.minimize(
            tf.Cost(1 + rng.integers(0, 4, (classes, classes)) * (1 - np.eye(classes, dtype=int)))
        )
    return problem.question, rng


def dual_of(question: Question) -> Lagrangian:
    relaxation = relax(question, DiagramSearch())
    assert relaxation is not None
    return Lagrangian(question, DiagramSearch(), relaxation, rows_of(question, relaxation.dropped))


@pytest.mark.parametrize("chunk", range(4))
def test_the_optimum_under_rows(chunk: int, draw: Draw) -> None:
    """From any multipliers, with a model to begin with and without one; infeasible questions too."""
    searched = 0
    for seed in draw(range(100 * chunk, 100 * chunk + 100), 10):
        question, rng = random_question(seed)
        expected = brute_force(question.data, question.shape, question.objective, question.requirements)
        dual = dual_of(question)
        if dual.ignored:  # a rule that has no rows here, since a group has nobody of the class
            continue
        searched += 1
        point = [Fraction(int(rng.integers(0, 5)), int(rng.integers(1, 4))) for _ in dual.rows]
        budget = Budget(250.0)
        ledger = Ledger(question, budget)
        if seed % 2:
            ledger.submit(DecisionGraph.leaf(0, question.data), "constant")
        search_within_gap(question, dual, point, ledger, budget)
        assert ledger.closed, seed
        if expected is None:
            assert ledger.impossible, seed
        else:
            assert ledger.upper is not None
            assert question.to_units(ledger.upper) == expected[0], seed
    assert searched >= 5


def test_a_bound_below_which_nothing_is_wanted() -> None:
    question, _ = random_question(1)
    dual = dual_of(question)
    cheapest_below = dual.priced_diagrams([Fraction(0)] * len(dual.rows))
    assert cheapest_below is not None
    cost, graph, complete = cheapest_below(2**40)
    assert complete
    assert cost is not None
    assert graph is not None
    assert cheapest_below(cost) == (None, None, True)
    again, _, complete = cheapest_below(cost + 1)
    assert (again, complete) == (cost, True)
    at_once = Budget().until(lambda: True)
    assert not cheapest_below(cost + 1, budget=at_once)[2] or complete


def unfair(n: int = 200) -> tf.Problem:
    """Data on which the rule costs errors, and the best fair diagram shares tests."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    group = (rng.random(n) < 0.2 + 0.5 * X[:, 0]).astype(int)
    y = ((X[:, :5].sum(axis=1) > 2) ^ (rng.random(n) < 0.1)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2), sensitive_features=group)
    problem += tf.StatisticalParity(difference="0.02")
    return problem


def test_a_solve_ends_with_it() -> None:
    """No solver is started, and CP-SAT on the formulation finds nothing better."""
    problem = unfair()
    result = problem.solve()
    assert result.status is tf.Status.OPTIMAL
    assert BY in {claim.by for claim in result.claims}
    without = problem.solve("cp-sat", formulation="odd", warm_start=None, time_limit=1)
    assert without.errors is not None
    assert without.bound is not None
    assert without.bound <= result.errors <= without.errors


def test_what_it_leaves_to_the_solver() -> None:
    """Minimum supports, prices of tests, and requirements without rows."""
    for extra in (tf.MinSupport(3), tf.Stability(3), tf.FeatureBudget(1)):
        problem = unfair(60)
        problem += extra
        question, budget = problem.question, Budget(5.0)
        ledger = Ledger(question, budget)
        dual = dual_of(question)
        search_within_gap(question, dual, [Fraction(0)] * len(dual.rows), ledger, budget)
        assert ledger.lower is None
        assert ledger.upper is None
