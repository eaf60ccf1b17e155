"""Cardinalities as clauses, by the encodings of PySAT, one encoding for all rows of a shape.

Chosen by size: plain clauses where no new variable is needed; pairwise for few literals of which at most
one is true; the sequential counter (Sinz, CP 2005) while ``L * k`` is small; cardinality networks (Asin,
Nieuwenhuis, Oliveras, Rodriguez-Carbonell, Constraints 2011) beyond. All of them propagate as strongly as
the original row.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np

from treeform.bridges.base import CARDINALITY, CLAUSE, ENFORCED_CARDINALITY, ENFORCED_CLAUSE, Bridge
from treeform.bridges.templates import Family, Template, instantiate
from treeform.model import Block, Cardinality, Clause, Model

#: At most this many literals are excluded pair by pair.
PAIRWISE = 6
#: Up to this product of literals and limit the sequential counter is used.
COUNTER = 2000

Clauses = list[list[int]]


class CardinalityToClauses(Bridge):
    """Clauses over the literals and new variables; enforcement literals are kept."""

    cost = 6.0

    of_both = (CARDINALITY, {CLAUSE}), (ENFORCED_CARDINALITY, {ENFORCED_CLAUSE})

    def apply(self, block: Cardinality, model: Model) -> list[Block]:
        shapes = np.stack([np.diff(block.indptr), block.lo, block.hi], axis=1)
        distinct, which = np.unique(shapes, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel(), minlength=len(distinct))).tolist()
        families = []
        for (length, lo, hi), start, end in zip(distinct.tolist(), [0, *ends], ends, strict=False):
            rows = order[start:end]
            template = Template(*encode(length, lo, hi))
            lits = block.lits[block.indptr[rows][:, None] + np.arange(length)]
            families.append(Family(template, lits, None if block.when is None else block.when[rows]))
        blocks: list[Block] = list(instantiate(block.name, families, model))
        return blocks or [Clause(block.name, np.zeros(1, np.int64), np.zeros(0, np.int64), block.when)]


@lru_cache(maxsize=4096)
def encode(length: int, lo: int, hi: int) -> tuple[int, int, Clauses, Clauses]:
    """Clauses that state "from lo to hi of the literals 1 .. length are true", as the fields of a :class:`Template`.

    Everything is an assertion, since the encodings do not set definitions and assertions apart.
    """
    if lo > hi:
        return length, 0, [], [[]]
    lits = list(range(1, length + 1))
    if lo == hi and 1 < hi < length - 1:
        return _pysat("equals", lits, hi, length)
    top, clauses = length, []
    for negate, limit in ((False, hi), (True, length - lo)):
        signed = [-lit for lit in lits] if negate else lits
        if limit < length:
            top, more = _at_most(signed, limit, top)
            clauses += more
    return length, top - length, [], clauses


def _at_most(lits: list[int], limit: int, top: int) -> tuple[int, Clauses]:
    """At most ``limit`` of ``lits``; new variables are numbered from ``top + 1``."""
    if limit == 0:
        return top, [[-lit] for lit in lits]
    if limit == len(lits) - 1:
        return top, [[-lit for lit in lits]]
    if limit == 1 and len(lits) <= PAIRWISE:
        return top, [[-a, -b] for a, b in combinations(lits, 2)]
    _, n_new, _, clauses = _pysat("atmost", lits, limit, top)
    return top + n_new, clauses


def _pysat(relation: str, lits: list[int], limit: int, top: int) -> tuple[int, int, Clauses, Clauses]:
    from pysat.card import CardEnc, EncType

    small = len(lits) * min(limit, len(lits) - limit if relation == "equals" else limit) <= COUNTER
    encoding = EncType.seqcounter if small else EncType.cardnetwrk
    cnf = getattr(CardEnc, relation)(lits=lits, bound=limit, top_id=top, encoding=encoding)
    clauses = [list(map(int, clause)) for clause in cnf.clauses]
    last = max((abs(lit) for clause in clauses for lit in clause), default=top)
    return len(lits), max(last, top) - top, [], clauses
