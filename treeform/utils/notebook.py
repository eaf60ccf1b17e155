"""Short HTML for notebooks: what ``_repr_html_`` methods return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def text_html(text: str) -> str:
    """Text as it is, in a fixed font."""
    return f"<pre>{escape(text)}</pre>"


def table_html(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a head."""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


class Printed:
    """What shows itself as it prints, in a terminal and in a notebook."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return text_html(str(self))
