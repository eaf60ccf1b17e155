"""``treeform check``: three exit codes, one sentence, groups from a column or a file, and the schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import treeform as tf
from treeform.certify import json_schema
from treeform.certify.certificate import sign
from treeform.cli.app import app


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})


def written(result: Any, folder: Path, **metadata: Any) -> Path:
    body = json.loads(json.dumps(result.certificate()))
    body["metadata"] |= metadata
    path = folder / "certificate.json"
    path.write_text(json.dumps(sign(body)))
    return path


@pytest.fixture
def table(tmp_path: Path) -> tuple[pd.DataFrame, Path]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 30), "b": rng.integers(0, 3, 30)})
    frame["sex"] = rng.choice(["f", "m"], 30)
    frame["old"] = rng.choice(["yes", "no"], 30)
    frame["y"] = np.where(frame.a > 1, "good", "bad")
    frame.loc[:4, "y"] = "good"
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return frame, path


def test_verified_false_and_refused(table, tmp_path):
    frame, path = table
    result = tf.Problem(frame, "y", shape=tf.Tree(2), exclude=["sex", "old"]).solve()
    certificate = written(result, tmp_path)
    done = run("check", certificate, path)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "verified: every statement was checked here and holds"
    quiet = run("check", certificate, path, "-q")
    assert (quiet.exit_code, quiet.stdout.splitlines(), quiet.stderr) == (0, done.stdout.splitlines()[-1:], "")
    done = run("check", certificate, path, "--independent")
    assert done.exit_code == 0, done.output
    body = json.loads(certificate.read_text())
    body["answer"]["errors"] += 1
    certificate.write_text(json.dumps(body))
    assert run("check", certificate, path).exit_code == 2
    certificate.write_text(json.dumps(sign(body)))
    done = run("check", certificate, path)
    assert done.exit_code == 6
    assert done.stdout.splitlines()[-1].startswith("false: errors (")


def test_on_trust_names_whom(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 0, 1, 1], "b": [0.0, 1, 0, 1], "y": ["g", "h", "h", "g"]})
    frame.to_csv(tmp_path / "table.csv", index=False)
    problem = tf.Problem(frame, "y", shape=tf.Tree(1, splits="multivariate"))
    certificate = written(problem.solve("highs"), tmp_path)
    done = run("check", certificate, tmp_path / "table.csv")
    assert done.exit_code == 5, done.output
    assert "depends on odd on highs 1." in done.stdout.splitlines()[-1]
    quiet = run("check", certificate, tmp_path / "table.csv", "-q").stdout.splitlines()
    assert {line.split("  ")[0] for line in quiet[:-1]} == {"on trust"}
    done = run("check", certificate, tmp_path / "table.csv", "--confirm", "cp-sat")
    assert done.exit_code == 5
    done = run("check", certificate, tmp_path / "table.csv", "--confirm", "nobody")
    assert done.exit_code == 2, done.output


@pytest.fixture
def fair(table, tmp_path) -> tuple[pd.DataFrame, Path, Path]:
    """Groups that were arrays, beside a table that never had these columns."""
    frame, path = table
    problem = tf.Problem(frame[["a", "b"]], frame.y, shape=tf.Tree(2))
    problem += [
        tf.StatisticalParity(groups=frame.sex, difference=0.4),
        tf.StatisticalParity(groups=frame.old.to_numpy(), difference=0.5),
    ]
    return frame, path, written(problem.solve(), tmp_path)


def test_groups_from_columns(fair):
    _, path, certificate = fair
    done = run("check", certificate, path, "--groups", "sex=sex", "--groups", "groups=old")
    assert done.exit_code == 0, done.output
    assert "groups 'sex': f, m" in done.stdout


def test_groups_from_a_file(fair, tmp_path):
    frame, path, certificate = fair
    frame[["a", "b", "y", "sex"]].to_csv(path, index=False)
    frame[["old"]].to_csv(tmp_path / "old.csv", index=False)
    words = ["--groups", "sex=sex", "--groups"]
    done = run("check", certificate, path, *words, f"groups={tmp_path / 'old.csv'}")
    assert done.exit_code == 0, done.output
    frame[["old"]].iloc[::-1].to_csv(tmp_path / "old.csv", index=False)
    done = run("check", certificate, path, *words, f"groups={tmp_path / 'old.csv'}")
    assert done.exit_code == 2
    assert "other groups of the samples" in done.stderr


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ([], "--groups COLUMN or FILE"),
        (["--groups", "sex"], "does not say which groups"),
        (["--groups", "sex=sex"], "the groups given are 'sex'"),
        (["--groups", "sex=sex", "--groups", "sex=old"], "does not say which groups"),
        (["--groups", "sex=sex", "--groups", "groups=nothing"], "no column 'nothing'"),
    ],
)
def test_groups_that_are_missing_or_unclear(fair, words, printed):
    frame, path, certificate = fair
    if not words:
        frame[["a", "b", "y"]].to_csv(path, index=False)
    done = run("check", certificate, path, *words)
    assert done.exit_code == 2
    assert printed in done.stderr


def test_schema_and_missing_arguments():
    done = run("check", "--schema")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == json_schema()
    done = run("check")
    assert done.exit_code == 2
    assert "no certificate is given" in done.stderr
