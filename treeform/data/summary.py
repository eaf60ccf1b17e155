"""How every column of a table was taken, in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from treeform.data.columns import CATEGORY, ORDERED, date_text, level_text, number_text
from treeform.data.encode import Encoder
from treeform.data.sources import Source
from treeform.data.table import Table

COLUMNS = ("column", "taken as", "values", "missing", "lowest", "highest", "features", "note")


def summarise(encoder: Encoder, table: Table, kept_rows: Any, exclude: tuple[str, ...]) -> pd.DataFrame:
    """See `Dataset.summary`."""
    sources = {source.name: source for source in encoder.sources}
    rows = []
    for name in table.names:
        values = np.asarray(table.column(name), dtype=object)[kept_rows]
        if name in exclude or name not in sources:
            rows.append(
                (name, "excluded", pd.Series(values).nunique(), int(pd.isna(values).sum()), "", "", 0, "")
            )
        else:
            rows.append(_row(sources[name], pd.Series(table.column(name)).iloc[kept_rows]))
    return WholeFrame(pd.DataFrame(rows, columns=list(COLUMNS)).set_index("column"))


class WholeFrame(pd.DataFrame):
    """A table that prints all its rows and columns; what is selected from it is an ordinary DataFrame."""

    def __repr__(self) -> str:
        return str(self.to_string())

    def _repr_html_(self) -> str:
        return str(self.to_html())


def _row(source: Source, values: pd.Series) -> tuple[Any, ...]:
    encoded, _ = source.encode(values)
    width = len(source.columns)
    if source.kind == CATEGORY:
        missing = int(encoded[:, source.levels.index(None)].sum()) if None in source.levels else 0
        levels = [level_text(level) for level in source.levels if level is not None]
        return (source.name, source.kind, len(levels), missing, "", "", width, _levels_note(levels))
    column = source.columns[0]
    gaps = column.missing_values(encoded[:, 0])
    known = encoded[~gaps, 0]
    ends = [_text(source, end) for end in (known.min(), known.max())] if len(known) else ["", ""]
    return (source.name, source.kind, len(np.unique(known)), int(gaps.sum()), *ends, width, _note(source))


def _text(source: Source, value: float) -> str:
    if source.kind == ORDERED:
        return level_text(source.levels[int(value)]) if value >= 0 else ""
    if source.kind.startswith("date"):
        return date_text(value)
    return number_text(value)


def _levels_note(levels: list[str]) -> str:
    shown = (repr(level) if "," in level and level[0] not in "'\"" else level for level in levels[:4])
    return ", ".join(shown) + (", ..." if len(levels) > 4 else "")


def _note(source: Source) -> str:
    if source.notation is not None:
        unit = f", in {source.notation.unit}" if source.notation.unit else ""
        return f"text read as numbers (decimal mark {source.notation.decimal}{unit})"
    if source.date_order:
        return f"text read as dates ({source.date_order})"
    return " < ".join(level_text(level) for level in source.levels)
