"""The encoded matrix that a graph reads: from a table, or as it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from treeform.data.columns import Column
from treeform.data.encode import Encoder
from treeform.data.table import as_pandas
from treeform.data.unseen import Unseen
from treeform.errors import DataError
from treeform.utils.arrays import Floats
from treeform.utils.text import count_of


def encoded_matrix(
    encoder: Encoder | None, columns: tuple[Column, ...], X: Any, unseen: Unseen = Unseen.WARN
) -> Floats:
    """(m, F): a DataFrame is encoded, an array is an encoded matrix already.

    ``unseen`` is for levels that were not there in training. Raises DataError if columns are missing, the shape is
    wrong, or a value is missing or no number.
    """
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame) and encoder is not None:
        return encoder.transform(X, unseen)
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            "the encoded matrix holds values that are not numbers",
            cause=str(error),
            fix="pass the table as a DataFrame, or graph.encode(X)",
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] != len(columns):
        raise DataError(
            f"the encoded matrix has shape {matrix.shape}, the model reads {count_of(len(columns), 'feature')}",
            fix="pass (rows, features), for example data.X or graph.encode(X)",
        )
    if np.isnan(matrix).any():
        raise DataError("the encoded matrix has NaN entries", fix="fill them in, or drop these rows")
    return matrix


def with_nan(columns: tuple[Column, ...], encoded: Floats) -> Floats:
    """Encoded rows (m, F) with NaN where a value is missing."""
    made = encoded.copy()
    for feature, column in enumerate(columns):
        made[column.missing_values(made[:, feature]), feature] = np.nan
    return made
