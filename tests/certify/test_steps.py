"""The steps of a frontier by the check's own statements: what they show is true of all models, and they show most."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.steps import nothing_between
from treeform.testing import all_models

REQUIREMENTS = [
    tf.StatisticalParity("c", difference="0.1", positive="yes"),
    tf.StatisticalParity("c", ratio="0.5", positive="yes"),
    tf.EqualizedOdds("c", difference="0.1", positive="yes"),
    tf.AccuracyParity("c", difference="0.1"),
    tf.GroupErrorAtMost("c", at_most="0.5"),
    tf.MinPrecision("0.5", positive="yes"),
    tf.MaxFalsePositiveRate("0.5", positive="yes"),
    tf.MinRecall("0.5", positive="yes").each("c"),
    tf.MinSupport(1),
    tf.MinSupport("0.1"),
    tf.MaxErrors("0.9"),
    tf.MaxNodes(1),
    tf.FeatureBudget(1),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_no_measure_lies_where_none_is_said_to_lie(requirement: Any, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (9, 3)), columns=list("abc"))
    y = np.where((X["a"] ^ X["b"]) | (rng.random(9) < 0.3), "yes", "no")
    weights = rng.integers(1, 4, 9) if weighted else None
    data = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=weights).data
    axis = requirement.bind(data)
    measures = sorted({axis.measured(graph, data) for graph in all_models(data, tf.Tree(2), limit=10**6)})
    shown = 0
    for value in measures:
        tighter = [m for m in measures if axis.is_tighter(m, value)]
        following = axis.beyond(value, data)
        shown += nothing_between(axis, value, following, data)
        for bound in (following, *tighter):
            between = [m for m in tighter if bound is None or axis.is_tighter(bound, m)]
            assert not (between and nothing_between(axis, value, bound, data)), (value, bound, between)
    assert shown >= (1 if "each" in str(requirement) else len(measures) - 1)


def test_what_it_has_no_statement_of_is_not_shown() -> None:
    data = tf.Problem([[0.0], [1.0]], [0, 1], shape=tf.Tree(1)).data
    cost = tf.MaxCost([[0, 2], [1, 0]], at_most=3).bind(data)
    assert not nothing_between(cost, 1, 0, data) and not nothing_between(cost, 0, None, data)
    assert not nothing_between(tf.MaxNodes(3), 3, Fraction(3, 2), data)
