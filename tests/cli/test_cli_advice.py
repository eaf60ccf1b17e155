"""Errors on the command line advise what can be written there, and not Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.cli.toml_file import read_toml
from treeform.errors import SpecError

FIT = "fit t.csv --target y --shape tree:2 "
WRONG = {
    FIT + "--require max_nodes:-1": "use for example max_nodes:3",
    FIT + "--require min_recall:2,positive=a": "write for example min_recall:0.8",
    FIT + "--require min_recall:0.5": "add positive=c",
    FIT + "--require monotone:x,up,positive=a": "use for example monotone:x,increasing",
    FIT + "--require 'monotone:x, yearly'": "a column with commas in quotes",
    FIT + "--require statistical_parity:difference=0,positive=a": "add groups=COLUMN to it",
    FIT + "--require statistical_parity:groups=g,positive=a": "such as statistical_parity:...,difference=0.05",
    FIT + "--require group_error_at_most:groups=g": "group_error_at_most:groups=sex",
    FIT + "--require mean_parity:groups=g,difference=1": "add --minimize absolute_error",
    FIT + "--require must_classify_right:x": "must_classify_right:'3 17'",
    FIT + "--require stay_close_to:no.json,at_most=0": "write one with treeform fit --model",
    FIT + "--minimize error+depth": "minimise depth under requirements such as max_errors:0",
    FIT + "--minimize squared_error": "minimise error to learn a classifier",
    FIT + "--require min_support": "write min_support:20 for 20 samples, or min_support:0.05 for 5 %",
    FIT + "--solver zzz": "treeform solvers shows what can be used here",
    FIT + "--weight n --exclude n": "the weight is never a feature: leave it out of the other options",
    FIT + "--require statistical_parity:groups=h,difference=0,positive=a": "value in 2 data lines, the first of them",
    "export m.json --to sql --output .": "name a file in it",
    FIT + "--solver contree --formulation odd": "use odd with highs and --warm-start contree",
    FIT + "--solver contree --require min_recall:0.9,positive=a": "highs or cp-sat",
    FIT + "--solver highs --executor loky": "treeform sweep shares",
    "fit t.csv --target n --shape tree:2": "add --minimize squared_error",
    "fit t.csv y --target y --shape tree:2": "it takes data, and options",
    "near-optimal t.csv --target y --shape tree:2 --within -1": "--within 0.01",
    "pareto t.csv --target y --shape diagram:1,2": "--shape tree:k, where k",
    "judge t.csv --target y --model t.csv": "it is not JSON: line 1",
    FIT + """--require "max_errors:0,on='g ' == 'u'\"""": "\"'g '\" is no column",
    "fit s.csv --target y": "or add --sep ';'",
    "fit s.csv --sep ';' --target 'who, where'": "the columns are 'who, when', 'x', 'y'",
    "fit s.csv --sep ';' --target y --require min_recall:0.5": "add positive=\"no, never\"",
    "fit s.csv --sep ';' --target y --minimize 'cost[0 1; 1 0]'": "the classes are '1', 'maybe', 'no, never'",
}
"""Command lines that are refused, and a part of what is said."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advice")
    rows = pd.DataFrame({"x": range(30), "g": list("uv") * 15, "n": range(30), "y": list("abc") * 10})
    rows["h"] = [None, None, *"uv" * 14]
    rows.to_csv(path / "t.csv", index=False)
    odd = pd.DataFrame({"who, when": range(12), "x": 1.5, "y": ["maybe", "no, never", "1"] * 4})
    odd.to_csv(path / "s.csv", index=False, sep=";", decimal=",")
    return path


@pytest.mark.parametrize("line", WRONG)
def test_advice_on_the_command_line(line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, shlex.split(line))
    assert done.exit_code == 2
    assert WRONG[line] in done.output
    assert not re.search(r"\btf\.|\w\(\w*[=\[]|graph\.save|Field required", done.output)


def test_a_fit_that_is_infeasible_names_commands_and_no_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, shlex.split(FIT + "--require max_errors:0"))
    assert done.exit_code == 3
    assert "treeform conflict names a smallest set" in done.output and "result." not in done.output
    assert re.search(r"proved bound +no model\n", done.output)
    assert "max_errors:0 cannot be satisfied on tree:2\nrelax it:\n" in done.output


def test_a_solve_without_prospect_names_the_option(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    line = "fit t.csv --target y --shape tree:7 --solver highs --formulation odd --warm-start none --time-limit 1"
    assert "; --formulation hypergraph-flow states" in CliRunner().invoke(app, shlex.split(line)).output


def test_a_weight_that_is_named_in_python_is_refused_with_what_to_pass(folder: Path) -> None:
    table = pd.read_csv(folder / "t.csv")
    with pytest.raises(tf.errors.DataError, match=r"pass table\['n'\], with exclude=\['n'\]"):
        tf.Problem(table, "y", shape="tree:1", sample_weight="n")


def test_whole_numbers_are_the_classes_of_a_model_that_is_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"x": range(30), "n": [min(row, 24) for row in range(30)]})
    table.to_csv("t.csv", index=False)
    result = tf.Problem(table, "n", shape="tree:1").solve()
    result.certificate().save("c.json")
    assert result.graph is not None
    result.graph.save("m.json")
    for line in (
        "check c.json t.csv",
        "judge t.csv --target n --model m.json",
        "report m.json t.csv --target n --held-out t.csv --output r.md",
    ):
        done = CliRunner().invoke(app, line.split())
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("text", "cause", "advice"),
    [
        ("data = 'x.csv'\ntarget = y", "(at line 2, column 10): target = y", "in straight quotes"),
        ("requirements = [\n 'a'\n 'b']", "(at line 3, column 2): 'b']", "a comma between the entries"),
        ('data = "C:\\Users"', '(at line 1, column 13): data = "C:\\Users"', "paths with /"),
        ('data = "x', "Unterminated string", "the quote that it begins with"),
        ("data: x.csv", ": data: x.csv", "name = value"),
        ("data = 'a'\ndata = 'b'\n", ": data = 'b'", "each name once"),
        ("time_limit = 1,5", ": time_limit = 1,5", "a decimal mark as a point"),
        (f"data = {'x' * 99}", f": data = {'x' * 53} ...", "in straight quotes"),
        ("a = " + "[" * 9999, "nested too deep", "correct that line"),
    ],
)
def test_a_file_that_is_no_toml_shows_the_line_and_what_to_do(text, cause, advice, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(SpecError) as error:
        read_toml(path)
    assert error.value.cause.endswith(cause) or error.value.cause.startswith(cause)
    assert advice in error.value.fix


def test_a_mark_at_the_beginning_of_a_toml_file_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text("target = 'y'", encoding="utf-8-sig")
    assert read_toml(path) == {"target": "y"}
