"""Sources of an encoder as plain values for JSON, and back with every entry checked."""

from __future__ import annotations

import math
from typing import Any

from treeform.data.columns import CATEGORY, KINDS, ORDERED
from treeform.data.sources import Source
from treeform.data.text_numbers import Notation
from treeform.errors import CertificateError

_KEYS = {"name", "kind", "levels", "gaps", "notation", "date_order"}


def source_to_json(source: Source) -> dict[str, Any]:
    """Name and kind, and whatever else the column has."""
    value: dict[str, Any] = {"name": source.name, "kind": source.kind}
    if source.levels:
        value["levels"] = list(source.levels)
    if source.gaps:
        value["gaps"] = True
    if source.notation is not None:
        value["notation"] = {"decimal": source.notation.decimal, "unit": source.notation.unit}
    if source.date_order:
        value["date_order"] = source.date_order
    return value


def source_from_json(entry: Any) -> Source:
    """Rebuild a source. Raises CertificateError if the entry has another form."""
    if not (isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry.get("kind") in KINDS):
        raise damaged(f"a source needs a name and a kind ({', '.join(KINDS)})")
    name, levels = entry["name"], entry.get("levels", [])
    if not set(entry) <= _KEYS:
        raise damaged(f"source {name!r} has unknown keys: {', '.join(sorted(set(entry) - _KEYS))}")
    if (entry["kind"] in (CATEGORY, ORDERED)) != bool(levels) or not isinstance(levels, list):
        raise damaged(f"source {name!r} has levels that do not fit its kind")
    for level in levels:
        if not _is_level(level):
            raise damaged(f"source {name!r} has the level {level!r}")
    if len(set(levels)) < len(levels):
        raise damaged(f"levels of source {name!r} repeat")
    gaps, order = entry.get("gaps", False), entry.get("date_order", "")
    if not isinstance(gaps, bool) or not isinstance(order, str):
        raise damaged(f"source {name!r} has a wrong entry for gaps or date_order")
    return Source(name, entry["kind"], tuple(levels), gaps, _notation(entry.get("notation"), name), order)


def _notation(value: Any, name: str) -> Notation | None:
    if value is None:
        return None
    known = isinstance(value, dict) and set(value) == {"decimal", "unit"} and isinstance(value["unit"], str)
    if not known or value["decimal"] not in (".", ","):
        raise damaged(f"source {name!r} has a notation of numbers that is not known")
    return Notation(value["decimal"], value["unit"])


def _is_level(level: Any) -> bool:
    if isinstance(level, float):
        return math.isfinite(level)
    return level is None or isinstance(level, str | bool | int)


def damaged(cause: str) -> CertificateError:
    """The error of a damaged description."""
    return CertificateError(
        "the description of the columns in the model file is not valid",
        cause=cause,
        fix="write the model again with graph.save",
    )
