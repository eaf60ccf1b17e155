"""The commands from end to end: files written, exit codes kept, errors said in our own words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from repository import ROOT
from typer.testing import CliRunner, Result

import treeform as tf
from treeform.cli.app import app
from treeform.data.table_files import read_table

CREDIT = ROOT / "examples" / "data" / "german-credit.csv"
PARITY = "statistical_parity:groups=sex,ratio=0.8,positive=yes"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})


def fit(data: Path, *words: object) -> Result:
    return run("fit", data, "--target", "y", "--time-limit", 20, *words)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Twelve rows that two tests separate."""
    rows = ["age,job,sex,w,y"]
    for i in range(12):
        job = "cook" if i % 3 else "pilot"
        rows.append(f"{20 + i},{job},{'fm'[i % 2]},{1 + i % 2},{'good' if i > 5 and i % 3 else 'bad'}")
    path = tmp_path / "small.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model, certificate and report of a small constrained fit."""
    folder = tmp_path_factory.mktemp("fit")
    words = ["--shape", "tree:2", "--require", PARITY, "--require", "min_support:0.05"]
    words += [
        "--formulation",
        "odd",
        "--solver",
        "highs",
        "--warm-start",
        "contree",
        "--time-limit",
        "60",
        "-v",
    ]
    for name in ("model.json", "certificate.json", "report.html"):
        words += [f"--{name.split('.')[0]}", str(folder / name)]
    done = run("fit", CREDIT, "--target", "creditworthy", *words)
    assert done.exit_code == 0, done.output
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    return folder


# -- the main job ----------------------------------------------------------------------------------


def test_fit_prints_rules_and_summary(fitted: Path) -> None:
    out = (fitted / "stdout").read_text()
    assert out.splitlines()[0].startswith("if ")
    assert "support" in out.splitlines()[0]
    for word in (
        "training errors",
        "proved bound",
        "gap",
        "odd on highs was not started",
        f"{PARITY}: satisfied",
        "female ",
    ):
        assert word in out


def test_progress_goes_to_stderr(fitted: Path) -> None:
    err = (fitted / "stderr").read_text()
    assert "incumbent" in err
    assert "bound" in err
    assert "1000 samples" in err


def test_check_accepts_what_fit_wrote(fitted: Path) -> None:
    done = run("check", fitted / "certificate.json", CREDIT)
    assert done.exit_code == 0
    assert "1000 of 1000 samples reach the leaf stated" in done.stdout
    assert "verified: every statement was checked here and holds" in done.stdout


def test_report_is_one_file(fitted: Path) -> None:
    page = (fitted / "report.html").read_text()
    assert "<svg" in page
    assert PARITY in page
    certificate = json.loads((fitted / "certificate.json").read_text())
    assert certificate["digest"] in page


def test_predict(fitted: Path, tmp_path: Path) -> None:
    done = run("predict", fitted / "model.json", CREDIT)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 1001
    assert set(lines[1:]) <= {"yes", "no"}
    assert run("predict", fitted / "model.json", CREDIT, "-o", "-").stdout == done.stdout
    out = tmp_path / "p.csv"
    assert run("predict", fitted / "model.json", CREDIT, "--proba", "-o", out).exit_code == 0
    table = pd.read_csv(out)
    assert list(table.columns) == ["prediction", "share no", "share yes"]
    assert ((table["share no"] + table["share yes"]).round(12) == 1).all()
    assert list(table["prediction"]) == lines[1:]


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet"])
def test_predictions_are_written_as_the_name_says(fitted: Path, tmp_path: Path, name: str) -> None:
    lines = run("predict", fitted / "model.json", CREDIT).stdout.splitlines()
    assert run("predict", fitted / "model.json", CREDIT, "-o", tmp_path / name).exit_code == 0
    assert list(read_table(tmp_path / name)["prediction"]) == lines[1:]
    if name.endswith(".parquet"):
        assert (tmp_path / name).read_bytes()[:4] == b"PAR1"
    refused = run("predict", fitted / "model.json", CREDIT, "-o", tmp_path / "p.txt")
    assert refused.exit_code == 2
    assert "p.csv" in refused.stderr
    assert not (tmp_path / "p.txt").exists()


def test_a_report_on_other_rows_counts_them(fitted: Path, tmp_path: Path) -> None:
    # The first ten rows lack levels of several columns: they are read in the terms of the model.
    table = read_table(CREDIT)
    few = table.iloc[:10]
    few.to_csv(tmp_path / "few.csv", index=False)
    graph = tf.DecisionGraph.load(fitted / "model.json")
    wrong = int((graph.predict(few[[s.name for s in graph.encoder.sources]]) != few["creditworthy"]).sum())
    out = tmp_path / "few.html"
    words = ["--target", "creditworthy", "-o", out]
    assert run("report", fitted / "model.json", tmp_path / "few.csv", *words).exit_code == 0
    page = out.read_text()
    assert "training errors" not in page
    assert "the training rows" not in page
    assert f"{wrong} of 10 rows given here" in page
    supports = [int(n) for n in re.findall(r"\(support (\d+)", page)]
    assert sum(supports) == 10
    few.assign(creditworthy="perhaps").to_csv(tmp_path / "few.csv", index=False)
    refused = run("report", fitted / "model.json", tmp_path / "few.csv", *words)
    assert refused.exit_code == 2
    assert "'perhaps' in data line 1 is none of the model's classes" in refused.stderr


def test_report_command(fitted: Path, tmp_path: Path) -> None:
    for words in (["--certificate", fitted / "certificate.json"], ["--target", "creditworthy"]):
        out = tmp_path / f"{len(words[0])}.html"
        done = run("report", fitted / "model.json", CREDIT, *words, "-o", out)
        assert done.exit_code == 0, done.output
        assert done.stdout.strip() == str(out)
        assert "creditworthy" in out.read_text()
    assert run("report", fitted / "model.json", CREDIT, "-o", tmp_path / "x.html").exit_code == 2


def test_edited_or_foreign_files_are_refused(fitted: Path, tmp_path: Path, small: Path) -> None:
    done = run("check", fitted / "certificate.json", small)
    assert done.exit_code == 2
    body = json.loads((fitted / "certificate.json").read_text())
    body["answer"]["errors"] = 0
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(body))
    done = run("check", edited, CREDIT)
    assert done.exit_code == 2
    assert "changed after it was written" in done.stderr
    model = json.loads((fitted / "model.json").read_text())
    model["classes"] = model["classes"][::-1] if isinstance(model["classes"], list) else {"x": 1}
    edited.write_text(json.dumps(model))
    assert run("predict", edited, CREDIT).exit_code == 2
    edited.write_text("{")
    assert run("predict", edited, CREDIT).exit_code == 2
    other = CREDIT.read_text().replace("yes\n", "no\n", 1)
    changed = tmp_path / "changed.csv"
    changed.write_text(other)
    done = run("check", fitted / "certificate.json", changed)
    assert done.exit_code == 2
    assert "other data" in done.stderr


# -- settings --------------------------------------------------------------------------------------


def test_weights_exclusion_and_check(small: Path, tmp_path: Path) -> None:
    certificate, model = tmp_path / "c.json", tmp_path / "m.json"
    words = ["--weight", "w", "--exclude", "sex", "--certificate", certificate, "--model", model]
    done = fit(small, "--shape", "tree:2", *words)
    assert done.exit_code == 0, done.output
    assert "w <=" not in done.stdout
    assert "sex" not in done.stdout.split("\n\n")[0]
    body = json.loads(certificate.read_text())
    assert body["metadata"]["weight"] == "w"
    assert run("check", certificate, small).exit_code == 0
    assert run("predict", model, small).exit_code == 0


def test_spec_file(small: Path, tmp_path: Path) -> None:
    spec = tmp_path / "p.toml"
    spec.write_text(
        'data = "small.csv"\ntarget = "y"\nshape = "tree:2"\nexclude = ["w"]\nmodel = "m.json"\n'
        '[[requirements]]\nname = "max_nodes"\nk = 1\n'
    )
    done = run("fit", "--spec", spec)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m.json").exists()
    assert "max_nodes:1: satisfied" in done.stdout
    done = run("fit", "--spec", spec, "--require", "max_nodes:2")
    assert "max_nodes:2: satisfied" in done.stdout
    assert "max_nodes:1" not in done.stdout
    spec.write_text(
        spec.read_text() + '[[requirements]]\nname = "statistical_parity"\ngroups = "nope"\nratio = 0.8\n'
    )
    done = run("fit", "--spec", spec)
    assert done.exit_code == 2
    assert "p.toml: requirements[1]" in done.stderr


def test_warm_start_from_a_model_file_threads_and_verbose(small: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    assert fit(small, "--shape", "tree:2", "--model", model).exit_code == 0
    words = ["--shape", "tree:2", "--solver", "highs", "--warm-start", model, "--threads", 2, "-v"]
    done = fit(small, *words)
    assert done.exit_code == 0, done.output
    assert "the given warm start" in done.stdout
    assert "confusion" in done.stdout
    assert fit(small, "--solver", "cadical195", "--threads", 2).exit_code == 2


def test_quiet_prints_rules_only(small: Path) -> None:
    done = fit(small, "--shape", "tree:2", "--quiet")
    assert done.exit_code == 0
    assert all(text.startswith("if ") for text in done.stdout.splitlines())
    assert done.stderr == ""


def test_explain_and_solvers(small: Path) -> None:
    done = run("explain", small, "--target", "y", "--solver", "highs", "--formulation", "odd")
    assert done.exit_code == 0, done.output
    assert "odd on highs" in done.stdout
    assert "rows to solver" in done.stdout
    done = run("solvers")
    assert done.exit_code == 0
    assert "highs" in done.stdout


def test_version_and_help() -> None:
    assert run("--version").stdout.startswith("treeform 0.")
    for name in ("fit", "predict", "check", "explain", "report", "solvers"):
        assert run(name, "--help").exit_code == 0


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--target", "why"], "no column 'why'"),
        (["--shape", "tree:0"], "a tree of depth 0"),
        (["--shape", "bush:3"], "bush:3"),
        (["--solver", "hihgs"], "hihgs"),
        (["--formulation", "od"], "did you mean 'odd'"),
        (["--require", "max_node:3"], "did you mean 'max_nodes'"),
        (["--require", "statistical_parity:groups=sex,ratio=1.5"], "ratio"),
        (["--require", "statistical_parity:groups=sox,ratio=0.5"], "sox"),
        (["--minimize", "errors"], "errors"),
        (["--time-limit", "0"], "leaves no time"),
        (["--model", "/no/such/folder/m.json"], "no folder"),
        (["--spec", "/no/such/spec.toml"], "there is no file"),
        (["--solver", "contree", "--require", "statistical_parity:groups=sex,ratio=0.5"], "contree"),
    ],
)
def test_bad_input_is_code_2_and_no_traceback(small: Path, words: list[str], what: str) -> None:
    done = fit(small, *words)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("error: ")
    assert what in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


def test_rows_of_a_file_are_data_lines_in_every_message(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,w,y\n1,2,1,x\n,3,1,y\n4,,1,x\n5,inf,1,y\n")
    done = fit(path)
    assert done.exit_code == 2
    assert "'b' is infinite (inf) in data line 4" in " ".join(done.stderr.split())
    done = fit(path, "--missing", "error")
    assert done.exit_code == 2
    assert "'a' (data line 2), 'b' (2 data lines, the first of them data line 3)" in " ".join(
        done.stderr.split()
    )
    assert "counted from 0" not in done.stderr
    path.write_text("a,w,y\n1,1,x\n2,-3,y\n4,1,x\n")
    assert "weight of data line 2 is negative" in fit(path, "--weight", "w").stderr
    path.write_text("a,w,y\n1,1,x\n2,,y\n4,1,x\n")
    assert "weight of data line 2 is NaN" in fit(path, "--weight", "w").stderr
    path.write_text("a,y\n1,x\n2,\n4,x\n3,z\n")
    assert "target of data line 2 is missing" in fit(path).stderr


def test_usage_errors_are_code_2() -> None:
    assert run("fit", CREDIT, "--no-such-option").exit_code == 2
    assert run("fit", "--target", "y").exit_code == 2
    assert run("fit", CREDIT).exit_code == 2


@pytest.mark.parametrize(
    ("words", "what", "fix"),
    [
        ("fit --targt y", "treeform fit has no option --targt", "did you mean --target?"),
        ("fit --dpeth 3", "treeform fit has no option --dpeth", "write --shape tree:3."),
        ("near-optimal --tolerance .1", "no option --tolerance", "write --within 0.05."),
        ("fit --min-support 5", "no option --min-support", "it is a requirement: write --require min_support:VALUE."),
        ("fit --within 1", "no option --within", "it is an option of near-optimal."),
        ("fit --limit 1", "no option --limit", "did you mean --time-limit?"),
        ("explain --time_limit 1", "no option --time_limit", "it is an option of fit,"),
        ("fit --time_limit 1", "no option --time_limit", "write --time-limit. treeform fit --help lists the options"),
        ("fit --shape", "'--shape' requires an argument", "treeform fit --help lists the options"),
        ("fit --time-limit soon", "Invalid value for '--time-limit'", "treeform fit --help lists the options"),
        ("sweep --target y", "no option --target", "the file of a study has it as the key target;"),
        ("sweep --require x", "no option --require", "the file of a study has it as the key requirements;"),
        ("sweep --cv 2", "no option --cv", "the file of a study has it as the key cv;"),
        ("fitt", "'fitt'. Did you mean 'fit'?", "treeform --help lists the commands"),
        ("--verion", "treeform has no option --verion", "did you mean --version?"),
    ],
)
def test_usage_errors_say_what_was_meant(words: str, what: str, fix: str) -> None:
    done = run(*words.split())
    assert done.exit_code == 2
    assert re.match(f"error: .*{re.escape(what)}.*\n  fix: {re.escape(fix)}", done.stderr), done.stderr


def test_no_command_shows_the_help() -> None:
    assert "Commands:" in run().output


def test_solver_that_is_not_installed(small: Path) -> None:
    done = fit(small, "--solver", "pyomo:cplex")
    if done.exit_code != 0:  # where CPLEX is there it is simply used
        assert done.exit_code == 2
        assert "fix" in done.stderr


def test_infeasible_is_code_3(tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("a,y\n" + "".join(f"{i % 4},{'xy'[i % 2]}\n" for i in range(16)) + "0,y\n")
    certificate = tmp_path / "c.json"
    done = fit(
        data,
        "--shape",
        "tree:1",
        "--require",
        "max_errors:2",
        "--solver",
        "highs",
        "--certificate",
        certificate,
    )
    assert done.exit_code == 3, done.output
    assert "infeasible" in done.output
    assert certificate.exists()
    assert run("check", certificate, data).exit_code == 0
    beyond = fit(data, "--require", "min_support:100")  # of every side of a test, so there is none
    assert beyond.exit_code == 0 and "0 tests" in beyond.output


def test_no_model_in_time_is_code_4(tmp_path: Path) -> None:
    words = [
        "--shape",
        "tree:6",
        "--require",
        "max_errors:20",
        "--solver",
        "highs",
        "--warm-start",
        "contree",
        "--time-limit",
        "0.01",
        "--model",
        tmp_path / "m.json",
    ]
    done = run("fit", CREDIT, "--target", "creditworthy", *words)
    assert done.exit_code == 4, done.output
    assert not (tmp_path / "m.json").exists()
    assert "is not written" in done.stderr


def test_debug_shows_the_traceback(small: Path) -> None:
    done = run("fit", small, "--target", "why", "--debug")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert "Traceback" not in run("fit", small, "--target", "why").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt_writes_the_best_model_and_is_code_130(tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    words = [
        "--shape",
        "tree:5",
        "--require",
        "statistical_parity:groups=sex,ratio=1",
        "--require",
        "min_support:31",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "treeform", "fit", CREDIT, "--target", "creditworthy", "--solver", "highs",
         "--time-limit", "60", "--model", model, "-v", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for text in process.stderr:
        if "warm start" in text:
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=280)
    assert process.returncode == 130, out
    assert "interrupted" in out
    assert json.loads(model.read_text())["format"] == "treeform.graph"


def test_a_closed_pipe_is_no_error(fitted: Path) -> None:
    shell = f'"{sys.executable}" -m treeform predict "{fitted / "model.json"}" "{CREDIT}" | head -n 1'
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell}"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.stdout == "prediction\n"
    assert done.stderr == ""
