"""Cardinalities as linear rows: ``lo <= sum(x) + sum(1 - x') <= hi`` over positive and negated literals."""

from __future__ import annotations

import numpy as np

from treeform.bridges.base import CARDINALITY, ENFORCED_CARDINALITY, ENFORCED_LINEAR, LINEAR, Bridge
from treeform.model import Block, Cardinality, Linear, Model
from treeform.model.blocks import negated_per_row


class CardinalityToLinear(Bridge):
    """One linear row for each cardinality; enforcement literals are kept."""

    of_both = (CARDINALITY, {LINEAR}), (ENFORCED_CARDINALITY, {ENFORCED_LINEAR})

    def apply(self, block: Cardinality, model: Model) -> list[Block]:
        negated = negated_per_row(block.indptr, block.lits)
        never = block.lo > block.hi
        lo = np.where(block.lo <= 0, -np.inf, block.lo - negated)
        # A row that never holds states 0 >= 1: solvers refuse crossed bounds.
        hi = np.where((block.hi >= np.diff(block.indptr)) | never, np.inf, block.hi - negated)
        return [Linear(block.name, *block.rows, lo, hi, block.when)]
