"""A budget of cost: against enumeration, beside an objective, as text, and what is no budget."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import SpecError
from treeform.language.requirement_text import parse
from treeform.testing import brute_force


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 3, (24, 2)), columns=["a", "b"])
    return X, rng.choice(["n", "y"], 24), np.round(rng.random(24) * 2 + 0.1, 1)


@pytest.mark.parametrize(
    ("cost", "at_most"),
    [
        ([[0, 3], [1, 0]], 12),
        ([[0, "0.3"], [1, 0]], "3.5"),
        ("balanced_error + 1/10*error", "1.4"),
        ("error", 5),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_model_within_a_budget(rows, cost, at_most, weighted):
    X, y, weights = rows
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=weights if weighted else None)
    problem.minimize(tf.Nodes() + tf.Error() / 100)
    budget = tf.MaxCost(cost, at_most)
    problem += budget
    q = problem.question
    best = brute_force(problem.data, q.shape, q.objective, q.requirements)
    result = problem.solve()
    if best is None:
        assert result.status is tf.Status.INFEASIBLE
        return
    assert (str(result.status), result.objective, result.solver) == ("optimal", best[0], "totals-search")
    assert q.requirements[0].measured(result.graph, problem.data) <= Fraction(at_most)
    told = {} if not weighted else {"sample_weight": weights}
    assert str(tf.check(result.certificate(), X, y, **told).verdict) == "verified"


def test_paid_and_moved(rows):
    X, y, _ = rows
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    frontier = problem.frontier(over=tf.MaxCost([[0, 3], [1, 0]], at_most=0))
    assert frontier.proved and len(frontier.points) > 1
    problem += tf.MaxCost([[0, 3], [1, 0]], at_most=8).soft("1/2")
    q = problem.question
    assert problem.solve().objective == brute_force(problem.data, q.shape, q.objective, q.requirements)[0]


def test_text():
    for requirement in (tf.MaxCost([[0, 5], [1, 0]], "2.5"), tf.MaxCost("balanced_error", 1)):
        assert parse(str(requirement)) == requirement
        assert tf.Requirement.from_json(requirement.to_json()) == requirement
    assert parse('max_cost:"cost[0 5; 1 0]",at_most=200') == tf.MaxCost([[0, 5], [1, 0]], 200)


@pytest.mark.parametrize(
    ("cost", "at_most", "message"),
    [
        ("group_error[groups=a]", 1, "GroupErrorAtMost"),
        ("nodes", 1, "cannot bound nodes"),
        ("error", -1, "budget of -1"),
        ([[0, -1], [1, 0]], 1, "negative"),
        ("error", "much", "much"),
    ],
)
def test_what_is_no_budget(cost, at_most, message):
    with pytest.raises(SpecError, match=message):
        tf.MaxCost(cost, at_most)


def test_a_matrix_of_another_size(rows):
    with pytest.raises(SpecError, match="2 classes"):
        tf.Problem(*rows[:2], shape=tf.Tree(1)).add(tf.MaxCost(np.ones((3, 3)), 1))


def test_classes_without_a_row_do_not_count_in_the_mean() -> None:
    """On some of the rows a class may be absent; scikit-learn's score is a mean over those that are there."""
    X, y = [[0, 0], [0, 1], [2, 1], [3, 1], [3, 0]], ["yes", "yes", "no", "no", "no"]
    frame = pd.DataFrame(X, columns=["a", "b"])
    for column, share in (("a", Fraction(1)), ("b", Fraction(1, 3))):
        rule = tf.MaxCost("balanced_error", at_most=0).on("a >= 2")
        problem = tf.Problem(frame, y, shape=tf.Tree(1)) + rule
        inside = frame.a.to_numpy() >= 2
        low, high = (1, 0) if column == "b" else (0, 1)  # codes of "no" and "yes"
        graph = tf.DecisionGraph.from_nested((column, 0.5, low, high), problem.data)
        judged = problem.judge(graph)
        predicted = np.asarray(graph.predict(frame))[inside]
        assert judged.violations == {str(problem.requirements[0]): share}
        assert float(share) == pytest.approx(float(np.mean(predicted != np.asarray(y)[inside])))
        assert str(tf.check(judged.certificate(), frame, y).verdict) == "violated"
