"""Violations and parameters of the requirements. Quick: for mutation testing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from graph_samples import nodes_of

import treeform as tf
from treeform.errors import CertificateError, DataError, Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.classes import class_code
from treeform.language.requirement import Requirement
from treeform.requirements.amount import Amount
from treeform.requirements.groups import Groups
from treeform.shape import Limits
from treeform.testing.differential import questions
from treeform.utils.text import decimal_text


def data_of(weights=None, y=(0, 0, 1, 1, 1, 1)):
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0, 5.0, 5.0], "sex": list("mfmfmf"), "job": list("abcabc")})
    return tf.Dataset.from_user(X, list(y), weights)


def stump(data, threshold, labels=(0, 1), feature=0):
    test = {"feature": feature, "threshold": threshold, "left": 1, "right": 2}
    return DecisionGraph.build([test, *({"label": k} for k in labels)], data)


# -- exact violations ---------------------------------------------------------------------------------------------


def test_violations_are_measured():
    data = data_of()
    graph = stump(data, 1.5)
    assert tf.MinSupport(3).violation(graph, data) == 2
    assert tf.MinSupport(0.5).violation(graph, data) == 2
    assert tf.MinSupport(3).violation(stump(data, 4.5), data) == 1
    assert tf.MinSupport(1).violation(graph, data) == 0
    assert tf.MinSupport(7).violation(DecisionGraph.leaf(0, data), data) == 0  # there is no test
    assert tf.MinSupport(6).violation(DecisionGraph.leaf(0, data), data) == 0
    assert tf.Stability(7).violation(graph, data) == 1
    assert tf.Stability(7).violation(DecisionGraph.leaf(0, data), data) == 0
    assert tf.Stability(6).violation(graph, data) == 0
    assert tf.MaxNodes(0).violation(graph, data) == 1
    assert tf.MaxNodes(1).violation(graph, data) == 0
    assert tf.MaxErrors(0).violation(graph, data) == 1
    assert tf.MaxErrors(1).violation(graph, data) == 0
    assert tf.FeatureBudget(0).violation(graph, data) == 1
    assert tf.FeatureBudget(1).violation(graph, data) == 0
    weighted = data_of([0.5, 1, 1, 1, 1, 0.25])
    assert tf.MinSupport(2).violation(stump(weighted, 1.5), weighted) == Fraction(3, 2)
    assert tf.MaxErrors(0).violation(stump(weighted, 9.5), weighted) == Fraction(13, 4)
    assert tf.MaxErrors(0.5).violation(stump(weighted, 9.5), weighted) == Fraction(7, 8) + Fraction(1, 8)
    assert tf.Stability(5).violation(stump(weighted, 1.5), weighted) == Fraction(1, 4)


def two_tests(data):
    return DecisionGraph.build(nodes_of((0, 2.5, 1, 2), (2, 0.5, 3, 4), (3, 0.5, 3, 4), 0, 1), data)


def test_levels_of_a_column_are_one_column():
    data = data_of()
    names = [column.name for column in data.columns]
    assert names == ["age", "sex = f", "sex = m", "job = a", "job = b", "job = c"]
    graph = two_tests(data)  # age, sex = m and job = a
    assert tf.FeatureBudget(1).violation(graph, data) == 2
    assert tf.FeatureBudget(2).violation(graph, data) == 1
    twice = DecisionGraph.build(
        [
            {"feature": 3, "threshold": 0.5, "left": 1, "right": 3},
            {"feature": 4, "threshold": 0.5, "left": 2, "right": 3},
            {"label": 0},
            {"label": 1},
        ],
        data,
    )
    assert tf.FeatureBudget(1).violation(twice, data) == 0
    assert tf.FeatureBudget(0).violation(twice, data) == 1
    assert tf.FeatureBudget(2).limits(data) == Limits(max_features=2)


def test_the_number_of_tests_the_wrong_way_round():
    data = data_of()
    for direction, labels, broken in (
        ("increasing", (0, 1), 0),
        ("increasing", (1, 0), 1),
        ("decreasing", (0, 1), 1),
        ("decreasing", (1, 0), 0),
    ):
        rule = tf.Monotone("age", direction).bind(data)
        assert rule.violation(stump(data, 2.5, labels), data) == broken
        assert rule.violation(stump(data, 0.5, labels, feature=1), data) == 0
    graph = DecisionGraph.build(nodes_of((0, 2.5, 1, 2), (0, 1.5, 3, 4), (0, 3.5, 3, 4), 1, 0), data)
    assert tf.Monotone("age").bind(data).violation(graph, data) == 3
    assert tf.Monotone("age", positive=0).bind(data).violation(graph, data) == 1
    form = DecisionGraph.build(
        [{"weights": {0: -1.0}, "threshold": -2.5, "left": 1, "right": 2}, {"label": 0}, {"label": 1}], data
    )
    assert tf.Monotone("age").bind(data).violation(form, data) == 1
    assert tf.Monotone("age", "decreasing").bind(data).violation(form, data) == 0
    assert tf.Monotone("age").bind(data).violation(DecisionGraph.leaf(1, data), data) == 0


def test_rates_and_their_distance():
    data = data_of([1, 1, 1, 1, 2, 1])
    graph = stump(data, 3.5)  # positive: rows 3, 4, 5
    rule = tf.StatisticalParity(groups="sex", difference=0.1).bind(data)
    assert [(r.group, r.weight, r.positive, r.rate) for r in rule.report(graph, data)] == [
        ("f", 3, 2, Fraction(2, 3)),
        ("m", 4, 2, Fraction(1, 2)),
    ]
    assert rule.violation(graph, data) == Fraction(1, 6) - Fraction(1, 10)
    assert tf.StatisticalParity(groups="sex", ratio=0.8).bind(data).violation(graph, data) == Fraction(
        8, 15
    ) - Fraction(1, 2)
    assert tf.StatisticalParity(groups="sex", ratio=0.75).bind(data).violation(graph, data) == 0
    assert tf.StatisticalParity(groups="sex", difference="1/6").bind(data).violation(graph, data) == 0
    other = tf.StatisticalParity(groups="sex", difference=0, positive=0).bind(data)
    assert other.violation(graph, data) == Fraction(1, 6)
    # True positives: rows 2 to 5, of which f has two of two, m two of three of weight.
    chance = tf.EqualOpportunity(groups="sex", difference=0).bind(data)
    assert [(r.group, r.weight, r.rate) for r in chance.report(graph, data)] == [
        ("f", 2, 1),
        ("m", 3, Fraction(2, 3)),
    ]
    assert chance.violation(graph, data) == Fraction(1, 3)
    false = tf.PredictiveEquality(groups="sex", difference=0).bind(data)
    assert [(r.weight, r.rate) for r in false.report(graph, data)] == [(1, 0), (1, 0)]
    assert false.violation(graph, data) == 0
    odds = tf.EqualizedOdds(groups="sex", ratio=1).bind(data)
    assert odds.violation(graph, data) == Fraction(1, 3) and len(odds.report(graph, data)) == 4
    within = tf.ConditionalParity(groups="sex", given="job", difference=0).bind(data)
    assert within.violation(graph, data) == 1  # of job a: m (row 0) is not favoured, f (row 3) is
    halves = data_of([0.5, 0.5, 1, 1, 2, 1])
    half = tf.StatisticalParity(groups="sex", difference=0).bind(halves)
    assert [(r.weight, r.positive) for r in half.report(stump(halves, 3.5), halves)] == [
        (Fraction(5, 2), 2),
        (Fraction(7, 2), 2),
    ]
    assert "all samples together have weight 6" in (tf.MinSupport(7).bind(halves).remark(halves) or "")
    alone = data_of(y=(1, 0, 1, 0, 1, 0))
    assert tf.EqualOpportunity(groups="sex", ratio=1).bind(alone).violation(stump(alone, 3.5), alone) == 0


# -- parameters ----------------------------------------------------------------------------------------------------


def test_amounts_in_weight_units():
    data = data_of([0.5, 1, 1, 1, 1, 0.5])  # ten units of 1/2
    assert (data.weight_unit, data.total_weight) == (Fraction(1, 2), 10)
    for amount, least, most, weight in (
        (Amount.of("x", 2, None, None), 4, 4, 2),
        (Amount.of("x", 0.25, None, None), 3, 2, Fraction(5, 4)),
        (Amount.of("x", None, 3, None), 6, 6, 3),
        (Amount.of("x", None, None, 1), 10, 10, 5),
        (Amount.of("x", None, None, 0), 0, 0, 0),
    ):
        assert (amount.at_least(data), amount.at_most(data), amount.weight(data)) == (least, most, weight)
    assert tf.MinSupport(0.25).limits(data) == Limits(min_support=3)
    assert tf.Stability(0.25).limits(data) == Limits(min_flow=3)
    assert tf.MaxErrors(0.25).limits(data) == Limits(max_errors=2)
    assert tf.MaxNodes(0).limits(data) == Limits(max_nodes=0)
    assert tf.MaxErrors(fraction=1).limits(data) == Limits(max_errors=10)
    assert tf.Monotone("age").limits(data) is None
    assert tf.StatisticalParity(groups="sex", ratio=0.5).limits(data) is None


def test_amounts_as_text_and_json():
    for requirement, text, parameters in (
        (tf.MinSupport(2), "min_support:2", {"count": 2}),
        (tf.MinSupport(0.25), "min_support:0.25", {"fraction": "1/4"}),
        (tf.MinSupport(fraction=1), "min_support:fraction=1", {"fraction": "1"}),
        (tf.Stability(fraction=Fraction(1, 3)), "stability:1/3", {"fraction": "1/3"}),
        (tf.MaxErrors(count=0), "max_errors:0", {"count": 0}),
        (tf.MaxNodes(3), "max_nodes:3", {"at_most": 3}),
        (tf.FeatureBudget(2), "feature_budget:2", {"at_most": 2}),
    ):
        assert str(requirement) == text
        assert requirement.to_json() == {"name": text.split(":")[0], "parameters": parameters}
        assert str(Requirement.from_json(requirement.to_json())) == text
    assert Amount.of("x", 2, None, None) == Amount.of("y", None, 2, None) != Amount.of("x", None, None, 1)
    assert Amount.of("x", 2, None, None) != 2 and hash(Amount.of("x", 2, None, None)) == hash(
        Amount.of("y", 2, None, None)
    )
    assert repr(Amount.of("x", 0.5, None, None)) == "0.5"
    assert [decimal_text(Fraction(t)) for t in ("4/5", "1/3", "3", "1/8", "0", "1/20", "21/2")] == [
        "0.8", "1/3", "3", "0.125", "0", "0.05", "10.5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.MinSupport(), r"^MinSupport takes one amount and was given 0"),
        (lambda: tf.Monotone({"age": "increasing"}), r"Monotone\('age', ...\), and one Monotone for each column"),
        (lambda: tf.MinSupport(1, count=2), r"^MinSupport takes one amount and was given 2"),
        (lambda: tf.MinSupport(-1), r"^MinSupport: the count -1 is not possible"),
        (lambda: tf.MinSupport(count=0.5), r"^MinSupport: the count 0.5 is not possible"),
        (lambda: tf.MinSupport(count=True), r"^MinSupport: the count True is not possible"),
        (lambda: tf.MaxErrors(1.5), r"^MaxErrors: the fraction 1.5 is not possible"),
        (lambda: tf.MaxErrors(-0.5), r"^MaxErrors: the fraction -0.5 is not possible"),
        (lambda: tf.MaxErrors("x"), r"^'x' cannot be the fraction of MaxErrors"),
        (lambda: tf.MaxNodes(-1), r"^a model with at most -1 tests is not possible"),
        (lambda: tf.MaxNodes(1.5), r"^a model with at most 1.5 tests is not possible"),
        (lambda: tf.MaxNodes(True), r"^a model with at most True tests is not possible"),
        (lambda: tf.FeatureBudget(-1), r"^a model that tests at most -1 columns is not possible"),
        (lambda: tf.FeatureBudget(False), r"^a model that tests at most False columns is not possible"),
        (lambda: tf.FeatureBudget("2"), r"^a model that tests at most '2' columns is not possible"),
        (lambda: tf.Monotone("age", "up"), r"^the direction 'up' is not known"),
        (lambda: tf.StatisticalParity("sex", 0.5, 0.5), r"exactly one[^$]*both of them are given"),
        (lambda: tf.StatisticalParity("sex", ratio=0), r"^statistical parity with ratio 0 is not possible"),
        (lambda: tf.StatisticalParity("sex", ratio=1.25), r"ratio 1.25 is not possible[^$]*use ratio=0.8"),
        (lambda: tf.StatisticalParity("sex", difference=1), r"difference 1 is not possible"),
        (lambda: tf.StatisticalParity("sex", difference=-0.5), r"difference -1/2 is not possible"),
        (lambda: tf.EqualOpportunity("sex", 0.5, 0.5), r"^equal opportunity takes exactly one"),
    ],
)
def test_parameters_that_are_refused(make, text):
    with pytest.raises(SpecError, match=text):
        make()
    for good in (tf.MaxNodes(0), tf.FeatureBudget(0), tf.MinSupport(0), tf.MaxErrors(0.0), tf.MaxErrors(1.0)):
        assert good is not None
    assert (
        tf.StatisticalParity("sex", ratio=1).ratio == 1
        and tf.StatisticalParity("sex", difference=0).difference == 0
    )


def test_binding():
    data = data_of()
    assert tf.MinSupport(6).bind(data).violation(DecisionGraph.leaf(0, data), data) == 0
    for more in (tf.MinSupport(7), tf.Stability(7)):  # than there is: a model without a test satisfies it
        assert more.bind(data).violation(DecisionGraph.leaf(0, data), data) == 0
        assert more.limits(data) == tf.Limits(max_nodes=0)
        assert "all samples together have weight 6" in (more.remark(data) or "")
    twins = data_of(y=(0, 0, 1, 1, 1, 0))
    same = tf.Dataset.from_user(np.array([[0.0], [0.0], [1.0]]), [0, 1, 1], [1, 2, 1])
    assert tf.MaxErrors(1).bind(same).amount.count == 1 and tf.MaxErrors(0).bind(twins) is not None
    with pytest.raises(
        Infeasible,
        match=r"^max_errors:0 is infeasible\n.*makes at least 1 error unavoidable\n.*allow at least 1, or",
    ):
        tf.MaxErrors(0).bind(same)
    rule = tf.Monotone("age").bind(data)
    assert (rule.column, rule.direction, rule.positive) == ("age", "increasing", 1)
    assert (
        str(rule) == "monotone:age,increasing,positive=1"
        and str(tf.Monotone("age", "decreasing")) == "monotone:age,decreasing"
    )
    with pytest.raises(
        DataError, match=r"^monotone:pay,increasing names a column that no test uses\n.*age, sex, job"
    ):
        tf.Monotone("pay").bind(data)
    with pytest.raises(DataError, match=r"^monotone:sex,increasing names the categorical column 'sex'"):
        tf.Monotone("sex").bind(data)
    three = data_of(y=(0, 0, 1, 1, 2, 2))
    with pytest.raises(
        SpecError, match=r"does not say which class is positive\n.*3 classes: 0, 1, 2\n.*add positive="
    ):
        tf.Monotone("age").bind(three)
    assert tf.Monotone("age", positive=0).bind(three).positive == 0
    with pytest.raises(SpecError, match=r"^there is no class 5"):
        tf.Monotone("age", positive=5).bind(three)
    with pytest.raises(SpecError, match=r"statistical_parity:ratio=0.8 has no groups"):
        tf.StatisticalParity(ratio=0.8).bind(data)
    with pytest.raises(SpecError, match=r"does not say which class is positive"):
        tf.StatisticalParity("sex", ratio=0.8).bind(three)
    bound = tf.StatisticalParity(ratio=0.8).bind(data, sensitive_features=list("pppqqq"))
    assert isinstance(bound.groups, Groups) and bound.positive == 1
    assert str(bound) == "statistical_parity:groups=<array>,ratio=0.8,positive=1"
    named = tf.StatisticalParity("sex", difference=0.25).bind(data, sensitive_features=list("pppqqq"))
    assert named.groups == "sex" and str(named) == "statistical_parity:groups=sex,difference=0.25,positive=1"
    assert named.to_json()["parameters"] == {"groups": "sex", "difference": "0.25", "positive": 1}
    assert str(Requirement.from_json(named.to_json())) == str(named)
    array = Requirement.from_json(bound.to_json()).bind(data)
    assert (
        array.violation(stump(data, 3.5), data) == bound.violation(stump(data, 3.5), data) == Fraction(8, 10)
    )


# -- groups --------------------------------------------------------------------------------------------------------


def test_groups_are_coded_in_order():
    data = data_of()
    groups = Groups.of("sex", data)
    assert (
        groups.codes.tolist() == [1, 0, 1, 0, 1, 0] and groups.labels == ("f", "m") and groups.name == "sex"
    )
    assert groups.weights(data_of([1, 2, 3, 4, 5, 6])) == [12, 9]
    numbers = Groups.of([3, 1, 3, 2, 2, 2], data)
    assert (
        numbers.labels == (1, 2, 3) and numbers.codes.tolist() == [2, 0, 2, 1, 1, 1] and numbers.name is None
    )
    crossed = Groups.of(pd.DataFrame({"a": list("xxyyxx"), "b": [1, 2, 1, 2, 1, 2]}), data)
    assert crossed.labels == ("x & 1", "x & 2", "y & 1", "y & 2") and crossed.name == "a & b"
    assert Groups.of(pd.Series(list("xyxyxy"), name="who"), data).name == "who"
    assert Groups.of(np.array(list("xyxyxy")).reshape(-1, 1), data).labels == ("x", "y")
    assert Groups.from_json(groups.to_json()) == groups != numbers
    assert Groups.of(groups, data) is groups and hash(groups) == hash(Groups.from_json(groups.to_json()))
    assert repr(groups) == "<Groups 'sex': f, m>" and repr(numbers) == "<Groups: 1, 2, 3>"
    zero = data_of([1, 0, 1, 1, 1, 1])
    assert Groups.of(list("abcabc"), zero).codes.tolist() == [0, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ("pay", r"^there is no column 'pay'"),
        (list("xyx"), r"^the groups have shape \(3,\) for 6 rows"),
        (list("xxxxxx"), r"^the groups have one value only \('x'\)"),
        (["x", "y", None, "x", "y", "x"], r"^the groups have a missing value in "),
        (np.zeros((6, 1, 1)), r"^the groups have shape \(6, 1, 1\) for 6 rows"),
    ],
)
def test_groups_that_are_refused(values, text):
    with pytest.raises(DataError, match=text):
        Groups.of(values, data_of())


def test_many_groups_and_other_data_are_refused():
    rows = pd.DataFrame({"a": np.arange(60.0)})
    data = tf.Dataset.from_user(rows, [0, 1] * 30)
    with pytest.raises(DataError, match=r"^the groups have 51 different values"):
        Groups.of([*range(51), *[0] * 9], data)
    assert len(Groups.of([*range(50), *[0] * 10], data).labels) == 50
    with pytest.raises(DataError, match=r"have 6 entries for 60 samples"):
        Groups.of(Groups.of("sex", data_of()), data)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"codes": [], "labels": ["a", "b"]},
        {"codes": [0, 2], "labels": ["a", "b"]},
        {"codes": [-1, 0], "labels": ["a", "b"]},
        {"codes": [[0], [1]], "labels": ["a", "b"]},
        {"codes": ["x"], "labels": ["a", "b"]},
        {"codes": [2**70], "labels": ["a", "b"]},
    ],
)
def test_damaged_groups(value):
    with pytest.raises(CertificateError, match=r"^the groups of a requirement are damaged"):
        Groups.from_json(value)


def test_class_codes():
    data = data_of(y=list("nnyyyy"))
    assert class_code("n", data) == 0 and class_code("y", data) == 1
    numbers = data_of()
    assert class_code(1, numbers) == class_code("1", numbers) == class_code(1.0, numbers) == 1
    with pytest.raises(
        SpecError, match=r"^there is no class 'z'\n.*the classes are 'n', 'y'\n.*positive='y'"
    ):
        class_code("z", data)


def test_weights_too_fine_for_exact_rows_are_refused():
    fine = data_of([2**26 + i for i in range(6)])
    with pytest.raises(SpecError, match=r"cannot be stated exactly on these weights"):
        tf.StatisticalParity("sex", ratio="0.123456789").bind(fine)
    assert tf.StatisticalParity("sex", ratio=0.5).bind(data_of([1, 1, 1, 1, 1, 2**50])) is not None


def test_specifications_are_made_as_they_read():
    """The driver's own specifications reach treeform with the parameters that they name."""
    made = questions.make(
        {"kind": "monotone", "column": "age", "direction": "decreasing", "positive": 0}, None
    )
    assert str(made) == "monotone:age,decreasing,positive=0"
    assert replace(Limits(), max_nodes=1).tighten(Limits(max_nodes=2)) == Limits(max_nodes=1)
