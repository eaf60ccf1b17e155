"""The encoder: from the user's columns to a matrix of numbers, the same way at fit and at predict.

Numbers stay as they are, booleans become 0/1, and text or categories become one 0/1 column for each
level (scikit-learn's OneHotEncoder, all levels kept). A level first seen at predict is none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.columns import BOOLEAN, CATEGORY, NUMERIC, Column, Level
from treeform.data.table import Table, kind_of, numeric_values, read_table, refuse_gaps
from treeform.errors import CertificateError, DataError

MAX_LEVELS = 1000
_KINDS = (NUMERIC, BOOLEAN, CATEGORY)


@dataclass(frozen=True)
class Source:
    """One of the user's columns: its name, its kind, and its levels when categorical."""

    name: str
    kind: str
    levels: tuple[Level, ...] = ()


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
    def fit(cls, table: Table, exclude: tuple[str, ...], rows: NDArray[np.int64] | None = None) -> Encoder:
        """Find the kind of every column, and the levels of categorical ones."""
        used = [name for name in table.names if name not in exclude]
        refuse_gaps(table, used, rows)
        if table.matrix is not None:
            kind = BOOLEAN if table.matrix.dtype.kind == "b" else NUMERIC
            return cls(tuple(Source(name, kind) for name in used), tuple(exclude))
        return cls(tuple(_source(table.column(name), name) for name in used), tuple(exclude))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The encoded features, in the order of the matrix."""
        made: list[Column] = []
        for source in self.sources:
            if source.kind == CATEGORY:
                made.extend(Column(source.name, CATEGORY, level) for level in source.levels)
            else:
                made.append(Column(source.name, source.kind))
        return tuple(made)

    @cached_property
    def one_hot(self) -> Any:
        """The fitted scikit-learn OneHotEncoder of the categorical columns, None when there are none."""
        sizes = [len(source.levels) for source in self.sources if source.kind == CATEGORY]
        if not sizes:
            return None
        from sklearn.preprocessing import OneHotEncoder

        # It works on positions of levels: scikit-learn refuses columns that mix text and numbers.
        encoder = OneHotEncoder(
            categories=[np.arange(size) for size in sizes],
            handle_unknown="ignore",
            sparse_output=False,
            dtype=np.float64,
        )
        return encoder.fit(np.zeros((1, len(sizes)), dtype=np.int64))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Encode a table.

        Parameters
        ----------
        X : DataFrame or array of shape (m, number of sources)
            A DataFrame is read by column name, in any order; an array by position.

        Returns
        -------
        (m, F) float64
            Finite, C-contiguous, no -0.0.

        Raises
        ------
        DataError
            If columns are missing or unknown, their number is wrong, or a value is missing or infinite.
        """
        table = read_table(X)
        if isinstance(X, pd.DataFrame):
            self._check_names(table)
        else:
            if len(table.names) != len(self.sources):
                raise DataError(
                    f"X has {len(table.names)} features, but the model is expecting {len(self.sources)} "
                    "features as input",
                    fix=f"pass the columns {_listing([s.name for s in self.sources])} in this order",
                )
            table = Table(tuple(source.name for source in self.sources), table.frame, table.matrix)
        return self.encode(table)

    def encode(self, table: Table, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Encode a table that holds all sources; `rows` are the user's row numbers for messages."""
        refuse_gaps(table, [source.name for source in self.sources], rows)
        if table.matrix is not None and all(source.kind != CATEGORY for source in self.sources):
            return self._encode_matrix(table, rows)
        encoded = np.empty((table.n_rows, len(self.columns)), dtype=np.float64)
        one_hot = self._one_hot_block(table)
        at = taken = 0
        for source in self.sources:
            if source.kind == CATEGORY:
                width = len(source.levels)
                encoded[:, at : at + width] = one_hot[:, taken : taken + width]
                taken += width
            else:
                width = 1
                encoded[:, at] = numeric_values(table.column(source.name), source.name, rows)
                _check_boolean(encoded[:, at], source)
            at += width
        encoded += 0.0
        return encoded

    def _encode_matrix(self, table: Table, rows: NDArray[np.int64] | None) -> NDArray[np.float64]:
        assert table.matrix is not None
        matrix = table.matrix
        if len(self.sources) < len(table.names):
            matrix = matrix[:, [table.names.index(source.name) for source in self.sources]]
        if matrix.dtype.kind in "iu":
            for j, source in enumerate(self.sources):
                numeric_values(matrix[:, j], source.name, rows)
        encoded = np.ascontiguousarray(matrix, dtype=np.float64)
        encoded = encoded + 0.0  # a copy of the user's array, and -0.0 becomes 0.0
        for j, source in enumerate(self.sources):
            _check_boolean(encoded[:, j], source)
        return encoded

    def _one_hot_block(self, table: Table) -> NDArray[np.float64]:
        categorical = [source for source in self.sources if source.kind == CATEGORY]
        if not categorical:
            return np.empty((table.n_rows, 0))
        codes = np.empty((table.n_rows, len(categorical)), dtype=np.int64)
        for j, source in enumerate(categorical):
            values = table.column(source.name)
            codes[:, j] = _positions(values, source)
        return np.asarray(self.one_hot.transform(codes))

    def _check_names(self, table: Table) -> None:
        wanted = [source.name for source in self.sources]
        missing = [name for name in wanted if name not in table.names]
        extra = [name for name in table.names if name not in wanted and name not in self.ignored]
        if missing:
            raise DataError(
                f"the table lacks {_listing(missing)}",
                cause="the model was fitted with these columns",
                fix="pass a table with the same column names as in fit",
            )
        if extra:
            raise DataError(
                f"the table has columns that the model does not know: {_listing(extra)}",
                cause=f"the model was fitted on {_listing(wanted)}",
                fix="drop them before predict",
            )

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON; `from_json` restores the encoder exactly, types of levels included."""
        sources = [
            {"name": s.name, "kind": s.kind, **({"levels": list(s.levels)} if s.kind == CATEGORY else {})}
            for s in self.sources
        ]
        return {"sources": sources, "ignored": list(self.ignored)}

    @classmethod
    def from_json(cls, value: Any) -> Encoder:
        """Rebuild an encoder, checking every entry.

        Raises
        ------
        CertificateError
            If the value has another form.
        """
        if not isinstance(value, dict) or set(value) != {"sources", "ignored"}:
            raise _damaged("it has to hold 'sources' and 'ignored'")
        if not isinstance(value["sources"], list) or not value["sources"]:
            raise _damaged("'sources' has to be a list with at least one entry")
        if not isinstance(value["ignored"], list) or not all(isinstance(s, str) for s in value["ignored"]):
            raise _damaged("'ignored' has to be a list of names")
        sources = tuple(_source_from_json(entry) for entry in value["sources"])
        names = [source.name for source in sources]
        if len(set(names)) < len(names):
            raise _damaged("source names repeat")
        return cls(sources, tuple(value["ignored"]))


def _source(values: Any, name: str) -> Source:
    kind = kind_of(values, name)
    if kind != CATEGORY:
        return Source(name, kind)
    found = list(dict.fromkeys(np.asarray(values, dtype=object).tolist()))
    levels = [_plain_level(level, name) for level in found]
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {len(levels)} different levels",
            cause=f"each becomes a 0/1 feature, and at most {MAX_LEVELS} are supported; is it an identifier?",
            fix="leave the column out, or group rare levels",
        )
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        rank = {level: position for position, level in enumerate(values.dtype.categories.tolist())}
        return Source(name, CATEGORY, tuple(sorted(levels, key=rank.__getitem__)))
    return Source(name, CATEGORY, tuple(sorted(levels, key=_level_order)))


def _level_order(level: Level) -> tuple[bool, float, str]:
    return (True, 0.0, level) if isinstance(level, str) else (False, float(level), "")


def _plain_level(level: Any, name: str) -> Level:
    plain = level.item() if isinstance(level, np.generic) else level
    if isinstance(plain, str | bool | int | float) and plain not in (float("inf"), float("-inf")):
        return str(plain) if isinstance(plain, str) else plain
    raise DataError(
        f"column {name!r} has a level of type {type(plain).__name__}: {plain!r}",
        cause="levels are text, finite numbers or booleans",
        fix=f"make it text, for example X[{name!r}].astype(str)",
    )


def _positions(values: Any, source: Source) -> NDArray[np.int64]:
    """Position of each value among the levels, -1 where it is none of them."""
    objects = np.asarray(values, dtype=object)
    found = pd.Index(_objects(source.levels), dtype=object).get_indexer(pd.Index(objects, dtype=object))
    known = {isinstance(level, str) for level in source.levels}
    given = {isinstance(value, str) for value in objects} if (found < 0).all() else known
    if given and not (known & given):
        # Text where numbers were levels, or the other way round: nothing would ever match, silently.
        was, now = ("text", "numbers") if True in known else ("numbers", "text")
        raise DataError(
            f"column {source.name!r} held {was} when the model was fitted and holds {now} here",
            cause="no level can match, so every row would be treated as unknown",
            fix=f"convert the column to {was} first",
        )
    return np.asarray(found, dtype=np.int64)


def _check_boolean(values: NDArray[np.float64], source: Source) -> None:
    if source.kind == BOOLEAN and not ((values == 0) | (values == 1)).all():
        raise DataError(
            f"column {source.name!r} holds numbers other than 0 and 1",
            cause="the column was boolean when the model was fitted",
            fix="pass booleans",
        )


def _objects(values: Any) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _listing(names: list[str], limit: int = 6) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _source_from_json(entry: Any) -> Source:
    if not (isinstance(entry, dict) and isinstance(entry.get("name"), str) and entry.get("kind") in _KINDS):
        raise _damaged("a source needs a name and a kind (numeric, boolean or category)")
    levels = entry.get("levels", [])
    if (entry["kind"] == CATEGORY) != bool(levels) or not isinstance(levels, list):
        raise _damaged(f"source {entry['name']!r} has levels that do not fit its kind")
    for level in levels:
        if not isinstance(level, str | bool | int | float) or level != level or abs(_size(level)) == np.inf:
            raise _damaged(f"source {entry['name']!r} has the level {level!r}")
    if len(set(levels)) < len(levels):
        raise _damaged(f"levels of source {entry['name']!r} repeat")
    return Source(entry["name"], entry["kind"], tuple(levels))


def _size(level: Level) -> float:
    return 0.0 if isinstance(level, str) else float(level)


def _damaged(cause: str) -> CertificateError:
    return CertificateError(
        "the description of the columns in the model file is not valid",
        cause=cause,
        fix="write the model again with graph.save",
    )
