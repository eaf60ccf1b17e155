"""What backends with linear rows have in common: the cutoff as a row, and assumptions as ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeform.backends.checker import TOLERANCE, integral_objective
from treeform.model import Linear, Model, concatenate_linear

#: By how much a cutoff row is wider than the cutoff, relatively.
WIDER = 1e-3


def with_cutoff(model: Model, cutoff: float | None) -> Linear:
    """All rows of a model of linear rows, and a last row ``objective <= cutoff`` where there is one.

    A whole-numbered objective has its limit halfway between two values. Others get a limit clearly wider than the
    cutoff: with 1e-6, HiGHS 1.14 calls models infeasible whose optimum is the cutoff. What is beyond is refused.
    """
    rows = concatenate_linear([b for b in model.blocks if isinstance(b, Linear)])
    goal = model.objective
    if cutoff is None:
        return rows
    size = max(1.0, abs(cutoff))
    limit = np.floor(cutoff + TOLERANCE * size) + 0.5 if integral_objective(model) else cutoff + WIDER * size
    hi = np.array([limit - goal.const])
    ends = np.array([0, len(goal.cols)], dtype=np.int64)
    return concatenate_linear([rows, Linear("cutoff", ends, goal.cols, goal.vals, np.array([-np.inf]), hi)])


def narrowed(model: Model, assumptions: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the columns with literals fixed; crossed where the literals cannot hold."""
    lb, ub = model.lb.copy(), model.ub.copy()
    lits = np.asarray(assumptions, dtype=np.int64)
    lb[lits[lits > 0] - 1] = 1.0
    ub[-lits[lits < 0] - 1] = 0.0
    return lb, ub
