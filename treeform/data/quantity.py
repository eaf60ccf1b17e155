"""Targets that are quantities: whole multiples of one unit, exactly, or on a grid that is stated."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.decimals import Decimals, spread_of
from treeform.data.exact import (
    AUTO,
    common_unit,
    digits_of,
    exact_number,
    plain,
    unit_of_decimals,
    whole_numbers,
)
from treeform.errors import DataError
from treeform.utils.arrays import Floats, Ints
from treeform.utils.rows import row_text, rows_note, worded
from treeform.utils.text import short_text

LARGEST_SUM = 2**53
"""The deviations from the centre, times the weights, sum to no more than this: sums stay exact in float64."""
AS_ASKED, TOO_MANY_DIGITS = "as asked for", "they have too many digits to be added exactly"
"""Why targets are rounded."""
LARGEST_TARGET = int(np.finfo(np.float64).max)
"""Leaves predict float64 values."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """The target of each row: ``(centre + deviations[i]) * unit``."""

    deviations: Ints
    """(n,) int64"""
    centre: int
    """A whole number next to the weighted mean, in units."""
    unit: Fraction
    note: str = ""
    """What was rounded, and by how much; empty where nothing was."""
    span: tuple[int, int] | None = None
    """(int, int), optional: the range of whole predicted values, where these are some rows of a table; left out, from
    the least to the greatest target."""

    def __post_init__(self) -> None:
        self.deviations.setflags(write=False)

    @cached_property
    def values(self) -> Floats:
        """(n,) float64, each the nearest one to the exact target."""
        distinct, code = np.unique(self.deviations, return_inverse=True)
        p, q = self.unit.as_integer_ratio()
        exact = [(self.centre + d) * p / q for d in distinct.tolist()]  # Python rounds a quotient once
        return np.array(exact)[code.reshape(-1)]

    @cached_property
    def lowest(self) -> int:
        """The least deviation."""
        return int(self.deviations.min()) if self.span is None else self.span[0]

    @cached_property
    def highest(self) -> int:
        """The greatest deviation."""
        return int(self.deviations.max()) if self.span is None else self.span[1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of all targets."""
        hashed = hashlib.sha256(f"|{self.centre}|{self.unit}|".encode())
        hashed.update(np.ascontiguousarray(self.deviations, dtype="<i8").tobytes())
        return hashed.hexdigest()

    def in_units(self, value: Fraction) -> Fraction:
        """A value as a deviation from the centre, in units."""
        # One fraction in place of two operations: trees of few rows are judged within microseconds.
        (p, q), (u, v) = value.as_integer_ratio(), self.unit.as_integer_ratio()
        return Fraction(p * v - self.centre * q * u, q * u)

    def to_value(self, deviation: Fraction | int) -> Fraction:
        """The value of a deviation from the centre."""
        (p, q), (u, v) = deviation.as_integer_ratio(), self.unit.as_integer_ratio()
        return Fraction((self.centre * q + p) * u, q * v)


def read_quantity(
    labels: NDArray[Any], codes: Ints, weights: Ints, grid: Fraction | str | None = None
) -> Quantity:
    """Read targets as quantities.

    ``labels``, (K,): the distinct targets. A float stands for the decimal number that it prints as. ``codes``, (n,)
    int64: the position of each row's target among them. ``weights``, (n,) int64: positive. ``grid``: targets are
    rounded to multiples of it; with "auto" only where they have too many digits, to as many as there is room for.
    Raises DataError if a target is no number, or they have too many digits and no grid is given.
    """
    if labels.dtype != np.float64:
        return _read(labels, codes, weights, grid)
    hashed = hashlib.sha256(f"{grid}|{labels.shape}|{codes.shape}|".encode())
    for array in (labels, codes, weights):
        hashed.update(np.ascontiguousarray(array).data)
    key = hashed.digest()
    found = _known.get(key)
    if found is None:
        found = _read(labels, codes, weights, grid)
        for old in list(_known)[:-1]:
            _known.pop(old, None)
        _known[key] = found
    return found


_known: dict[bytes, Quantity] = {}
"""The last two of floats, by digest: a table is read again for each price of tests. They are those that problems hold,
so they take no memory of their own, as the decimals would."""


def _read(labels: NDArray[Any], codes: Ints, weights: Ints, grid: Fraction | str | None) -> Quantity:
    units: Sequence[int]
    weight = np.bincount(codes, weights=weights, minlength=len(labels)).astype(np.int64)  # sums are below 2**53
    each = weight.tolist()
    if labels.dtype == np.float64 and np.isfinite(labels).all():
        decimals = _digits_of(labels)
        quickly = _read_quickly(labels, decimals, codes, weight, each, grid)
        if quickly is not None:
            return quickly
        units, unit = unit_of_decimals(decimals.digits.tolist(), decimals.powers.tolist())
    else:
        units, unit = common_unit(_fractions(labels, codes))
    if isinstance(grid, Fraction):
        return _rounded(units, unit, codes, each, grid, AS_ASKED)
    centre, total = _centred(units, each)
    if total <= LARGEST_SUM:
        return Quantity(_deviations(units, centre)[codes], centre, unit)
    fine = _finest_of(units, unit, each)
    if grid == AUTO:
        return _rounded(units, unit, codes, each, fine, TOO_MANY_DIGITS)
    raise DataError(
        "the targets have too many digits to be added exactly",
        cause=f"as multiples of {short_text(unit)} their deviations sum to {short_text(total)}, and the limit is 2**53",
        fix=f"round them to a grid that becomes part of the problem, for example grid='{short_text(fine)}', or "
        f"grid='auto', in tf.SquaredError(grid=...); in text, squared_error[grid={short_text(fine)}] or "
        "squared_error[grid=auto]; the same for absolute errors",
    )


def _digits_of(labels: Floats) -> Decimals:
    """Finite floats as decimals."""
    digits, powers = digits_of(np.ascontiguousarray(labels).data)
    return Decimals(np.asarray(digits), np.asarray(powers))


def _read_quickly(
    labels: Floats,
    decimals: Decimals,
    codes: Ints,
    weights: Ints,
    each: list[int],
    grid: Fraction | str | None,
) -> Quantity | None:
    """The answer of `read_quantity` where targets are rounded, by no common unit; None if that is not certain."""
    why = AS_ASKED
    if not isinstance(grid, Fraction):
        grid = _certain_grid(labels, decimals, weights) if grid == AUTO else None
        why = TOO_MANY_DIGITS
    found = None if grid is None else decimals.on_grid(grid)
    if grid is None or found is None:
        return None
    units, largest = found
    centre, total = _centred(units.tolist(), each)
    if total > LARGEST_SUM or int(np.abs(units).max()) * grid > LARGEST_TARGET or grid > LARGEST_TARGET:
        return None
    return Quantity((units - centre)[codes], centre, grid, _note(grid, largest, why))


def _certain_grid(labels: Floats, decimals: Decimals, weights: Ints) -> Fraction | None:
    """The finest power of ten on which the sums are exact, if they are not without one; None in doubt."""
    spread, mass, unit = spread_of(labels, weights), int(weights.sum()), decimals.unit()
    if spread is None or spread[0] <= (LARGEST_SUM + mass) * unit:
        return None
    low, high = (_finest(one, mass) for one in spread)
    return low if low == high else None


def _fractions(labels: NDArray[Any], codes: Ints) -> list[Fraction]:
    out = []
    for position, label in enumerate(labels):
        value = exact_number(label)
        if value is None or abs(value.numerator) > LARGEST_TARGET * value.denominator:
            row = row_text(int(np.flatnonzero(codes == position)[0]))
            if value is not None:
                raise _too_large(f"the target of {row} is {short_text(value)}", rows_note())
            raise DataError(
                f"the target {plain(label)!r} of {row} is no number{rows_note()}",
                cause="squared and absolute errors are those of quantities",
                fix="give numbers as the target, or minimise "
                f"{worded('tf.Error()', 'error')} to learn a classifier",
            )
        out.append(value)
    return out


def _too_large(what: str, note: str = "") -> DataError:
    return DataError(
        f"{what}, beyond float64{note}",
        cause="leaves predict float64 values",
        fix="give the targets in a larger unit, such as millions",
    )


def _centred(units: Sequence[int], weights: list[int]) -> tuple[int, int]:
    """A whole number next to the weighted mean, and the weighted sum of the distances from it."""
    total = sum(u * w for u, w in zip(units, weights, strict=True))
    centre = round(Fraction(total, sum(weights)))
    return centre, sum(abs(u - centre) * w for u, w in zip(units, weights, strict=True))


def _deviations(units: Sequence[int], centre: int) -> Ints:
    return np.fromiter((u - centre for u in units), dtype=np.int64, count=len(units))


def _finest_of(units: Sequence[int], unit: Fraction, weights: list[int]) -> Fraction:
    total, mass = sum(u * w for u, w in zip(units, weights, strict=True)), sum(weights)
    spread = Fraction(sum(abs(u * mass - total) * w for u, w in zip(units, weights, strict=True)), mass) * unit
    return _finest(spread, mass)


def _finest(spread: Fraction, mass: int) -> Fraction:
    """The finest power of ten on which the sums are exact, by the distances from the mean and the weights."""
    room = Fraction(LARGEST_SUM, 2)  # half is left for what rounding adds
    fine = Fraction(1)
    while spread + mass * fine > room * fine:
        fine *= 10
    while spread + mass * fine / 10 <= room * fine / 10:
        fine /= 10
    return fine


def _nearest(p: int, q: int) -> int:
    """The whole number next to p / q, of two the even one."""
    nearest, rest = divmod(2 * p + q, 2 * q)
    return nearest - (rest == 0 and nearest % 2)


def _rounded(
    fine: Sequence[int], unit: Fraction, codes: Ints, weights: list[int], grid: Fraction, why: str
) -> Quantity:
    p, q = (unit / grid).as_integer_ratio()
    units = whole_numbers(_nearest(f * p, q) for f in fine)
    largest = Fraction(max(abs(f * p - u * q) for f, u in zip(fine, units, strict=True)), q) * grid
    centre, total = _centred(units, weights)
    if total > LARGEST_SUM:
        raise DataError(
            f"on a grid of {short_text(grid, 6)} the targets cannot be added exactly",
            cause=f"their deviations sum to {short_text(total)} multiples of it, and the limit is 2**53",
            fix=f"use a grid of {short_text(_finest_of(fine, unit, weights))} or more, or grid='auto'",
        )
    if grid > LARGEST_TARGET or max(abs(u) for u in units) * grid > LARGEST_TARGET:
        raise _too_large(f"a target rounded to a multiple of {short_text(grid)} is")
    return Quantity(_deviations(units, centre)[codes], centre, grid, _note(grid, largest, why))


def _note(grid: Fraction, largest: Fraction, why: str) -> str:
    if not largest:
        return ""
    return (
        f"the targets are rounded to multiples of {short_text(grid, 6)} ({why}), which changes none by more than "
        f"{short_text(largest, 2)}"
    )
