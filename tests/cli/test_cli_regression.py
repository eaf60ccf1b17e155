"""Regression from the command line: fit, predict, check, report, export, and a specification file."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from treeform.cli.app import app


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, and what a fit of it by a specification file wrote."""
    folder = tmp_path_factory.mktemp("regression")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"rooms": rng.integers(1, 8, 60), "age": rng.integers(0, 90, 60)})
    frame["price"] = (frame.rooms * 25.5 - frame.age * 0.25 + rng.normal(size=60)).round(2)
    frame.to_csv(folder / "homes.csv", index=False)
    (folder / "spec.toml").write_text(
        'data = "homes.csv"\ntarget = "price"\nshape = "tree:2"\nminimize = "squared_error + 10*nodes"\n'
        'model = "m.json"\ncertificate = "c.json"\nreport = "r.html"\nrequirements = ["min_support:at_least=5"]\n'
    )
    fitted = run("fit", "--spec", folder / "spec.toml")
    assert fitted.exit_code == 0, fitted.output
    assert "mean squared error" in fitted.output and "Proved" in fitted.output
    return folder


def test_predict_writes_values(folder: Path) -> None:
    predicted = run("predict", folder / "m.json", folder / "homes.csv", "--rule")
    assert predicted.exit_code == 0 and predicted.output.startswith("prediction,rule\n")
    values = [float(line.split(",")[0]) for line in predicted.output.splitlines()[1:]]
    assert len(values) == 60 and len(set(values)) <= 4
    assert run("predict", folder / "m.json", folder / "homes.csv", "--proba").exit_code == 2


def test_check_and_report(folder: Path) -> None:
    checked = run("check", folder / "c.json", folder / "homes.csv")
    assert checked.exit_code == 0 and "leaves hold the mean of their samples" in checked.output
    page = (folder / "r.html").read_text()
    assert "share of the variance explained" in page and "confusion" not in page.lower()
    again = run(
        "report", folder / "m.json", folder / "homes.csv", "--target", "price", "--output", folder / "s.html"
    )
    assert again.exit_code == 0, again.output


def test_long_fractions_are_shown_with_six_digits(folder: Path) -> None:
    judged = run("judge", folder / "homes.csv", "--model", folder / "m.json", "--target", "price", "--minimize",
                 "squared_error", "--certificate", folder / "j.json")  # fmt: skip
    number, fraction = re.search(r"objective ([0-9.]+) \(exactly ([0-9]+/[0-9]+)\)", judged.output).groups()
    assert Fraction(fraction).denominator > 1000 and number == f"{float(Fraction(fraction)):.6g}"
    checked = run("check", folder / "j.json", folder / "homes.csv")
    assert f"{number} (exactly {fraction}) evaluated, {number} (exactly {fraction}) stated" in checked.output


def test_certificates_serve_as_models(folder: Path) -> None:
    for name in ("export", "predict"):
        more = ["--to", "python"] if name == "export" else [folder / "homes.csv"]
        of_model, of_certificate = (run(name, folder / file, *more) for file in ("m.json", "c.json"))
        assert of_model.exit_code == 0 and of_model.output == of_certificate.output


@pytest.mark.parametrize("form", ["python", "javascript", "sql", "json-rules", "pmml"])
def test_exports_state_values(folder: Path, form: str) -> None:
    exported = run("export", folder / "m.json", "--to", form)
    value = run("predict", folder / "m.json", folder / "homes.csv").output.splitlines()[1]
    assert exported.exit_code == 0 and value in exported.output


def test_a_classifier_is_refused_on_quantities(folder: Path) -> None:
    refused = run("fit", folder / "homes.csv", "--target", "price", "--minimize", "error")
    assert refused.exit_code == 2 and "--minimize squared_error" in refused.output
    solver = run(
        "fit", folder / "homes.csv", "--target", "price", "--minimize", "squared_error", "--solver", "highs"
    )
    assert solver.exit_code == 2 and "highs cannot minimise squared_error" in solver.output
    assert "--solver scip" in solver.output


def test_squares_on_scip(tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("a,b,price\n0,1,3\n1,1,5\n0,2,4\n1,0,9\n")
    options = ("--target", "price", "--minimize", "squared_error", "--shape", "diagram:1,2,1")
    fitted = run(
        "fit",
        table,
        *options,
        "--solver",
        "scip",
        "--warm-start",
        "none",
        "--certificate",
        tmp_path / "c.json",
    )
    assert fitted.exit_code == 0 and "mathopt:scip, odd formulation" in fitted.output
    checked = run("check", tmp_path / "c.json", table)
    assert "values: 4 of 4 leaves" in checked.output and "status: optimal" in checked.output


def test_exported_python_predicts_the_same(folder: Path) -> None:
    code: dict = {}
    exec(run("export", folder / "m.json", "--to", "python").output, code)
    rows = pd.read_csv(folder / "homes.csv").to_dict("records")
    expected = run("predict", folder / "m.json", folder / "homes.csv").output.splitlines()[1:]
    assert [repr(code["predict"](row)) for row in rows] == expected


def test_requirements_on_values(folder: Path) -> None:
    spec = (
        'data = "homes.csv"\ntarget = "price"\nshape = "tree:1"\nminimize = "absolute_error[grid=1]"\n'
        'exclude = ["age"]\ntime_limit = 30\n'
        'requirements = ["monotone:rooms", "mean_parity:groups=old,difference=20"]\n'
    )
    frame = pd.read_csv(folder / "homes.csv").iloc[:16]
    (folder / "values").mkdir()
    frame.assign(old=frame.age > 40).to_csv(folder / "values" / "homes.csv", index=False)
    (folder / "values" / "spec.toml").write_text(spec)
    fitted = run("fit", "--spec", folder / "values" / "spec.toml", "--model", folder / "values" / "m.json")
    assert fitted.exit_code == 0 and "Proved" in fitted.output, fitted.output
    table = folder / "values" / "homes.csv"
    words = [
        "--target",
        "price",
        "--shape",
        "tree:1",
        "--minimize",
        "absolute_error[grid=1]",
        "--exclude",
        "age",
    ]
    words += [
        "--require",
        "mean_parity:groups=old,difference=0",
        "--model",
        str(folder / "values" / "m.json"),
    ]
    judged = run("judge", table, *words)
    assert "mean_parity:groups=old,difference=0" in judged.output, judged.output


def test_targets_of_too_many_digits_name_a_grid_that_the_command_line_takes(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,t\n" + "".join(f"{i % 5},{i / 7 + 1e-17 * i!r}\n" for i in range(40)))
    words = ["fit", table, "--target", "t", "--shape", "tree:1", "--minimize"]
    refused = run(*words, "squared_error[grid=exact]")
    offered = re.findall(r"squared_error\[grid=[^]]+\]", " ".join(refused.output.split()))
    assert refused.exit_code != 0 and len(offered) == 2
    assert all(run(*words, text).exit_code == 0 for text in offered)
