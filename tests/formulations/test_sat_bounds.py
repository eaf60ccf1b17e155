"""Bounds before and beside the search of the SAT formulations, and trees with some errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import treeform as tf
from treeform.formulations.sat import SatDepth


def test_depths_are_ruled_out_before_the_first_call():
    X = np.arange(9)[:, None]
    nine = tf.Dataset.from_user(X, list("abcdefghi"))
    least = [SatDepth().least_depth(nine, [tf.MaxErrors(allowed)], 9) for allowed in (0, 1, 5, 8)]
    assert least == [4, 3, 2, 1]
    assert SatDepth().least_depth(nine, [], 9) == 1


def test_the_least_depth_without_errors():
    rows = list(product((0, 1), repeat=3))
    problem = tf.Problem(rows, [a ^ b ^ c for a, b, c in rows], shape=tf.Tree(3)).minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", formulation=SatDepth(), warm_start=None)
    assert (str(result.status), result.objective) == ("optimal", 3)
    small = tf.Problem(rows, [a ^ b ^ c for a, b, c in rows], shape=tf.Tree(2)).minimize(tf.Depth())
    small += tf.MaxErrors(0)
    assert str(small.solve("sat", formulation=SatDepth(), warm_start=None).status) == "infeasible"


def test_the_least_depth_with_some_errors():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (40, 5))
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3])
    y[:3] ^= 1
    fewest = [tf.Problem(X, y, shape=tf.Tree(k)).solve("contree").errors for k in (1, 2, 3)]
    for allowed in (fewest[2], fewest[1], fewest[1] - 1):
        problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Depth()).add(tf.MaxErrors(int(allowed)))
        result = problem.solve("sat", formulation="sat-depth", warm_start=None)
        assert result.objective == next(k for k, e in enumerate(fewest, 1) if e <= allowed)
        assert result.errors <= allowed


@pytest.mark.parametrize("solver", ["glucose42", "rc2"])
def test_fewest_errors_and_bounds_from_cores(solver):
    rng = np.random.default_rng(6)
    X = rng.integers(0, 2, (30, 4))
    y = rng.integers(0, 2, 30)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=rng.integers(1, 4, 30))
    result = problem.solve(solver, formulation="sat-depth", warm_start=None)
    assert str(result.status) == "optimal"
    assert result.objective == problem.solve("contree").objective
    if solver == "glucose42":  # bounds above the trivial one came before the last refutation
        open_bounds = {lower for _, upper, lower in result.trace if lower != upper}
        assert len(open_bounds) > 2
