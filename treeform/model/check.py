"""Exact evaluation of rows at a point."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np

from treeform.model import csr
from treeform.model.blocks import Block, Clause, Linear
from treeform.model.columns import VariableBlock
from treeform.model.constants import exact
from treeform.model.csr import Bools, Floats, Ints

#: Feasibility tolerance of rows and bounds with continuous columns, relative to the size of the row.
TOLERANCE = 1e-6


class Table(Protocol):
    """The part of a model that is read here."""

    @property
    def variables(self) -> list[VariableBlock]: ...
    @property
    def lb(self) -> Floats: ...
    @property
    def ub(self) -> Floats: ...
    @property
    def is_integer(self) -> Bools: ...


def literal_values(lits: Ints, x: Floats) -> Bools:
    """Truth of signed literals at a point of 0/1 values."""
    out: Bools = (x[np.abs(lits) - 1] >= 0.5) == (lits > 0)
    return out


def violated_variables(table: Table, x: Floats) -> dict[str, int]:
    """For each family with values outside its range: how many."""
    slack = np.where(table.is_integer, 0.0, TOLERANCE)
    outside = ~((x >= table.lb - slack) & (x <= table.ub + slack))
    if not bool(outside.any()):
        return {}
    counts = {f"range of {v.name}": int(outside[v.start : v.start + v.size].sum()) for v in table.variables}
    return {name: count for name, count in counts.items() if count}


def violated_rows(block: Block, x: Floats, is_integer: Bools) -> Bools:
    """Marks the rows of a block that a point violates, ``(n_rows,)``.

    Parameters
    ----------
    block : Linear, Clause or Cardinality
    x : ndarray of float64, shape (n_cols,)
        Integer columns hold whole numbers.
    is_integer : ndarray of bool, shape (n_cols,)
    """
    if isinstance(block, Linear):
        bad = _violated_linear(block, x, is_integer)
    else:
        count = _marked_per_row(block.indptr, literal_values(block.lits, x))
        bad = count == 0 if isinstance(block, Clause) else (count < block.lo) | (count > block.hi)
    return bad if block.when is None else bad & literal_values(block.when, x)


def _violated_linear(block: Linear, x: Floats, is_integer: Bools) -> Bools:
    activity = csr.as_matrix(block.rows, len(x)) @ x
    weight = csr.as_matrix(block.rows._replace(vals=np.abs(block.vals)), len(x)) @ np.abs(x)
    exact_row = _all_per_row(block.indptr, is_integer[block.cols])
    whole = exact_row & _all_per_row(block.indptr, block.vals == np.rint(block.vals)) & (weight < 2.0**53)
    # Sums of integers below 2**53 are exact in float64; others are trusted only away from the bound.
    band = np.where(whole, 0.0, TOLERANCE * np.maximum(1.0, weight))
    bad: Bools = (activity < block.lo - band) | (activity > block.hi + band)
    near_lo, near_hi = np.abs(activity - block.lo) <= band, np.abs(activity - block.hi) <= band
    for row in np.flatnonzero(exact_row & ~whole & ~bad & (near_lo | near_hi)).tolist():
        bad[row] = _violated_exactly(block, row, x)
    return bad


def _marked_per_row(indptr: Ints, flags: Bools) -> Ints:
    """How many terms of each row are marked."""
    out: Ints = np.diff(csr.indptr_of(flags)[indptr])
    return out


def _all_per_row(indptr: Ints, flags: Bools) -> Bools:
    """Rows of which every term is marked."""
    out: Bools = _marked_per_row(indptr, ~flags) == 0
    return out


def _violated_exactly(block: Linear, row: int, x: Floats) -> bool:
    terms = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
    values = x[block.cols[terms]].tolist()
    products = (exact(v) * int(p) for v, p in zip(block.vals[terms].tolist(), values, strict=True))
    total = sum(products, Fraction(0))
    lo, hi = float(block.lo[row]), float(block.hi[row])
    return (lo > -np.inf and total < exact(lo)) or (hi < np.inf and total > exact(hi))
