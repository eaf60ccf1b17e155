"""What a new user sees: warnings first, flags as flags, whole examples, nothing overwritten, cross-validation."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from repository import ROOT
from typer.main import get_command
from typer.testing import CliRunner, Result

import treeform as tf
from treeform.cli import cross_validation
from treeform.cli.app import app
from treeform.cli.cross_validation import choose_size
from treeform.cli.spec import Settings
from treeform.utils import extensions

CREDIT = ROOT / "examples" / "data" / "german-credit.csv"
COMMANDS = sorted(get_command(app).commands)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "80", "NO_COLOR": "1"})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A row number, levels in two spellings, and many columns with notes of their own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"Customer ID": range(1, 61), "town": ["Bonn", "bonn", "Ulm"] * 20})
    for j in range(6):
        frame[f"constant_{j}"] = 1
    frame["x"] = rng.normal(size=60).round(2)
    frame["y"] = np.where(frame["x"] > 0, "good", "bad")
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_flags_as_flags_and_cuts_nothing(command: str) -> None:
    shown = run(command, "--help").stdout
    assert "<bool>" not in shown and "<str>" not in shown and "<int" not in shown
    assert "..." not in shown.split("Options:")[0].replace("1, 2, ...", "").replace("with m = 0", "")
    assert re.search(r"^  --debug  +Show", shown, re.M)


def test_the_list_of_commands_is_not_cut() -> None:
    assert "..." not in run("--help").stdout.split("Commands:")[1]


def test_a_former_name_of_a_parameter_is_a_warning(table: Path) -> None:
    done = run("fit", table, "--target", "y", "--shape", "tree:1", "--require", "max_nodes:k=1")
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == "warning: the parameter k of MaxNodes is called at_most now"


@pytest.mark.parametrize("command", ["fit", "frontier", "conflict", "near-optimal"])
def test_the_example_of_the_help_is_a_command_that_parses(command: str) -> None:
    shown = run(command, "--help").stdout
    example = re.search(r"Example: (treeform (?:.*\\\n)*.*)", shown)
    assert example is not None
    words = shlex.split(example[1].replace("\\\n", " "))
    assert words[:2] == ["treeform", command]
    assert (ROOT / words[2]).is_file()
    context = get_command(app).commands[command].make_context(command, words[2:])
    assert context.params["target"] == "creditworthy"


def test_all_warnings_come_first(table: Path) -> None:
    done = run("fit", table, "--target", "y", "--shape", "tree:1")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("warning: column 'town' has levels that differ in case or spaces only")
    assert lines[1].startswith("warning: column 'Customer ID' numbers the rows")
    assert "numbers the rows" not in done.stdout.split("notes")[-1]
    quiet = run("fit", table, "--target", "y", "--shape", "tree:1", "--quiet")
    assert "numbers the rows" in quiet.stderr
    frame = pd.read_csv(table)
    text = tf.report.text(tf.Problem(frame, "y", shape=tf.Tree(1)).solve())
    assert text.startswith("warning: column 'town'")


def test_what_the_requirements_let_through_comes_before_the_rules(tmp_path: Path) -> None:
    """Old women and young men are good: each attribute alone is at par, crossed it is not."""
    cells = [("f", "old", 1), ("m", "young", 1), ("f", "young", 0), ("m", "old", 0)] * 5
    frame = pd.DataFrame(cells, columns=["sex", "age", "score"]).assign(row=range(1, 21))
    path, model = tmp_path / "crossed.csv", tmp_path / "m.json"
    frame.assign(good=np.where(frame["score"] == 1, "yes", "no")).to_csv(path, index=False)
    words = ["--target", "good", "--exclude", "sex", "--exclude", "age"]
    for name in ("sex", "age"):
        words += ["--require", f"statistical_parity:groups={name},difference=0.1,positive=yes"]
    done = run("fit", path, *words, "--shape", "tree:1", "--model", model)
    warned = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert "'row' numbers the rows" in warned[0] and "sex & age" in warned[1]
    assert done.stdout.startswith("if ") and "warning" not in done.stdout
    judged = run("judge", path, *words, "--model", model, "--quiet")
    assert [line for line in judged.stderr.splitlines() if "sex & age" in line] == warned[1:]


@pytest.mark.parametrize("name", ["parity", "Parity"])
def test_a_word_of_several_names_proposes_all_of_them(name: str) -> None:
    shown = run(
        "fit", CREDIT, "--target", "creditworthy", "--require", f"{name}:groups=sex,difference=0.1"
    ).stderr
    fix = next(line for line in shown.splitlines() if "fix:" in line)
    assert all(f"'{kind}_parity'" in fix for kind in ("statistical", "conditional", "accuracy", "mean"))
    assert "did you mean 'statistical_parity', " in fix


def test_a_report_that_was_not_named_is_not_overwritten(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("fit", table, "--target", "y", "--shape", "tree:1", "--model", "m.json", "-q").exit_code == 0
    assert run("report", "m.json", table, "--target", "y").exit_code == 0
    Path("report.html").write_text("mine")
    refused = run("report", "m.json", table, "--target", "y")
    assert refused.exit_code == 2 and "report.html is there already" in refused.stderr
    assert Path("report.html").read_text() == "mine"
    assert run("report", "m.json", table, "--target", "y", "-o", "report.html").exit_code == 0
    assert Path("report.html").read_text() != "mine"


def test_a_quiet_judgement_has_no_rules_and_no_progress(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    run("fit", table, "--target", "y", "--shape", "tree:1", "--model", model, "-q")
    words = ("judge", table, "--model", model, "--target", "y", "--require", "max_nodes:0")
    loud, quiet = run(*words), run(*words, "-q")
    assert loud.exit_code == quiet.exit_code == 7
    assert quiet.stdout.startswith("VIOLATED") and "if " in loud.stdout and "if " not in quiet.stdout
    assert quiet.stderr == ""


def test_cross_validation_chooses_depth_and_penalty(table: Path, tmp_path: Path) -> None:
    certificate = tmp_path / "c.json"
    done = run("fit", table, "--target", "y", "--shape", "tree:3", "--cv", 3, "--exclude", "Customer ID",
               "--time-limit", 10, "--certificate", certificate)  # fmt: skip
    assert done.exit_code == 0, done.stderr
    chosen = re.search(r"cross-validation, 3 folds: depth (\d), complexity penalty (\S+);", done.stdout)
    assert chosen is not None and chosen[1] == "1"
    assert "x <= " in done.stdout and "model              1 test," in done.stdout
    assert run("check", certificate, table).exit_code == 0
    refused = run("fit", table, "--target", "y", "--shape", "diagram:1,2", "--cv", 3)
    assert refused.exit_code == 2 and "--cv chooses the depth of a tree" in refused.stderr


def test_the_tree_of_all_rows_starts_from_the_one_of_cross_validation(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, seen = [], []
    solve = tf.Problem.solve
    monkeypatch.setattr(tf.Problem, "solve", lambda self, *a, **k: started.append(k) or solve(self, *a, **k))
    monkeypatch.setattr(cross_validation, "Budget", lambda limit: SimpleNamespace(seconds=3.0))
    settings = Settings(data=table, target="y", shape="tree:2", exclude=["Customer ID"], time_limit=10)
    choice = choose_size(settings, 2, seen.append)
    assert choice.settings.time_limit == 7 and choice.tree.depth == 1
    assert {one.parts for one in seen} == {(part, 4) for part in range(4)}
    words = "fit", table, "--target", "y", "--shape", "tree:2", "--exclude", "Customer ID", "--cv", 2
    for more, start in (((), choice.tree), (("--warm-start", "none"), None)):
        assert run(*words, "--time-limit", 10, *more).exit_code == 0
        assert started[-1]["warm_start"] == start and started[-1]["time_limit"] == 7


def test_cross_validation_is_told_which_tree_to_take(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    fitted = tf.OptimalTreeClassifierCV.fit
    monkeypatch.setattr(
        tf.OptimalTreeClassifierCV,
        "fit",
        lambda self, *a, **k: told.append((self.select, self.scoring)) or fitted(self, *a, **k),
    )
    words = "fit", table, "--target", "y", "--shape", "tree:2", "--exclude", "Customer ID", "--time-limit", 10
    done = [
        run(*words, "--cv", 2, *more) for more in ((), ("--select", "best", "--scoring", "balanced_accuracy"))
    ]
    assert told == [("close", None), ("best", "balanced_accuracy")]
    assert [one.exit_code for one in done] == [0, 0]
    assert "; balanced_accuracy on the rows held out 0." in done[1].stdout
    for option, value, hint in (("--select", "first", "close"), ("--scoring", "balanced", "'balanced_accuracy'")):
        unknown, alone = run(*words, "--cv", 2, option, value), run(*words, option, value)
        assert unknown.exit_code == alone.exit_code == 2
        assert f"{option[2:]}='{value}' is not known" in unknown.stderr and hint in unknown.stderr
        assert f"{option} is for --cv" in alone.stderr


def test_the_penalty_is_a_share_of_the_weight(table: Path) -> None:
    done = run("fit", table, "--target", "y", "--shape", "tree:2", "--ccp-alpha", "0.02")
    assert "minimize error + 6/5*nodes" in done.stderr


def test_drawings_have_titles_and_axes_in_words() -> None:
    problem = tf.Problem(pd.read_csv(CREDIT), "creditworthy", shape=tf.Tree(1), exclude=["sex"])
    svg = problem.frontier(over=tf.StatisticalParity(groups="sex")).plot().svg
    for words in (
        "The best model under statistical_parity",
        "most difference allowed",
        "errors on the training rows",
    ):
        assert words in svg


def test_a_report_of_another_kind_is_refused_before_the_work(table: Path, tmp_path: Path) -> None:
    refused = run("fit", table, "--target", "y", "--report", tmp_path / "r.pdf")
    assert refused.exit_code == 2 and "r.pdf is no kind of report" in refused.stderr
    assert ".html, .md, .json" in refused.stderr and not (tmp_path / "r.pdf").exists()


def test_a_model_of_another_table_names_the_columns(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    assert run("fit", table, "--target", "y", "--shape", "tree:1", "--model", model, "-q").exit_code == 0
    judged = run("judge", table, "--model", model, "--target", "y", "--exclude", "town")
    assert judged.exit_code == 2 and "here is no column 'town'" in judged.stderr
    run("fit", table, "--target", "y", "--shape", "tree:1", "--exclude", "town", "--model", model, "-q")
    judged = run("judge", table, "--model", model, "--target", "y", "--exclude", "x")
    assert judged.exit_code == 2 and "here is no column 'x'" in judged.stderr
    whole = ["--exclude", "constant_1"]
    judged = run("judge", table, "--model", model, "--target", "y", *whole)
    assert "here is no column 'constant_1'" in judged.stderr


def test_columns_with_commas_between_are_said_to_need_an_option_each(table: Path) -> None:
    refused = run("fit", table, "--target", "y", "--shape", "tree:1", "--exclude", "town, x")
    assert refused.exit_code == 2 and "give the option once for each of town, x" in refused.stderr


def test_the_certificate_of_several_models_is_no_model(table: Path, tmp_path: Path) -> None:
    whole = tmp_path / "table.json"
    assert (
        run("size-table", table, "--target", "y", "--shape", "tree:1", "--certificate", whole).exit_code == 0
    )
    refused = run("judge", table, "--model", whole, "--target", "y")
    assert refused.exit_code == 2 and "the certificate holds several models" in refused.stderr


def test_a_report_shows_an_answer_of_a_size_table_and_of_a_frontier(table: Path, tmp_path: Path) -> None:
    whole, page = tmp_path / "table.json", tmp_path / "page.json"
    stated = (table, "--target", "y", "--shape", "tree:1", "--exclude", "town", "-q")
    assert run("size-table", *stated, "--certificate", whole).exit_code == 0
    fitted = run("fit", *stated, "--require", "max_nodes:0", "--report", tmp_path / "fit.json")
    assert fitted.exit_code == 0
    done = run("report", whole, table, "--row", 2, "-o", page)
    assert done.exit_code == 0 and "> 2  at most 0 tests: objective" in done.stdout, done.output
    shown, stated_alone = (json.loads(path.read_text()) for path in (page, tmp_path / "fit.json"))
    assert shown["outline"] == stated_alone["outline"]
    assert "(from a certificate)" in page.read_text()
    assert [(row["problem"], row["answer"]) for row in shown["nested"]["rows"]] == [
        ("the whole shape", 1), ("at most 0 tests", 2)
    ]  # fmt: skip
    assert shown["nested"]["row"] == 2
    beyond = run("report", whole, table, "--row", 3, "-o", tmp_path / "other.html")
    assert beyond.exit_code == 2 and "give a row from 1 to 2" in beyond.stderr
    over = (
        "--over",
        "statistical_parity:groups=town,positive=good",
        "--certificate",
        tmp_path / "curve.json",
    )
    assert run("frontier", *stated, *over).exit_code == 0
    done = run("report", tmp_path / "curve.json", table, "-o", tmp_path / "curve.html")
    assert "> 1  no bound: objective" in done.stdout
    drawn = (tmp_path / "curve.html").read_text()
    assert drawn.count('<svg class="frontier"') == 1 and "most difference allowed" in drawn


def test_a_solver_is_asked_the_known_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    from treeform.testing import solver_bugs

    monkeypatch.setattr(solver_bugs, "BUGS", solver_bugs.BUGS[:2])
    asked = run("solvers", "--bugs", "highs")
    assert asked.exit_code == 0 and asked.stdout.count(": right") == 2
    monkeypatch.setattr(solver_bugs, "_wrong", lambda *args, **more: "optimal at 8, not 9")
    wrong = run("solvers", "--bugs", "highs")
    assert wrong.exit_code == 6 and wrong.stdout.count("WRONG: ") == 2
    refused = run("solvers", "--bugs", "contree")
    assert refused.exit_code == 2 and "contree is a native engine" in refused.stderr


def test_a_registered_formulation_brings_rows_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extensions, "_REGISTERED", {group: {} for group in extensions.BUILT_IN})
    monkeypatch.setattr(sys, "path", [*sys.path])
    table, rows = tmp_path / "table.csv", tmp_path / "rows.py"
    table.write_text("a,b,y\n0,0,u\n0,1,v\n1,0,v\n1,1,u\n")
    rows.write_text(
        "import treeform as tf\nfrom treeform.catalogue import register\nfrom treeform.formulations import ODD\n"
        "class AtMostTwo(tf.Component):\n    needs = frozenset({'active'})\n"
        "    def build(self, model, ports):\n        model.add(ports.active.sum() <= 2)\n"
        "@register\nclass Narrowed(ODD):\n    name = 'narrowed'\n"
        "    def __init__(self):\n        super().__init__()\n        self.components += (AtMostTwo(),)\n"
    )
    stated = (table, "--target", "y", "--shape", "tree:2", "--solver", "highs", "-q")
    mine = ("--import", rows, "--formulation", "narrowed")
    errors = [run("fit", *stated, *more, "--report", tmp_path / "r.md").exit_code for more in ((), mine)]
    assert errors == [0, 0]
    text = (tmp_path / "r.md").read_text()
    assert "AtMostTwo()" in text and "objective: 1" in text


def test_explain_shows_rows_and_writes_the_model(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n" + "".join(f"{i % 3},{i % 2},{'uv'[i % 2]}\n" for i in range(12)))
    words = ["explain", str(table), "--target", "y", "--shape", "tree:1", "--formulation", "odd"]
    lp, mps = tmp_path / "odd.lp", tmp_path / "odd.mps"
    plain = CliRunner().invoke(app, words)
    done = CliRunner().invoke(app, [*words, "--rows", "1", "--lp", str(lp), "--mps", str(mps)])
    assert done.exit_code == 0, done.output
    shown = done.stdout.removeprefix(plain.stdout)
    assert shown != done.stdout and "minimize" in shown
    assert "min\n" in lp.read_text() and "ROWS\n" in mps.read_text()
    wrong = CliRunner().invoke(app, [*words, "--lp", str(tmp_path / "odd.txt")])
    assert wrong.exit_code == 2 and "does not end in .lp" in wrong.stderr


def test_a_penalty_that_cross_validation_chose_is_no_number_of_many_digits(tmp_path: Path) -> None:
    """It is a float as text: two and a half of 399 rows, and not its 16 digits."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=399).round(2), "z": rng.normal(size=399).round(2)})
    frame["y"] = np.where((frame["x"] > 0) ^ (rng.random(399) < 0.2), "good", "bad")
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    done = run("fit", path, "--target", "y", "--shape", "tree:1", "--ccp-alpha", repr(2.5 / 399))
    assert done.exit_code == 0, done.output
    assert "minimize error + 5/2*nodes" in done.output and "contree" in done.output
