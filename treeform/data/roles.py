"""The roles of what is given: which column is the target, which are no features, and what belongs to which row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from treeform.data.alignment import in_row_order, row_labels
from treeform.data.table import Table, as_pandas, read_table, refuse_no_table
from treeform.errors import DataError, no_column


@dataclass(frozen=True)
class Rows:
    """A table, and what belongs to each of its rows, in their order.

    Attributes
    ----------
    X : object
        The columns without the target.
    table : Table
        The same, named.
    y, sample_weight : object
        As they were given, but for the order of the rows.
    target : str or None
        Name of the target, where it has one.
    notes : list of str
        What was put in order.
    """

    X: Any
    table: Table
    y: Any
    sample_weight: Any
    target: str | None
    notes: list[str]


def separate(
    X: Any, y: Any, sample_weight: Any, feature_names: Any = None, labels: pd.Index | None = None
) -> Rows:
    """The table, the target and the weights, with equal rows at equal positions.

    ``labels`` are those of the rows of a table that became an array.

    Raises
    ------
    DataError
        If the table cannot be read, there is no target, or labels of rows do not fit; see `in_row_order`.
    """
    labels, X = row_labels(X) if labels is None else labels, as_pandas(X)
    X, y, target = _target(X, y)
    table = replace(read_table(X, feature_names), labels=labels)
    notes: list[str] = []
    ordered: list[Any] = []
    for values, what, name in ((y, "the target", "y"), (sample_weight, "sample_weight", "sample_weight")):
        placed = in_row_order(values, labels, what, name)
        if placed is not values:
            notes.append(
                f"{what} and the table have their rows in different orders; they are paired by the labels of the rows"
            )
        ordered.append(placed)
    y, sample_weight = ordered
    return Rows(X, table, y, sample_weight, target, notes)


def _target(X: Any, y: Any) -> tuple[Any, Any, str | None]:
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
    if hasattr(y, "to_pandas"):  # a column of another library has no labels of rows
        y = np.asarray(y.to_pandas())
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
