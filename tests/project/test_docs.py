"""The Python code in the documentation runs as it stands, page by page."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from repository import ROOT

PAGES = sorted(
    p for p in (ROOT / "docs").rglob("*.rst") if not {"_build", "auto_examples", "generated"} & set(p.parts)
)


def blocks(page: Path) -> list[str]:
    """The ``code-block:: python`` blocks of a page, in order."""
    found = re.findall(
        r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page.read_text(encoding="utf-8"), re.M
    )
    return [textwrap.dedent(block) for block in found]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.stem)
def test_code_of_page_runs(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "docs"}
    for index, code in enumerate(blocks(page)):
        exec(compile(code, f"{page.name} block {index + 1}", "exec"), namespace)
    capsys.readouterr()


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
    code = (ROOT / "examples" / "swap_solvers.py").read_text(encoding="utf-8")
    assert "time_limit=20" in code
    exec(compile(code.replace("time_limit=20", f"time_limit={seconds}"), "swap_solvers.py", "exec"), {})
    capsys.readouterr()
