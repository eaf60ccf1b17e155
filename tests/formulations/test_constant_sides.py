"""Tests of monotone columns with a side of one class, as the graph states them: against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeform as tf
from benchmarks.graph.requirements import FewTests
from tests.support.graph_cases import of_both_classes, optimum_agrees, under_rules
from treeform.engines.graph_meetings import ConstantSides, constant_sides
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.testing.cases import Case

TREES = (tf.Tree(2), tf.Tree(1), tf.Tree(3))


def rules_of(case: Case) -> list[tf.Requirement]:
    ordered = [c.source for c in case.data.columns if c.kind != "category"]
    number = case.data.n_samples
    way = ("increasing", "decreasing")
    rules: list[tf.Requirement] = [
        tf.Monotone(column, way[(number + i) % 2], positive=1)
        for i, column in enumerate(dict.fromkeys(ordered[: 1 + number % 3]))
    ]
    return [*rules, tf.MinSupport(2)] if rules and number % 4 == 0 else rules


def sides_of(question: Question) -> ConstantSides:
    part = priced_part(question)
    assert part is not None
    return constant_sides(question, part.task, part.dropped)


@pytest.mark.parametrize("solver", ["highs", "cp-sat"])
def test_optima_are_those_of_brute_force(solver: str, nightly: bool) -> None:
    stated = 0
    trees = TREES if nightly else TREES[:2]
    for case, question in under_rules(of_both_classes(21, trees), 12 if nightly else 10, rules_of):
        stated += bool(sides_of(question).labels)
        optimum_agrees(case, question, solver)
    assert stated


def table(classes: int = 2) -> tuple[Any, Any, Any]:
    """Rows, classes and groups."""
    rng = np.random.default_rng(5)
    X, group = rng.integers(0, 3, (120, 4)), rng.integers(0, 2, 120)
    return X, ((X[:, 0] > 1) ^ (rng.random(120) < 0.3)).astype(int) + (X[:, 1] == 0) * (classes - 2), group


def problem_of(*requirements: tf.Requirement, classes: int = 2) -> tf.Problem:
    X, y, group = table(classes)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=group).minimize(tf.Error())
    problem += tf.StatisticalParity(difference="0.1", positive=1)
    return problem.add(requirements)


def test_a_test_of_a_monotone_column_is_stated_with_a_leaf_on_either_side() -> None:
    problem = problem_of(tf.Monotone("x0"), tf.Monotone("x2", "decreasing"))
    sides = sides_of(problem.question)
    assert sides.lower == {0: 0, 2: 1}
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert result.status is tf.Status.OPTIMAL
    assert result.objective == problem.solve(tf.TotalsSearch()).objective
    X, y, group = table()
    report = tf.check(result.certificate(), X, y, sensitive_features=group)
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("requirements", "classes"),
    [
        ((tf.Monotone("x0"), tf.Monotone("x0", "decreasing")), 2),
        ((tf.Monotone("x0"), FewTests(2)), 2),
        ((tf.Monotone("x0"), tf.Uses("x1")), 2),
        ((tf.Monotone("x0", positive=1),), 3),
    ],
)
def test_what_one_side_cannot_state_is_left_to_rows(
    requirements: tuple[tf.Requirement, ...], classes: int
) -> None:
    assert not sides_of(problem_of(*requirements, classes=classes).question).labels
