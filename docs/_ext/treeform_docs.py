"""Directives that quote treeform itself, so that the reference cannot drift from the code.

``.. cli-commands::`` is the help of every command, a section each; ``.. spec-keys::`` the keys of a specification file;
``.. requirement-names::`` the requirements by name with their parameters; ``.. parameter-names::`` all parameters;
``.. statements::`` which statements each requirement and objective has.
"""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


class CliCommands(Directive):
    """Every command of ``treeform`` with its ``--help``, a section each."""

    def run(self) -> list[nodes.Node]:
        return [_literal(help_text()), *map(_section, command_names())]


def command_names() -> list[tuple[str, ...]]:
    """The commands as the program itself lists them, those of groups as two words."""
    from typer.main import get_command

    from treeform.cli.app import app

    def below(command: Any, words: tuple[str, ...]) -> list[tuple[str, ...]]:
        children = getattr(command, "commands", {})
        return [path for name, child in children.items() for path in below(child, (*words, name))] or [words]

    return below(get_command(app), ())


def help_text(*words: str) -> str:
    """What ``treeform WORDS --help`` prints, without colours, 100 columns wide."""
    from typer import rich_utils
    from typer.testing import CliRunner

    from treeform.cli.app import app

    rich_utils.MAX_WIDTH = 100  # read from the environment when typer is imported
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    done = CliRunner().invoke(
        app, [*words, "--help"], prog_name="treeform", env=plain, catch_exceptions=False
    )
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).strip("\n")
    return "\n".join(line.rstrip() for line in text.splitlines())


def _section(words: tuple[str, ...]) -> nodes.Node:
    title = " ".join(words)
    section = nodes.section(ids=[nodes.make_id(f"treeform {title}")])
    section += nodes.title(title, title)
    section += _literal(help_text(*words))
    return section


def _literal(text: str) -> nodes.Node:
    return nodes.literal_block(text, text, language="text")


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
        from treeform.cli.spec import spec_keys

        rows = [("key", "type", "meaning")]
        for name, (kind, meaning) in spec_keys().items():
            rows.append((f"``{name}``", _kind(kind), _literals(meaning)))
        return _table(self, rows)


class RequirementNames(Directive):
    """Every built-in requirement with its parameters."""

    def run(self) -> list[nodes.Node]:
        import treeform
        from treeform.catalogue.requirements import names
        from treeform.language.requirement import registered

        rows = [("requirement", "each model", "name in texts", "parameters")]
        for name, parameters in names().items():
            kind = registered()[name]
            # The examples define their own; what `Requirement.on` makes has no name of its own there.
            if (
                not kind.__module__.startswith("treeform.requirements")
                or kind.__name__ not in treeform.__all__
            ):
                continue
            meaning = (kind.__doc__ or "").splitlines()[0].removesuffix(".")
            rows.append((f":class:`~treeform.{kind.__name__}`", meaning, f"``{name}``", parameters))
        return _table(self, rows)


class Statements(Directive):
    """Which statements each requirement and objective has, and what they share."""

    def run(self) -> list[nodes.Node]:
        from derivation_table import tables

        return [node for rows in tables() for node in _table(self, rows)]


class ParameterNames(Directive):
    """The parameters of the public interface by subject."""

    def run(self) -> list[nodes.Node]:
        from vocabulary import VOCABULARY

        rows = [("subject", "parameter", "meaning")]
        for subject, meanings in VOCABULARY.items():
            for index, (names, meaning) in enumerate(meanings.items()):
                written = ", ".join(f"``{name.strip()}``" for name in names.split(","))
                rows.append((subject if index == 0 else "", written, _literals(meaning)))
        return _table(self, rows)


def _literals(text: str) -> str:
    """What stands between single backticks as literals."""
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)


def _kind(annotation: Any) -> str:
    text = str(annotation)
    if "RequirementTable" in text:
        return "list of texts or tables"
    for mark, word in (
        ("list", "list of texts"),
        ("float", "number"),
        ("int", "whole number"),
        ("Path", "path"),
        ("bool", "true or false"),
        ("str", "text"),
    ):
        if mark in text:
            return word
    return text


def name_example(gallery_conf: dict[str, Any], fname: str) -> None:
    """Give examples ``__file__``, which scripts have and sphinx-gallery leaves out."""
    builtins.__file__ = str(next(EXAMPLES.rglob(Path(fname).name)))  # type: ignore[attr-defined]


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("cli-commands", CliCommands)
    app.add_directive("spec-keys", SpecKeys)
    app.add_directive("requirement-names", RequirementNames)
    app.add_directive("parameter-names", ParameterNames)
    app.add_directive("statements", Statements)
    return {"parallel_read_safe": True, "version": "1"}
