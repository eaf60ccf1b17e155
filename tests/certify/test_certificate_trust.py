"""What rests on somebody's word, who proves again, and groups that are no column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from edited_certificates import edit

import treeform as tf
from treeform.certify import Verdict
from treeform.errors import CertificateError, SpecError

# -- on trust ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hyperplanes():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = ["good", "bad", "bad", "good"]
    result = tf.Problem(X, y, shape=tf.Tree(1, splits="multivariate")).solve("highs")
    assert result.status is tf.Status.OPTIMAL
    assert result.errors > 0
    return X, y, json.loads(json.dumps(result.certificate()))


def test_an_optimum_on_a_solvers_word_is_said_to_be_one(hyperplanes):
    X, y, certificate = hyperplanes
    report = tf.check(certificate, X, y)
    assert report.verdict is Verdict.ON_TRUST
    assert not report.ok
    assert not report
    assert len(report.rests_on) == 1
    assert report.rests_on[0].startswith("odd on highs 1.")
    assert report.rests_on[0] in report.sentence
    assert report.rows[-1].verdict is Verdict.ON_TRUST


def test_another_solver_confirms_and_is_named(hyperplanes):
    X, y, certificate = hyperplanes
    report = tf.check(certificate, X, y, confirm="scip")
    assert report.verdict is Verdict.ON_TRUST
    assert len(report.rests_on) == 2
    assert "scip" in report.rests_on[1]
    assert "confirmed by" in str(report)
    again = tf.check(certificate, X, y, confirm="highs")
    assert len(again.rests_on) == 1
    assert "not independent" in str(again)


# -- by whom ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "shape", "prover"),
    [
        ("contree", tf.Tree(2), "dl85"),
        ("dl85", tf.Tree(2), "contree"),
        ("cadl85", tf.Tree(2), "contree"),
        ("diagram-search", tf.Tree(2), "contree"),
        ("diagram-search", tf.Diagram(1, 2), "contree"),
        ("diagram-search", tf.Diagram(1, 1), "diagram-search"),
    ],
)
def test_the_other_engine_proves_again(solver, shape, prover):
    rng = np.random.default_rng(1)
    X, y = rng.random((40, 3)).round(2), rng.integers(0, 2, 40)
    result = tf.Problem(X, y, shape=shape).solve(solver)
    report = tf.check(json.loads(json.dumps(result.certificate())), X, y)
    assert report.ok, str(report)
    strongest = next(row for row in report.rows if row.what.startswith(f"no model is below {result.bound}, by"))
    assert strongest.proved_by == prover
    assert f"proved again by {prover}" in strongest.detail


def test_independent_takes_no_engine():
    rng = np.random.default_rng(1)
    X, y = rng.random((40, 3)).round(2), rng.integers(0, 2, 40)
    certificate = json.loads(json.dumps(tf.Problem(X, y, shape=tf.Tree(2)).solve().certificate()))
    report = tf.check(certificate, X, y, independent=True)
    assert report.ok, str(report)
    assert any(row.proved_by == "the reference search" for row in report.rows)
    certificate = json.loads(json.dumps(tf.Problem(X, y, shape=tf.Tree(4)).solve().certificate()))
    report = tf.check(certificate, X, y, independent=True)
    if certificate["answer"]["objective"] != "0":
        assert report.verdict is Verdict.ON_TRUST
        assert "the native engine" in report.rests_on[0]
        assert "out of reach" in str(report)


# -- groups that are arrays ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fair():
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.integers(0, 4, 40), "b": rng.integers(0, 3, 40)})
    groups = pd.Series(rng.choice(["f", "m"], 40), name="sex")
    y = np.where(groups == "f", X.a > 1, X.b > 0).astype(int)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=groups)
    problem += tf.StatisticalParity(difference=0.1)
    result = problem.solve()
    return X, y, groups, json.loads(json.dumps(result.certificate()))


def test_groups_given_as_arrays_are_part_of_the_data(fair):
    X, y, groups, certificate = fair
    assert "codes" not in json.dumps(certificate)
    assert certificate["data"]["groups"][0]["labels"] == ["f", "m"]
    for same in (groups, groups.to_numpy(), list(groups), groups.to_frame(), {"sex": groups}):
        report = tf.check(certificate, X, y, sensitive_features=same)
        assert report.verdict is not Verdict.FALSE, str(report)
        assert any(row.what == "groups 'sex'" for row in report.rows)
    with pytest.raises(CertificateError, match="groups that were given as an array"):
        tf.check(certificate, X, y)
    with pytest.raises(SpecError, match="rests on"):
        tf.check(certificate, X, y, sensitive_features={"age": groups})
    with pytest.raises(SpecError, match="rests on no groups"):
        tf.check(tf.Problem(X, y, shape="tree:1").solve().certificate(), X, y, sensitive_features=groups)


def test_other_groups_and_swapped_labels_are_noticed(fair):
    X, y, groups, certificate = fair
    other = groups.copy()
    other[0] = "m" if other[0] == "f" else "f"
    swapped = groups.map({"f": "m", "m": "f"})
    called = groups.map({"f": "g", "m": "m"})
    for wrong in (other, swapped, called):
        with pytest.raises(CertificateError, match="other data"):
            tf.check(certificate, X, y, sensitive_features=wrong)
    with pytest.raises(CertificateError, match="called 'gender'"):
        tf.check(certificate, X, y, sensitive_features=groups.rename("gender"))
    forged = edit(certificate, ("data", "groups", 0, "labels"), ["m", "f"])
    with pytest.raises(CertificateError, match="labels"):
        tf.check(forged, X, y, sensitive_features=groups)


def test_an_unfair_model_is_not_certified_with_other_codes(fair):
    X, y, groups, _ = fair
    unfair = tf.Problem(X, y, shape=tf.Tree(2)).solve()
    halves = pd.Series(np.where(np.arange(40) % 2, "f", "m"), name="sex")
    problem = tf.Problem(X, y, shape=tf.Tree(2), sensitive_features=halves)
    problem += tf.StatisticalParity(difference=0.9)
    forged = json.loads(json.dumps(problem.solve(warm_start=unfair.graph).certificate()))
    with pytest.raises(CertificateError, match="other groups of the samples"):
        tf.check(forged, X, y, sensitive_features=groups)


def test_several_arrays_are_given_by_name(fair):
    X, y, groups, _ = fair
    age = np.where(np.arange(40) < 20, "old", "young")
    problem = tf.Problem(X, y, shape=tf.Tree(1))
    problem += [
        tf.StatisticalParity(groups=groups, difference=0.5),
        tf.StatisticalParity(groups=age, difference=0.5),
        tf.StatisticalParity(groups=groups, ratio=0.1),
    ]
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    assert [part["name"] for part in certificate["data"]["groups"]] == ["sex", "groups"]
    both = {"sex": groups, "groups": age}
    assert tf.check(certificate, X, y, sensitive_features=both).verdict is not Verdict.FALSE
    with pytest.raises(SpecError, match="2 arrays"):
        tf.check(certificate, X, y, sensitive_features=groups)
    with pytest.raises(CertificateError, match="labels"):
        tf.check(certificate, X, y, sensitive_features={"sex": age, "groups": groups})


def test_a_bound_rounded_up_to_whole_values_is_proved_again():
    """Error + 2/3 leaves is 2 at least, so that error + what is beyond two leaves is 2/3, and 1 as a whole number."""
    X = [[1, 1], [2, 1], [1, 1], [3, 1], [2, 0], [0, 1]]
    for seed in range(12):
        y = np.random.default_rng(seed).integers(0, 2, 6)
        if len(set(y.tolist())) < 2:
            continue
        problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error() + tf.MaxLeaves(2).soft(1))
        result = problem.solve("continuous-totals")
        assert str(tf.check(result.certificate(), X, y).verdict) == "verified", seed
