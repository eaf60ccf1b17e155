"""What belongs to which row and column, and how the user wants columns to be read.

Rows are paired by labels, and columns are target, features or neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from treeform.data.exact import AUTO, exact_number, fraction_of, plain
from treeform.data.table import Table, as_pandas, read_table, refuse_no_table
from treeform.errors import DataError, no_column
from treeform.utils.rows import setting_text
from treeform.utils.text import count_of


def row_labels(X: Any) -> pd.Index | None:
    """The labels of the rows of a table; None where it has none: arrays, and tables of polars and pyarrow."""
    return X.index if isinstance(X, pd.DataFrame) else None


def in_row_order(values: Any, labels: pd.Index | None, what: str, name: str) -> Any:
    """What was given for each row, in the order of the rows of the table.

    Raises DataError if the labels are not the same, or do not tell which rows belong together.

    ``values``: only a Series or a DataFrame has labels of rows. ``labels``: of the rows of the table. ``what`` and
    ``name``: what is given, and the argument's name, for the message. Returns the very same object where nothing had to
    be moved, or the number of rows differs.
    """
    if labels is None or not isinstance(values, pd.Series | pd.DataFrame) or len(values) != len(labels):
        return values
    own = values.index
    if own.equals(labels):
        return values
    by_position = f"pass {name}.to_numpy() to pair rows by position, or give both the same index"
    if not (own.is_unique and labels.is_unique):
        repeated = (labels if own.is_unique else own)[(labels if own.is_unique else own).duplicated()]
        raise DataError(
            f"{what} and the table carry different indices, and labels repeat: which rows belong together is not clear",
            cause=f"the label {plain(repeated[0])!r} repeats",
            fix=by_position,
        )
    place = own.get_indexer(labels)
    lacking = labels[place < 0]
    if len(lacking):
        other = own[labels.get_indexer(own) < 0]
        only = count_of(len(lacking), "label", "are")
        raise DataError(
            f"{what} and the table carry different indices: {only} in one of them only",
            cause=f"such as {plain(lacking[0])!r} in the table and {plain(other[0])!r} in {what}",
            fix=by_position,
        )
    return values.iloc[place]


def of_some_rows(values: Any, labels: pd.Index | None) -> Any:
    """The entries of a Series or DataFrame for a table of some of its rows, such as a fold; else the same object."""
    if labels is None or not isinstance(values, pd.Series | pd.DataFrame) or len(values) <= len(labels):
        return values
    if not (values.index.is_unique and labels.is_unique and labels.isin(values.index).all()):
        return values
    return values.loc[labels]


def positions_of(named: pd.Index, labels: pd.Index | None) -> list[int]:
    """The positions of the rows with these labels.

    Raises DataError if the rows of the table have no labels, or none, or several, have one of these.
    """
    if labels is None:
        raise DataError(
            "an index names rows by their labels, and the rows of this table have none",
            fix="name them by position, counted from 0, or pass X as a pandas DataFrame",
        )
    found = labels.isin(named)
    lacking = named[~named.isin(labels)]
    repeated = labels[found & labels.duplicated()]
    if len(lacking) or len(repeated):
        none = f"no row of the table has the label {lacking[0]!r}" if len(lacking) else ""
        raise DataError(
            none or f"several rows of the table have the label {repeated[0]!r}",
            cause="an index names rows by their labels",
            fix="name labels of table.index, or positions, counted from 0: index.to_numpy()",
        )
    return [int(at) for at in np.flatnonzero(found)]


@dataclass(frozen=True)
class Rows:
    """A table, and what belongs to each of its rows, in their order.

    ``X``: the columns without the target. ``table``: the same, named. ``y`` and ``sample_weight``: as they were given,
    but for the order of the rows. ``target``: name of the target, where it has one. ``notes``: what was put in order.
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

    Raises DataError if the table cannot be read, there is no target, or labels of rows do not fit; see
    `in_row_order`.
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
        raise DataError(
            "all columns are excluded",
            cause="tests read columns, and none is left",
            fix="leave at least one column to learn from",
        )
    return names


MISSING = ("value", "error")
DATES = (None, "days")


@dataclass(frozen=True)
class TableOptions:
    """The user's choices about columns.

    ``categorical``: columns whose values are levels, whatever they look like. ``missing``: whether a missing value is a
    value that tests send left or right, or refused. ``dates``: None refuses dates; ``"days"`` makes them days since
    1970-01-01. ``abstain``: the label of leaves that decide nothing, one more class that no row has. ``weight_grid``:
    what sample weights are rounded to multiples of; None: they are exact. See `treeform.data.weights.read_weights`.
    """

    categorical: tuple[str, ...] = ()
    missing: str = "value"
    dates: str | None = None
    abstain: str | None = None
    weight_grid: Fraction | str | None = None

    @classmethod
    def of(
        cls, categorical: Any, missing: Any, dates: Any, abstain: Any = None, weight_grid: Any = None
    ) -> TableOptions:
        """Check what the user gave. Raises DataError if a choice is none of those above."""
        if isinstance(categorical, str):
            categorical = (categorical,)
        if categorical is not None and not isinstance(categorical, Iterable):
            raise DataError(
                f"categorical_features={categorical!r} names no columns",
                cause="it is the name of a column, or a list of names",
                fix="use for example categorical_features=['branch']",
            )
        names = () if categorical is None else tuple(str(name) for name in categorical)
        if isinstance(missing, str) and missing == "majority":
            raise DataError(
                f"{setting_text('missing', missing)} is for predictions, and a problem is stated on the training rows",
                cause="in training a missing value is a value that each test sends left or right",
                fix="leave it out here; result.graph.accepting predicts so, and estimators take missing='majority'",
            )
        one_of("missing", missing, MISSING)
        one_of("dates", dates, DATES)
        if abstain is not None and (not isinstance(abstain, str) or not abstain.strip()):
            raise DataError(
                f"abstain={abstain!r} is no label",
                cause="it is what is predicted where the model decides nothing",
                fix="use for example abstain='ask'",
            )
        return cls(names, missing, dates, abstain, grid_of(weight_grid))

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        entry: dict[str, Any] = {
            "categorical": list(self.categorical),
            "missing": self.missing,
            "dates": self.dates,
        }
        more = {"abstain": self.abstain, "weight_grid": self.weight_grid and str(self.weight_grid)}
        return entry | {key: value for key, value in more.items() if value is not None}

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse names of columns that are not in the table."""
        unknown = [name for name in self.categorical if name not in names]
        if unknown:
            what = f"{setting_text('categorical', unknown[0], True)} names no column"
            raise no_column(what, unknown[0], names, fix="name columns of the table")


USUAL = TableOptions()


def grid_of(value: Any, name: str = "weight_grid") -> Fraction | str | None:
    """A grid that numbers are rounded to: a positive number, "auto" or None.

    Raises DataError if it is none of these.
    """
    if value is None or (isinstance(value, str) and value == AUTO):
        return value
    try:
        grid = fraction_of(value) if isinstance(value, str) else exact_number(value)
    except (ValueError, ZeroDivisionError):
        grid = None
    if grid is None or grid <= 0 or isinstance(value, bool):
        raise DataError(
            f"{setting_text(name, value)} is no grid",
            cause="numbers are rounded to multiples of it, so that it is a positive number",
            fix=f"use for example {setting_text(name, '0.001')}, or {setting_text(name, AUTO)}",
        )
    return grid


def one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    """Refuse a setting that is none of those known. Raises DataError if it is not."""
    if not isinstance(value, str | None) or value not in known:
        raise DataError(
            f"{setting_text(name, value)} is not known",
            fix=f"use {' or '.join(setting_text(name, choice) for choice in known if choice is not None)}"
            + (", or leave it out" if None in known else ""),
        )
