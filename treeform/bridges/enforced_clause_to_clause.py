"""Enforced clauses as plain ones: "if w then a or b" is "not w, or a, or b"."""

from __future__ import annotations

import numpy as np

from treeform.bridges.base import CLAUSE, ENFORCED_CLAUSE, Bridge
from treeform.model import Block, Clause, Model
from treeform.model.array import FALSE
from treeform.model.csr import indptr_of, positions
from treeform.model.lower import clause_block
from treeform.utils.arrays import Ints


class EnforcedClauseToClause(Bridge):
    """The negated enforcement literal joins each clause."""

    source = ENFORCED_CLAUSE
    target = frozenset({CLAUSE})

    def apply(self, block: Clause, model: Model) -> list[Block]:
        assert block.when is not None
        lengths = np.diff(block.indptr)
        repeated = np.abs(block.lits) == np.repeat(np.abs(block.when), lengths)
        if bool(repeated.any()):
            return [_normalised(block, block.when)]
        starts = indptr_of(lengths + 1)
        lits = np.empty(starts[-1], dtype=np.int64)
        lits[starts[:-1]] = -block.when
        lits[positions(starts[:-1] + 1, lengths)] = block.lits
        return [Clause(block.name, starts, lits)]


def _normalised(block: Clause, when: Ints) -> Clause:
    """The general case: the enforcement literal, or its negation, may occur in the clause already."""
    lengths = np.diff(block.indptr)
    codes = np.full((block.n_rows, int(lengths.max(initial=0)) + 1), FALSE, dtype=np.int64)
    codes[:, 0] = -when
    row = np.repeat(np.arange(block.n_rows), lengths)
    codes[row, 1 + np.arange(block.n_terms) - np.repeat(block.indptr[:-1], lengths)] = block.lits
    return clause_block(block.name, codes)
