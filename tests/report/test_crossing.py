"""Parities that hold of each attribute alone and not of the attributes crossed; exact intervals and marks at bounds."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import treeform as tf
from treeform import report
from treeform.report.figures import exact_interval


@pytest.fixture(scope="module")
def crossed_table():
    """Old women and young men are all good, the others bad: each attribute alone is at par, crossed it is not."""
    rows = [(sex, age, copy, (sex == "f") == (age == "old")) for sex, age in product("fm", ("old", "young"))
            for copy in range(10)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["sex", "age", "copy", "good"])
    table["score"] = table["good"].astype(float)
    table["noise"] = table["copy"] % 3
    return table


def stated(table, **bound):
    problem = tf.Problem(
        table.drop(columns=["good", "copy"]), table["good"], shape=tf.Tree(1), exclude=["sex", "age"]
    )
    problem += [tf.StatisticalParity(groups=name, positive=True, **bound) for name in ("sex", "age")]
    return problem


@pytest.mark.parametrize("bound", [{"difference": "0.1"}, {"ratio": "0.8"}])
def test_the_cells_are_named_and_joint_parity_is_priced(crossed_table, bound):
    problem = stated(crossed_table, **bound)
    result = problem.solve()
    assert result.objective == 0
    (one,) = report.price_crossings(result, time_limit=100)
    assert one.attributes == "sex & age"
    for cell in ("m & young 100.0 % (10 of 10)", "f & young 0.0 % (0 of 10)"):
        assert cell in one.sentence
    joint = stated(crossed_table, **bound)
    joint += tf.StatisticalParity(groups=["sex", "age"], positive=True, **bound)
    best = joint.solve()
    assert best.status is tf.Status.OPTIMAL
    assert f"the best model would have {best.objective} errors, {best.objective} more (proved in" in one.cost
    facts = report.of_result(result, crossed=[one])
    for text in (report.render_html(facts), report.render_markdown(facts), report.render_text(facts)):
        assert one.cost in text.replace("&amp;", "&")
    assert report.of_result(result).crossings[0].cost == ""


def test_nothing_is_warned_of_where_cells_are_bounded_or_an_attribute_alone_is_violated(crossed_table):
    problem = stated(crossed_table, difference="0.1")
    graph = problem.solve().graph
    problem += tf.StatisticalParity(groups="sex & age", difference="0.9", positive=True)
    assert report.of_model(graph, problem.question).crossings == ()
    columns = ["sex", "age", "score", "noise"]
    one = tf.Problem(crossed_table[columns], crossed_table["good"], shape=tf.Tree(1), exclude=["sex", "age"])
    one += tf.StatisticalParity(groups="sex", difference="0.1", positive=True)
    assert report.of_model(graph, one.question).crossings == ()
    kept = crossed_table[(crossed_table["sex"] == "f") | (crossed_table["copy"] < 5)].query(
        "age == 'old' or sex == 'm'"
    )
    skewed = stated(kept, difference="0.1")
    facts = report.of_model(graph, skewed.question)
    assert any(not fact.ok for fact in facts.requirements)
    assert facts.crossings == ()


@pytest.mark.parametrize(("count", "of"), [(0, 7), (7, 7), (3, 11), (564, 690)])
def test_intervals_are_those_of_clopper_and_pearson(count, of):
    low, high = exact_interval(count, of)
    assert low == pytest.approx(0 if count == 0 else beta.ppf(0.025, count, of - count + 1))
    assert high == pytest.approx(1 if count == of else beta.ppf(0.975, count + 1, of - count))


def test_rates_have_intervals_unless_rows_have_weights_and_a_mark_at_the_bound(crossed_table):
    problem = stated(crossed_table, difference="0.1")
    facts = report.of_result(problem.solve())
    rates = facts.requirements[0].rates
    assert [rate.interval for rate in rates] == [exact_interval(10, 20)] * 2
    assert [rate.limit for rate in rates] == [pytest.approx(0.6)] * 2
    assert all(row.intervals["selected"] == exact_interval(10, 20) for row in facts.groups[0].rows)
    assert report.render_html(facts).count('class="limit"') == 4
    weighted = tf.Problem(
        problem.data.frame, crossed_table["good"], shape=tf.Tree(1), exclude=["sex", "age"],
        sample_weight=np.where(crossed_table["copy"] > 0, 2, 1),
    )  # fmt: skip
    weighted += tf.StatisticalParity(groups="sex", ratio="0.8", positive=True)
    facts = report.of_result(weighted.solve())
    assert all(
        rate.interval is None and rate.limit == pytest.approx(0.4) for rate in facts.requirements[0].rates
    )
    assert not any(table.has_intervals for table in facts.groups)
    assert Fraction(facts.groups[0].rows[0].selected) == Fraction(1, 2)
