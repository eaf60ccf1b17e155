"""Sample weights: whole numbers times one unit, exactly where that is possible, else on a stated grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.rows import row_text, rows_note
from treeform.errors import DataError
from treeform.plural import count_of

LARGEST_TOTAL = 2**53  # sums stay exact in int64 and in float64
GRID_TOTAL = 10**10  # weights that are rounded sum to about as many units, at most
_SIMPLE_DENOMINATOR = 10**6


@dataclass(frozen=True)
class Weights:
    """Whole numbers and their unit.

    Attributes
    ----------
    units : (n,) int64
        Zero where the weight is zero, or rounds to it.
    unit : Fraction
        The weight of row i is ``units[i] * unit``.
    note : str
        What was rounded, and by how much; empty where nothing was.
    """

    units: NDArray[np.int64]
    unit: Fraction
    note: str = ""


def read_weights(values: Any, n_rows: int) -> Weights:
    """Split weights into integers and a common unit.

    Nothing is rounded where the sum of the weights is at most 2**53 of the exact unit. Else every weight is rounded to
    the nearest multiple of a power of ten, of which the sum has between 10**9 and 10**10; the note gives the sum of
    all changes.

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
    Weights

    Raises
    ------
    DataError
        If weights are missing, negative, not numbers, all zero, too many or too few.
    """
    if values is None:
        return Weights(np.ones(n_rows, dtype=np.int64), Fraction(1))
    array = _as_numbers(values, n_rows)
    distinct, code = np.unique(array, return_inverse=True)
    if distinct[-1] == 0:
        raise DataError("all sample weights are zero", fix="give at least one row a positive weight")
    counts = [int(c) for c in np.bincount(code)]
    fractions = [Fraction(str(value)) for value in distinct.tolist()]
    whole, unit = _common_unit(fractions)
    if _total(whole, counts) > LARGEST_TOTAL:
        whole, unit = _common_unit([_simplest(value) for value in distinct.tolist()])
    if _total(whole, counts) <= LARGEST_TOTAL:
        return Weights(np.array(whole, dtype=np.int64)[code], unit)
    whole, unit, change = _on_grid(fractions, counts)
    total = _total(whole, counts) * unit
    note = (
        f"the sample weights have too many digits to be added exactly; they are rounded to multiples of "
        f"{float(unit):.0e}, which changes them by {float(change):.1e} in all, of {float(total):.6g}"
    )
    return Weights(np.array(whole, dtype=np.int64)[code], unit, note)


def _as_numbers(values: Any, n_rows: int) -> NDArray[Any]:
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError("the sample weights are not numbers", fix="pass one number for each row") from None
    if array.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {array.shape}, the table has {count_of(n_rows, 'row')}",
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


def _on_grid(values: list[Fraction], counts: list[int]) -> tuple[list[int], Fraction, Fraction]:
    """Multiples of a power of ten, its value, and the sum of all changes."""
    total = sum((value * count for value, count in zip(values, counts, strict=True)), Fraction(0))
    unit = Fraction(1)
    while total / unit > GRID_TOTAL:
        unit *= 10
    while total / unit <= GRID_TOTAL / 10:
        unit /= 10
    whole = [round(value / unit) for value in values]
    changes = (abs(value - w * unit) * count for value, w, count in zip(values, whole, counts, strict=True))
    return whole, unit, sum(changes, Fraction(0))


def _total(whole: list[int], counts: list[int]) -> int:
    return sum(value * count for value, count in zip(whole, counts, strict=True))


def _simplest(value: float) -> Fraction:
    near = Fraction(value).limit_denominator(_SIMPLE_DENOMINATOR)
    return near if float(near) == value else Fraction(str(value))
