"""Proofs next to certificates: derived from the data alone, and worth nothing for any other claim."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.catalogue.solvers import find_formulation
from treeform.certify import Verdict
from treeform.certify.certificate import sign
from treeform.certify.proofs import Proofs, Statement, derive, read
from treeform.certify.proofs.write import digest_of_file
from treeform.certify.reference import OutOfReach
from treeform.certify.schema import ProofRoute
from treeform.cli.app import app
from treeform.errors import CertificateError, SolverNotAvailable, SpecError
from treeform.formulations.sat import SatDepth
from treeform.shape import Tree
from treeform.utils.budget import Budget


def table(n: int = 40, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Parity of three of six bits: needs depth 3."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 6)).astype(float)
    return X, (X[:, 0] + X[:, 2] + X[:, 5]).astype(int) % 2


def least_depth(X: Any, y: Any, depth: int = 4) -> tf.Problem:
    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    problem.minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    return problem


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any, dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("proofs")
    X, y = table()
    result = least_depth(X, y).solve("sat", proofs=folder)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, 3)
    return X, y, json.loads(json.dumps(result.certificate())), folder


def told(certificate: dict[str, Any]) -> dict[str, Any]:
    return next(claim for claim in certificate["claims"] if (claim["route"] or {}).get("kind") == "proof")


def row(certificate: dict[str, Any], X: Any, y: Any, folder: Any, **more: Any) -> Any:
    """The row of the check that is about the proof."""
    by = told(certificate)
    name = f"no model is below {by['value']}," if by["kind"] == "lower" else "no model exists,"
    return next(r for r in tf.check(certificate, X, y, proofs=folder, **more).rows if r.what.startswith(name))


def verified(found: Any) -> bool:
    """Whether the proof, and nothing else, showed it."""
    return bool(found.verdict is Verdict.VERIFIED and found.proved_by == "the proof checker")


def refused(certificate: dict[str, Any], X: Any, y: Any, folder: Any) -> bool:
    """Whether the check finds the claim false, or the certificate malformed."""
    try:
        return bool(row(certificate, X, y, folder).verdict is Verdict.FALSE)
    except CertificateError:
        return True


def edited(certificate: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The certificate with other words about the proof, signed again."""
    copy = json.loads(json.dumps(certificate))
    claim = told(copy)
    claim["route"] |= changes.pop("route", {})
    claim |= changes
    return sign(copy)


# -- what holds -----------------------------------------------------------------------------------


def test_a_proof_is_written_and_verified(proved):
    X, y, certificate, folder = proved
    assert [path.name for path in folder.iterdir()] == [told(certificate)["route"]["file"]]
    report = tf.check(certificate, X, y, proofs=folder)
    assert report.ok, str(report)
    found = row(certificate, X, y, folder)
    assert verified(found)
    assert "clauses derived from the data" in found.detail


def test_without_the_folder_something_else_has_to_prove_it(proved, monkeypatch):
    def out_of_reach(*_: Any) -> Any:
        raise OutOfReach("too large")

    X, y, certificate, _ = proved
    found = row(certificate, X, y, None)
    assert (found.verdict, found.proved_by) == (Verdict.VERIFIED, "contree")
    for prover in ("by_engines", "least_value"):
        monkeypatch.setattr(f"treeform.certify.bounds.{prover}", out_of_reach)
    found = row(certificate, X, y, None)
    assert found.verdict is Verdict.ON_TRUST
    assert "--proof" in found.detail
    assert found.rests_on[0].startswith("sat-depth on glucose42 1.")


def test_the_clauses_are_the_same_every_time(proved):
    X, y, certificate, _ = proved
    rows, details = told(certificate)["route"]["rows"], told(certificate)["metadata"]["details"]
    question = least_depth(X, y).question
    points = np.unique(question.data.points.index[rows])
    statement = Statement(Tree(2), None, points)
    digests = {derive(question, find_formulation("sat-depth"), statement).digest for _ in range(3)}
    assert digests == {details["cnf"]["sha256"]}
    # Also in another process, where hashes of strings differ.
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_proofs_certificate as t\n"
        "from treeform.certify.proofs import Statement, derive\n"
        "q = t.least_depth(*t.table()).question\n"
        "s = Statement(t.Tree(2), None, t.np.array(eval(sys.argv[2])))\n"
        "print(derive(q, t.find_formulation('sat-depth'), s).digest)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(points.tolist())],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == details["cnf"]["sha256"]


def test_equal_runs_write_equal_files(proved, tmp_path):
    X, y, certificate, _ = proved
    again = least_depth(X, y).solve("sat", proofs=tmp_path).certificate()
    assert told(again)["route"] == told(certificate)["route"]


def test_no_tree_at_all(tmp_path):
    X, y = table()
    result = least_depth(X, y, depth=2).solve("sat", proofs=tmp_path)
    assert result.status is tf.Status.INFEASIBLE
    certificate = result.certificate()
    infeasible = next(c for c in certificate["claims"] if c["kind"] == "infeasible")
    assert infeasible["metadata"]["details"]["shape"] == Tree(2).to_json()
    report = tf.check(certificate, X, y, proofs=tmp_path)
    assert report.ok, str(report)


def test_fewest_errors_at_a_depth(tmp_path):
    X, y = table(24, seed=2)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve("sat", formulation="sat-depth", warm_start=None, proofs=tmp_path)
    assert result.status is tf.Status.OPTIMAL
    certificate = result.certificate()
    assert told(certificate)["route"]["at_most"] == str(result.objective - 1)
    assert verified(row(certificate, X, y, tmp_path))
    for at_most in (result.objective, result.objective - 2):
        assert refused(edited(certificate, route={"at_most": str(at_most)}), X, y, tmp_path)


def test_fewest_tests_at_a_depth(tmp_path):
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Nodes())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", formulation="sat-size", warm_start=None, proofs=tmp_path)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, 7)
    assert verified(row(result.certificate(), X, y, tmp_path))


def test_other_solvers_minimise_the_depth_with_proofs_too(tmp_path):
    X, y = table(20)
    result = least_depth(X, y, 3).solve("cpsat", formulation="sat-depth", proofs=tmp_path)
    assert verified(row(result.certificate(), X, y, tmp_path))


def test_formulations_of_linear_rows_have_clauses_too(tmp_path):
    X, y = table(16)
    result = least_depth(X, y, 2).solve("highs", formulation="odd", proofs=tmp_path)
    assert verified(row(result.certificate(), X, y, tmp_path))


@pytest.mark.parametrize("solver", ["cadical195", "glucose3"])
def test_any_prover(tmp_path, solver):
    X, y = table(20)
    result = least_depth(X, y).solve("sat", proofs=Proofs(tmp_path, solver=solver))
    certificate = result.certificate()
    assert told(certificate)["metadata"]["details"]["solver"] == solver
    assert verified(row(certificate, X, y, tmp_path))


def test_rows_that_the_table_drops_do_not_matter(tmp_path):
    X, y = table(30)
    weights = np.ones(60, dtype=int)
    weights[::2] = 0
    problem = tf.Problem(np.repeat(X, 2, axis=0), np.repeat(y, 2), shape=tf.Tree(4), sample_weight=weights)
    problem.minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", proofs=tmp_path)
    certificate = result.certificate()
    assert all(r % 2 for r in told(certificate)["route"]["rows"])
    report = tf.check(certificate, np.repeat(X, 2, axis=0), np.repeat(y, 2), weights, proofs=tmp_path)
    assert report.ok
    assert any("proof verified" in r.detail for r in report.rows)


def test_on_the_command_line(tmp_path):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    data, certificate, folder = tmp_path / "table.csv", tmp_path / "c.json", tmp_path / "proofs"

    def run(*words: object) -> Any:
        return CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "200", "NO_COLOR": "1"})

    fitted = run(
        "fit", data, "--target", "y", "--shape", "tree:4", "--minimize", "depth", "--require", "max_errors:0",
        "--solver", "sat", "--certificate", certificate, "--proofs", folder,
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    checked = run("check", certificate, data, "--proof", folder)
    assert checked.exit_code == 0, checked.output
    assert "proof verified" in checked.output
    assert "proved again by contree" in run("check", certificate, data).output
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert run("check", certificate, data, "--proof", folder).exit_code == 6


# -- what does not --------------------------------------------------------------------------------


def test_a_stronger_claim_does_not_hold(proved):
    X, y, certificate, folder = proved
    assert refused(edited(certificate, value="4"), X, y, folder)


def test_a_claim_about_another_depth_does_not_hold(proved):
    X, y, certificate, folder = proved
    for depth in (1, 3):  # the shape that is refuted follows from the claim: a route names none
        assert refused(edited(certificate, route={"shape": Tree(depth).to_json()}), X, y, folder)
    weaker = row(edited(certificate, value="2"), X, y, folder)
    assert weaker.verdict is Verdict.FALSE, weaker  # the proof refutes depth 2, and the claim needs depth 1


def test_fewer_examples_are_other_clauses(proved):
    X, y, certificate, folder = proved
    rows = told(certificate)["route"]["rows"]
    found = row(edited(certificate, route={"rows": rows[: len(rows) // 2]}), X, y, folder)
    assert found.verdict is Verdict.FALSE
    assert "the clauses that its versions derived" in found.detail
    for bad in ([10**6], [-1], "all", [[1]]):
        assert refused(edited(certificate, route={"rows": bad}), X, y, folder)


def test_what_is_stored_about_the_clauses_is_not_believed(proved):
    X, y, certificate, folder = proved
    lie = {"cnf": {"variables": 1, "clauses": 1, "sha256": "0" * 64}, "versions": {}}
    told_otherwise = edited(certificate, metadata={"by": "sat-depth on sat", "details": lie})
    assert verified(row(told_otherwise, X, y, folder))


@pytest.mark.parametrize("name", ["nothing.drup.gz", "../proof.drup.gz", "/etc/hostname", ""])
def test_a_proof_that_is_not_there(proved, name):
    X, y, certificate, folder = proved
    assert "there is no proof" in row(edited(certificate, route={"file": name}), X, y, folder).detail


@pytest.mark.parametrize("formulation", ["odd", "sat-depth:x=1", "nothing", None])
def test_another_formulation(proved, formulation):
    X, y, certificate, folder = proved
    assert refused(edited(certificate, route={"formulation": formulation}), X, y, folder)


def test_damaged_files(proved, tmp_path):
    X, y, certificate, folder = proved
    name = told(certificate)["route"]["file"]
    whole = (folder / name).read_bytes()
    text = gzip.decompress(whole)
    lines = text.splitlines(keepends=True)
    lemmas = [i for i, line in enumerate(lines) if not line.startswith(b"d")]
    damaged = {
        "truncated file": whole[:-20],
        "no gzip": text,
        "cut off": gzip.compress(text[: len(text) // 3]),
        "empty": gzip.compress(b""),
        "first lemmas left out": gzip.compress(b"".join(lines[lemmas[len(lemmas) // 2] :])),
        "words": gzip.compress(b"trust me\n"),
        "other signs": gzip.compress(text.replace(b"-", b"")),
    }
    for what, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        # The digest in the certificate notices; and if that is changed too, the checker does.
        assert "changed after it was written" in row(certificate, X, y, tmp_path).detail
        signed = edited(certificate, route={"sha256": digest_of_file(tmp_path / name)})
        assert refused(signed, X, y, tmp_path), what


def test_a_proof_of_other_data(proved, tmp_path):
    X, y, certificate, _ = proved
    other = 1 - X
    flipped = np.where(other[:, 1] > 0, y, 1 - y)
    foreign = least_depth(other, flipped).solve("sat", proofs=tmp_path).certificate()
    mixed = edited(certificate, route=told(foreign)["route"])
    assert refused(mixed, X, y, tmp_path)


# -- when there is none -----------------------------------------------------------------------------


def notes(problem: tf.Problem, folder: Path, solver: Any = None, **more: Any) -> str:
    result = problem.solve(solver, proofs=folder, **more)
    assert not any(folder.iterdir())
    return "\n".join(result.notes)


def test_native_engines_write_none(tmp_path):
    assert "contree" in notes(tf.Problem(*table(), shape=tf.Tree(2)), tmp_path, "contree")


def test_formulations_that_nobody_else_has_write_none(tmp_path):
    class Mine(SatDepth):
        name = "mine"

    assert "mine is not installed" in notes(least_depth(*table()), tmp_path, "sat", formulation=Mine())


def test_no_time_left(tmp_path):
    budget = Budget(100)
    budget.interrupt()
    question = least_depth(*table()).question.with_(shape=Tree(2))
    told = Proofs(tmp_path).refute(question, find_formulation("sat-depth"), None, None, budget)
    assert isinstance(told, str)
    assert "stopped" in told
    assert not any(tmp_path.iterdir())


def test_what_is_no_refutation_is_not_written(tmp_path):
    question = least_depth(*table()).question.with_(shape=Tree(3))
    told = Proofs(tmp_path).refute(question, find_formulation("sat-depth"), None, None, Budget(None))
    assert isinstance(told, str)
    assert "does not refute" in told


def test_a_folder_that_is_a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(SpecError, match="proofs cannot be written"):
        least_depth(*table()).solve("sat", proofs=path)


# -- drat-trim --------------------------------------------------------------------------------------


def test_drat_trim_is_used_when_asked_for(proved, tmp_path, monkeypatch):
    X, y, certificate, folder = proved
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SolverNotAvailable, match="drat-trim"):
        tf.check(certificate, X, y, proofs=folder, drat_trim=True)
    program = tmp_path / "drat-trim"
    for answer, expected in (
        ("s VERIFIED", (Verdict.VERIFIED, "the proof checker")),
        ("s NOT VERIFIED", (Verdict.FALSE, "")),
        ("s TIMEOUT", (Verdict.VERIFIED, "contree")),
        ("", (Verdict.FALSE, "")),
    ):
        program.write_text(f"#!/bin/sh\nread first < $1\necho \"c $first\"\necho '{answer}'\n")
        program.chmod(0o755)
        found = row(certificate, X, y, folder, drat_trim=True)
        assert (found.verdict, found.proved_by) == expected


@pytest.mark.parametrize(
    "name", ["../outside.gz", "/etc/passwd", "..", ".", "sub/inside.gz", "", "9" * 5000, "a\0b"]
)
def test_paths_that_leave_the_folder_of_proofs_are_not_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "proofs"
    (folder / "sub").mkdir(parents=True)
    for path in (tmp_path / "outside.gz", folder / "sub" / "inside.gz"):
        path.write_bytes(b"0")
    route = ProofRoute(
        kind="proof", file=name, sha256="0" * 64, formulation="sat-depth", at_most=None, rows=None
    )
    with pytest.raises(CertificateError, match="there is no proof"):
        read._file(route, folder)
