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
from treeform.catalogue.formulations import find_formulation
from treeform.certify.certificate import digest_of
from treeform.certify.proofs import Proofs, Statement, derive
from treeform.certify.proofs.write import digest_of_file
from treeform.cli.app import app
from treeform.errors import SolverNotAvailable, SpecError
from treeform.formulations.sat import SatDepth
from treeform.shape import Tree
from treeform.solve.budget import Budget


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
    return next(claim for claim in certificate["claims"] if "proof" in (claim["recheck"] or {}))


def row(certificate: dict[str, Any], X: Any, y: Any, folder: Any, **more: Any) -> Any:
    """The row of the check that is about the proof."""
    by = told(certificate)
    name = f"{by['kind']} claim" + (f" {by['value']}" if by["value"] else "")
    return next(r for r in tf.check(certificate, X, y, proofs=folder, **more).rows if r.what.startswith(name))


def edited(certificate: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The certificate with other words about the proof, signed again."""
    copy = json.loads(json.dumps(certificate))
    claim = told(copy)
    claim["recheck"] |= changes.pop("recheck", {})
    claim |= changes
    copy["digest"] = digest_of(copy)
    return copy


# -- what holds -----------------------------------------------------------------------------------


def test_a_proof_is_written_and_verified(proved):
    X, y, certificate, folder = proved
    assert [path.name for path in folder.iterdir()] == [told(certificate)["recheck"]["proof"]]
    report = tf.check(certificate, X, y, proofs=folder)
    assert all(r.ok for r in report.rows), str(report)
    found = row(certificate, X, y, folder)
    assert found.ok is True
    assert "clauses derived from the data" in found.detail


def test_without_the_folder_the_claim_is_not_rechecked(proved):
    X, y, certificate, _ = proved
    found = row(certificate, X, y, None)
    assert found.ok is None
    assert "--proof" in found.detail


def test_the_clauses_are_the_same_every_time(proved):
    X, y, certificate, _ = proved
    recheck = told(certificate)["recheck"]
    question = least_depth(X, y).question
    points = np.unique(question.data.points.index[recheck["rows"]])
    statement = Statement(Tree(2), None, points)
    digests = {derive(question, find_formulation("sat-depth"), statement).digest for _ in range(3)}
    assert digests == {recheck["cnf"]["sha256"]}
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
    assert done.stdout.strip() == recheck["cnf"]["sha256"]


def test_equal_runs_write_equal_files(proved, tmp_path):
    X, y, certificate, _ = proved
    again = least_depth(X, y).solve("sat", proofs=tmp_path).certificate()
    assert told(again)["recheck"] == told(certificate)["recheck"]


def test_no_tree_at_all(tmp_path):
    X, y = table()
    result = least_depth(X, y, depth=2).solve("sat", proofs=tmp_path)
    assert result.status is tf.Status.INFEASIBLE
    certificate = result.certificate()
    infeasible = next(c for c in certificate["claims"] if c["kind"] == "infeasible")
    assert infeasible["recheck"]["shape"] == Tree(2).to_json()
    report = tf.check(certificate, X, y, proofs=tmp_path)
    assert all(r.ok for r in report.rows if r.what.startswith(("infeasible", "status"))), str(report)


def test_fewest_errors_at_a_depth(tmp_path):
    X, y = table(24, seed=2)
    problem = tf.Problem(X, y, shape=tf.Tree(2))
    result = problem.solve("sat", formulation="sat-depth", warm_start=None, proofs=tmp_path)
    assert result.status is tf.Status.OPTIMAL
    certificate = result.certificate()
    assert told(certificate)["recheck"]["at_most"] == str(result.objective - 1)
    assert row(certificate, X, y, tmp_path).ok is True
    assert row(edited(certificate, recheck={"at_most": str(result.objective)}), X, y, tmp_path).ok is False
    assert (
        row(edited(certificate, recheck={"at_most": str(result.objective - 2)}), X, y, tmp_path).ok is False
    )


def test_fewest_tests_at_a_depth(tmp_path):
    X, y = table()
    problem = tf.Problem(X, y, shape=tf.Tree(3)).minimize(tf.Nodes())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", formulation="sat-size", warm_start=None, proofs=tmp_path)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, 7)
    assert row(result.certificate(), X, y, tmp_path).ok is True


def test_other_solvers_climb_with_proofs_too(tmp_path):
    X, y = table(20)
    result = least_depth(X, y, 3).solve("cpsat", formulation="sat-depth", proofs=tmp_path, time_limit=60)
    assert row(result.certificate(), X, y, tmp_path).ok is True


def test_formulations_of_linear_rows_have_clauses_too(tmp_path):
    X, y = table(16)
    result = least_depth(X, y, 2).solve("highs", formulation="odd", proofs=tmp_path, time_limit=60)
    assert row(result.certificate(), X, y, tmp_path).ok is True


@pytest.mark.parametrize("solver", ["cadical195", "glucose3"])
def test_any_prover(tmp_path, solver):
    X, y = table(20)
    result = least_depth(X, y).solve("sat", proofs=Proofs(tmp_path, solver=solver))
    certificate = result.certificate()
    assert told(certificate)["recheck"]["solver"] == solver
    assert row(certificate, X, y, tmp_path).ok is True


def test_rows_that_the_table_drops_do_not_matter(tmp_path):
    X, y = table(30)
    weights = np.ones(60, dtype=int)
    weights[::2] = 0
    problem = tf.Problem(np.repeat(X, 2, axis=0), np.repeat(y, 2), shape=tf.Tree(4), sample_weight=weights)
    problem.minimize(tf.Depth())
    problem += tf.MaxErrors(0)
    result = problem.solve("sat", proofs=tmp_path)
    certificate = result.certificate()
    assert all(r % 2 for r in told(certificate)["recheck"]["rows"])
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
    assert "could not be re-checked" in run("check", certificate, data).output
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert run("check", certificate, data, "--proof", folder).exit_code == 1


# -- what does not --------------------------------------------------------------------------------


def test_a_stronger_claim_does_not_hold(proved):
    X, y, certificate, folder = proved
    found = row(edited(certificate, value="4"), X, y, folder)
    assert found.ok is False


def test_a_claim_about_another_depth_does_not_hold(proved):
    X, y, certificate, folder = proved
    deeper = edited(certificate, recheck={"shape": Tree(3).to_json()})
    assert row(deeper, X, y, folder).ok is False
    shallower = edited(certificate, recheck={"shape": Tree(1).to_json()})
    assert row(shallower, X, y, folder).ok is False


def test_fewer_examples_are_other_clauses(proved):
    X, y, certificate, folder = proved
    rows = told(certificate)["recheck"]["rows"]
    found = row(edited(certificate, recheck={"rows": rows[: len(rows) // 2]}), X, y, folder)
    assert found.ok is False
    assert "other clauses" in found.detail
    for bad in ([10**6], [-1], "all", [[1]]):
        assert row(edited(certificate, recheck={"rows": bad}), X, y, folder).ok is False


def test_what_is_stored_about_the_clauses_is_not_believed(proved):
    X, y, certificate, folder = proved
    lie = {"cnf": {"variables": 1, "clauses": 1, "sha256": "0" * 64}, "versions": {}}
    assert row(edited(certificate, recheck=lie), X, y, folder).ok is True


@pytest.mark.parametrize("name", ["nothing.drup.gz", "../proof.drup.gz", "/etc/hostname", ""])
def test_a_proof_that_is_not_there(proved, name):
    X, y, certificate, folder = proved
    assert "there is no proof" in row(edited(certificate, recheck={"proof": name}), X, y, folder).detail


@pytest.mark.parametrize("formulation", ["odd", "nothing", None])
def test_another_formulation(proved, formulation):
    X, y, certificate, folder = proved
    assert row(edited(certificate, recheck={"formulation": formulation}), X, y, folder).ok is False


def test_damaged_files(proved, tmp_path):
    X, y, certificate, folder = proved
    name = told(certificate)["recheck"]["proof"]
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
        signed = edited(certificate, recheck={"sha256": digest_of_file(tmp_path / name)})
        found = row(signed, X, y, tmp_path)
        assert found.ok is False, what


def test_a_proof_of_other_data(proved, tmp_path):
    X, y, certificate, _ = proved
    other = 1 - X
    flipped = np.where(other[:, 1] > 0, y, 1 - y)
    foreign = least_depth(other, flipped).solve("sat", proofs=tmp_path).certificate()
    mixed = edited(certificate, recheck=told(foreign)["recheck"])
    assert row(mixed, X, y, tmp_path).ok is False


# -- when there is none -----------------------------------------------------------------------------


def notes(problem: tf.Problem, folder: Path, solver: Any = None, **more: Any) -> str:
    result = problem.solve(solver, proofs=folder, time_limit=20, **more)
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
    for answer, ok in (("s VERIFIED", True), ("s NOT VERIFIED", False), ("s TIMEOUT", None), ("", False)):
        program.write_text(f"#!/bin/sh\nread first < $1\necho \"c $first\"\necho '{answer}'\n")
        program.chmod(0o755)
        assert row(certificate, X, y, folder, drat_trim=True).ok is ok
