"""The check's own statements of requirements: a false one of the search leads it nowhere."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.restated import LIMITS, ROWS, Restated, restated
from treeform.language.values import ValueRow, ValueRule
from treeform.shape import Limits

TABLE = pd.DataFrame(
    {"a": [0, 1, 2, 3, 0, 1, 2, 3], "b": [0, 0, 1, 1, 1, 0, 1, 0], "g": [*"ppqqpqpq"], "s": [*"uuvvvvuu"]}
)
LABELS = [0, 1, 1, 0, 0, 1, 0, 1]


def test_rounded_rows_of_mean_parity_are_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """What made a false optimum "verified": search and check read the same rows."""
    right = tf.MeanParity.value_rule

    def rounded(self: tf.MeanParity, data: tf.Dataset) -> ValueRule:
        rows = tuple(ValueRow(row.coef, row.side // 1) for row in right(self, data).rows)
        return ValueRule(rows, whole=self.whole is not False)

    table, y = pd.DataFrame({"x": [2, 2, 0, 1, 2], "g": list("AABBB")}), [3, 0, 0, 3, 2]
    problem = tf.Problem(table, y, shape=tf.Tree(1), exclude=["g"]).minimize("squared_error")
    problem += tf.MeanParity("g", "0.1")
    monkeypatch.setattr(tf.MeanParity, "value_rule", rounded)
    result = problem.solve()
    assert (
        result.objective == Fraction(46, 5) and result.status is tf.Status.OPTIMAL
    )  # and 1039/125 is possible
    assert tf.check(result.certificate(), table, y, independent=True).verdict != "verified"


def requirements() -> list[tf.Requirement]:
    """One of each kind that is restated for classes, such that some models satisfy it and others do not."""
    parity = {"groups": "g", "positive": 1}
    return [
        tf.MaxNodes(1),
        tf.MaxLeaves(2),
        tf.MaxDepth(1),
        tf.FeatureBudget(1),
        tf.MinSupport(3),
        tf.Stability(5),
        tf.MaxErrors(2),
        tf.MustClassifyRight([0, 1]),
        tf.GroupErrorAtMost("g", "0.3"),
        tf.MaxCost([[0, 2], [1, 0]], at_most=3),
        tf.StatisticalParity(difference="0.1", **parity),
        tf.EqualOpportunity(ratio="0.8", **parity),
        tf.PredictiveEquality(difference="0.1", **parity),
        tf.EqualizedOdds(difference="0.5", **parity),
        tf.AccuracyParity("g", difference="0.1"),
        tf.ConditionalParity("g", "s", difference="0.5", positive=1),
        tf.MinPrecision("0.8"),
        tf.MinRecall("0.8"),
        tf.MinSpecificity("0.8"),
        tf.MaxFalsePositiveRate("0.2"),
    ]


def problem_with(requirement: tf.Requirement) -> tf.Problem:
    problem = tf.Problem(TABLE, LABELS, shape=tf.Tree(2), exclude=["g", "s"]).minimize("error")
    return problem.add(requirement)


@pytest.mark.parametrize("requirement", requirements(), ids=lambda one: one.name)
def test_a_false_statement_of_the_search_is_not_verified(
    requirement: tf.Requirement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search is told that no model satisfies it that is better than a constant."""
    true = problem_with(requirement).solve()
    kind: Any = type(requirement)

    def nothing_better(self: tf.Requirement, data: tf.Dataset) -> list[tuple[np.ndarray, int]]:
        right = np.eye(data.n_classes, dtype=np.int64)[data.y]
        return [(right, len(LABELS) // 2)]  # a constant has half of the rows right

    if kind in LIMITS:
        monkeypatch.setattr(kind, "limits", lambda self, data: Limits(max_nodes=0))
    if kind in ROWS:
        monkeypatch.setattr(kind, "prediction_rows", nothing_better)
        monkeypatch.setattr(kind, "totals", tf.Requirement.totals)
    false = problem_with(requirement).solve()
    certificate = false.certificate()
    assert (false.status, false.objective) != (true.status, true.objective)
    assert tf.check(certificate, TABLE, LABELS, independent=True).verdict != "verified"


def test_what_is_restated_is_named_like_the_requirement() -> None:
    question = problem_with(tf.MaxNodes(1)).question
    again = restated(restated(question))
    assert again.labels == question.labels and isinstance(again.requirements[0], Restated)
    assert not isinstance(again.requirements[0].judge, Restated)
