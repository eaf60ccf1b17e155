"""Bounds that leave no test, budgets of nothing, and prices that are odd: an answer, checked by listing all models."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import SpecError
from treeform.testing.brute import brute_force

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.integers(0, 4, (9, 2)).astype(float), columns=["a", "b"])
Y = RNG.integers(0, 2, 9)
COST = tf.Cost([[0, 1], [1, 0]])


def stated(*requirements: tf.Requirement, objective: Any = "error", weights: Any = None) -> tf.Problem:
    problem = tf.Problem(TABLE, Y, shape=tf.Tree(2), sample_weight=weights)
    return problem.minimize(objective).add(requirements)


def agree(problem: tf.Problem, **how: Any) -> tf.Result:
    result = problem.solve(**how)
    expected = brute_force(problem.data, problem.shape, problem.objective, problem.requirements)
    assert result.status is (tf.Status.INFEASIBLE if expected is None else tf.Status.OPTIMAL)
    assert result.objective == (None if expected is None else expected[0])
    return result


PER_PATH = tf.FeatureCost({"a": 1, "b": 1}, at_most=0, per_path=True)


@pytest.mark.parametrize(
    "requirements",
    [
        (tf.MaxThresholds("a", 0), tf.OncePerPath()),
        (tf.MaxThresholds("a", 0), tf.MaxThresholds("b", 0), tf.OncePerPath("a")),
        (tf.MaxTestsPerPath("a", 0), PER_PATH),
        (tf.MaxTestsPerPath("a", 0), tf.MaxTestsPerPath("b", 0)),
        (tf.OncePerPath(), PER_PATH),
    ],
    ids=lambda rs: "+".join(map(str, rs)),
)
def test_rules_that_leave_no_test(requirements: tuple[tf.Requirement, ...]) -> None:
    result = agree(stated(*requirements))
    assert tf.check(result.certificate(), TABLE, Y).ok


@pytest.mark.parametrize("solver", [None, "contree", "dl85", "highs"])
@pytest.mark.parametrize("requirement", [tf.MinSupport(5), tf.Stability(5), tf.MinSupport(10**30)], ids=str)
def test_more_support_than_there_is_leaves_the_models_without_tests(requirement: Any, solver: Any) -> None:
    """As their docstrings say: a model without a test satisfies them."""
    problem = stated(requirement, weights=[Fraction(1, 10)] * 9)
    result = agree(problem, solver=solver, warm_start=None)
    assert result.graph.n_nodes == 0
    assert any("leaves no test: all samples together have weight 9/10" in note for note in result.notes)
    weights = [Fraction(1, 10)] * 9
    assert tf.check(result.certificate(), TABLE, Y, weights).ok or solver == "highs"


def test_more_support_than_there_is_in_regression() -> None:
    problem = tf.Problem(TABLE, Y.astype(float) / 2, shape=tf.Tree(2))
    result = problem.minimize(tf.AbsoluteError(grid="auto")).add(tf.MinSupport(100)).solve()
    assert (result.status, result.graph.n_nodes) == (tf.Status.OPTIMAL, 0)


@pytest.mark.parametrize("solver", [None, "highs", "cp-sat"])
@pytest.mark.parametrize("budget", ["2.5", "0", "1/3", "100"])
def test_what_costs_more_than_the_budget_is_paid_exactly(budget: str, solver: Any) -> None:
    """The part beyond 2.5 of a cost of 3 is 0.5, not 1."""
    term = tf.MaxCost(COST, at_most=Fraction(budget)).soft(1)
    problem = stated(objective=Fraction(1, 100) * tf.Nodes() + term)
    result = agree(problem, solver=solver)
    beyond = max(Fraction(0), result.errors - Fraction(budget))
    assert result.objective == beyond + Fraction(result.graph.n_nodes, 100)


REFUSED = {("min_support:3", "1e-18")}
"""What solvers would have to state, in numbers that float64 does not hold."""


@pytest.mark.parametrize("price", ["1e-18", "0.3", "1/7", "1e15", "0"])
@pytest.mark.parametrize(
    "requirement", [tf.MaxNodes(1), tf.MaxDepth(1), tf.MaxErrors(1), tf.MinSupport(3)], ids=str
)
def test_odd_prices(requirement: Any, price: str) -> None:
    """What leaves exact arithmetic is refused before a search; all else is answered."""
    objective = tf.Error() + requirement.soft(Fraction(price))
    if (str(requirement), price) in REFUSED:
        with pytest.raises(SpecError, match="fewer digits"):
            stated(objective=objective).solve()
    else:
        agree(stated(objective=objective))


def test_a_conflict_counts_errors_by_their_name() -> None:
    text = str(stated(tf.MaxErrors(1), tf.MaxNodes(0)).conflict())
    assert "max_errors:1: errors 3 is the best possible" in text
    assert "weight" not in text


def test_a_label_cannot_end_the_script_of_a_page() -> None:
    label = "</script><!--"
    problem = tf.Problem([[0.0], [1.0]], [label, "b"], shape=tf.Tree(1))
    text = problem.solve().graph.to_javascript()
    assert "</script" not in text
    assert "<!--" not in text
    assert '"\\u003c/script>\\u003c!--"' in text
