"""Certificates: they hold for their data, and for nothing else."""

from __future__ import annotations

import contextlib
import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from edited_certificates import edit

import treeform as tf
from treeform import backends
from treeform.certify import Verdict
from treeform.certify.certificate import sign
from treeform.data import Dataset
from treeform.errors import CertificateError
from treeform.graph import DecisionGraph


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
    problem += [tf.StatisticalParity(groups="sex", ratio=0.8, positive="good"), tf.MinSupport(0.05)]
    result = problem.solve("highs")
    # Through JSON, as a file would do.
    return frame, y, result, json.loads(json.dumps(result.certificate()))


def test_certificate_holds_for_its_data(solved):
    frame, y, result, certificate = solved
    report = tf.check(certificate, frame, y)
    assert report.ok, str(report)
    assert report.verdict is Verdict.VERIFIED
    assert report.rests_on == ()
    checked = {row.what for row in report.rows}
    assert {"data", "paths", "errors", "shape", "objective", "status"} <= checked
    assert any("statistical_parity" in what for what in checked)
    assert certificate["answer"]["errors"] == result.errors
    assert any(row.proved_by and row.what.startswith("no model is below") for row in report.rows)


def test_one_table_is_enough_where_the_target_is_one_of_its_columns():
    table = pd.DataFrame({"a": [1.0, 2, 3], "good": ["no", "no", "yes"]})
    certificate = tf.Problem(table, "good", shape="tree:1").solve().certificate()
    assert tf.check(certificate, table).ok
    assert tf.check(certificate, table, "good").ok
    with pytest.raises(tf.TreeformError, match="no column 'good'"):
        tf.check(certificate, table[["a"]])


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


def test_false_claims_fail_even_when_signed_again(solved):
    frame, y, _, certificate = solved
    wrong = copy.deepcopy(certificate)
    wrong["answer"]["errors"] += 1
    assert not tf.check(sign(wrong), frame, y).ok
    wrong = copy.deepcopy(certificate)
    for claim in wrong["claims"]:
        if claim["kind"] == "lower":
            claim["value"] = str(10**6)
    assert not tf.check(sign(wrong), frame, y).ok
    wrong = copy.deepcopy(certificate)
    wrong["answer"]["leaf_of_sample"][0] += 1
    assert not tf.check(sign(wrong), frame, y).ok


def test_weights_and_infeasibility_are_certified():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = [0, 1, 0, 1]
    w = [0.5, 0.25, 1.0, 2.0]
    result = tf.Problem(X, y, shape=tf.Tree(depth=1), sample_weight=w).solve()
    assert float(result.objective) == 1.25
    assert tf.check(result.certificate(), X, y, w).ok
    with pytest.raises(CertificateError, match="other data"):
        tf.check(result.certificate(), X, y)


def test_infeasibility_is_proved_again_whoever_claims_it():
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "a"]
    problem = tf.Problem(X, y, shape=tf.Tree(depth=1))
    problem += tf.MaxErrors(0)
    by_solver = problem.solve("cp-sat", warm_start=None)
    by_engine = problem.solve()
    assert by_solver.status is by_engine.status is tf.Status.INFEASIBLE
    for result, prover in ((by_solver, "contree"), (by_engine, "dl85")):
        report = tf.check(result.certificate(), X, y)
        assert report.ok, str(report)
        assert any(row.what.startswith("no model exists") and row.proved_by == prover for row in report.rows)


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
    (("claims",), []),
]


@pytest.mark.parametrize(("path", "value"), FORGERIES)
def test_no_false_statement_passes_when_it_is_signed_again(solved, path, value):
    frame, y, _, certificate = solved
    with contextlib.suppress(CertificateError):
        assert not tf.check(edit(certificate, path, value), frame, y).ok


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
        tf.check(edit(certificate, path, value), frame, y)


CLAIM = {"kind": "infeasible", "value": None, "route": None, "metadata": {"by": "my word"}}


def with_claims(certificate, *claims):
    return edit(certificate, ("claims",), [*certificate["claims"], *claims])


def test_claims_are_held_against_the_model(solved):
    frame, y, _, certificate = solved
    assert "refuted by a model" in str(tf.check(with_claims(certificate, CLAIM), frame, y))
    lower = {**CLAIM, "kind": "lower", "value": "59"}
    assert "refuted by a model" in str(tf.check(with_claims(certificate, lower), frame, y))


def test_unknown_keys_are_refused(solved):
    frame, y, _, certificate = solved
    for path in (
        (),
        ("data",),
        ("problem",),
        ("answer",),
        ("claims", 0),
        ("claims", 0, "metadata"),
        ("metadata",),
    ):
        forged = copy.deepcopy(certificate)
        at = forged
        for key in path:
            at = at[key]
        at["note"] = "trust me"
        with pytest.raises(CertificateError, match=r"unknown key .*note"):
            tf.check(sign(forged), frame, y)
    forged = copy.deepcopy(certificate)
    forged["problem"]["requirements"][0]["parameters"]["strict"] = True
    with pytest.raises(CertificateError):
        tf.check(sign(forged), frame, y)


def xor(n=24, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 4)).astype(float)
    y = (X[:, 0] + X[:, 2]).astype(int) % 2
    y[:3] = 1 - y[:3]
    return X, y


def without_model(certificate, status="infeasible"):
    """The same question, and nothing known but what is claimed."""
    bare = copy.deepcopy(certificate)
    bare["model"], bare["claims"] = None, [CLAIM] if status == "infeasible" else []
    bare["answer"] = {"status": status, "objective": None, "bound": None}
    return sign(bare)


def test_infeasible_is_refuted_by_any_admissible_model():
    X, y = xor()
    problem = tf.Problem(X, y, shape=tf.Tree(depth=2))
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    report = tf.check(without_model(certificate), X, y)
    assert report.verdict is Verdict.FALSE
    assert "refuted by a model" in str(report)
    # No constant model is admissible, and the engine finds another one.
    problem += tf.MaxErrors(6)
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    assert tf.check(without_model(certificate), X, y).verdict is Verdict.FALSE


def test_a_shape_that_is_rewritten_is_another_question():
    X, y = xor()
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Depth())
    problem += tf.MaxErrors(3)
    for result in (problem.solve("sat", warm_start="contree"), tf.Problem(X, y, shape=tf.Tree(1)).solve()):
        certificate = json.loads(json.dumps(result.certificate()))
        assert tf.check(certificate, X, y).ok
        forged = edit(certificate, ("problem", "shape", "splits"), "multivariate")
        report = tf.check(forged, X, y)
        assert not report.ok, str(report)
    narrow = tf.Problem(X, y, shape=tf.Diagram(1, 1)).solve()
    assert narrow.errors > 3
    certificate = json.loads(json.dumps(narrow.certificate()))
    for shape in ({"type": "diagram", "widths": [1, 2]}, {"type": "tree", "depth": 2}):
        assert tf.check(edit(certificate, ("problem", "shape"), shape), X, y).verdict is Verdict.FALSE


def test_a_proof_on_file_does_not_carry_over_to_hyperplanes(tmp_path):
    X, y = xor()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Depth())
    problem += tf.MaxErrors(3)
    certificate = json.loads(json.dumps(problem.solve("sat", proofs=tmp_path).certificate()))
    assert tf.check(certificate, X, y, proofs=tmp_path, independent=True).ok
    forged = edit(certificate, ("problem", "shape", "splits"), "multivariate")
    report = tf.check(forged, X, y, proofs=tmp_path)
    assert report.verdict is Verdict.FALSE, str(report)
    assert "cannot be verified" in str(report)


def test_a_lower_bound_by_anybody_is_settled_where_an_engine_can():
    X, y = xor()
    result = tf.Problem(X, y, shape=tf.Tree(2)).solve("highs", warm_start=None)
    certificate = json.loads(json.dumps(result.certificate()))
    assert tf.check(certificate, X, y).ok  # what HiGHS claims is proved by an engine
    for by in ("contree", "my word"):
        worse = tf.Problem(X, y, shape=tf.Tree(2)).solve().certificate()
        constant = tf.Problem(X, y, shape=tf.Tree(2)).solve(
            "highs", warm_start=DecisionGraph.leaf(0, Dataset.from_user(X, y)), time_limit=0.01
        )
        value = str(constant.objective)
        if constant.objective == result.objective:
            continue
        claim = {"kind": "lower", "value": value, "route": None, "metadata": {"by": by}}
        forged = copy.deepcopy(json.loads(json.dumps(constant.certificate())))
        forged["claims"] = [claim]
        forged["answer"] |= {"status": "optimal", "bound": value}
        report = tf.check(sign(forged), X, y)
        assert report.verdict is Verdict.FALSE, str(report)
        assert worse["answer"]["objective"] != value


def test_infeasible_over_hyperplanes_is_refuted_by_a_test_of_one_column():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    problem = tf.Problem(X, y, shape=tf.Tree(1, splits="multivariate"))
    problem += tf.MaxErrors(0)
    certificate = json.loads(json.dumps(problem.solve("highs").certificate()))
    report = tf.check(without_model(certificate), X, y)
    assert report.verdict is Verdict.FALSE
    assert "found by contree over single columns" in str(report)


@pytest.mark.parametrize("engine", ["contree:max_gap=5", "dl85:binarize=1", "my engine"])
def test_no_setting_and_no_engine_of_ones_own_proves(engine):
    rng = np.random.default_rng(1)
    X, y = rng.random((40, 3)).round(2), rng.integers(0, 2, 40)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    certificate = json.loads(json.dumps(problem.solve().certificate()))
    assert int(certificate["answer"]["objective"]) > 0
    forged = copy.deepcopy(certificate)
    for claim in forged["claims"]:
        if "engine" in claim["metadata"]["details"]:
            claim["metadata"]["details"]["engine"] = engine
            claim["value"] = str(int(claim["value"]) + 1)
            forged["answer"]["bound"] = claim["value"]
    assert tf.check(sign(forged), X, y).verdict is Verdict.FALSE


def test_a_requirement_that_is_removed_is_removed_from_the_bound():
    X, y = xor()
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    problem += tf.MinSupport(8)
    result = problem.solve("cp-sat", warm_start=None)
    assert result.errors > tf.Problem(X, y, shape=tf.Tree(2)).solve().errors
    certificate = json.loads(json.dumps(result.certificate()))
    assert tf.check(certificate, X, y).ok
    forged = copy.deepcopy(certificate)
    forged["problem"]["requirements"], forged["answer"]["violations"] = [], {}
    assert tf.check(sign(forged), X, y).verdict is Verdict.FALSE
    forged = copy.deepcopy(certificate)
    forged["problem"]["requirements"][0] |= {"label": "min_support:1", "parameters": {"count": 1}}
    forged["answer"]["violations"] = {"min_support:1": "0"}
    assert tf.check(sign(forged), X, y).verdict is Verdict.FALSE


def test_multipliers_prove_no_more_than_they_prove(solved):
    frame, _, _, _ = solved
    y = np.where((frame.age > 40) ^ (frame.job == "skilled"), "good", "bad")
    y[:6] = "bad"
    problem = tf.Problem(frame, y, shape=tf.Tree(depth=2), exclude=["sex"])
    problem += [tf.StatisticalParity(groups="sex", ratio=0.95, positive="good"), tf.MinSupport(0.05)]
    certificate = json.loads(json.dumps(problem.solve("cp-sat", warm_start="contree").certificate()))
    priced = next(c for c in certificate["claims"] if (c["route"] or {}).get("kind") == "lagrangian")
    index, value = 0, priced["value"]
    certificate["claims"] = [priced]
    optimal = value == certificate["answer"]["objective"]
    certificate["answer"] |= {"bound": value, "status": "optimal" if optimal else "feasible"}
    certificate = sign(certificate)
    assert f"no model is below {value}," in str(tf.check(certificate, frame, y))
    row = next(r for r in tf.check(certificate, frame, y).rows if r.what.startswith(f"no model is below {value},"))
    assert (row.verdict, row.proved_by) == (Verdict.VERIFIED, "dl85 with multipliers")
    more = edit(certificate, ("claims", index, "value"), str(int(value) + 1))
    assert optimal or "its multipliers prove only" in str(tf.check(more, frame, y))
    multipliers = certificate["claims"][index]["route"]["multipliers"]
    for forged in (
        multipliers[:1],
        [{**one, "value": "-1"} for one in multipliers],
        [{**one, "requirement": "min_support:0.05"} for one in multipliers],
        [{**one, "value": str(2**80)} for one in multipliers],
        [],
    ):
        edited = edit(certificate, ("claims", index, "route", "multipliers"), forged)
        assert "multipliers" in str(tf.check(edited, frame, y).sentence)


def test_multipliers_of_an_engine_that_supports_more_are_proved_by_it() -> None:
    """On a diagram the tree engine leaves out the price of tests: its own minimum is no answer to the claim."""
    X, y = pd.DataFrame({"a": ["u", "v"]}), [1, 0]
    problem = tf.Problem(X, y, shape=tf.Diagram(1))
    problem.minimize(tf.Nodes())
    problem += tf.MaxErrors(0)
    result = problem.solve("cp-sat", formulation="odd")
    assert tf.check(result.certificate(), X, y).verdict == "verified"


def test_a_solver_is_looked_for_only_where_a_claim_names_one(monkeypatch):
    problem = tf.Problem([[0], [1], [2]], [0, 1, 0], shape=tf.Tree(1))
    native, modelled = problem.solve(), problem.solve("highs", formulation="odd", warm_start=None)
    asked, by_name = [], backends.by_name
    monkeypatch.setattr(backends, "by_name", lambda name: asked.append(name) or by_name(name))
    assert native.certificate()["claims"] and not asked
    claims = modelled.certificate()["claims"]
    assert asked and any(re.search(r"on highs \d", claim["metadata"]["by"]) for claim in claims)
