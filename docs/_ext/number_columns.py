"""Columns of numbers in tables get the class ``number``, which the style sheet aligns to the right."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

_NUMBER = re.compile(r"[<>≤≥~]? ?[-−+]?[\d.,   ]+( ?[%x×s])?")
_OPEN = {"", "-", "–", "open", "none"}


def mark_numbers(app: Any, doctree: nodes.document) -> None:
    """Mark the cells of every column whose entries are numbers, or empty."""
    for group in doctree.findall(nodes.tgroup):
        bodies = [row.children for part in group.findall(nodes.tbody) for row in part.findall(nodes.row)]
        heads = [row.children for part in group.findall(nodes.thead) for row in part.findall(nodes.row)]
        width = {len(row) for row in (*bodies, *heads)}
        if len(width) != 1:  # cells that span columns
            continue
        for column in range(width.pop()):
            texts = [row[column].astext().strip() for row in bodies]
            numbers = [text for text in texts if text not in _OPEN]
            if numbers and all(_NUMBER.fullmatch(text) for text in numbers):
                for row in (*heads, *bodies):
                    row[column]["classes"].append("number")


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-read", mark_numbers)
    return {"parallel_read_safe": True, "version": "1"}
