"""Limits: several bounds are tightened to one, whoever reads them."""

from __future__ import annotations

import numpy as np
import pytest

import treeform as tf
from treeform.engines import ConTree, DiagramSearch
from treeform.engines.relaxation import relax
from treeform.formulations.odd import ODD
from treeform.language.objective import Objective
from treeform.testing import brute_force


def test_tightening_takes_the_larger_of_least_values_and_the_smaller_of_largest_ones() -> None:
    some = tf.Limits(min_support=2, max_nodes=5)
    other = tf.Limits(min_support=1, min_flow=4, max_nodes=3, max_errors=7)
    both = tf.Limits(min_support=2, min_flow=4, max_nodes=3, max_errors=7)
    assert some.tighten(other) == other.tighten(some) == both
    assert tf.Limits.all_of([some, None, other]) == both
    assert some.names == {"min_support", "max_nodes"}
    assert tf.Limits().names == frozenset()
    assert tf.Limits(max_errors=0).names == {"max_errors"}


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kind", [tf.Stability, tf.MinSupport, tf.MaxNodes, tf.MaxErrors])
def test_of_two_requirements_of_a_kind_every_reader_keeps_the_tighter(kind: type, order: int) -> None:
    X, y = np.arange(8.0).reshape(-1, 1), [0, 0, 1, 1, 0, 1, 1, 0]
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += [kind(2), kind(5)][::order]
    tighter = kind(2 if kind in (tf.MaxNodes, tf.MaxErrors) else 5).limits(problem.data)
    question = problem.question
    assert question.limits == tighter
    compiled = ODD().compile(problem.data, problem.shape, problem.objective, problem.requirements)
    assert compiled.ports.limits == tighter
    if kind in (tf.Stability, tf.MinSupport):
        relaxation = relax(question, DiagramSearch())
        assert relaxation is not None and relaxation.exact
        assert (relaxation.task.min_support, relaxation.task.min_flow) == (
            tighter.min_support,
            tighter.min_flow,
        )
    expected = brute_force(problem.data, problem.shape, Objective.of(tf.Error()), problem.requirements)
    for solver in (None, "diagram-search", "highs", "cp-sat"):
        result = problem.solve(solver)
        assert (result.objective if expected else str(result.status)) == (
            expected[0] if expected else "infeasible"
        )


def test_a_bound_that_the_shape_keeps_anyway_is_none() -> None:
    problem = tf.Problem(np.arange(8.0).reshape(-1, 1), [0, 1] * 4, shape=tf.Tree(2)).add(tf.MaxNodes(10**30))
    relaxation = relax(problem.question, ConTree())
    assert relaxation is not None and relaxation.exact
    assert relaxation.task.max_nodes is None
    for solver in (None, "dl85", "diagram-search", "highs", "cp-sat"):
        assert problem.solve(solver).objective == 2
