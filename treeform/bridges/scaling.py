"""Rows and objectives with decimal coefficients as ones with whole coefficients, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, lcm

import numpy as np

from treeform.errors import RouteError
from treeform.model import Linear, Objective, csr, exact
from treeform.utils.arrays import Bools, Floats

__all__ = ["integer_rows", "whole_objective"]

#: Whole coefficients and sums of a row stay below this, so that float64 and int64 hold them exactly.
LARGEST = 2**53


def integer_rows(block: Linear) -> Linear:
    """Scale each row over integer columns to coprime whole coefficients; nothing is lost or gained.

    Coefficients and sides are read as the decimals that they are written as (``0.1`` is one tenth). A row is multiplied
    by the least common denominator and divided by the greatest common divisor of its coefficients; then its sides are
    rounded inwards, which no integer point notices.

    Raises RouteError if the scaled coefficients of a row sum to more than 2**53.

    Returns the same rows; all finite numbers are whole. A row that no integer point satisfies becomes ``0 >= 1``.
    """
    vals, lo, hi = block.vals.copy(), block.lo.copy(), block.hi.copy()
    fractional = vals != np.rint(vals)
    for row in np.flatnonzero(_any_per_row(block, fractional)).tolist():
        terms = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
        scale = _denominator(vals[terms])
        vals[terms] = [float(exact(v) * scale) for v in vals[terms].tolist()]
        lo[row] = _side(lo[row], scale, up=True)
        hi[row] = _side(hi[row], scale, up=False)
    row_of = block.rows.row_of_term()
    weight = np.bincount(row_of, weights=np.abs(vals), minlength=block.n_rows)
    if bool((weight > LARGEST).any()):
        raise _too_large(block, int(np.argmax(weight)))
    divisor = _divisors(block, vals)
    vals = vals / np.repeat(divisor, np.diff(block.indptr))
    lo, hi = _inwards(lo, divisor, np.ceil), _inwards(hi, divisor, np.floor)
    return _without_empty_ranges(replace(block, vals=vals, lo=lo, hi=hi))


def whole_objective(goal: Objective) -> tuple[list[int], int]:
    """The coefficients of an objective as whole numbers, one for each of ``goal.cols``, and what they were multiplied
    by, exactly; its constant is left out.

    Raises RouteError if they sum to more than 2**53.
    """
    scale = _denominator(goal.vals)
    whole = [int(exact(v) * scale) for v in goal.vals.tolist()]
    if sum(map(abs, whole)) > LARGEST:
        raise RouteError(
            "the objective needs whole coefficients beyond 2**53",
            cause="its decimal coefficients have no small common denominator",
            fix="round them, or state the objective in whole numbers",
        )
    return whole, scale


def _denominator(vals: Floats) -> int:
    return lcm(*(exact(v).denominator for v in vals.tolist()))


def _side(value: float, scale: int, up: bool) -> float:
    if not np.isfinite(value):
        return value
    scaled = exact(value) * scale
    return float(ceil(scaled) if up else floor(scaled))


def _divisors(block: Linear, vals: Floats) -> Floats:
    """The greatest common divisor of each row's coefficients (1 for empty rows)."""
    out = np.ones(block.n_rows)
    if block.n_terms:
        filled = np.diff(block.indptr) > 0
        starts = block.indptr[:-1][filled]
        out[filled] = np.gcd.reduceat(np.abs(vals).astype(np.int64), starts)
    return out


def _inwards(side: Floats, divisor: Floats, rounding: np.ufunc) -> Floats:
    """A side divided and rounded, in integers or fractions."""
    finite = np.isfinite(side)
    plain = finite & (side == np.rint(side)) & (np.abs(side) < LARGEST)
    out = side.copy()
    whole, by = side[plain].astype(np.int64), divisor[plain].astype(np.int64)
    out[plain] = -(-whole // by) if rounding is np.ceil else whole // by
    for row in np.flatnonzero(finite & ~plain).tolist():
        value = Fraction(exact(float(side[row])), int(divisor[row]))
        out[row] = float(ceil(value) if rounding is np.ceil else floor(value))
    return out


def _without_empty_ranges(block: Linear) -> Linear:
    """Rows whose sides crossed state ``0 >= 1`` instead: solvers refuse crossed sides."""
    crossed = block.lo > block.hi
    if not bool(crossed.any()):
        return block
    rows = csr.keep_terms(block.rows, np.repeat(~crossed, np.diff(block.indptr)))
    lo, hi = np.where(crossed, 1.0, block.lo), np.where(crossed, np.inf, block.hi)
    return Linear(block.name, *rows, lo, hi, block.when)


def _any_per_row(block: Linear, flags: Bools) -> Bools:
    out: Bools = np.diff(csr.indptr_of(flags)[block.indptr]) > 0
    return out


def _too_large(block: Linear, row: int) -> RouteError:
    return RouteError(
        f"row {row} of {block.name!r} needs whole coefficients beyond 2**53",
        cause="its decimal coefficients have no small common denominator",
        fix="round them, or state the row in whole numbers",
    )
