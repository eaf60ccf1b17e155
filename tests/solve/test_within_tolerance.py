"""A solver's bound that stays below the best model by its tolerances: settled by a cutoff, or said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.testing import brute_force

TABLE = pd.DataFrame({"a": list("qprpqp"), "b": list("yzxxxx")})


def heavy(*requirements: tf.Requirement) -> tf.Problem:
    """Two rows of a million beside four of one: optima differ by less than a millionth of their values."""
    problem = tf.Problem(
        TABLE, [0, 1, 1, 1, 0, 0], shape=tf.Diagram(1, 1), sample_weight=[10**6, 1, 1, 10**6, 1, 1]
    )
    for requirement in requirements:
        problem += requirement
    return problem


def test_whole_costs_closer_than_the_tolerances_are_proved() -> None:
    problem = heavy(tf.MaxTestsPerPath(["a", "b"], 0))
    result = problem.solve("cp-sat", formulation="odd", warm_start=None)
    assert (str(result.status), result.objective) == ("optimal", 10**6 + 2)
    assert result.bound == result.objective


def test_what_stays_open_says_that_the_solver_ended() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (8, 2)).astype(float)
    weights = [1.0, 1e-9, 0.3, 1.0, 1e-8, 0.7, 1.0, 1.0]
    problem = tf.Problem(X, rng.integers(0, 2, 8), shape="tree:1", sample_weight=weights)
    result = problem.solve("highs", formulation="odd", warm_start=None)
    assert str(result.status) == "optimal" or (
        str(result.limit) == "solver" and "tolerances" in " ".join(result.notes)
    )
    assert result.bound <= problem.solve("contree").objective


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_a_loss_end_on_columns_on_demand(seed: int) -> None:
    """What a part has to reach is a bound too: the models up to it are stated, not those below it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (8, 2)).astype(float)
    y = rng.integers(0, 2, 8)
    problem = tf.Problem(X, y, shape=tf.Tree(1)).minimize(tf.MatthewsLoss(1))
    result = problem.solve("highs", formulation="hypergraph-flow", warm_start=None)
    assert str(result.status) == "optimal"
    found = brute_force(problem.data, problem.shape, problem.objective)
    assert found is not None and Fraction(result.objective) == found[0]
