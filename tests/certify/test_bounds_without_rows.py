"""Bounds of deep trees without the totals that are required of them: proved again, and refused where forged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from drawing import Draw
from edited_certificates import edit

import treeform as tf
from treeform.certify import Verdict
from treeform.certify.bounds import claim_rows
from treeform.certify.provers import Means, by_engines, name_of, provers
from treeform.certify.schema import ClaimMetadata, ClaimPart
from treeform.utils.budget import Budget

DEPTH = 5
GRID = np.array([(a, b) for a in range(8) for b in range(8)], dtype=float)


def labels(seed: int, points: Any) -> tuple[Any, Any]:
    """Classes and groups of chance."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, len(points)), rng.integers(0, 2, len(points))


def stated(X: Any, y: Any, groups: Any, depth: int = DEPTH) -> tf.Problem:
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    return problem + tf.StatisticalParity(groups=groups, difference="0.05", positive=1)


def claimed(problem: tf.Problem, value: int) -> ClaimPart:
    """That ConTree has this bound without the requirement."""
    left_out = list(problem.question.labels)
    metadata = ClaimMetadata(by="contree", relaxation=left_out, details={"engine": "contree"})
    return ClaimPart(kind="lower", value=str(value), route=None, metadata=metadata)


@pytest.mark.parametrize("independent", [False, True])
def test_the_bound_without_requirements_is_proved_again(draw: Draw, independent: bool) -> None:
    """First by engines without them; else by the reference search without them: all trees are too many to list."""
    depth = 3 if independent else DEPTH
    for seed in draw(range(40), 3):
        y, groups = labels(seed, GRID)
        problem, without = stated(GRID, y, groups, depth), tf.Problem(GRID, y, shape=tf.Tree(depth)).solve()
        assert str(without.status) == "optimal" and without.objective
        graph = tf.Problem(GRID, y, shape=tf.Tree(1)).solve().graph
        means = Means(time_limit=60, independent=independent)
        (row,) = claim_rows([claimed(problem, int(without.objective))], problem.question, graph, means)
        assert row.verdict is Verdict.VERIFIED, (seed, str(row))
        if independent:
            assert row.proved_by.startswith("the reference search without"), seed
            continue
        first = next(by_engines(problem.question, Fraction(without.objective), "contree", Budget(), graph))
        assert first.by in {"contree", "dl85"} and first.shows(Fraction(without.objective)), seed


@pytest.mark.parametrize("independent", [False, True])
def test_a_forged_bound_is_not_verified(draw: Draw, independent: bool) -> None:
    """It is above what the best tree costs, and there is no model in hand."""
    points = GRID[(GRID < 5).all(axis=1)]
    for seed in draw(range(40), 2):
        y, groups = labels(seed, points)
        problem = stated(points, y, groups)
        best = problem.solve()
        assert str(best.status) == "optimal" and best.objective is not None
        claim, means = claimed(problem, int(best.objective) + 1), Means(time_limit=1, independent=independent)
        (row,) = claim_rows([claim], problem.question, None, means)
        assert row.verdict is not Verdict.VERIFIED, (seed, str(row))


def test_a_certificate_with_such_a_bound_and_the_right_digest_is_refused() -> None:
    points = GRID[(GRID < 5).all(axis=1)]
    y, groups = labels(0, points)
    problem = stated(points, y, groups)
    found = problem.solve()
    certificate: Any = found.certificate()
    number = next(i for i, one in enumerate(certificate["claims"]) if one["kind"] == "lower")
    forged = claimed(problem, int(found.objective or 0) + 1).model_dump()
    report = tf.check(edit(certificate, ("claims", number), forged), points, y, sensitive_features=groups)
    assert report.verdict is Verdict.FALSE


def test_the_engine_that_leaves_requirements_out_shows_its_own_bound_first() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, (900, 2)).astype(float)
    problem = stated(X, *labels(0, X))
    own, other = (name_of(provers(problem.question, maker)[0]) for maker in ("contree", "totals-search"))
    assert own == "contree" != other
