"""The encoder: from the user's columns to a matrix of numbers, the same way at fit and at predict.

Numbers stay as they are, booleans become 0/1, text or categories one 0/1 column for each level, ordered levels
their positions, dates days. A column with gaps becomes two features: its missing values stand below all others in
one, and above all others in the other. A level first seen at predict is none of those known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treeform.data.columns import CATEGORY, NUMERIC, Column
from treeform.data.roles import USUAL, TableOptions
from treeform.data.sources import GAP_CAUSE, Source, read_all, recognise
from treeform.data.sources_json import damaged, source_from_json, source_to_json
from treeform.data.table import Table, read_table, refuse_gaps, refuse_infinite
from treeform.data.unseen import Unseen
from treeform.errors import DataError, listing
from treeform.utils.arrays import Floats, Ints
from treeform.utils.budget import report_step
from treeform.utils.rows import setting_text
from treeform.utils.text import Caution, count_of


@dataclass(frozen=True)
class Encoder:
    """How the user's columns become features.

    Parameters
    ----------
    sources : tuple of Source
        The columns that are encoded, in order.
    ignored : tuple of str
        Columns that were in the training table but are not features; they may be there at predict.
    """

    sources: tuple[Source, ...]
    ignored: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls, table: Table, exclude: tuple[str, ...], rows: Ints | None = None, options: TableOptions = USUAL
    ) -> Encoder:
        """Find out how every column is to be read."""
        used = [name for name in table.names if name not in exclude]
        if options.missing == "error":
            refuse_gaps(
                table,
                used,
                rows,
                cause=f"{setting_text('missing', 'error')} was asked for",
                fix=f"or use {setting_text('missing', 'value')}",
            )
        refuse_infinite(table, [name for name in used if name not in options.categorical], rows)

        def read(name: str) -> Source:
            if table.finite and name not in options.categorical:
                return Source(name, NUMERIC)  # what recognise finds out column by column
            return recognise(table.column(name), name, options, rows)

        return cls(read_all(read, used, options), tuple(exclude))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The encoded features, in the order of the matrix."""
        return tuple(column for source in self.sources for column in source.columns)

    def transform(self, X: Any, unseen: Unseen = Unseen.WARN) -> Floats:
        """Encode a table.

        Raises DataError if columns are missing, their number is wrong, a value is infinite, or one is missing in a
        column that had no missing value in training.

        Returns (m, F) float64: finite, C-contiguous, no -0.0.

        Parameters
        ----------
        X : DataFrame or array of shape (m, number of sources)
            A DataFrame is read by column name, in any order, and may have other columns, too; an array by position.
        unseen : Unseen
            What to do about levels that were not there in training.
        """
        table = read_table(X)
        if table.named:
            self._check_names(table)
        else:
            if len(table.names) != len(self.sources):
                raise DataError(
                    f"X has {count_of(len(table.names), 'feature')}, but the model is expecting {len(self.sources)} "
                    "features as input",
                    fix=f"pass the columns {listing((repr(s.name) for s in self.sources), limit=6)} in this order",
                )
            table = Table(tuple(source.name for source in self.sources), table.frame, table.matrix)
        return self.encode(table, unseen=unseen)

    def encode(self, table: Table, rows: Ints | None = None, unseen: Unseen = Unseen.OTHER) -> Floats:
        """Encode a table that holds all sources; `rows` are the user's row numbers for messages."""
        numeric = [source for source in self.sources if source.kind != CATEGORY]
        refuse_infinite(table, [source.name for source in numeric], rows)
        whole = [source.name for source in numeric if not source.gaps]
        if not table.finite:
            more = f"or predict with {setting_text('missing', 'majority')}"
            refuse_gaps(table, whole, rows, cause=GAP_CAUSE, fix=more)
        if table.matrix is not None and len(self.columns) == len(numeric) == len(self.sources):
            return self._encode_matrix(table, rows)
        encoded = np.empty((table.n_rows, len(self.columns)), dtype=np.float64)
        unseen_levels: dict[str, Counter[str]] = {}
        at = 0
        for read, source in enumerate(self.sources):
            report_step(read, "columns read", len(self.sources))
            width = len(source.columns)
            encoded[:, at : at + width], unseen_levels[source.name] = source.encode(
                table.column(source.name), rows
            )
            at += width
        unseen.act(unseen_levels, table.n_rows)
        return encoded

    def _encode_matrix(self, table: Table, rows: Ints | None) -> Floats:
        assert table.matrix is not None
        matrix = table.matrix
        if len(self.sources) < len(table.names):
            matrix = matrix[:, [table.places[source.name] for source in self.sources]]
        for j, source in enumerate(self.sources):
            if matrix.dtype.kind in "iu" or source.kind != NUMERIC:
                source.encode(matrix[:, j], rows)  # refuses what the column cannot be
        return np.ascontiguousarray(matrix, dtype=np.float64) + 0.0  # a copy, in which -0.0 is 0.0

    def _check_names(self, table: Table) -> None:
        """Other columns than the model's are allowed, for tables carry targets, groups and identifiers."""
        missing = [source.name for source in self.sources if source.name not in table.places]
        if missing:
            raise DataError(
                f"the table lacks {listing(map(repr, missing), limit=6)}",
                cause="the model was fitted with these columns",
                fix="pass a table with the same column names as in fit",
            )

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; `from_json` restores the encoder exactly, types of levels included."""
        return {"sources": [source_to_json(source) for source in self.sources], "ignored": list(self.ignored)}

    @classmethod
    def from_json(cls, value: Any) -> Encoder:
        """Rebuild an encoder, checking every entry. Raises CertificateError if the value has another form."""
        if not isinstance(value, dict) or set(value) != {"sources", "ignored"}:
            raise damaged("it has to hold 'sources' and 'ignored'")
        if not isinstance(value["sources"], list) or not value["sources"]:
            raise damaged("'sources' has to be a list with at least one entry")
        if not isinstance(value["ignored"], list) or not all(isinstance(s, str) for s in value["ignored"]):
            raise damaged("'ignored' has to be a list of names")
        sources = tuple(source_from_json(entry) for entry in value["sources"])
        names = [source.name for source in sources]
        if len(set(names)) < len(names):
            raise damaged("source names repeat")
        return cls(sources, tuple(value["ignored"]))


COUNTED = 0.9
"""A column numbers the rows if this share of its steps is 1, and all go up."""
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


def constant_notes(X: Floats, columns: tuple[Column, ...]) -> list[str]:
    """Columns that no test can use."""
    is_constant = (X[:1] == X).all(axis=0)
    varying = {column.source for column, same in zip(columns, is_constant, strict=True) if not same}
    constant = [column for column, same in zip(columns, is_constant, strict=True) if same]
    names = dict.fromkeys(one.name if one.source in varying else one.source for one in constant)
    return [f"column {name!r} is constant: no test can use it" for name in names]


def spelling_notes(encoder: Encoder) -> list[str]:
    """Levels that differ in case or spaces only, and are probably one."""
    found = [(source.name, spelled_alike(source.levels)) for source in encoder.sources if source.levels]
    return [
        Caution(
            f"column {name!r} has levels that differ in case or spaces only: {alike}; they are different levels"
        )
        for name, alike in found
        if alike
    ]


def spelled_alike(levels: Iterable[Any]) -> str:
    """Levels that differ in case or spaces only, as text; empty where there are none."""
    spellings: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            spellings.setdefault(" ".join(level.split()).casefold(), []).append(level)
    alike = [several for several in spellings.values() if len(several) > 1]
    named = "; ".join(" and ".join(map(repr, several)) for several in alike[:3])
    return f"{named}; and {len(alike) - 3} more" if len(alike) > 3 else named


def counting_notes(X: Floats, columns: tuple[Column, ...]) -> Sequence[str]:
    """Columns that number the rows, of which some may have been left out."""
    if len(X) < FEW_ROWS:
        return []
    counting = np.flatnonzero((np.diff(X[:FEW_ROWS], axis=0) > 0).all(axis=0))
    steps = np.diff(X[:, counting], axis=0)
    counting = counting[(steps > 0).all(axis=0) & ((steps == 1).mean(axis=0) >= COUNTED)]
    return [
        Caution(
            f"column {columns[f].source!r} numbers the rows; an identifier is left out with "
            f"{setting_text('exclude', columns[f].source, True)}"
        )
        for f in counting
        if columns[f].kind == NUMERIC
    ]
