"""The check's search by intervals: what it shows is true, and it reaches tables that the reference search refuses."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawing import Draw

import treeform as tf
from treeform.certify import Verdict
from treeform.certify.bounds import claim_rows
from treeform.certify.intervals import BY_INTERVALS, no_tree_below
from treeform.certify.provers import Means
from treeform.certify.reference import least_value
from treeform.certify.schema import ClaimMetadata, ClaimPart
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped


def drawn(seed: int) -> tf.Problem:
    """Trees and diagrams of depth one to four, weights, costs and prices of tests."""
    rng = np.random.default_rng(seed)
    n, classes, depth = int(rng.integers(8, 40)), int(rng.integers(2, 4)), int(rng.integers(1, 5))
    X, y = rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, classes, n)
    y[:classes] = range(classes)
    shape = tf.Tree(depth) if seed % 3 else tf.Diagram(*[1, 2, 2, 2][:depth])
    problem = tf.Problem(X, y, shape=shape, sample_weight=rng.integers(1, 5, n) / 2 if seed % 2 else None)
    costs = rng.integers(0, 5, (classes, classes)) * (1 - np.eye(classes, dtype=int))
    objectives = [tf.Error(), tf.Error() + tf.Nodes() / 3, tf.Cost(costs) + 2 * tf.Nodes()]
    return problem.minimize(objectives[seed % 3])


def test_nothing_above_the_optimum_is_shown(draw: Draw) -> None:
    """Up to depth three, every optimum of a tree is."""
    shown = 0
    for seed in draw(range(400), 60):
        problem = drawn(seed)
        question, best = problem.question, Fraction(problem.solve().objective or 0)
        assert not no_tree_below(question, best + Fraction(1, question.scale), Budget()), seed
        found = no_tree_below(question, best, Budget())
        assert found or not question.shape.own_leaves or question.shape.depth > 3, seed
        shown += bool(found) and question.shape.depth > 1
    assert shown > 0


def large(depth: int = 2) -> tuple[tf.Problem, Any, Any]:
    """Two columns that tell, with labels of some rows exchanged."""
    rng = np.random.default_rng(0)
    X = rng.random((1_500, 4))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.4)).astype(int) ^ (rng.random(1_500) < 0.02)
    return tf.Problem(X, y, shape=tf.Tree(depth)), X, y


def test_an_optimum_beyond_the_reference_search_is_verified_independently() -> None:
    problem, X, y = large()
    with pytest.raises(OutOfReach):
        least_value(problem.question)
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    report = tf.check(certificate, X, y, independent=True, time_limit=None)
    assert report.ok and BY_INTERVALS in {row.proved_by for row in report.rows}


@pytest.mark.parametrize("requirement", [tf.MinSupport(0.1), tf.MaxNodes(2)])
def test_what_it_leaves_out_makes_no_false_claim(requirement: tf.Requirement) -> None:
    """The optimum under a requirement may be above what it shows, and never below."""
    problem, *_ = large()
    free = Fraction(problem.solve().objective or 0)
    bound = (problem + requirement).question
    assert no_tree_below(bound, free, Budget())
    assert not no_tree_below(bound, free + 1, Budget())


def test_a_forged_bound_does_not_pass(draw: Draw) -> None:
    """One step above the optimum, and no model is named that refutes it."""
    for seed in draw(range(400, 600), 20):
        problem = drawn(seed)
        question, best = problem.question, Fraction(problem.solve().objective or 0)
        forged = str(best + Fraction(1, question.scale))
        metadata = ClaimMetadata(by="contree", seconds=0.0, relaxation=[], details={})
        claim = ClaimPart(kind="lower", value=forged, route=None, metadata=metadata)
        (row,) = claim_rows([claim], question, None, Means(independent=True))
        assert row.verdict is not Verdict.VERIFIED, seed


def test_a_search_that_is_stopped_shows_nothing() -> None:
    problem, *_ = large()
    budget = Budget()
    budget.interrupt()
    with pytest.raises(Stopped):
        no_tree_below(problem.question, Fraction(1), budget)


def test_the_reference_search_refuses_a_table_before_it_lists_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed, the tests of 20,000 rows of 20 columns take eight gigabytes."""
    problem, *_ = large()
    problem.question.data.points  # noqa: B018
    monkeypatch.setattr("treeform.certify.reference.np.unique", None)
    with pytest.raises(OutOfReach):
        least_value(problem.question)


def test_a_bound_of_zero_says_that_it_says_nothing() -> None:
    problem, X, y = large(4)
    found = problem.solve(time_limit=0.01).certificate()
    report = tf.check(found, X, y, independent=True, time_limit=1)
    rows = [row for row in report.rows if row.what.startswith("no model is below 0,")]
    assert rows and all("says nothing" in row.detail for row in rows)
