"""The roles of a table's columns: which one is the target, and which are no features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from treeform.data.table import Table, as_pandas, refuse_no_table
from treeform.errors import DataError, no_column


def separate_target(X: Any, y: Any) -> tuple[Any, Any, str | None]:
    X, y = as_pandas(X), y.to_pandas() if hasattr(y, "to_pandas") else y
    if isinstance(y, str):
        if not isinstance(X, pd.DataFrame):
            refuse_no_table(X)
            raise DataError(f"y={y!r} names a column, but X has no column names", fix="pass X as a DataFrame")
        if y not in X.columns:
            what = f"there is no column {y!r} for the target"
            raise no_column(what, y, X.columns, fix="name one of these columns")
        if list(X.columns).count(y) > 1:
            raise DataError(f"column {y!r} repeats", fix="give the target's column a name of its own")
        return X.drop(columns=y), X[y], y
    if y is None:
        raise DataError(
            "there is no target: requires y to be passed, but the target y is None",
            fix="pass one label for each row as y",
        )
    name = getattr(y, "name", None)
    return X, y, None if name is None else str(name)


def excluded_columns(table: Table, exclude: Any) -> tuple[str, ...]:
    if exclude is None or isinstance(exclude, str):
        exclude = () if exclude is None else (exclude,)
    if not isinstance(exclude, Iterable):
        raise DataError(
            f"exclude={exclude!r} names no columns",
            cause="it is the name of a column, or a list of names",
            fix="use for example exclude=['sex']",
        )
    names = tuple(str(name) for name in exclude)
    unknown = [name for name in names if name not in table.names]
    if unknown:
        what = f"exclude names {unknown[0]!r}, which is no column"
        raise no_column(what, unknown[0], table.names, fix="name columns of the table")
    if set(table.names) <= set(names):
        raise DataError("all columns are excluded", fix="leave at least one column to learn from")
    return names
