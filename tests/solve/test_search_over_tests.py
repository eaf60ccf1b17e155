"""Native searches over all tests, on tables of more tests than they are chosen for: trees of two free layers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"a": rng.random(260), "b": rng.random(260), "c": rng.random(260), "d": rng.integers(0, 2, 260)}
    )
    y = np.where((frame.a > 0.5) ^ (frame.b > 0.6) ^ (rng.random(260) < 0.1), "yes", "no")
    return frame, y


def test_columns_that_have_to_be_used(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += tf.Uses(["c", "d"])
    result = problem.solve()
    assert problem.data.n_tests > 500 and "totals-search" in result.solver
    assert str(result.status) == "optimal"
    assert result.objective == problem.solve(tf.TotalsSearch()).objective
    assert {"c", "d"} <= {result.graph.columns[feature].source for feature in result.graph.features_used()}
    checked = tf.check(result.certificate(), frame, y)
    assert str(checked.verdict) == "verified"


def test_below_a_given_upper_part_each_leaf_is_a_problem_of_its_own(table):
    frame, y = table
    upper = tf.Problem(frame, y, shape=tf.Tree(1)).solve().graph
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += tf.Fix(upper)
    result = problem.solve()
    assert str(result.status) == "optimal" and "path-search" in result.solver
    parts = [np.flatnonzero(upper.apply(frame) == leaf) for leaf in np.unique(upper.apply(frame))]
    alone = [tf.Problem(frame.iloc[rows], y[rows], shape=tf.Tree(1)).solve().objective for rows in parts]
    assert result.objective == sum(alone)
    assert str(tf.check(result.certificate(), frame, y).verdict) == "verified"


def test_it_leaves_time_for_the_solver(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(3))
    problem += tf.OncePerPath()
    result = problem.solve(time_limit=0.5)
    assert result.graph is not None and not any(result.violations.values())
