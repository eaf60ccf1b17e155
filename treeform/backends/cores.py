"""Core-guided lower bounds: how much of the objective is lost whatever a model does.

Solvers without an objective search from above, one better model after the other; until the last refutation
nothing is known from below. Before that, all terms of the objective are assumed to be at their best. When the
solver refutes this it names a *core*, some of the assumptions that cannot all hold, and the cheapest of them is
lost. Its price is taken off all terms of the core, and the rest is assumed again; when it can be satisfied, the
search from above begins with that model, and ends as soon as it meets the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from treeform.backends import Outcome, Verdict
from treeform.model import Model

TRIMS = 2
"""How often a core is refuted again to find a smaller one."""


@dataclass(frozen=True)
class Terms:
    """An objective over 0/1 columns: ``base`` plus the weights of the literals that do not hold."""

    base: int
    literals: np.ndarray
    weights: np.ndarray


def terms_of(model: Model) -> Terms | None:
    """The objective as literals that should hold, or None where it has other than 0/1 columns."""
    goal = model.objective
    if not len(goal.cols) or not bool(model.is_binary[goal.cols].all()):
        return None
    value = np.rint(goal.vals).astype(np.int64)
    base = round(goal.const) + int(value[value < 0].sum())
    used = value != 0
    column = np.asarray(goal.cols)[used] + 1
    return Terms(base, np.where(value[used] > 0, -column, column), np.abs(value[used]))


def raise_bound(
    terms: Terms,
    ask: Callable[[Sequence[int]], Outcome],
    proved: Callable[[int], None],
    stop: Callable[[], bool],
) -> np.ndarray | None:
    """Lower bounds from disjoint cores.

    ``ask`` solves under assumptions; ``proved`` is called with each new bound. Returns the point that satisfies what
    was still assumed, if it came to that.
    """
    weights, bound = terms.weights.copy(), terms.base
    while not stop():
        active = np.flatnonzero(weights > 0)
        outcome = ask(terms.literals[active].tolist())
        if outcome.verdict is not Verdict.INFEASIBLE:
            return outcome.x
        core = outcome.info.get("core")
        if not core:  # nothing can be satisfied at all, or the solver names no cores
            return None
        inside = _trimmed(active[list(core)], terms, ask, stop)
        lost = int(weights[inside].min())
        weights[inside] -= lost
        bound += lost
        proved(bound)
    return None


def _trimmed(
    inside: np.ndarray, terms: Terms, ask: Callable[[Sequence[int]], Outcome], stop: Callable[[], bool]
) -> np.ndarray:
    for _ in range(TRIMS):
        if stop():
            break
        outcome = ask(terms.literals[inside].tolist())
        core = outcome.info.get("core")
        if outcome.verdict is not Verdict.INFEASIBLE or not core or len(core) == len(inside):
            break
        inside = inside[list(core)]
    return inside
