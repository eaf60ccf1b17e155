"""Exact sample weights: whole numbers times one unit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.rows import row_text, rows_note
from treeform.errors import DataError

LARGEST_TOTAL = 2**53  # sums stay exact in int64 and in float64
_SIMPLE_DENOMINATOR = 10**6


def exact_weights(values: Any, n_rows: int) -> tuple[NDArray[np.int64], Fraction]:
    """Split weights into integers and a common unit, without any rounding.

    Parameters
    ----------
    values : array_like of shape (n_rows,) or None
        Non-negative finite numbers; None means 1 for every row. A float stands for the decimal number
        that it prints as; where these have no small common denominator, for the simplest fraction that
        rounds to the same float (0.6666666666666667 is 2/3).
    n_rows : int
        Number of rows of the table.

    Returns
    -------
    weights : (n_rows,) int64
        Zero where the weight is zero.
    unit : Fraction
        The user's weight of row i is ``weights[i] * unit``.

    Raises
    ------
    DataError
        If weights are missing, negative, not numbers, all zero, too many or too few, or have so many
        digits that their exact sum exceeds 2**53 units.
    """
    if values is None:
        return np.ones(n_rows, dtype=np.int64), Fraction(1)
    array = _as_numbers(values, n_rows)
    distinct, code = np.unique(array, return_inverse=True)
    if distinct[-1] == 0:
        raise DataError("all sample weights are zero", fix="give at least one row a positive weight")
    counts = [int(c) for c in np.bincount(code)]
    fractions = [Fraction(str(value)) for value in distinct.tolist()]
    whole, unit = _common_unit(fractions)
    if _total(whole, counts) > LARGEST_TOTAL:
        whole, unit = _common_unit([_simplest(value) for value in distinct.tolist()])
    if _total(whole, counts) > LARGEST_TOTAL:
        raise DataError(
            "the sample weights have too many digits to be added exactly",
            cause="their sum in units of the common denominator exceeds 2**53",
            fix="round them first, for example np.round(sample_weight, 4)",
        )
    return np.array(whole, dtype=np.int64)[code], unit


def _as_numbers(values: Any, n_rows: int) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("the sample weights are not numbers", fix="pass one number for each row") from None
    if array.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {array.shape}, the table has {n_rows} rows",
            fix="pass one weight for each row, as a one-dimensional array",
        )
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(
            f"the sample weight of {row_text(row)} is NaN or infinite{rows_note()}",
            fix="use finite weights; 0 leaves a row out",
        )
    if (array < 0).any():
        row = int(np.flatnonzero(array < 0)[0])
        raise DataError(
            f"the sample weight of {row_text(row)} is negative ({array[row]}){rows_note()}",
            fix="weights count samples; use 0 to leave a row out",
        )
    return array


def _common_unit(values: list[Fraction]) -> tuple[list[int], Fraction]:
    """Write every value as an integer times the largest unit that allows it."""
    denominator = math.lcm(*(value.denominator for value in values))
    scaled = [value.numerator * (denominator // value.denominator) for value in values]
    step = math.gcd(*scaled)
    return [value // step for value in scaled], Fraction(step, denominator)


def _total(whole: list[int], counts: list[int]) -> int:
    return sum(value * count for value, count in zip(whole, counts, strict=True))


def _simplest(value: float) -> Fraction:
    near = Fraction(value).limit_denominator(_SIMPLE_DENOMINATOR)
    return near if float(near) == value else Fraction(str(value))
