"""The three kinds of rows that a model stores, as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from treeform.model import csr
from treeform.model.columns import exact
from treeform.model.csr import Rows
from treeform.utils.arrays import Bools, Floats, Ints

__all__ = ["Block", "Cardinality", "Clause", "Form", "Kind", "Linear", "concatenate_linear"]


class Kind(Enum):
    """What a row states."""

    LINEAR = "linear"
    """``lo <= a x <= hi``."""
    CLAUSE = "clause"
    """At least one literal is true."""
    CARDINALITY = "cardinality"
    """From ``lo`` to ``hi`` literals are true."""


class Form(NamedTuple):
    """A kind of rows and whether they have enforcement literals: what solvers accept and bridges rewrite."""

    kind: Kind
    enforced: bool

    def __str__(self) -> str:
        return f"enforced {self.kind.value}" if self.enforced else self.kind.value


class Rowed:
    """What all kinds of rows have; terms of row ``r`` are at ``indptr[r]:indptr[r + 1]``."""

    kind: ClassVar[Kind]
    indptr: Ints
    when: Ints | None

    @property
    def form(self) -> Form:
        return Form(self.kind, self.when is not None)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1


class OfLiterals(Rowed):
    """Rows over signed literals."""

    lits: Ints

    @property
    def n_terms(self) -> int:
        return len(self.lits)

    @property
    def rows(self) -> Rows:
        """The left-hand sides as linear terms: ``sum(x) + sum(1 - x)`` without the constants."""
        return literal_terms(self.indptr, self.lits)


@dataclass(frozen=True, eq=False)
class Linear(Rowed):
    """Rows ``lo <= sum(vals * x[cols]) <= hi``; each column at most once per row, no zero coefficients."""

    name: str
    indptr: Ints
    """ndarray of int64, shape (n_rows + 1,): the terms of row ``r`` are at ``indptr[r]:indptr[r + 1]``."""
    cols: Ints
    vals: Floats
    """ndarray of int64 and of float64, shape (nnz,)"""
    lo: Floats
    hi: Floats
    """ndarray of float64, shape (n_rows,): may be infinite."""
    when: Ints | None = None
    """ndarray of int64, shape (n_rows,), or None: signed literals ``+-(col + 1)``: row ``r`` has to hold only if
    literal ``when[r]`` is true."""
    kind: ClassVar[Kind] = Kind.LINEAR

    @property
    def n_terms(self) -> int:
        return len(self.cols)

    @property
    def rows(self) -> Rows:
        return Rows(self.indptr, self.cols, self.vals)

    def take(self, index: Ints) -> Linear:
        """The rows ``index`` only."""
        rows = csr.take_rows(self.rows, index)
        when = None if self.when is None else self.when[index]
        return Linear(self.name, *rows, self.lo[index], self.hi[index], when)


@dataclass(frozen=True, eq=False)
class Clause(OfLiterals):
    """Rows of signed literals ``+-(col + 1)`` of which at least one is true; no duplicates, no tautologies."""

    name: str
    indptr: Ints
    """ndarray of int64, shape (n_rows + 1,)"""
    lits: Ints
    """ndarray of int64, shape (nnz,)"""
    when: Ints | None = None
    """ndarray of int64, shape (n_rows,), or None: as in :class:`Linear`."""
    kind: ClassVar[Kind] = Kind.CLAUSE


@dataclass(frozen=True, eq=False)
class Cardinality(OfLiterals):
    """Rows of distinct signed literals of which from ``lo`` to ``hi`` are true."""

    name: str
    indptr: Ints
    """ndarray of int64, shape (n_rows + 1,)"""
    lits: Ints
    """ndarray of int64, shape (nnz,)"""
    lo: Ints
    hi: Ints
    """ndarray of int64, shape (n_rows,): ``0 <= lo`` and ``hi <= length`` in every row that can hold."""
    when: Ints | None = None
    """ndarray of int64, shape (n_rows,), or None: as in :class:`Linear`."""
    kind: ClassVar[Kind] = Kind.CARDINALITY

Block = Linear | Clause | Cardinality


def literal_terms(indptr: Ints, lits: Ints) -> Rows:
    """Signed literals as terms: ``x`` is ``+1 x`` and ``~x = 1 - x`` is ``-1 x``, its constant left out."""
    return Rows(indptr, np.abs(lits) - 1, np.sign(lits).astype(np.float64))


def negated_per_row(indptr: Ints, lits: Ints) -> Ints:
    """Number of negated literals in each row: the constants that :func:`literal_terms` leaves out."""
    return np.diff(csr.indptr_of(lits < 0)[indptr])


def concatenate_linear(blocks: Sequence[Linear]) -> Linear:
    """The rows of several plain linear blocks in one, in order: what array interfaces of solvers take."""
    if not blocks:
        none = np.zeros(0)
        return Linear("", np.zeros(1, np.int64), np.zeros(0, np.int64), none, none, none)
    rows = csr.concatenate_rows([b.rows for b in blocks])
    lo = np.concatenate([b.lo for b in blocks])
    return Linear(blocks[0].name, *rows, lo, np.concatenate([b.hi for b in blocks]))


#: Feasibility tolerance of rows and bounds with continuous columns, relative to the size of the row.
TOLERANCE = 1e-6


def literal_values(lits: Ints, x: Floats) -> Bools:
    """Truth of signed literals at a point of 0/1 values."""
    out: Bools = (x[np.abs(lits) - 1] >= 0.5) == (lits > 0)
    return out


def violated_rows(block: Block, x: Floats, is_integer: Bools) -> Bools:
    """Marks the rows of a block that a point violates, ``(n_rows,)``; its integer columns hold whole numbers."""
    if isinstance(block, Linear):
        bad = _violated_linear(block, x, is_integer)
    else:
        count = _marked_per_row(block.indptr, literal_values(block.lits, x))
        bad = count == 0 if isinstance(block, Clause) else (count < block.lo) | (count > block.hi)
    return bad if block.when is None else bad & literal_values(block.when, x)


def _violated_linear(block: Linear, x: Floats, is_integer: Bools) -> Bools:
    activity = csr.at_point(block.rows, x)
    weight = csr.at_point(block.rows._replace(vals=np.abs(block.vals)), np.abs(x))
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
