"""Former names of parameters: they work, warn, and name the present one, on every way in."""

from __future__ import annotations

import warnings

import pytest

import treeform as tf
from treeform.catalogue.solvers import find_engine
from treeform.errors import CallError
from treeform.language.requirement_text import make, parse

FORMER = [
    (lambda **given: tf.MaxNodes(**given), {"k": 3}, "at_most"),
    (lambda **given: tf.FeatureBudget(**given), {"k": 3}, "at_most"),
    (lambda **given: tf.MaxTestsPerPath(["a"], **given), {"k": 1}, "at_most"),
    (lambda **given: tf.MaxThresholds("a", **given), {"k": 1}, "at_most"),
    (lambda **given: tf.MinSupport(**given), {"amount": 0.05}, "at_least"),
    (lambda **given: tf.MinCoverage(**given), {"amount": 20}, "at_least"),
    (lambda **given: tf.MaxErrors(**given), {"amount": 20}, "at_most"),
    (lambda **given: tf.MinRecall(**given), {"rate": "0.8"}, "at_least"),
    (lambda **given: tf.MaxFalsePositiveRate(**given), {"rate": "0.1"}, "at_most"),
    (lambda **given: tf.GroupErrorAtMost("g", **given), {"rate": "0.1"}, "at_most"),
    (lambda **given: tf.StatisticalParity("g", 0.8, **given), {"favourable": "yes"}, "positive"),
    (lambda **given: tf.ConditionalParity("g", "h", 0.8, **given), {"favourable": "yes"}, "positive"),
    (lambda **given: tf.Monotone("a", **given), {"favourable": "yes"}, "positive"),
    (lambda **given: tf.ConTree(**given), {"prune": ("features",)}, "parts"),
    (lambda **given: tf.DiagramSearch(**given), {"techniques": ("trees",)}, "parts"),
]


@pytest.mark.parametrize(("call", "given", "now"), FORMER)
def test_a_former_name_warns_and_means_the_same(call, given, now):
    (value,) = given.values()
    with pytest.warns(DeprecationWarning, match=f"is called {now} now") as caught:
        before = call(**given)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(**{now: value}) == before
    with pytest.raises(CallError, match="twice"):
        call(**{now: value}, **given)


def test_texts_and_certificates_of_former_names_are_read():
    with pytest.warns(DeprecationWarning, match="favourable of StatisticalParity is called positive now"):
        assert parse("statistical_parity:groups=g,ratio=0.8,favourable=yes") == tf.StatisticalParity(
            groups="g", ratio="0.8", positive="yes"
        )
    with pytest.warns(DeprecationWarning, match="k of MaxNodes is called at_most now"):
        assert make("max_nodes", {"k": 3}) == tf.MaxNodes(3)
    with pytest.warns(DeprecationWarning, match="is called parts now"):
        assert find_engine("contree:prune=none") == tf.ConTree(parts=())


def test_of_alternatives_the_one_that_is_set_counts():
    clf = tf.OptimalTreeClassifier(requirements=[tf.MinSupport(20), tf.StatisticalParity("g", ratio=0.8)])
    clf.set_params(requirements__min_support__fraction="0.05")
    clf.set_params(requirements__statistical_parity__difference="0.02")
    assert clf.requirements == [tf.MinSupport(0.05), tf.StatisticalParity("g", difference="0.02")]
    clf.set_params(requirements__min_support__at_least=3)
    assert clf.requirements[0] == tf.MinSupport(3)
    clf.set_params(requirements__min_support__fraction=1)
    assert clf.requirements[0] == tf.MinSupport(fraction=1) != tf.MinSupport(1)
    assert clf.get_params()["requirements__min_support__fraction"] == 1
    with pytest.warns(DeprecationWarning, match="amount of MinSupport"):
        clf.set_params(requirements__min_support__amount=5)
    assert clf.requirements[0] == tf.MinSupport(5)
    cost = tf.OptimalTreeClassifier(requirements=[tf.MaxCost([[0, 5], [1, 0]], at_most=300)])
    assert cost.set_params(requirements__max_cost__at_most=200).requirements[0].at_most == 200
