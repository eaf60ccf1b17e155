"""Notes on how a table was read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import NUMERIC, Column
from treeform.data.encode import Encoder
from treeform.data.rows import setting_text


class Caution(str):
    """A note that names a probable mistake: it is shown before all others, and never left out."""

    __slots__ = ()


FEW_ROWS = 20  # of which consecutive numbers say nothing


def reading_notes(encoder: Encoder) -> list[str]:
    """Columns whose text was read as numbers or dates, and columns with missing values."""
    notes = []
    for source in encoder.sources:
        if source.notation is not None:
            unit = f" in {source.notation.unit}" if source.notation.unit else ""
            notes.append(f"column {source.name!r} holds numbers{unit} as text; they are read as numbers")
        elif source.date_order:
            notes.append(
                f"column {source.name!r} holds dates as text ({source.date_order}); they are read as days"
            )
    gaps = [source.name for source in encoder.sources if source.gaps or None in source.levels]
    if gaps:
        named = ", ".join(map(repr, gaps[:6])) + (f" and {len(gaps) - 6} more" if len(gaps) > 6 else "")
        notes.append(
            f"missing values of {named} are a value of their own: each test sends them left or right"
        )
    return notes


def constant_notes(X: NDArray[np.float64], columns: tuple[Column, ...]) -> list[str]:
    """Columns that no test can use."""
    constant = np.flatnonzero((X[:1] == X).all(axis=0))
    names = dict.fromkeys(columns[f].source if columns[f].missing else columns[f].name for f in constant)
    return [f"column {name!r} is constant: no test can use it" for name in names]


def spelling_notes(encoder: Encoder) -> list[str]:
    """Levels that differ in case or spaces only, and are probably one."""
    notes: list[str] = []
    for source in encoder.sources:
        spellings: dict[str, list[str]] = {}
        for level in source.levels:
            if isinstance(level, str):
                spellings.setdefault(" ".join(level.split()).casefold(), []).append(level)
        alike = [several for several in spellings.values() if len(several) > 1]
        if alike:
            named = "; ".join(" and ".join(map(repr, several)) for several in alike[:3])
            more = f"; and {len(alike) - 3} more" if len(alike) > 3 else ""
            notes.append(
                Caution(
                    f"column {source.name!r} has levels that differ in case or spaces only: {named}{more}; "
                    "they are different levels"
                )
            )
    return notes


def counting_notes(X: NDArray[np.float64], columns: tuple[Column, ...]) -> Sequence[str]:
    """Columns that number the rows."""
    if len(X) < FEW_ROWS:
        return []
    counting = np.flatnonzero((np.diff(X[:FEW_ROWS], axis=0) == 1).all(axis=0))
    counting = counting[(np.diff(X[:, counting], axis=0) == 1).all(axis=0)]
    return [
        Caution(
            f"column {columns[f].source!r} numbers the rows; an identifier is left out with "
            f"{setting_text('exclude', columns[f].source, True)}"
        )
        for f in counting
        if columns[f].kind == NUMERIC
    ]
