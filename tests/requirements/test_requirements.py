"""Requirements: what they mean, exactly, and what they refuse."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.errors import DataError, Infeasible, SpecError
from treeform.graph import DecisionGraph
from treeform.language.forms import Inequality, Rows
from treeform.language.linear import _content
from treeform.language.requirement import Requirement
from treeform.requirements import Groups

AGE = [20, 30, 40, 50, 60, 70]
SEX = ["f", "f", "f", "m", "m", "m"]
Y = ["no", "yes", "yes", "no", "yes", "yes"]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame({"age": AGE, "sex": SEX})


@pytest.fixture
def data(frame: pd.DataFrame) -> Dataset:
    return Dataset.from_user(frame, Y)


def stump(data: Dataset, threshold: float, left: int = 0, right: int = 1) -> DecisionGraph:
    return DecisionGraph.from_nested((0, threshold, left, right), data)


# -- statistical parity ---------------------------------------------------------------------------------


def test_rates_and_shortfall(data: Dataset) -> None:
    # age <= 25 is "no": rates 2/3 for f, 1 for m
    graph = stump(data, 25.0)
    parity = tf.StatisticalParity("sex", ratio=0.8).bind(data)
    assert [(r.group, r.weight, r.positive, r.rate) for r in parity.report(graph, data)] == [
        ("f", 3, 2, Fraction(2, 3)),
        ("m", 3, 3, 1),
    ]
    assert parity.violation(graph, data) == Fraction(4, 5) - Fraction(2, 3)
    assert tf.StatisticalParity("sex", ratio="2/3").violation(graph, data) == 0
    assert tf.StatisticalParity("sex", ratio=0.8).lacking(graph, data) == parity.lacking(graph, data) > 0
    assert tf.StatisticalParity("sex", difference=0.3).violation(graph, data) == Fraction(1, 3) - Fraction(
        3, 10
    )
    assert tf.StatisticalParity("sex", difference="1/3").violation(graph, data) == 0


def test_each_table_and_each_bound_is_judged_by_itself(data: Dataset, frame: pd.DataFrame) -> None:
    graph, other = stump(data, 25.0), Dataset.from_user(frame, Y[::-1])
    for kept in (tf.MinRecall(0.9, positive="yes"), tf.GroupErrorAtMost("sex", at_most=0.1)):
        tighter = kept.with_bound(Fraction(0) if kept.is_upper else Fraction(1))
        for one in (kept, tighter):
            found = [one.violation(graph, rows) for rows in (data, other, data)]
            fresh = [one.with_bound(one.bound).violation(graph, rows) for rows in (data, other, data)]
            assert found == fresh and found[0] != found[1]
        assert kept.violation(graph, other) != tighter.violation(graph, other)


def test_sums_beyond_64_bits_are_exact(data: Dataset) -> None:
    graph = stump(data, 25.0)  # the first row is predicted "no"
    for amounts in ([2**62 - i for i in range(6)], [2**63 + i for i in range(6)], [-(2**63)] * 6, [2**63, 0, -1] * 2):
        assert Rows(data).amount(amounts, predicted="yes").value(graph, data) == sum(amounts[1:])
    # one "no" of two is predicted "yes", and no "yes" is predicted "no"
    assert Rows(data).cost([[0, 2**63], [1, 0]]).value(graph, data) == 2**63


class ApprovedAtMost(tf.LinearRequirement, listed=False):
    def __init__(self, share: float) -> None:
        self.share = share

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield rows.weight(predicted="yes") / rows.weight() <= self.share


class CostsAtMost(tf.LinearRequirement, listed=False):
    def __init__(self, costs: list[Any]) -> None:
        self.costs = costs

    def forms(self, rows: Rows) -> Iterator[Inequality]:
        yield rows.cost(self.costs) <= 0


def test_a_requirement_that_is_changed_is_judged_as_it_is_now(data: Dataset) -> None:
    graph, one = stump(data, 25.0), ApprovedAtMost(0.5)
    assert one.violation(graph, data) == Fraction(1, 3)
    one.share = 0.8
    assert one.violation(graph, data) == Fraction(1, 30)


@pytest.mark.parametrize("pair", [[0, 1], np.array([0, 1]), pd.Series([0, 1])])
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_requirement_that_is_changed_within_an_attribute_is_judged_as_it_is_now(
    data: Dataset, pair: Any, kind: Any
) -> None:
    graph, one = stump(data, 25.0), CostsAtMost(kind([pair, [0, 0]]))
    pair[1] = 1
    assert one.violation(graph, data) == 1  # one "no" of two is predicted "yes"
    pair[1] = 3
    assert one.violation(graph, data) == 3


def test_to_judge_a_model_no_table_is_read_anew(data: Dataset) -> None:
    bound = tf.StatisticalParity(groups="sex", difference="0.1", positive="yes").bind(data)
    assert all(_content(value) is None for value in vars(bound).values())


def test_a_requirement_keeps_no_table_alive(frame: pd.DataFrame) -> None:
    one, data = ApprovedAtMost(0.5), Dataset.from_user(frame, Y)
    one.violation(stump(data, 25.0), data)
    known = weakref.ref(data)
    del data
    gc.collect()
    assert known() is None


def test_a_model_of_other_classes_is_refused(data: Dataset, frame: pd.DataFrame) -> None:
    graph = stump(Dataset.from_user(frame, ["maybe", *Y[1:]]), 25.0, 1, 2)
    with pytest.raises(SpecError, match="without a class that it predicts"):
        ApprovedAtMost(0.5).violation(graph, data)


def test_tests_of_a_regression_tree_are_counted() -> None:
    class FewOnAge(tf.LinearRequirement, listed=False):
        of_values, needs = True, frozenset({"feature"})

        def forms(self, rows: Rows) -> Iterator[Inequality]:
            yield rows.tests([0]) <= 1

    frame, target = pd.DataFrame({"age": AGE}), [0.0, 1.5, 0.5, 4.0, 4.5, 9.0]
    problem = tf.Problem(frame, target, shape=tf.Tree(2)).minimize(tf.SquaredError())
    assert FewOnAge().violation(problem.solve().graph, problem.question.data) == 2


def test_strata_and_classes_of_one_spelling_are_compared_each(frame: pd.DataFrame) -> None:
    mixed = np.array([1, 1, 1, "1", "1", "1"], dtype=object)
    sex = ["f", "m", "f", "f", "m", "m"]
    data = Dataset.from_user(frame[["age"]], Y)
    within = tf.ConditionalParity(sex, given=mixed, difference=0, positive="yes").bind(data)
    assert within.violation(stump(data, 25.0), data) == Fraction(1, 2)  # of the number 1: f 1/2, m 1
    assert list(within.reports(stump(data, 25.0), data)) == ["samples with 1", "samples with '1'"]
    classes = Dataset.from_user(frame[["age"]], mixed)
    odds = tf.EqualizedOdds(sex, difference=0, positive="1").bind(classes)
    assert odds.violation(stump(classes, 25.0), classes) == Fraction(1, 2)


def test_positive_class_is_stated(data: Dataset) -> None:
    assert "positive" not in str(tf.StatisticalParity("sex", ratio=0.8))
    assert str(tf.StatisticalParity("sex", ratio=0.8).bind(data)) == (
        "statistical_parity:groups=sex,ratio=0.8,positive=yes"
    )
    graph = stump(data, 25.0)
    # rates of "no": 1/3 and 0
    assert tf.StatisticalParity("sex", ratio=0.8, positive="no").violation(graph, data) == Fraction(4, 15)


def test_weights_count(frame: pd.DataFrame) -> None:
    weighted = Dataset.from_user(frame, Y, [0.5, 1, 1, 2, 0, 1])
    graph = stump(weighted, 25.0)
    rates = [r.rate for r in tf.StatisticalParity("sex", ratio=1).report(graph, weighted)]
    assert rates == [Fraction(4, 5), 1]


def test_groups_refer_to_the_rows_as_passed(frame: pd.DataFrame) -> None:
    weighted = Dataset.from_user(frame, Y, [1, 1, 1, 1, 0, 1])
    for groups in (SEX, np.array(SEX), pd.Series(SEX, name="sex"), frame[["sex"]], "sex"):
        bound = tf.StatisticalParity(groups, ratio=0.8).bind(weighted)
        assert [r.weight for r in bound.report(stump(weighted, 25.0), weighted)] == [3, 2]
    with pytest.raises(DataError, match="one group per row"):
        tf.StatisticalParity(SEX[:5], ratio=0.8).bind(weighted)


def test_groups_from_the_context(data: Dataset) -> None:
    parity = tf.StatisticalParity(ratio=0.8)
    assert parity.bind(data, sensitive_features=SEX).violation(stump(data, 25.0), data) > 0
    with pytest.raises(SpecError, match="no groups"):
        parity.bind(data)


def test_columns_are_crossed(data: Dataset) -> None:
    both = pd.DataFrame({"sex": SEX, "old": [False, False, True, False, True, True]})
    bound = tf.StatisticalParity(both, ratio=0.8).bind(data)
    labels = [r.group for r in bound.report(stump(data, 25.0), data)]
    assert labels == ["f & False", "f & True", "m & False", "m & True"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["f"] * 6, "one value only"),
        (["f", "f", None, "m", "m", "m"], "missing value in row 2"),
        ([0.0, 1.0, np.nan, 0.0, 1.0, 1.0], "missing value in row 2"),
        (["f", "m"], "one group per row"),
        ("gender", "no column 'gender'"),
    ],
)
def test_groups_that_cannot_be(data: Dataset, groups: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        tf.StatisticalParity(groups, ratio=0.8).bind(data)


def test_too_many_groups() -> None:
    X = np.arange(60.0).reshape(-1, 1)
    data = Dataset.from_user(X, [0, 1] * 30)
    with pytest.raises(DataError, match="bin the values"):
        tf.StatisticalParity(np.arange(60), ratio=0.8).bind(data)


@pytest.mark.parametrize("ratio", [0, -0.5, 1.25, float("nan"), "x"])
def test_ratio_out_of_range(ratio: object) -> None:
    with pytest.raises(SpecError):
        tf.StatisticalParity("sex", ratio=ratio)  # type: ignore[arg-type]


@pytest.mark.parametrize("difference", [-0.1, 1, 1.5])
def test_difference_out_of_range(difference: float) -> None:
    with pytest.raises(SpecError, match="within"):
        tf.StatisticalParity("sex", difference=difference)


def test_one_of_ratio_and_difference() -> None:
    problem = tf.Problem([[0.0], [1.0]], ["a", "b"], shape="tree:1", sensitive_features=["f", "m"])
    with pytest.raises(SpecError, match="its number is left open"):
        problem += tf.StatisticalParity()
    with pytest.raises(SpecError, match="both"):
        tf.StatisticalParity("sex", ratio=0.8, difference=0.1)


def test_positive_that_is_unknown_or_missing(data: Dataset, frame: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="no class 'maybe'"):
        tf.StatisticalParity("sex", ratio=0.8, positive="maybe").bind(data)
    three = Dataset.from_user(frame, [1, 2, 3, 1, 2, 3])
    with pytest.raises(SpecError, match="which class is positive"):
        tf.StatisticalParity("sex", ratio=0.8).bind(three)
    assert tf.StatisticalParity("sex", ratio=0.8, positive="2").bind(three).positive == 2


def test_rows_agree_with_violation(data: Dataset) -> None:
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 3, 6)
    groups[:3] = [0, 1, 2]
    for parity in (tf.StatisticalParity(groups, ratio="3/4"), tf.StatisticalParity(groups, difference="1/5")):
        bound = parity.bind(data)
        for threshold in (25.0, 35.0, 45.0, 55.0, 65.0):
            for labels in ((0, 1), (1, 0), (1, 1)):
                graph = stump(data, threshold, *labels)
                chosen = graph.predict_codes(data.X)
                holds = all(
                    (coef[np.arange(6), chosen] * data.weights).sum() <= side
                    for coef, side in bound.prediction_rows(data)
                )
                assert holds == (bound.violation(graph, data) == 0)


def test_weights_too_fine_for_exact_rows(frame: pd.DataFrame) -> None:
    fine = Dataset.from_user(frame, Y, [1.00000001, 1, 1, 1, 1, 1])
    with pytest.raises(SpecError, match="round the sample weights"):
        tf.StatisticalParity("sex", ratio="0.123456789").bind(fine)


# -- support, nodes, errors -----------------------------------------------------------------------------


def test_min_support(data: Dataset) -> None:
    assert tf.MinSupport(2).violation(stump(data, 25.0), data) == 1
    assert tf.MinSupport(1).violation(stump(data, 25.0), data) == 0
    assert tf.MinSupport(0.5).violation(stump(data, 45.0), data) == 0
    assert tf.MinSupport(fraction=0.51).violation(stump(data, 45.0), data) == 1
    assert tf.MinSupport(6).violation(DecisionGraph.leaf(0, data), data) == 0
    assert tf.MinSupport(0.4).limits(data) == tf.Limits(min_support=3)
    nested = DecisionGraph.from_nested((0, 45.0, (0, 35.0, 0, 1), 1), data)
    assert tf.MinSupport(2).violation(nested, data) == 1


def test_min_support_in_weight(frame: pd.DataFrame) -> None:
    half = Dataset.from_user(frame, Y, [0.5] * 6)
    assert tf.MinSupport(1).limits(half) == tf.Limits(min_support=2)
    assert tf.MinSupport(1).violation(stump(half, 25.0), half) == Fraction(1, 2)
    assert tf.MinSupport(4).bind(half).limits(half) == tf.Limits(max_nodes=0)
    assert tf.MinSupport(4).violation(stump(half, 25.0), half) == Fraction(7, 2)


@pytest.mark.parametrize("amount", [-1, 1.5, float("nan"), "x", True])
def test_amounts_that_cannot_be(amount: object) -> None:
    with pytest.raises(SpecError):
        tf.MinSupport(amount)  # type: ignore[arg-type]


def test_one_amount() -> None:
    with pytest.raises(SpecError, match="was given 0"):
        tf.MinSupport()
    with pytest.raises(SpecError, match="was given 2"):
        tf.MinSupport(3, fraction=0.1)


def test_max_nodes(data: Dataset) -> None:
    assert tf.MaxNodes(0).violation(stump(data, 25.0), data) == 1
    assert tf.MaxNodes(1).violation(stump(data, 25.0), data) == 0
    for k in (-1, 1.5, True, "x"):
        with pytest.raises(SpecError, match="not possible"):
            tf.MaxNodes(k)  # type: ignore[arg-type]


def test_max_errors(data: Dataset) -> None:
    assert tf.MaxErrors(0).violation(stump(data, 25.0), data) == 1
    assert tf.MaxErrors(0.2).violation(stump(data, 25.0), data) == 0
    same = Dataset.from_user([[1.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(Infeasible, match="at least 1 error"):
        tf.MaxErrors(0).bind(same)


# -- files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "requirement",
    [
        tf.StatisticalParity("sex", ratio=0.8),
        tf.StatisticalParity(SEX, difference="1/3", positive="no"),
        tf.StatisticalParity(pd.Series(SEX, name="sex"), ratio=1),
        tf.MinSupport(2),
        tf.MinSupport(0.05),
        tf.MinSupport(fraction="1/3"),
        tf.MaxNodes(7),
        tf.MaxErrors(3),
        tf.MaxErrors(0.25),
    ],
    ids=str,
)
def test_json_round_trip(data: Dataset, requirement: Requirement) -> None:
    import json

    bound = requirement.bind(data)
    again = Requirement.from_json(json.loads(json.dumps(bound.to_json()))).bind(data)
    assert str(again) == str(bound)
    assert again == bound
    graph = stump(data, 25.0)
    assert again.violation(graph, data) == bound.violation(graph, data)


def test_damaged_groups() -> None:
    for value in ({}, {"codes": [0, 3], "labels": ["a", "b"]}, {"codes": "x", "labels": []}):
        with pytest.raises(tf.errors.CertificateError, match="damaged"):
            Groups.from_json(value)
