"""The search by prices over diagrams against exhaustive enumeration, whatever the multipliers are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawing import Draw

import treeform as tf
from treeform.certify import diagrams
from treeform.certify.provers import BY_PRICES, by_prices
from treeform.certify.reference import OutOfReach, Stopped
from treeform.language.question import Question
from treeform.testing import brute_force
from treeform.utils.budget import Budget

WIDTHS = [(1, 2), (1, 1, 2), (1, 2, 1), (1, 1), (1, 1, 1), (1,)]


def question_of(seed: int) -> Question:
    """Six to nine rows with groups, one or two requirements, often weights, costs or a bound on the tests."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(6, 9)), 3 if seed % 4 == 0 else 2
    X = rng.integers(0, 2, (n, 2)).astype(float)
    y = np.arange(n) % classes
    group = rng.permutation(np.arange(n) % 2)
    weight = rng.integers(1, 4, n) if rng.random() < 0.4 else None
    problem = tf.Problem(X, y, shape=tf.Diagram(*WIDTHS[seed % len(WIDTHS)]), sample_weight=weight)
    share = str(rng.choice(["0", "0.1", "0.3", "0.5"]))
    amount = {"difference": share} if rng.random() < 0.5 else {"ratio": "0.8"}
    problem += tf.StatisticalParity(group, positive=int(rng.integers(0, classes)), **amount)
    if rng.random() < 0.4:
        problem += tf.EqualOpportunity(group, difference=share, positive=0)
    if rng.random() < 0.4:
        problem += tf.MaxNodes(int(rng.integers(0, 4)))
    if rng.random() < 0.4:
        problem.minimize(tf.Cost(rng.integers(1, 5, (classes, classes)) * (1 - np.eye(classes, dtype=int))))
    return problem.question


def optimum(question: Question) -> Fraction | None:
    best = brute_force(question.data, question.shape, question.objective, question.requirements)
    return None if best is None else Fraction(best[0])


def test_no_multipliers_lead_astray(draw: Draw) -> None:
    for seed in draw(range(600), 40):
        question, rng = question_of(seed), np.random.default_rng(seed)
        numbers = [int(m) for m in rng.integers(-2, 8, int(rng.integers(0, 5)))]
        hint = {"multipliers": numbers, "unit": int(rng.integers(1, 5))}
        truth = optimum(question)
        at_truth = by_prices(question, truth, hint, Budget())
        assert at_truth is not None and at_truth.by == BY_PRICES and at_truth.shows(truth), seed
        if truth is None:
            continue
        for claimed in (truth + 1, None):
            bound = by_prices(question, claimed, hint, Budget())
            assert bound is not None and not bound.shows(claimed), seed
            assert bound.lower is not None and bound.lower <= truth, seed


def test_the_bound_of_the_search_with_totals_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 5))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(60) < 0.2)).astype(int)
    group = (X[:, 0] ^ (rng.random(60) < 0.3)).astype(int)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2, 2))
    problem += tf.StatisticalParity(group, difference="0.04", positive=1)
    result = problem.solve()
    lower = [claim.by for claim in result.claims if claim.kind == "lower"]
    assert result.status is tf.Status.OPTIMAL and lower[-1] == "diagram-search with totals"
    report = tf.check(result.certificate(), X, y, sensitive_features=group)
    assert report.ok and "diagram-search with totals: proved again by the search by prices" in str(report)
    monkeypatch.setattr(diagrams, "MOST_STEPS", 3)
    with pytest.raises(OutOfReach):
        by_prices(problem.question, Fraction(result.objective), {}, Budget())
    with pytest.raises(Stopped):
        by_prices(problem.question, Fraction(result.objective), {}, Budget(over=lambda: True))
