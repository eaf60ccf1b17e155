"""Matthews' correlation: its values, models worse than chance, and what the lines of a claim show."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import treeform as tf
from treeform.certify.certificate import sign
from treeform.language.objective import Objective
from treeform.solve.two_counts import Line, least_loss, parts_of_claim
from treeform.testing import brute_force


def test_the_value_is_scikit_learns_coefficient():
    from sklearn.metrics import matthews_corrcoef

    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40), rng.integers(1, 5, 40)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=weights)
    loss = Objective.of(tf.MatthewsLoss()).bind(problem.data)
    for nested in ((0, 0.5, 0, 1), (0, 0.5, 1, 0), (1, 0.5, (2, 0.5, 0, 1), 1), 0):
        graph = tf.DecisionGraph.from_nested(nested, problem.data)
        value = loss.evaluate(graph, problem.data)
        wanted = matthews_corrcoef(y, graph.predict(X), sample_weight=weights)
        assert isinstance(value, Fraction)
        assert tf.MatthewsLoss.correlation(value) == pytest.approx(wanted)


def hostile(seed):
    """A problem in which a row of each class has to be right that stands among rows of the other class."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (12, 3)).astype(float), np.arange(12) % 2
    rng.shuffle(y)
    share = np.array([y[X[:, 0] == value].mean() for value in X[:, 0]])
    misplaced = [np.flatnonzero((y == 0) & (share > 0.5)), np.flatnonzero((y == 1) & (share < 0.5))]
    if not all(len(rows) for rows in misplaced):
        return None
    problem = tf.Problem(X, y, shape=tf.Tree(1 + seed % 2)).minimize(tf.MatthewsLoss())
    problem += [tf.MustClassifyRight([int(rows[0]) for rows in misplaced]), tf.MaxNodes(1 + seed % 3)]
    return problem


def test_models_that_are_worse_than_chance_have_a_best_one():
    worse = 0
    for seed in range(40):
        if (problem := hostile(seed)) is None:
            continue
        question = problem.question
        wanted = brute_force(problem.data, question.shape, question.objective, question.requirements)
        result = problem.solve()
        assert result.objective == wanted[0] == result.bound, seed
        if wanted[0] > 1:
            worse += 1
            certificate = result.certificate()
            assert tf.check(certificate, problem.data.X, problem.data.y).ok
            # A step left out: what is behind it is not shown.
            for claim in certificate["claims"]:
                claim["metadata"]["details"].pop("steps", None)
            assert not tf.check(sign(certificate), problem.data.X, problem.data.y).ok
    assert worse >= 3


@pytest.fixture(scope="module")
def solved():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 4, (60, 3)), rng.integers(0, 2, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.MatthewsLoss())
    return problem, problem.solve()


def test_every_line_of_a_claim_is_needed(solved):
    problem, result = solved
    claim = next(c for c in result.certificate()["claims"] if c["metadata"]["details"].get("lines"))
    lines = claim["metadata"]["details"]["lines"]
    value = result.objective
    assert len(parts_of_claim(problem.question, value, {"lines": lines})) == len(lines) > 1
    for left_out in range(len(lines)):
        fewer = {"lines": lines[:left_out] + lines[left_out + 1 :]}
        assert parts_of_claim(problem.question, value, fewer) is None
    lower = [[a, b, c - 1] for a, b, c in lines]
    for bad in (lower, [*lines, [1, 1]], [[-1, 0, 0], *lines], [["1", 0, 0]], 3):
        assert parts_of_claim(problem.question, value, {"lines": bad}) is None
    assert parts_of_claim(problem.question, value, {}) is None


def test_a_line_that_is_too_high_is_not_proved_again(solved):
    problem, result = solved
    certificate = result.certificate()
    for claim in certificate["claims"]:
        for line in claim["metadata"]["details"].get("lines", []):
            line[2] += 3
    report = tf.check(sign(certificate), problem.data.X, problem.data.y)
    assert str(report.verdict) == "false"


def test_the_corners_of_the_region_bound_the_loss():
    problem = tf.Problem([[0], [1], [2], [3]], [0, 0, 1, 1], shape=tf.Tree(1))
    term = tf.MatthewsLoss().bind(problem.data)
    assert least_loss(term, problem.data, []) == 0
    assert least_loss(term, problem.data, [Line(1, 1, 2)]) == 1
    assert least_loss(term, problem.data, [Line(1, 1, 5)]) is None
    # x + y >= 1: one mistake of two and two
    assert least_loss(term, problem.data, [Line(1, 1, 1)]) == 1 - Fraction(2 * 2, 4 * 3)
