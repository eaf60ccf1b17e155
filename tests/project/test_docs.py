"""The Python code in the documentation runs as it stands, page by page."""

from __future__ import annotations

import ast
import operator
import re
import textwrap
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from repository import ROOT
from test_documented_commands import documented
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.utils import extensions

PAGES = sorted(
    p for p in (ROOT / "docs").rglob("*.rst") if not {"_build", "auto_examples", "generated"} & set(p.parts)
)


INDENTED = r"((?:(?P=margin)   .*\n|\n)+)"
WITH_OUTPUT = re.compile(
    rf"^(?P<margin> *)\.\. code-block:: python\n\n{INDENTED}(?:(?P=margin)\.\. code-block:: text\n\n{INDENTED})?",
    re.M,
)


def blocks_with_output(page: Path) -> list[tuple[str, str]]:
    """The ``code-block:: python`` blocks of a page, in order, each with the ``text`` block that follows it."""
    found = WITH_OUTPUT.findall(page.read_text(encoding="utf-8"))
    shown = [(textwrap.dedent(code), plain(output)) for _, code, output in found]
    # What begins with the command's name is the same on the command line.
    return [(code, "" if output.startswith("treeform ") else output) for code, output in shown]


def plain(output: str) -> str:
    """An output without common indentation and without spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in textwrap.dedent(output).strip().splitlines())


def blocks(page: Path) -> list[str]:
    """The code of these blocks."""
    return [code for code, _ in blocks_with_output(page)]


def at_any_speed(code: str) -> str:
    """The code with limits that a slow or busy machine keeps too: one of ten seconds or more is of what is proved."""
    return re.sub(r"\btime_limit=(\d\d+)\b", r"time_limit=\g<1>00", code)


def run(
    page: Path, capsys: pytest.CaptureFixture[str], lacking: str = "", others: str = ""
) -> dict[str, object]:
    """Run the blocks of a page, and compare what they print with the output shown.

    Blocks that import `lacking` are not run; the output of those that import `others` depends on its version.
    """
    namespace: dict[str, object] = {"__name__": "docs"}
    for index, (code, output) in enumerate(blocks_with_output(page)):
        if lacking in imported(code):
            continue
        exec(compile(at_any_speed(code), f"{page.name} block {index + 1}", "exec"), namespace)
        printed = plain(capsys.readouterr().out)
        if output and others not in imported(code):
            assert printed == output, f"block {index + 1} prints something else than what is shown"
    return namespace


def imported(code: str) -> set[str]:
    """The packages that a block imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).partition(".")[0])
    return found


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p) and p.parent.name != "coming_from"], ids=lambda p: p.stem
)
def test_code_of_page_runs(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    here = {group: dict(named) for group, named in extensions._REGISTERED.items()}
    monkeypatch.setattr(extensions, "_REGISTERED", here)  # what a page registers ends with it
    run(page, capsys)


OTHERS: dict[str, Callable[[object, object], object]] = {
    "scikit_learn": operator.lt,
    "fairlearn": operator.lt,
    "pystreed": operator.eq,
    "gosdt": operator.eq,
    "cart": operator.lt,
    "odtlearn": operator.eq,
    "cpmpy": operator.eq,
}
"""How the errors of our answer and theirs compare, on each page about another package."""


def test_there_is_a_page_for_each_of_the_others() -> None:
    pages = {p.stem for p in PAGES if p.parent.name == "coming_from"}
    assert pages == {*OTHERS, "index"}


@pytest.mark.filterwarnings("ignore")  # of the other packages
@pytest.mark.parametrize("other", OTHERS)
def test_the_same_task_in_their_words_and_in_ours(
    other: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    package = {"scikit_learn": "sklearn", "cart": "sklearn"}.get(other, other)
    lacking = "" if find_spec(package) else package
    answers = run(ROOT / "docs" / "coming_from" / f"{other}.rst", capsys, lacking, package)
    assert str(getattr(answers.get("result"), "status", "optimal")) == "optimal"
    if not lacking:
        assert OTHERS[other](answers["ours"], answers["theirs"])


def test_the_proof_on_several_machines_runs_with_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a script, with a table of its names that is small, and as the command that follows."""
    page = ROOT / "docs" / "howto" / "long_proofs.rst"
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(0, 5, size=(40, 3)), columns=list("abc")).assign(target=rng.integers(0, 2, 40))
    rows.to_csv("avila.csv", index=False)
    (code,) = blocks(page)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code.replace('"loky"', '"threading"'), page.name, "exec"), namespace)
    assert namespace["result"].status is tf.Status.OPTIMAL
    parts = set(Path("avila-journal").iterdir())
    ((command, *words),) = documented(page)
    done = CliRunner().invoke(app, [command, *("threading" if one == "loky" else one for one in words)])
    assert done.exit_code == 0 and parts == set(Path("avila-journal").iterdir())
    assert "the search went on from avila-journal" in done.stdout


def test_pages_with_code_are_found() -> None:
    assert {p.stem for p in PAGES if blocks(p)} >= {
        "quickstart",
        "requirements",
        "own_requirement",
        "solvers",
        "trust",
    }


@pytest.mark.parametrize("seconds", ["0.001", "0.3"])
def test_the_example_of_solvers_holds_on_a_machine_of_any_speed(
    seconds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (ROOT / "examples" / "solvers" / "swap_solvers.py").read_text(encoding="utf-8")
    assert "time_limit=20" in code
    exec(compile(code.replace("time_limit=20", f"time_limit={seconds}"), "swap_solvers.py", "exec"), {})
    capsys.readouterr()
