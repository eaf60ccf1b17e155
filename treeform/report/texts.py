"""The report as plain text, as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from treeform.report.crossing import Crossing
from treeform.report.facts import Facts
from treeform.report.page import environment, when
from treeform.utils.text import Caution

FORMAT = "treeform.report/1"
_DRAWINGS = frozenset({"svg", "trace", "explore", "ask", "wide"})


def render_text(facts: Facts, verbose: bool = True, warned: bool = False) -> str:
    """Warnings unless they were shown, outcome, requirements with measured rates; if verbose, matrix and claims."""
    matrix = zip(("", *facts.classes), (facts.classes, *facts.confusion), strict=False)
    text: str = (
        environment()
        .get_template("report.txt.j2")
        .render(
            facts=facts,
            verbose=verbose,
            warnings=[] if warned else warnings_of(facts.notes, facts.crossings),
            matrix=[(label, *map(str, row)) for label, row in matrix],
            notes=[note for note in facts.notes if not isinstance(note, Caution)],
        )
    )
    return text.rstrip("\n")


def warnings_of(notes: Iterable[str], crossed: Iterable[Crossing]) -> list[str]:
    """The first lines of a report: probable mistakes, and what the requirements permit."""
    cautions = [str(note) for note in notes if isinstance(note, Caution)]
    return [*cautions, *(f"{one.sentence} {one.cost}".rstrip() for one in crossed)]


def render_markdown(facts: Facts, created: datetime | None = None) -> str:
    """Render a report as Markdown, without drawings.

    Parameters
    ----------
    created : datetime, optional
        The time to state; by default that of the call.
    """
    text: str = environment().get_template("report.md.j2").render(facts=facts, created=when(created))
    return text


def render_json(facts: Facts, created: datetime | None = None) -> str:
    """Render the facts of a report as JSON: the names of `Facts`, without drawings; shares are fractions as text.

    Parameters
    ----------
    created : datetime, optional
        The time to state; by default that of the call.
    """
    value = {"format": FORMAT, "created": when(created), **_plain(facts)}
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name not in _DRAWINGS]
        return {name: _plain(getattr(value, name)) for name in names}
    if hasattr(value, "model_dump"):
        return _plain(value.model_dump())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Fraction) else value
