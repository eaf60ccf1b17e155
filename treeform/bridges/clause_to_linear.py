"""Clauses as linear rows: ``sum(x) + sum(1 - x') >= 1`` over positive and negated literals."""

from __future__ import annotations

import numpy as np

from treeform.bridges.base import CLAUSE, LINEAR, Bridge
from treeform.model import Block, Clause, Linear, Model
from treeform.model.blocks import negated_per_row


class ClauseToLinear(Bridge):
    """One linear row for each clause."""

    source = CLAUSE
    target = frozenset({LINEAR})

    def apply(self, block: Clause, model: Model) -> list[Block]:
        lo = (1 - negated_per_row(block.indptr, block.lits)).astype(np.float64)
        return [Linear(block.name, *block.rows, lo, np.full(block.n_rows, np.inf))]
