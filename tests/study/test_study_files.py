"""Studies as files: regression with amounts of both kinds, and a paper's calibration run to its end."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
REGRESSION = """
data = "data.csv"
target = "value"
minimize = "squared_error"
output = "runs.parquet"
report = "study.html"

[[requirements]]
name = "min_support"
amount = 3

[grid]
shape = ["tree:1", "tree:2"]
min_support__at_least = [0.05, 12, 0.2, 2]
"""


def table(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 9, (2, n))
    return pd.DataFrame({"a": a, "b": b, "value": np.where(a < 2, 9.0, a + 0.5 * (b > 4))})


def sweep(folder: Path, study: str) -> str:
    (folder / "study.toml").write_text(study)
    done = CliRunner().invoke(app, ["sweep", str(folder / "study.toml")], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_regression_with_counts_and_shares_of_rows(tmp_path: Path, kind: str) -> None:
    frame = table()
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert "8 of 8 runs, 8 proved" in sweep(tmp_path, REGRESSION.replace("parquet", kind))
    path = tmp_path / f"runs.{kind}"
    runs = pd.read_parquet(path) if kind == "parquet" else pd.read_csv(path)
    amounts = [0.05, 12, 0.2, 2] * 2
    for row, amount in zip(runs.to_dict("records"), amounts, strict=True):
        problem = tf.Problem(frame, "value", shape=row["shape"]).minimize("squared_error")
        alone = (problem + tf.MinSupport(amount)).solve()
        assert tf.language.numbers.as_fraction(str(row["objective"]), "it") == alone.objective
    assert "A study of 8 runs" in (tmp_path / "study.html").read_text(encoding="utf-8")


def test_folds_of_quantities_that_hardly_repeat(tmp_path: Path) -> None:
    frame = table().assign(value=lambda rows: rows["a"] + np.arange(len(rows)) / 64)
    problem = tf.Problem(frame, "value", shape="tree:1").minimize("squared_error")
    study = tf.sweep(problem, {"shape": ["tree:1"], "price": [0, "1/2"]}, cv=2)
    assert study.complete and study.table["test_error"].notna().all()


def test_objectives_that_are_fractions_and_whole_numbers_are_text_in_parquet(tmp_path: Path) -> None:
    frame = table()
    study = tf.sweep(
        tf.Problem(frame[["a", "b"]], frame["a"] > 4, shape="tree:1"), {"price": ["1/3", 2, 0.5]}
    )
    assert study.table["objective"].tolist() == ["1/3", 2, "1/2"]
    study.save(tmp_path / "runs.parquet")
    assert pd.read_parquet(tmp_path / "runs.parquet")["objective"].tolist() == ["1/3", "2", "1/2"]


def test_the_calibration_of_diagrams_runs(tmp_path: Path) -> None:
    given = ROOT / "examples" / "studies" / "odd_calibration.toml"
    text = given.read_text().replace('"diagram:1,2,4,4,4", "diagram:1,2,3,3,3,3,3", ', "")
    stated = tomllib.loads(text)
    assert len(stated["grid"]["shape"]) == 2
    frame = table(24)
    frame["value"] = np.where((frame["a"] > 4) != (frame["b"] > 5), "p", "n")
    frame.to_csv(tmp_path / "data.csv", index=False)
    study = text.replace(stated["data"], "data.csv").replace(stated["target"], "value")
    sweep(tmp_path, study.replace("cv = 4", 'cv = 2\noutput = "runs.csv"'))
    runs = pd.read_csv(tmp_path / "runs.csv")
    assert len(runs) == 2 * len(stated["grid"]["shape"]) * len(stated["grid"]["alpha"])
    assert set(runs["status"]) <= {"optimal", "feasible"}
    assert runs["test_error"].between(0, 1).all()
