"""The command lines of the documentation: commands, options, shapes and requirements that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from repository import ROOT

from treeform.cli.app import app
from treeform.shape import parse_shape

LINE = re.compile(r"^ +(?:\$ )?treeform ((?:.*\\\n)*.*)$", re.M)


def documented(page: Path) -> list[list[str]]:
    """The words of each indented line that begins with ``treeform``."""
    lines = LINE.findall(page.read_text(encoding="utf-8"))
    return [shlex.split(line.replace("\\\n", " "), comments=True) for line in lines]


PAGES = [
    page for page in sorted((ROOT / "docs").rglob("*.rst")) if "_build" not in page.parts and documented(page)
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_command_lines_are_understood(page: Path) -> None:
    root = typer.main.get_command(app)
    for words in documented(page):
        with root.make_context("treeform", list(words)) as context:
            name, command, rest = root.resolve_command(context, words)
            parsed = command.make_context(name, list(rest), parent=context).params
        if isinstance(parsed.get("shape"), str):
            parse_shape(parsed["shape"])


def test_a_wrong_line_is_found(tmp_path: Path) -> None:
    (tmp_path / "page.rst").write_text("::\n\n    treeform fit a.csv --target y \\\n        --plot b.svg\n")
    with pytest.raises(Exception, match="--plot"):
        test_command_lines_are_understood(tmp_path / "page.rst")
