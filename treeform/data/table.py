"""Reading the user's table: names and raw values; everything odd is refused by name."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from treeform.errors import DataError
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.rows import SHOWN, row_text, rows_note, rows_text
from treeform.utils.text import count_of

EXACT_INTEGERS = 2**53


@dataclass(frozen=True)
class Table:
    """The user's columns by name, before any encoding.

    Exactly one of `frame` and `matrix` is set: a matrix of numbers is never taken apart into columns. `named` says
    whether the names are the user's; `labels` are those of the rows, where the user's table has some.
    """

    names: tuple[str, ...]
    frame: pd.DataFrame | None
    matrix: NDArray[Any] | None
    named: bool = False
    labels: pd.Index | None = None

    @property
    def n_rows(self) -> int:
        return len(self.matrix) if self.frame is None else len(self.frame)  # type: ignore[arg-type]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of every column as in ``numpy.dtype.kind``; a question mark where numpy has no such type."""
        if self.frame is None:
            assert self.matrix is not None
            return (self.matrix.dtype.kind,) * len(self.names)
        return tuple(dtype.kind if isinstance(dtype, np.dtype) else "?" for dtype in self.frame.dtypes)

    @cached_property
    def finite(self) -> bool:
        """Whether all values are finite numbers, which one look at the whole table tells: there are no gaps then."""
        if not set(self.kinds) <= set("iuf"):
            return False
        values = self.matrix if self.frame is None else self.frame.to_numpy()
        assert values is not None
        return values.dtype.kind in "iu" or bool(np.isfinite(values).all())

    def rows(self, kept: Ints) -> Table:
        """The same columns, only the rows `kept`, in that order."""
        labels = None if self.labels is None else self.labels[kept]
        frame = None if self.frame is None else self.frame.iloc[kept]
        matrix = None if self.matrix is None else self.matrix[kept]
        return Table(self.names, frame, matrix, self.named, labels)

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each column."""
        return {name: place for place, name in enumerate(self.names)}

    def column(self, name: str) -> Any:
        """Raw values of one column: a Series, or an array for a matrix."""
        position = self.places[name]
        return self.matrix[:, position] if self.frame is None else self.frame.iloc[:, position]  # type: ignore[index]


def as_pandas(X: Any) -> Any:
    """A table of another library (polars, pyarrow, ...) as a DataFrame with the same names; anything else as it is."""
    if isinstance(X, pd.DataFrame | np.ndarray | list | tuple):
        return X
    import narwhals.stable.v1 as nw

    return nw.from_native(X, eager_only=True).to_pandas() if nw.dependencies.is_into_dataframe(X) else X


def read_table(X: Any, feature_names: Any = None) -> Table:
    """Take a DataFrame, a table of another library, or a 2-D array as it is and name its columns.

    Raises DataError if there are no rows or columns, names repeat, or X is not two-dimensional.
    """
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):  # tests read dense columns
        X = X.toarray()
    X = as_pandas(X)
    frame = X if isinstance(X, pd.DataFrame) else None
    array = None if frame is not None else _matrix(X)
    if array is not None and array.dtype.kind not in "biuf":
        frame, array = pd.DataFrame(array).infer_objects(), None
    shape: tuple[int, ...] = frame.shape if frame is not None else array.shape  # type: ignore[union-attr]
    _refuse_empty(shape)
    names = _names(X, shape[1], feature_names)
    return Table(names, frame, array, isinstance(X, pd.DataFrame))


def refuse_no_table(X: Any) -> None:
    """Refuse what is often given in place of a table. Raises DataError if it is a path, a mapping or None."""
    if isinstance(X, str | bytes | os.PathLike):
        raise DataError(
            f"{X!r} is no table",
            cause="X holds the rows themselves, and files are not read here",
            fix="read it first, for example with pandas.read_csv(path)",
        )
    if isinstance(X, Mapping):
        raise DataError("X is a mapping, which is no table", fix="pass pandas.DataFrame(X)")
    if X is None:
        raise DataError("there is no table: X is None", fix="pass a DataFrame or a 2-D array")


def _matrix(X: Any) -> NDArray[Any]:
    refuse_no_table(X)
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise DataError(
            "X cannot be read as a table", cause=str(error), fix="pass a DataFrame or a 2-D array"
        ) from None
    if array.ndim != 2:
        raise DataError(
            f"X has {count_of(array.ndim, 'dimension')}, a table has 2",
            fix="pass rows by columns; one column is X.reshape(-1, 1), one row X.reshape(1, -1)",
        )
    if array.dtype.kind in "cmMV":
        raise DataError(
            f"X has entries of type {array.dtype}",
            cause="trees compare real numbers",
            fix="turn X into numbers, booleans or text first",
        )
    return array


def _refuse_empty(shape: tuple[int, ...]) -> None:
    if shape[0] == 0 or shape[1] == 0:
        what = "rows" if shape[0] == 0 else "columns"
        raise DataError(
            f"the table has no {what}: found array with 0 {'sample' if shape[0] == 0 else 'feature'}(s) "
            f"(shape={shape}) while a minimum of 1 is required",
            fix="check how the table was read or filtered",
        )


def refuse_repeated_names(X: Any) -> None:
    """Raise where two columns of a DataFrame have one name. Raises DataError."""
    if isinstance(X, pd.DataFrame) and not isinstance(X.columns, pd.MultiIndex):
        _refuse_repeated(tuple(str(name) for name in X.columns))


def _names(X: Any, n_columns: int, feature_names: Any) -> tuple[str, ...]:
    if feature_names is not None:
        names = tuple(str(name) for name in feature_names)
        if len(names) != n_columns:
            raise DataError(
                f"feature_names has {count_of(len(names), 'name')}, the table has {count_of(n_columns, 'column')}",
                fix="give one name for each column",
            )
    elif isinstance(X, pd.DataFrame):
        if isinstance(X.columns, pd.MultiIndex):
            raise DataError(
                "the table has columns with several levels of names",
                fix="flatten them: X.columns = ['_'.join(map(str, c)) for c in X.columns]",
            )
        names = tuple(str(name) for name in X.columns)
    else:
        names = tuple(f"x{j}" for j in range(n_columns))
    _refuse_repeated(names)
    return names


def _refuse_repeated(names: tuple[str, ...]) -> None:
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise DataError(
            f"column names repeat: {', '.join(map(repr, repeated))}",
            cause="rules and requirements name columns, so names have to be different",
            fix="rename the columns, or drop one of each pair",
        )


def numeric_values(values: Any, name: str, rows: Ints | None = None) -> Floats:
    """Values of a numeric or boolean column as float64; missing values are left out before.

    Decimals and fractions become the nearest float64: they keep their order, and a table of floats is read alike.

    Raises DataError if a value is not a number, an integer that float64 cannot hold, or one of two different decimals
    or fractions that would become the same number.
    """
    raw = np.asarray(values)
    if raw.dtype.kind not in "biuf":
        raw = np.asarray(values, dtype=object)
    try:
        exact = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"column {name!r} holds values that are not numbers",
            cause="the column is numeric in the model",
            fix="pass numbers in this column",
        ) from None
    if raw.dtype.kind in "iuO":
        _refuse_large(raw, name, rows)
    if raw.dtype.kind == "O":
        _refuse_merged(raw, exact, name, rows)
    return exact


def _refuse_merged(raw: NDArray[Any], exact: Floats, name: str, rows: Ints | None) -> None:
    """Different numbers have to stay different, and so in their order, which rounding keeps."""
    first: dict[float, int] = {}
    for at, value in enumerate(exact.tolist()):
        before = first.setdefault(value, at)
        if raw[before] != raw[at]:
            raise DataError(
                f"column {name!r} holds {raw[before]} in {row_text(_row(before, rows))} and {raw[at]} in "
                f"{row_text(_row(at, rows))}, which float64 cannot tell apart{rows_note()}",
                cause="columns of numbers are read as float64, with 15 to 17 significant digits",
                fix="round them, or subtract an offset",
            )


def _refuse_large(raw: NDArray[Any], name: str, rows: Ints | None) -> None:
    if raw.dtype.kind == "O":
        beyond = np.array([isinstance(v, int | np.integer) and abs(int(v)) > EXACT_INTEGERS for v in raw])
    else:
        beyond = raw > EXACT_INTEGERS
        if raw.dtype.kind == "i":
            beyond |= raw < -EXACT_INTEGERS
    if beyond.any():
        at = int(np.flatnonzero(beyond)[0])
        raise DataError(
            f"column {name!r} holds the integer {raw[at]} in {row_text(_row(at, rows))}, beyond 2**53{rows_note()}",
            cause="float64 cannot tell such integers apart; columns like this are often identifiers",
            fix="leave the column out, subtract an offset, or make it text",
        )


def refuse_infinite(table: Table, names: Sequence[str], rows: Ints | None = None) -> None:
    """Raise when a value of the columns ``names`` is infinite; all such columns are named at once. Raises DataError."""
    _refuse(
        [(name, infinite) for name, _, infinite in _gaps(table, names)], rows, "infinite (inf)",
        cause="tests compare finite numbers", fix="drop these rows, or fill in the values",
    )  # fmt: skip


def refuse_gaps(
    table: Table, names: Sequence[str], rows: Ints | None = None, *, cause: str, fix: str = ""
) -> None:
    """Raise when a value of the columns ``names`` is missing or infinite; all such columns are named at once.

    ``rows``: the user's row numbers, for the message. ``cause`` and ``fix``: why that is refused, and what to do
    besides dropping the rows. Raises DataError.
    """
    bad = [(name, missing | infinite) for name, missing, infinite in _gaps(table, names)]
    more = f"; {fix}" if fix else ""
    _refuse(
        bad,
        rows,
        "missing (NaN) or infinite (inf)",
        cause=cause,
        fix=f"drop these rows, or fill in the values{more}",
    )


def _refuse(bad: list[tuple[str, Bools]], rows: Ints | None, odd: str, *, cause: str, fix: str) -> None:
    gaps = [(name, np.flatnonzero(at)) for name, at in bad if at.any()]
    if not gaps:
        return
    rows_by_name = [(name, at if rows is None else rows[at]) for name, at in gaps]
    if len(rows_by_name) == 1:
        name, at = rows_by_name[0]
        what = f"column {name!r} is {odd} in {rows_text(at)}"
    else:
        each = ", ".join(f"{name!r} ({rows_text(at)})" for name, at in rows_by_name[:SHOWN])
        more = f" and {len(rows_by_name) - SHOWN} more" if len(rows_by_name) > SHOWN else ""
        what = f"{count_of(len(rows_by_name), 'column', 'have')} values that are {odd}: {each}{more}"
    raise DataError(what + rows_note(), cause=cause, fix=fix)


def _gaps(table: Table, names: Sequence[str]) -> Iterator[tuple[str, Bools, Bools]]:
    """Each column, with the rows in which it is missing, and those in which it is infinite."""
    if table.finite or (table.matrix is not None and table.matrix.dtype.kind != "f"):
        return
    for name in names:
        values = table.column(name)
        missing = np.array(pd.isna(values))
        infinite = np.zeros(len(missing), dtype=bool)
        if values.dtype.kind == "f":
            infinite[~missing] = np.isinf(np.asarray(values[~missing], dtype=np.float64))
        elif types.is_object_dtype(values.dtype):
            infinite = np.fromiter((_infinite(value) for value in values), dtype=bool, count=len(missing))
        yield name, missing, infinite


def _infinite(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_infinite()
    return isinstance(value, float | np.floating) and bool(np.isinf(value))


def _row(at: int, rows: Ints | None) -> int:
    return at if rows is None else int(rows[at])
