"""What the operating system refuses, and files that are damaged, end in a message and not in a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from typer.testing import CliRunner, Result

from treeform.cli.app import app
from treeform.study import Study
from treeform.tradeoff.size_table import SizeTable

FULL = Path("/dev/full")


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200", "NO_COLOR": "1"})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,2,p\n2,1,q\n3,1,p\n4,5,q\n")
    return path


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "words",
    [pytest.param(["fit", "t.csv", "--target", "y"], marks=pytest.mark.slow), ["fit", "--help"]],
    ids=" ".join,
)
def test_a_full_disk_behind_stdout(words: list[str], table: Path) -> None:
    with FULL.open("w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "treeform", *words],
            stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=table.parent, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "there is no room to write" in done.stderr
    assert "Traceback" not in done.stderr
    assert "broke down" not in done.stderr


@pytest.mark.parametrize(
    ("code", "what"), [(errno.ENOSPC, "make room on the disk"), (errno.EIO, "the operating system refused")]
)
def test_a_disk_that_fails_while_a_command_works(
    code: int, what: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise OSError(code, os.strerror(code), "/var/scratch/tmpabc")

    monkeypatch.setattr("treeform.cli.app.load_problem", fails)
    done = run("explain", table, "--target", "y")
    assert done.exit_code == 2
    assert what in done.stderr
    assert "/var/scratch/tmpabc" in done.stderr
    with pytest.raises(OSError, match="tmpabc"):
        CliRunner().invoke(app, ["explain", str(table), "--target", "y", "--debug"], catch_exceptions=False)


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"a,y\n1,p\n2\x00,q\n", 3), (b"a\x00,y\n1,p\n", 1), ("a,y\n1,p\n".encode("utf-16-le"), 1)],
    ids=["cell", "header", "UTF-16 without a mark"],
)
def test_nul_bytes_are_refused_with_their_line(content: bytes, line: int, tmp_path: Path) -> None:
    path = tmp_path / "nul.csv"
    path.write_bytes(content)
    done = run("fit", path, "--target", "y")
    assert done.exit_code == 2
    assert f"holds a NUL byte in line {line}" in done.stderr


def test_weights_of_all_digits_have_an_option(tmp_path: Path) -> None:
    path, certificate = tmp_path / "w.csv", tmp_path / "c.json"
    path.write_text("a,y,w\n" + "".join(f"{i % 7},{i % 3 % 2},{1 / (i + 3) / 7}\n" for i in range(60)))
    words = ["fit", path, "--target", "y", "--weight", "w", "--shape", "tree:2", "--certificate", certificate]
    refused = run(*words)
    assert refused.exit_code == 2
    assert "--weight-grid auto" in refused.stderr
    for grid in ("auto", "1e-6"):
        assert run(*words, "--weight-grid", grid).exit_code == 0
        assert run("check", certificate, path).exit_code == 0
    spec = tmp_path / "spec.toml"
    spec.write_text('weight_grid = "auto"\n')
    assert run(*words, "--spec", spec).exit_code == 0
    assert "is no grid" in run(*words, "--weight-grid", "-1").stderr


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["size-table", "-o", FULL], "proved by"),
        (["pareto", "--certificate", FULL], "depth  tests"),
        (["frontier", "--over", "max_nodes:1", "--certificate", FULL], "tests"),
        (["near-optimal", "--report", FULL, "--disagreement", FULL], "optimum"),
        (["judge", "--model", "leaf.json", "--certificate", FULL, "--report", "r.html"], "errors"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_an_answer_is_shown_before_its_file_fails(
    words: list[object], shown: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    Path("leaf.json").write_text('{"predict": "p"}')
    command, *options = words
    done = run(command, table, "--target", "y", "--shape", "tree:1", *options)
    assert done.exit_code == 2
    assert shown in done.stdout
    assert "/dev/full cannot be written" in done.stderr
    assert Path("r.html").exists() == ("r.html" in options)


def test_ctrl_c_while_an_answer_is_shown_does_not_cost_its_files(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.chdir(table.parent)
    monkeypatch.setattr(SizeTable, "__str__", interrupted)
    files = ("-o", "table.json", "--certificate", "c.json")
    assert run("size-table", table, "--target", "y", "--shape", "tree:1", *files).exit_code == 130
    assert Path("table.json").exists() and Path("c.json").exists()

    monkeypatch.setattr(Study, "__str__", interrupted)
    Path("study.toml").write_text('data = "t.csv"\ntarget = "y"\ncv = 2\n[grid]\nshape = ["tree:1"]\n')
    assert run("sweep", "study.toml", "-o", "runs.csv").exit_code == 130
    assert Path("runs.csv").exists()


@pytest.mark.parametrize(
    ("begun", "again", "said"),
    [
        (False, (), "interrupted before the search began"),
        (True, (), "interrupted before the whole answer was there"),
        (True, ("a second time: ended at once",), "interrupted a second time: ended at once"),
    ],
)
def test_ctrl_c_says_what_it_came_into(
    begun: bool, again: tuple[str, ...], said: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt(*again)

    monkeypatch.setattr("treeform.cli.messages.has_begun", lambda: begun)
    monkeypatch.setattr("treeform.cli.app.read_problem", interrupted)
    done = run("fit", table, "--target", "y")
    assert (done.exit_code, done.stderr.strip()) == (130, said)


@pytest.mark.parametrize("command", ["near-optimal", "frontier"])
def test_a_drawing_of_no_known_kind_is_refused_before_the_search(
    command: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object) -> NoReturn:
        raise AssertionError("the search has begun")

    monkeypatch.setattr("treeform.cli.tradeoff.read_problem", searched)
    over = ["--over", "max_nodes:1"] if command == "frontier" else []
    done = run(command, table, "--target", "y", *over, "--plot", table.parent / "curve.xyz")
    assert done.exit_code == 2
    assert ".svg, .png or .pdf" in done.stderr


def test_settings_in_a_message_are_called_as_on_the_command_line(table: Path, tmp_path: Path) -> None:
    fit = ("fit", table, "--target", "y")
    assert "--dates days, or leave it out" in run(*fit, "--dates", "months").stderr
    assert "--categorical c names no column" in run(*fit, "--categorical", "c").stderr
    assert "--abstain p is a class" in run(*fit, "--abstain", "p").stderr
    assert "--ccp-alpha 0.001" in run(*fit, "--ccp-alpha=-1").stderr
    assert "add --executor loky" in run(*fit, "--workers", "2").stderr
    assert "--warm-start contree" in run(*fit, "--solver", "contree", "--formulation", "odd").stderr
    assert "no effect without weights" in run(*fit, "--weight-grid", "auto").stderr
    study = tmp_path / "study.toml"
    study.write_text('data = "t.csv"\ntarget = "y"\n[grid]\nshape = "tree:1"\n')
    done = run("sweep", study)
    assert "grid.shape: input should be a valid list" in done.stderr and "more" not in done.stderr
    about = tmp_path / "about.toml"
    about.write_text("owner = 3\n")
    assert "write texts in quotation marks" in run(*fit, "--about", about).stderr
