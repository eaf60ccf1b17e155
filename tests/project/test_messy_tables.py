"""Three messy tables from the command line to prediction, as people in a bank, a plant and an office would do it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from treeform.cli.app import app


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def text_of(done: Result) -> str:
    return " ".join(done.stderr.split())


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Amounts with signs, per cent, dates by day, an identifier, gaps."""
    rng = np.random.default_rng(0)
    n = 200
    income, age = rng.lognormal(8, 0.5, n), rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.2] = np.nan
    table = pd.DataFrame(
        {
            "Customer": [f"C{i:05d}" for i in range(n)],
            "Income": [f"€{v:,.2f}" for v in income],
            "Used": [f"{v:.1f} %" for v in rng.uniform(0, 100, n)],
            "Opened": pd.Series(pd.date_range("2015-01-01", periods=n, freq="11D")).dt.strftime("%d.%m.%Y"),
            "Age": age,
            "Outcome": np.where((income < 2600) | np.isnan(age), "default", "repaid"),
        }
    )
    table.loc[::9, "Income"] = None
    path = tmp_path / "bank.csv"
    table.to_csv(path, index=False)
    return path


def test_bank(bank: Path, tmp_path: Path) -> None:
    fit = ["fit", bank, "--target", "Outcome", "--shape", "tree:2"]
    refused = run(*fit)
    assert refused.exit_code == 2
    assert "'Customer' has 200 different texts in 200 rows" in text_of(refused)
    assert "--exclude Customer" in text_of(refused)
    refused = run(*fit, "--exclude", "Customer")
    assert "'Opened' holds dates" in text_of(refused)
    assert "--dates days" in text_of(refused)
    model, certificate, page = (tmp_path / name for name in ("m.json", "c.json", "r.html"))
    fit += ["--exclude", "Customer", "--dates", "days"]
    done = run(*fit, "-v", "--model", model, "--certificate", certificate, "--report", page)
    assert done.exit_code == 0, done.output
    assert "text read as numbers (decimal mark ., in €)" in done.stderr
    assert "text read as dates (day first)" in done.stderr
    assert "Age is missing" in done.stdout
    assert "Proved" in done.stdout
    assert "How each column was read" in page.read_text()
    assert run("check", certificate, bank).exit_code == 0
    predicted = run("predict", model, bank, "--id", "Customer", "--rule")
    assert predicted.stdout.splitlines()[0] == "Customer,prediction,rule"
    assert len(predicted.stdout.splitlines()) == 201
    assert run("export", model, "--to", "sql", "--table", "t").exit_code == 0
    gaps = run(*fit, "--missing", "error")
    assert gaps.exit_code == 2
    assert "--missing value" in text_of(gaps)


def test_plant(tmp_path: Path) -> None:
    """Semicolons, decimal commas, Latin-1, words for no value, timestamps."""
    rng = np.random.default_rng(1)
    n = 120
    heat = rng.normal(70, 9, n).round(2)
    shown = [f"{v:.2f}".replace(".", ",") for v in heat]
    shown[5], shown[17] = "n/a", "-"
    table = pd.DataFrame(
        {
            "Wärme": shown,
            "Zeit": [str(moment) for moment in pd.date_range("2024-01-01 06:00", periods=n, freq="37min")],
            "Fehler": np.where(heat > 74, "ja", "nein"),
        }
    )
    path = tmp_path / "plant.csv"
    table.to_csv(path, index=False, sep=";", encoding="latin-1")
    fit = ["fit", path, "--target", "Fehler", "--shape", "tree:2", "--dates", "days"]
    assert "separated by ';'" in text_of(run(*fit, "--encoding", "latin-1"))
    assert "is not UTF-8" in text_of(run(*fit, "--sep", ";"))
    done = run(*fit, "--sep", ";", "--encoding", "latin-1", "--decimal", ",")
    assert done.exit_code == 0, done.output
    assert re.search(r"Wärme > 7[34]", done.stdout)
    assert "missing values of 'Wärme' are a value of their own" in done.stdout


def test_office(tmp_path: Path) -> None:
    """A survey with free text, and a later table in another spelling."""
    rng = np.random.default_rng(2)
    n = 90
    team = rng.choice(["sales", "support", "lab"], n)
    table = pd.DataFrame(
        {
            "team": team,
            "remark": [f"remark {i}" for i in range(n)],
            "stays": np.where(team == "lab", "no", "yes"),
        }
    )
    path, later, model = tmp_path / "survey.csv", tmp_path / "later.csv", tmp_path / "m.json"
    table.to_csv(path, index=False)
    fit = ["fit", path, "--target", "stays", "--shape", "tree:1", "--model", model]
    assert "--categorical remark" in text_of(run(*fit))
    assert run(*fit, "--exclude", "remark").exit_code == 0
    table.assign(team=table["team"].str.upper()).to_csv(later, index=False)
    warned = run("predict", model, later)
    assert warned.exit_code == 0
    assert "column 'team' in 90 of 90 rows" in text_of(warned)
    assert run("predict", model, later, "--unseen", "error").exit_code == 2
