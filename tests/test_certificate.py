"""Certificates: they hold for their data, and for nothing else."""

from __future__ import annotations

import contextlib
import copy
import json

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.certify.certificate import digest_of
from treeform.errors import CertificateError
from treeform.graph.jsonio import digest as model_digest


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
            claim["value"] = certificate["answer"]["objective"]
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


def _edit(certificate, path, value):
    edited = copy.deepcopy(certificate)
    at = edited
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    if edited["model"] is not None:
        edited["model"]["digest"] = model_digest(edited["model"])
    return resign(edited)


FORGERIES = [
    (("answer", "bound"), "1"),
    (("answer", "bound"), None),
    (("answer", "status"), "feasible"),
    (("answer", "status"), "infeasible"),
    (("answer", "status"), "proved"),
    (("answer", "weighted_errors"), 0),
    (("answer", "confusion", 0, 0), 1000),
    (("answer", "violations"), {}),
    (("data", "features", 0), "income"),
    (("data", "classes", 0), "fine"),
    (("data", "n_samples"), 61),
    (("data", "weighted"), True),
    (("problem", "requirements", 0, "label"), "statistical_parity: perfect"),
    (("problem", "shape", "depth"), 1),
    (("problem", "objective"), "error + nodes"),
    (("model", "nodes", 0, "counts", 0), 0),
    (("model", "nodes", 0, "threshold"), -1e9),
    (("model", "classes", "labels"), ["good", "bad"]),
    (("claims", 0, "kind"), "certain"),
    (("claims", 0, "value"), "1/2"),
    (("claims",), []),
]


@pytest.mark.parametrize(("path", "value"), FORGERIES)
def test_no_false_statement_passes_when_it_is_signed_again(solved, path, value):
    frame, y, _, certificate = solved
    with contextlib.suppress(CertificateError):
        assert not tf.check(_edit(certificate, path, value), frame, y).ok


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claims",), 5),
        (("claims", 0), "x"),
        (("answer",), []),
        (("data", "exclude"), None),
        (("problem",), {}),
    ],
)
def test_damage_has_a_message_of_its_own(solved, path, value):
    frame, y, _, certificate = solved
    with pytest.raises(CertificateError, match="damaged"):
        tf.check(_edit(certificate, path, value), frame, y)


def test_claims_are_held_against_the_model(solved):
    frame, y, _, certificate = solved
    claim = {"kind": "infeasible", "value": None, "by": "x", "seconds": 0, "relaxation": [], "recheck": None}
    forged = _edit(certificate, ("claims",), [*certificate["claims"], claim])
    assert "refuted by the model" in str(tf.check(forged, frame, y))
    claim |= {"kind": "lower", "value": "59"}
    forged = _edit(certificate, ("claims",), [*certificate["claims"], claim])
    assert "refuted by the model" in str(tf.check(forged, frame, y))


def test_a_bound_is_no_stronger_than_its_proof(solved):
    frame, _, _, _ = solved
    y = np.where((frame.age > 40) ^ (frame.job == "skilled"), "good", "bad")
    y[:6] = "bad"
    problem = tf.Problem(frame, y, shape=tf.Tree(depth=2), exclude=["sex"])
    problem += [tf.StatisticalParity(groups="sex", ratio=0.95, favourable="good"), tf.MinSupport(0.05)]
    certificate = json.loads(json.dumps(problem.solve("cp-sat", time_limit=60).certificate()))
    rechecked = [index for index, claim in enumerate(certificate["claims"]) if claim["recheck"]]
    assert rechecked
    for index in rechecked:
        forged = _edit(certificate, ("claims", index, "relaxation"), ["min_support:0.05"])
        assert "does not leave out" in str(tf.check(forged, frame, y))
        recheck = certificate["claims"][index]["recheck"]
        label = certificate["problem"]["requirements"][0]["label"]
        for multiplier in ("1e30", "-1", "1/3"):
            priced = {**recheck, "multipliers": [[label, multiplier]] * 2}
            forged = _edit(certificate, ("claims", index, "recheck"), priced)
            bound = certificate["answer"]["objective"]
            assert not tf.check(_edit(forged, ("claims", index, "value"), bound), frame, y).ok
        for key, value in {
            "min_support": 20,
            "max_nodes": 1,
            "depth": 1,
            "factor": "2",
            "offset": "1",
        }.items():
            forged = _edit(certificate, ("claims", index, "recheck", key), value)
            assert "not a relaxation" in str(tf.check(forged, frame, y))


def test_an_optimum_on_a_solvers_word_is_said_to_be_one(solved):
    frame, y, _, _ = solved
    problem = tf.Problem(frame, y, shape=tf.Tree(depth=1), exclude=["sex"])
    problem += tf.StatisticalParity(groups="sex", ratio=0.8, favourable="good")
    report = tf.check(problem.solve("highs", warm_start=None, time_limit=60).certificate(), frame, y)
    assert report.ok
    assert report.rows[-1].ok is None
    assert "word of a solver" in str(report)
