"""Rows are paired by their labels where both sides have some, and by position elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from treeform.errors import DataError
from treeform.utils.text import count_of


def row_labels(X: Any) -> pd.Index | None:
    """The labels of the rows of a table; None where it has none: arrays, and tables of polars and pyarrow."""
    return X.index if isinstance(X, pd.DataFrame) else None


def in_row_order(values: Any, labels: pd.Index | None, what: str, name: str) -> Any:
    """What was given for each row, in the order of the rows of the table.

    Parameters
    ----------
    values : Series, DataFrame, array, list or anything else
        Only a Series or a DataFrame has labels of rows.
    labels : Index or None
        Of the rows of the table.
    what, name : str
        What is given, and the argument's name, for the message.

    Returns
    -------
    values
        The very same object where nothing had to be moved, or the number of rows differs.

    Raises
    ------
    DataError
        If the labels are not the same, or do not tell which rows belong together.
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
            cause=f"the label {repeated[0]!r} repeats",
            fix=by_position,
        )
    place = own.get_indexer(labels)
    lacking = labels[place < 0]
    if len(lacking):
        other = own[labels.get_indexer(own) < 0]
        only = count_of(len(lacking), "label", "are")
        raise DataError(
            f"{what} and the table carry different indices: {only} in one of them only",
            cause=f"such as {lacking[0]!r} in the table and {other[0]!r} in {what}",
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

    Raises
    ------
    DataError
        If the rows of the table have no labels, or none, or several, have one of these.
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
