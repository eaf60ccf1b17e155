"""The report as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from treeform.report.facts import Facts
from treeform.report.page import environment, when

FORMAT = "treeform.report/1"
_DRAWINGS = frozenset({"svg", "trace", "explore", "ask", "wide"})


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
    kept = {
        field.name: getattr(facts, field.name)
        for field in dataclasses.fields(facts)
        if field.name not in _DRAWINGS
    }
    value = {"format": FORMAT, "created": when(created), **_plain(kept)}
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
