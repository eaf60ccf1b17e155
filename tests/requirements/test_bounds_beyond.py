"""Bounds that nothing reaches: they bound nothing, on every way, also where no float is that number."""

from __future__ import annotations

import pandas as pd
import pytest

import treeform as tf
from treeform.errors import Infeasible, SpecError

FAR = 10**30
TABLE = pd.DataFrame({"a": [0, 1, 2, 3, 0, 1, 2, 3], "b": [0, 0, 1, 1, 1, 0, 1, 0]})
LABELS = [0, 1, 1, 0, 0, 1, 0, 1]
WIDE = [
    tf.MaxNodes(FAR),
    tf.MaxLeaves(FAR),
    tf.MaxErrors(FAR),
    tf.MaxCost([[0, 1], [1, 0]], at_most=FAR),
    tf.FeatureCost({"a": 1, "b": 2}, at_most=FAR),
    tf.FeatureCost({"a": 1, "b": 2}, at_most=FAR, per_path=True),
    tf.MaxThresholds("a", FAR),
]


@pytest.mark.parametrize("requirement", WIDE, ids=lambda one: one.name)
def test_a_bound_beyond_everything_bounds_nothing(requirement: tf.Requirement) -> None:
    problem = tf.Problem(TABLE, LABELS, shape=tf.Tree(2)).minimize("error")
    free = problem.solve().objective
    problem += requirement
    assert problem.solve().objective == free
    assert problem.solve("cp-sat", warm_start=None).objective == free
    if not isinstance(requirement, tf.MaxThresholds):
        paid = tf.Problem(TABLE, LABELS, shape=tf.Tree(2)).minimize(tf.Error() + requirement.soft(1))
        assert paid.solve().objective == free


def test_prices_of_too_many_digits_are_refused_where_they_have_to_be_whole() -> None:
    fine = {"a": "1e-18", "b": 20}
    problem = tf.Problem(TABLE, LABELS, shape=tf.Tree(2)).minimize("error")
    problem += tf.FeatureCost(fine, at_most=10)
    assert problem.solve().graph.features_used() == {0}
    either = tf.Problem(TABLE, LABELS, shape=tf.Tree(2)).minimize("error")
    either += tf.FeatureCost({"a": "1e-18", "b": 10}, at_most=10)  # either column, not both
    # The graph holds trees over sets of columns that can be paid, and states no row of prices.
    for asked in (problem, either):
        assert asked.solve("cp-sat", warm_start=None).objective == asked.solve().objective
        with pytest.raises(SpecError, match="too many digits"):
            asked.solve("cp-sat", formulation="odd", warm_start=None)
    with pytest.raises(SpecError, match="too many digits"):
        problem.add(tf.FeatureCost(fine, at_most=10, per_path=True))


def test_more_decisions_than_samples_are_infeasible() -> None:
    problem = tf.Problem(TABLE, LABELS, shape=tf.Tree(1), abstain="ask").minimize("abstain_cost[price=0.2]")
    with pytest.raises(Infeasible, match="min_coverage"):
        problem.add(tf.MinCoverage(9))
    with pytest.raises(SpecError, match="too large"):
        problem.minimize(tf.AbstainCost("0.2") + tf.MinCoverage(FAR).soft(1)).solve()


def test_what_is_paid_is_refused_where_its_rows_leave_exact_arithmetic() -> None:
    weights = [2.5, 2.5, 1e-06, 2.5, 2.5, 1e-06, 2.5, 1]
    problem = tf.Problem(
        TABLE.assign(g=[*"ppqqpqpq"]), LABELS, shape=tf.Tree(2), exclude=["g"], sample_weight=weights
    )
    parity = tf.StatisticalParity("g", ratio="6249998750000/9374998749999")
    with pytest.raises(SpecError, match="cannot be stated exactly"):
        problem.minimize(tf.Error() + parity.soft(1))
