"""Sample weights: whole numbers times one unit, exactly, or on a grid that was asked for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.exact import AUTO, common_unit, exact_number
from treeform.errors import DataError
from treeform.utils.arrays import Ints, row_numbers
from treeform.utils.rows import row_text, rows_note, setting_text
from treeform.utils.text import count_of, short_text

LARGEST_TOTAL = 2**53  # sums stay exact in int64 and in float64
GRID_TOTAL = 10**10  # on the grid "auto" the weights sum to about as many units, where each has some of them
_FEW_UNITS = 1000  # a weight of fewer changes by more than a twentieth of a per cent when it is rounded
_SIMPLE_DENOMINATOR = 10**6


@dataclass(frozen=True, eq=False)
class Rounding:
    """What became of weights that were rounded."""

    note: str
    """To what they were rounded, and by how much."""
    exact: tuple[Fraction, ...]
    """The different weights before, ascending."""
    codes: Ints
    """(n,) int64: which of them each row had."""

    def of(self, rows: Ints) -> Rounding:
        """The same for some of the rows."""
        return replace(self, codes=self.codes[rows])

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the weights before, so that no others of the same multiples pass for them."""
        hashed = hashlib.sha256("|".join(map(str, self.exact)).encode())
        hashed.update(self.codes.astype("<i8").tobytes())
        return hashed.hexdigest()


@dataclass(frozen=True)
class Weights:
    """Whole numbers and their unit."""

    units: Ints
    """(n,) int64: zero exactly where the weight is zero."""
    unit: Fraction
    """The weight of row i is ``units[i] * unit``."""
    rounding: Rounding | None = None
    """None where nothing was rounded."""

    @property
    def notes(self) -> list[str]:
        """What was rounded, and by how much; none where nothing was."""
        return [] if self.rounding is None else [self.rounding.note]


def read_weights(values: Any, n_rows: int, grid: Fraction | str | None = None) -> Weights:
    """Split weights into integers and a common unit.

    ``values``: non-negative finite numbers; None means 1 for every row. A float stands for the decimal number that it
    prints as; where these have no small common denominator, for the simplest fraction that rounds to the same float
    (0.6666666666666667 is 2/3). ``grid``: None: the weights are exact, and refused where they sum to more than 2**53 of
    their common unit. A number: they are rounded to multiples of it. "auto": they are rounded only where they would be
    refused, to a power of ten of which their sum has at least 10**9. No positive weight becomes 0: it has at least one
    unit. Raises DataError if weights are missing, negative, not numbers, all zero, too many or too few, or have too
    many digits.
    """
    if values is None:
        return Weights(np.ones(n_rows, dtype=np.int64), Fraction(1))
    array = _one_each(values, n_rows)
    distinct, code = _distinct(array)
    exact = [_positive(value, code, at) for at, value in enumerate(distinct)]
    if not any(exact):
        raise DataError(
            "all sample weights are zero",
            cause="rows of weight 0 are left out",
            fix="give at least one row a positive weight",
        )
    counts = np.bincount(code).tolist()
    if isinstance(grid, Fraction):
        return _rounded(exact, counts, code, grid, "as asked for")
    whole, unit = common_unit(exact)
    if _total(whole, counts) > LARGEST_TOTAL:
        whole, unit = common_unit([_simplest(*pair) for pair in zip(distinct, exact, strict=True)])
    if _total(whole, counts) <= LARGEST_TOTAL:
        return Weights(np.array(whole, dtype=np.int64)[code], unit)
    fine = _fine_enough(exact, counts)
    if grid == AUTO:
        return _rounded(exact, counts, code, fine, "they have too many digits to be added exactly")
    whole, unit = common_unit(exact)
    total = short_text(_total(whole, counts))
    raise DataError(
        "the sample weights have too many digits to be added exactly",
        cause=f"as multiples of {short_text(unit)} they sum to {total}, and the limit is 2**53",
        fix=f"round them to a grid that becomes part of the problem: {setting_text('weight_grid', AUTO)}, or "
        f"{setting_text('weight_grid', short_text(fine))}; or give weights of fewer digits",
    )


def _one_each(values: Any, n_rows: int) -> NDArray[Any]:
    if isinstance(values, str):
        raise DataError(
            f"sample_weight={values!r} is text",
            cause="only the target is named; weights are numbers, one for each row",
            fix=f"pass table[{values!r}], with exclude=[{values!r}] if no test may read it",
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise _no_numbers() from None
    if array.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {array.shape}, the table has {count_of(n_rows, 'row')}",
            cause="each row has a weight",
            fix="pass one for each row, as a one-dimensional array",
        )
    return array if array.dtype.kind in "biuf" else array.astype(object)


def _distinct(array: NDArray[Any]) -> tuple[list[Any], Ints]:
    """The different weights, and which of them each row has."""
    if array.dtype.kind != "O":
        distinct, code = np.unique(array, return_inverse=True, equal_nan=True)
        return list(distinct), code.reshape(-1)
    items = [None if pd.api.types.is_scalar(item) and pd.isna(item) else item for item in array]
    try:
        place = {item: at for at, item in enumerate(dict.fromkeys(items))}
    except TypeError:
        raise _no_numbers() from None
    return list(place), np.array([place[item] for item in items], dtype=np.int64)


def _positive(value: Any, code: Ints, at: int) -> Fraction:
    """A weight as a fraction."""
    number = exact_number(value)
    if number is not None and number >= 0:
        return number
    row = f"the sample weight of {row_text(int(np.flatnonzero(code == at)[0]))}"
    if number is not None:
        raise DataError(
            f"{row} is negative ({value}){rows_note()}",
            cause="weights count samples",
            fix="use 0 to leave a row out",
        )
    if value is None or isinstance(value, float | np.floating):
        raise DataError(
            f"{row} is NaN or infinite{rows_note()}", fix="use finite weights; 0 leaves a row out"
        )
    raise _no_numbers()


def _no_numbers() -> DataError:
    return DataError(
        "the sample weights are not numbers",
        cause="weights count samples",
        fix="pass one number for each row",
    )


def _fine_enough(exact: list[Fraction], counts: list[int]) -> Fraction:
    """A power of ten of which the sum has 10**9 to 10**10, and more where the least weight has few, as room allows."""
    total = sum((value * count for value, count in zip(exact, counts, strict=True)), Fraction(0))
    least = min(filter(None, exact))
    unit = Fraction(1)
    while total / unit > GRID_TOTAL:
        unit *= 10
    while total / unit <= GRID_TOTAL / 10:
        unit /= 10
    room = LARGEST_TOTAL - sum(counts)  # each weight may grow by a unit
    while least / unit < _FEW_UNITS and total / unit * 10 <= room:
        unit /= 10
    return unit


def _rounded(exact: list[Fraction], counts: list[int], code: Ints, unit: Fraction, why: str) -> Weights:
    """Multiples of the unit, at least one where the weight is positive."""
    whole = [max(1, round(value / unit)) if value else 0 for value in exact]
    total = _total(whole, counts)
    if total > LARGEST_TOTAL:
        fine = short_text(_fine_enough(exact, counts))
        raise DataError(
            f"on a grid of {short_text(unit, 6)} the sample weights cannot be added exactly",
            cause=f"they sum to {short_text(total)} multiples of it, and the limit is 2**53",
            fix=f"use a coarser grid, for example {setting_text('weight_grid', fine)}",
        )
    changes = [abs(value - w * unit) for value, w in zip(exact, whole, strict=True)]
    if not any(changes):
        whole, unit = common_unit(exact)
        return Weights(np.array(whole, dtype=np.int64)[code], unit)
    change = sum((c * count for c, count in zip(changes, counts, strict=True)), Fraction(0))
    share = max(c / value for c, value in zip(changes, exact, strict=True) if value)
    note = (
        f"the sample weights are rounded to multiples of {short_text(unit, 6)} ({why}), which changes them by "
        f"{short_text(change, 2)} in all, of {short_text(total * unit, 6)}, and none by more than "
        f"{short_text(share * 100, 2)} % of itself"
    )
    units = np.array(whole, dtype=np.int64)[code]
    order = sorted(range(len(exact)), key=exact.__getitem__)
    place = np.argsort(order)
    return Weights(units, unit, Rounding(note, tuple(exact[at] for at in order), place[code]))


def _total(whole: list[int], counts: list[int]) -> int:
    return sum(value * count for value, count in zip(whole, counts, strict=True))


def _simplest(value: Any, exact: Fraction) -> Fraction:
    if not isinstance(value, float | np.floating):
        return exact
    near = Fraction(float(value)).limit_denominator(_SIMPLE_DENOMINATOR)
    return near if float(near) == value else exact


def rows_that_count(weights: Ints) -> Ints:
    """The numbers of the rows whose weight is not 0."""
    return np.flatnonzero(weights) if (weights == 0).any() else row_numbers(len(weights))
