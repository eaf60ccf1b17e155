"""Linear rows over 0/1 columns as cardinalities and clauses, exactly.

Decimal coefficients are scaled to whole numbers first. A negative coefficient is turned positive by
negating the literal: ``-c x = c (1 - x) - c``. Rows with equal coefficients are cardinalities; others are
pseudo-Boolean encodings, made once for all rows with the same coefficients and sides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeform.bridges.base import (
    CARDINALITY,
    CLAUSE,
    ENFORCED_CARDINALITY,
    ENFORCED_CLAUSE,
    ENFORCED_LINEAR,
    LINEAR,
    Bridge,
)
from treeform.bridges.pseudo_boolean import encode
from treeform.bridges.scaling import integer_rows
from treeform.bridges.templates import Family, instantiate
from treeform.errors import RouteError
from treeform.model import Block, Linear, Model, csr
from treeform.model.lower import cardinality_block
from treeform.model.specs import NO_LIMIT
from treeform.utils.arrays import Bools, Ints


class LinearToClauses(Bridge):
    """Cardinality and clause rows with the same solutions."""

    cost = 12.0

    of_both = (LINEAR, {CLAUSE, CARDINALITY}), (ENFORCED_LINEAR, {CLAUSE, ENFORCED_CLAUSE, ENFORCED_CARDINALITY})

    def apply(self, block: Linear, model: Model) -> list[Block]:
        _refuse_other_columns(block, model)
        rows = _positive(integer_rows(block))
        equal = rows.all_equal()
        out: list[Block] = []
        if bool(equal.any()):
            some = rows.take(np.flatnonzero(equal))
            # Coprime and equal means 1: the sides count literals.
            out.append(cardinality_block(block.name, some.indptr, some.lits, some.lo, some.hi, some.when))
        if not bool(equal.all()):
            out += instantiate(block.name, _families(rows.take(np.flatnonzero(~equal))), model)
        return [b for b in out if b.n_rows] or out[:1]


@dataclass(frozen=True)
class _Positive:
    """Rows ``lo <= sum(coefs * lits) <= hi`` with positive whole coefficients, largest first in each row."""

    indptr: Ints
    lits: Ints
    coefs: Ints
    lo: Ints
    hi: Ints
    when: Ints | None

    @property
    def n_rows(self) -> int:
        return len(self.lo)

    def take(self, index: Ints) -> _Positive:
        lengths = np.diff(self.indptr)[index]
        where = csr.positions(self.indptr[index], lengths)
        when = None if self.when is None else self.when[index]
        indptr = csr.indptr_of(lengths)
        return _Positive(indptr, self.lits[where], self.coefs[where], self.lo[index], self.hi[index], when)

    def all_equal(self) -> Bools:
        """Rows whose coefficients are all the same; they are sorted, so the first and the last are compared."""
        out = np.ones(self.n_rows, dtype=bool)
        filled = np.flatnonzero(np.diff(self.indptr))
        out[filled] = self.coefs[self.indptr[filled]] == self.coefs[self.indptr[filled + 1] - 1]
        return out


def _positive(block: Linear) -> _Positive:
    row = block.rows.row_of_term()
    coefs = np.abs(block.vals).astype(np.int64)
    lits = np.where(block.vals < 0, -1, 1) * (block.cols + 1)
    turned = np.zeros(block.n_rows, dtype=np.int64)
    np.add.at(turned, row, np.where(block.vals < 0, coefs, 0))
    total = np.zeros(block.n_rows, dtype=np.int64)
    np.add.at(total, row, coefs)
    # Sides beyond what the literals can reach mean nothing; clipping keeps them whole numbers.
    lo = np.clip(block.lo + turned, 0, total + 1).astype(np.int64)
    upper = block.hi + turned
    hi = np.where(upper >= total, NO_LIMIT, np.clip(upper, -1, total).astype(np.int64))
    order = np.lexsort((lits, -coefs, row))
    return _Positive(block.indptr, lits[order], coefs[order], lo, hi, block.when)


def _families(rows: _Positive) -> list[Family]:
    """Rows grouped by coefficients and sides."""
    groups: dict[tuple[bytes, int, int], list[int]] = {}
    starts = rows.indptr.tolist()
    sides = zip(rows.lo.tolist(), rows.hi.tolist(), strict=True)
    for row, (lo, hi) in enumerate(sides):
        key = (rows.coefs[starts[row] : starts[row + 1]].tobytes(), lo, hi)
        groups.setdefault(key, []).append(row)
    out = []
    for (packed, lo, hi), members in groups.items():
        coefs = np.frombuffer(packed, dtype=np.int64).tolist()
        template = encode(coefs, lo if lo > 0 else None, hi if hi != NO_LIMIT else None)
        index = np.array(members)
        lits = rows.lits[rows.indptr[index][:, None] + np.arange(len(coefs))]
        out.append(Family(template, lits, None if rows.when is None else rows.when[index]))
    return out


def _refuse_other_columns(block: Linear, model: Model) -> None:
    other = ~model.is_binary[block.cols]
    if not bool(other.any()):
        return
    col = int(block.cols[int(np.argmax(other))])
    kind = "an integer beyond 0 and 1" if model.is_integer[col] else "continuous"
    raise RouteError(
        f"the linear rows {block.name!r} cannot be written as clauses",
        cause=f"{model.column_name(col)} is {kind}, and clauses know true and false only",
        fix="use a solver that takes linear rows, or a formulation with 0/1 variables only",
    )
