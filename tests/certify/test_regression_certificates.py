"""Certificates of regression trees: recounted leaf by leaf, proved again, and refused once they are changed."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from regression_cases import drawn_case, least

import treeform as tf
from treeform.certify import regression
from treeform.certify.certificate import sign
from treeform.certify.reference import least_value
from treeform.certify.regression import _shares
from treeform.errors import CertificateError
from treeform.utils.out_of_reach import OutOfReach


@pytest.mark.parametrize("block", range(2))
def test_the_reference_search_finds_the_optimum(block: int) -> None:
    for seed in range(500 + 15 * block, 515 + 15 * block):
        case = drawn_case(np.random.default_rng(seed))
        assert least_value(case.problem().question) == least(case), seed


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, (30, 2)).astype(float)
    return X, (X[:, 0] * 3 + X[:, 1] ** 2 + rng.integers(0, 4, 30)) / 4


@pytest.mark.parametrize(
    "objective", ["squared_error + 1/3*leaves", "absolute_error", "squared_error[grid=1/2]"]
)
def test_certificates_verify(objective: str) -> None:
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(objective)
    problem += tf.MinSupport(2)
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    report = tf.check(certificate, X, y, independent=True)
    assert report.ok and report.verdict == "verified", str(report)
    assert "proved again by the reference search" in str(report)
    assert certificate["data"]["quantity"]["unit"] in ("1/4", "1/2")
    assert ("rounded to multiples of 0.5" in certificate["data"]["quantity"]["rounded"]) == (
        "grid" in objective
    )


def changed(certificate: dict, change) -> dict:
    body = copy.deepcopy(certificate)
    change(body)
    return sign(body)


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body["model"]["values"].__setitem__(0, "-1"),
        lambda body: body["answer"].__setitem__("objective", "1"),
        lambda body: body["answer"]["leaf_of_sample"].__setitem__(0, 0),
        lambda body: body["answer"].__setitem__("errors", 0),
        lambda body: body["claims"][-1].__setitem__("value", "1000"),
        lambda body: body["data"]["quantity"].__setitem__("unit", "1"),
        lambda body: body["data"]["quantity"].__setitem__("rounded", "a little"),
        lambda body: body["model"]["moments"][0].__setitem__(0, 0.0),
        lambda body: body["problem"].__setitem__("objective", "absolute_error"),
    ],
)
def test_what_was_changed_is_found(change) -> None:
    X, y = table()
    certificate = tf.Problem(X, y, shape=tf.Tree(1)).minimize(tf.SquaredError()).solve().certificate()
    assert tf.check(certificate, X, y).ok
    assert tf.check(changed(certificate, change), X, y).verdict == "false"


def test_other_targets_are_other_data() -> None:
    X, y = table()
    certificate = tf.Problem(X, y, shape=tf.Tree(1)).minimize(tf.SquaredError()).solve().certificate()
    with pytest.raises(CertificateError, match="other data"):
        tf.check(certificate, X, y + 1)
    del certificate["data"]["quantity"]
    assert tf.check(sign(certificate), X, y).verdict == "false"


def test_models_with_other_values_count_what_they_cost() -> None:
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(1)).minimize(tf.SquaredError())
    model = tf.DecisionGraph.constant(Fraction(1, 3), problem.data)
    y_exact = [Fraction(str(v)) for v in y.tolist()]
    assert problem.objective.evaluate(model, problem.data) == sum((v - Fraction(1, 3)) ** 2 for v in y_exact)
    damaged = {**model.to_json(), "values": ["1", "1/2"]}
    with pytest.raises(CertificateError, match="do not ascend"):
        tf.DecisionGraph.from_json(damaged, validate="structure")


def test_a_subtree_is_no_deeper_than_the_tree_allows() -> None:
    """One row needs four tests on its path; three of them leave it with another row: 2 * 5^2."""
    X, y = np.vstack([np.zeros(4), np.eye(4)]), [10, 0, 0, 0, 0]
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize("squared_error")
    assert least_value(problem.question) == 50
    deeper = tf.Problem(X, y, shape=tf.Tree(4)).minimize("squared_error") + tf.MaxNodes(4)
    assert least_value(deeper.question) == 0


def test_two_tests_are_shared_in_every_way() -> None:
    """A test that is dear with one way of sharing may be the best with another."""
    assert _shares(2, 1) == [(0, 0)]
    assert _shares(2, 2) == [(0, 1), (1, 0)]
    assert _shares(3, 4) == [(0, 3), (1, 2), (2, 1), (3, 0)]
    X = [[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1]]
    problem = tf.Problem(X, [0, 0, 1, 1, 3, 2], shape=tf.Tree(2)).minimize("absolute_error") + tf.MaxNodes(2)
    assert least_value(problem.question) == problem.solve(tf.RegressionSearch()).objective == 3


def large_table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    return X, np.round(X[:, 0] + (X[:, 1] > 0.5) + rng.normal(0, 0.1, 200), 2)


@pytest.fixture
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not enough to try every test of the large table, but one in seven."""
    monkeypatch.setattr(regression, "WORK", 4 * 10**6)
    monkeypatch.setattr(regression, "FEW", 30)


def test_intervals_of_tests_leave_few_of_them(little_work: None) -> None:
    X, y = large_table()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.SquaredError())
    report = tf.check(problem.solve().certificate(), X, y, independent=True)
    assert report.verdict == "verified" and "proved again by the reference search" in str(report)


@pytest.mark.parametrize("case", ["noise", "a support", "depth three"])
def test_where_intervals_leave_too_many_the_search_is_refused(little_work: None, case: str) -> None:
    """Where a side of a test may not be a leaf, fewer rows can cost more."""
    X, y = large_table()
    if case == "noise":
        y = np.random.default_rng(1).random(len(y)).round(2)
    problem = tf.Problem(X, y, shape=tf.Tree(3 if case == "depth three" else 2)).minimize(tf.SquaredError())
    if case == "a support":
        problem += tf.MinSupport(2)
    with pytest.raises(OutOfReach) as refused:
        least_value(problem.question)
    assert "additions, more than 4e+06" in str(refused.value.cause)


@pytest.mark.parametrize("enough", [True, False])
def test_searches_with_each_set_of_columns_share_what_they_may_take(
    enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = large_table()
    problem = tf.Problem(X[:30], y[:30], shape=tf.Tree(2)).minimize(tf.SquaredError()) + tf.FeatureBudget(2)
    spent: list[int] = []
    costs = regression._Search._stump_costs

    def counted(search: regression._Search, rows: regression.Mask) -> Any:
        spent.append(search.each)
        return costs(search, rows)

    monkeypatch.setattr(regression._Search, "_stump_costs", counted)
    best = least_value(problem.question)
    most = sum(spent) if enough else sum(spent) - 1
    monkeypatch.setattr(regression, "WORK", most)
    monkeypatch.setattr(regression, "FEW", most // (12 * spent[0]))  # expected: three sets, two columns, two sides
    if enough:
        assert least_value(problem.question) == best
    else:
        with pytest.raises(OutOfReach):
            least_value(problem.question)
