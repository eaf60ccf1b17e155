"""Bounds before and beside the search of the SAT formulations, and trees with some errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import treeform as tf
from treeform.formulations.sat import SatDepth
from treeform.formulations.sat.bounds import greedy_tree, least_depth


def test_depths_are_ruled_out_before_the_first_call():
    X = np.arange(9)[:, None]
    nine = tf.Dataset.from_user(X, list("abcdefghi"))
    assert [least_depth(nine, allowed, 9, 0) for allowed in (0, 1, 5, 8)] == [4, 3, 2, 1]
    xor = tf.Dataset.from_user(
        list(product((0, 1), repeat=3)), [a ^ b ^ c for a, b, c in product((0, 1), repeat=3)]
    )
    assert (least_depth(xor, 0, 9, 0), least_depth(xor, 0, 9, 2)) == (1, 3)
    assert least_depth(xor, 4, 9, 2) == 1


@pytest.mark.parametrize("bounds", ["none", "classes", "native"])
def test_bounds_change_no_answer(bounds):
    rows = list(product((0, 1), repeat=3))
    problem = tf.Problem(rows, [a ^ b ^ c for a, b, c in rows], shape=tf.Tree(3)).minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", formulation=SatDepth(bounds=bounds), warm_start=None)
    assert (str(result.status), result.objective) == ("optimal", 3)
    small = tf.Problem(rows, [a ^ b ^ c for a, b, c in rows], shape=tf.Tree(2)).minimize(tf.Depth())
    small += tf.MaxErrors(0)
    assert (
        str(small.solve("sat", formulation=SatDepth(bounds=bounds), warm_start=None).status) == "infeasible"
    )


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


def test_a_greedy_guess_beside_values_beyond_float32():
    X = np.array([[1e300, 0.0], [-1e300, 1.0], [1.0, 2.0], [1.0 + 1e-12, 3.0], [1.7e308, 1.0], [5e-324, 2.0]])
    y = [0, 1, 0, 1, 0, 1]
    for minimize in ("depth", "error"):
        problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(minimize)
        problem += tf.MaxErrors(0)
        formulation = SatDepth(phases="greedy")
        result = problem.solve("glucose42", formulation=formulation, warm_start=None)
        assert result.status is tf.Status.OPTIMAL
        assert result.errors == 0
    data = tf.Dataset.from_user(X, y)
    guess = greedy_tree(data, 6)
    assert guess.predict_codes(data.X).tolist() == y
