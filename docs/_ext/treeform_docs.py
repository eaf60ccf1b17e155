"""Directives that quote treeform itself, so that the reference cannot drift from the code.

``.. cli-help:: fit`` is the help of a command; ``.. spec-keys::`` the keys of a specification file;
``.. requirement-names::`` the requirements by name with their parameters.
"""

from __future__ import annotations

import builtins
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


class CliHelp(Directive):
    """The ``--help`` of a command as a literal block."""

    required_arguments = 0
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        words = [sys.executable, "-m", "treeform", *self.arguments, "--help"]
        environment = {
            **os.environ,
            "COLUMNS": "100",
            "TERMINAL_WIDTH": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).strip("\n")
        text = "\n".join(line.rstrip() for line in text.splitlines())
        return [nodes.literal_block(text, text, language="text")]


def _table(directive: Directive, rows: list[tuple[str, ...]]) -> list[nodes.Node]:
    """A list-table made of rows of reStructuredText, the first one being the header."""
    lines = [".. list-table::", "   :header-rows: 1", "   :widths: auto", ""]
    for row in rows:
        for index, cell in enumerate(row):
            lines.append(f"   {'* -' if index == 0 else '  -'} {cell}")
    container = nodes.container()
    directive.state.nested_parse(
        StringList([*lines, ""], source="treeform"), directive.content_offset, container
    )
    return list(container.children)


class SpecKeys(Directive):
    """The keys of a specification file: name, type, meaning."""

    def run(self) -> list[nodes.Node]:
        from treeform.cli.spec import Spec

        rows = [("key", "type", "meaning")]
        for name, field in Spec.model_fields.items():
            rows.append((f"``{name}``", _kind(field.annotation), field.description or ""))
        return _table(self, rows)


class RequirementNames(Directive):
    """Every built-in requirement with its parameters."""

    def run(self) -> list[nodes.Node]:
        from treeform.catalogue.requirements import names
        from treeform.language.requirement import registered

        rows = [("name", "parameters", "class")]
        for name, parameters in names().items():
            kind = registered()[name]
            if not kind.__module__.startswith("treeform.requirements"):  # the examples define their own
                continue
            rows.append((f"``{name}``", parameters, f":class:`~treeform.requirements.{kind.__name__}`"))
        return _table(self, rows)


def _kind(annotation: Any) -> str:
    text = str(annotation)
    if "RequirementTable" in text:
        return "list of texts or tables"
    for mark, word in (
        ("list", "list of texts"),
        ("float", "number"),
        ("int", "whole number"),
        ("str", "text"),
    ):
        if mark in text:
            return word
    return text


def name_example(gallery_conf: dict[str, Any], fname: str) -> None:
    """Give examples ``__file__``, which scripts have and sphinx-gallery leaves out."""
    builtins.__file__ = str(EXAMPLES / Path(fname).name)  # type: ignore[attr-defined]


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("cli-help", CliHelp)
    app.add_directive("spec-keys", SpecKeys)
    app.add_directive("requirement-names", RequirementNames)
    return {"parallel_read_safe": True, "version": "1"}
