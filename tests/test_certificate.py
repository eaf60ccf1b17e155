"""Certificates: they hold for their data, and for nothing else."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import CertificateError
from treeform.solve.certificate import digest_of


@pytest.fixture(scope="module")
def solved():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 60).astype(float),
            "job": rng.choice(["skilled", "unskilled", "none"], 60),
            "owner": rng.random(60) < 0.5,
            "sex": rng.choice(["f", "m"], 60),
        }
    )
    y = np.where((frame.age > 40) | (frame.job == "skilled"), "good", "bad")
    problem = tf.Problem(frame, y, shape=tf.Tree(depth=2), exclude=["sex"])
    problem += [tf.StatisticalParity(groups="sex", ratio=0.8, favourable="good"), tf.MinSupport(0.05)]
    result = problem.solve("highs", time_limit=60)
    # Through JSON, as a file would do.
    return frame, y, result, json.loads(json.dumps(result.certificate()))


def test_certificate_holds_for_its_data(solved):
    frame, y, result, certificate = solved
    report = tf.check(certificate, frame, y)
    assert report.ok, str(report)
    checked = {row.what: row.ok for row in report.rows}
    assert checked["data"]
    assert checked["paths"]
    assert checked["errors"]
    assert any("statistical_parity" in what for what in checked)
    assert certificate["answer"]["errors"] == result.errors
    assert any(row.ok and "claim" in row.what for row in report.rows)


def test_other_data_is_refused(solved):
    frame, y, _, certificate = solved
    other = frame.copy()
    other.loc[0, "age"] += 1.0
    with pytest.raises(CertificateError, match="other data"):
        tf.check(certificate, other, y)
    with pytest.raises(CertificateError, match="samples"):
        tf.check(certificate, frame.iloc[1:], y[1:])


def test_edited_certificate_is_refused(solved):
    frame, y, _, certificate = solved
    edited = copy.deepcopy(certificate)
    edited["answer"]["errors"] = 0
    with pytest.raises(CertificateError, match="changed after it was written"):
        tf.check(edited, frame, y)
    with pytest.raises(CertificateError, match="not a certificate"):
        tf.check({"format": "something else"}, frame, y)


def resign(certificate):
    certificate["digest"] = digest_of(certificate)
    return certificate


def test_false_claims_fail_even_when_signed_again(solved):
    frame, y, _, certificate = solved
    wrong = copy.deepcopy(certificate)
    wrong["answer"]["errors"] += 1
    assert not tf.check(resign(wrong), frame, y).ok
    wrong = copy.deepcopy(certificate)
    for claim in wrong["claims"]:
        if claim["kind"] == "lower" and claim["recheck"]:
            claim["value"] = str(10**6)
    assert not tf.check(resign(wrong), frame, y).ok
    wrong = copy.deepcopy(certificate)
    wrong["answer"]["leaf_of_sample"][0] += 1
    assert not tf.check(resign(wrong), frame, y).ok


def test_a_stronger_task_than_the_problem_is_no_bound(solved):
    frame, y, _, certificate = solved
    wrong = copy.deepcopy(certificate)
    changed = False
    for claim in wrong["claims"]:
        if claim["recheck"]:
            claim["recheck"]["min_support"] = 30
            claim["value"] = str(10**6)
            changed = True
    assert changed
    report = tf.check(resign(wrong), frame, y)
    assert not report.ok
    assert "not a relaxation" in str(report)


def test_weights_and_infeasibility_are_certified():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = [0, 1, 0, 1]
    w = [0.5, 0.25, 1.0, 2.0]
    result = tf.Problem(X, y, shape=tf.Tree(depth=1), sample_weight=w).solve()
    assert float(result.objective) == 1.25
    assert tf.check(result.certificate(), X, y, w).ok
    with pytest.raises(CertificateError, match="other data"):
        tf.check(result.certificate(), X, y)


def test_infeasibility_is_certified_by_the_engine_or_as_a_solvers_word():
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "a"]
    problem = tf.Problem(X, y, shape=tf.Tree(depth=1))
    problem += tf.MaxErrors(0)
    told = problem.solve("cp-sat", warm_start=None, time_limit=30)
    proved = problem.solve(time_limit=30)
    assert told.status is proved.status is tf.Status.INFEASIBLE
    assert "not re-checked" in str(tf.check(told.certificate(), X, y))
    report = tf.check(proved.certificate(), X, y)
    assert report.ok
    assert "infeasible claim by contree: proved again" in str(report)
