"""Ranges as solvers take them: of columns, of the objective, and finite ones where integers were declared without."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from treeform.backends.checker import TOLERANCE, integral_objective
from treeform.errors import RouteError
from treeform.model import Linear, Model, concatenate_linear

ROUNDS = 4


def finite_ranges(model: Model) -> tuple[np.ndarray, np.ndarray]:
    r"""Bounds (lb, ub) of all columns, those that are infinite replaced by what the plain linear rows imply.

    For a row :math:`\sum_k a_k x_k \le h` and a column with :math:`a_j > 0`

    .. math:: x_j \le \frac{1}{a_j} \Bigl(h - \sum_{k \ne j} \min_{l_k \le x_k \le u_k} a_k x_k\Bigr).

    Raises RouteError if a column stays unbounded.
    """
    lb, ub = model.lb.copy(), model.ub.copy()
    for _ in range(ROUNDS):
        infinite = np.isinf(lb) | np.isinf(ub)
        if not bool(infinite.any()):
            return _not_crossed(model, lb, ub)
        for block in model.blocks:
            if isinstance(block, Linear) and block.when is None and bool(infinite[block.cols].any()):
                _tighten(block, block.vals, block.hi, lb, ub)
                _tighten(block, -block.vals, -block.lo, lb, ub)
    open_ended = np.flatnonzero(np.isinf(lb) | np.isinf(ub))
    if len(open_ended):
        names = ", ".join(model.column_name(int(c)) for c in open_ended[:5])
        raise RouteError(
            f"the solver needs finite ranges, and {names} can be arbitrarily large",
            cause="neither the declaration nor a linear row bounds it on both sides",
            fix="declare it with lb= and ub=",
        )
    return _not_crossed(model, lb, ub)


def _not_crossed(model: Model, lb: np.ndarray, ub: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same where each range holds a value: solvers refuse empty ones, and the rows that imply them stay."""
    return np.where(np.isinf(model.lb), np.minimum(lb, ub), lb), np.where(np.isinf(model.ub), np.maximum(lb, ub), ub)


def _tighten(block: Linear, vals: np.ndarray, hi: np.ndarray, lb: np.ndarray, ub: np.ndarray) -> None:
    """Use ``vals x <= hi`` for the infinite ends of ``lb`` and ``ub``, in place."""
    row = block.rows.row_of_term()
    least = vals * np.where(vals > 0, lb[block.cols], ub[block.cols])
    unknown = np.isinf(least)
    total = np.bincount(row, weights=np.where(unknown, 0.0, least), minlength=block.n_rows)
    gaps = np.bincount(row, weights=unknown, minlength=block.n_rows)
    # The rest of the row has a least value when no other term is unbounded below.
    usable = np.isfinite(hi[row]) & (gaps[row] == unknown)
    limit = np.zeros(len(vals))
    np.divide(hi[row] - total[row] + np.where(unknown, 0.0, least), vals, out=limit, where=usable)
    # A hair wider, so that float64 sums of decimals cut nothing off.
    up, down = usable & (vals > 0), usable & (vals < 0)
    for side, mask, better in ((ub, up, np.minimum), (lb, down, np.maximum)):
        cols = block.cols[mask]
        wide = np.floor(limit[mask] + 1e-6) if side is ub else np.ceil(limit[mask] - 1e-6)
        fresh = np.isinf(side[cols])
        better.at(side, cols[fresh], wide[fresh])


def finite(value: float | None) -> float | None:
    """A finite number, or None."""
    return None if value is None or not math.isfinite(value) or abs(value) >= 1e30 else float(value)


#: By how much a cutoff row is wider than the cutoff, relatively.
WIDER = 1e-3


def with_cutoff(model: Model, cutoff: float | None) -> Linear:
    """All rows of a model of linear rows, and a last row ``objective <= cutoff`` where there is a cutoff.

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
    """Bounds of the columns with signed literals ``+-(col + 1)`` fixed; crossed where these contradict something."""
    lb, ub = model.lb.copy(), model.ub.copy()
    lits = np.asarray(assumptions, dtype=np.int64)
    lb[lits[lits > 0] - 1] = 1.0
    ub[-lits[lits < 0] - 1] = 0.0
    return lb, ub
