"""Sets of points that no hyperplane separates: each loses a point, and a linear program finds which sets bind.

The least weight of points to give up is a covering problem over all inseparable sets (Parker and Ryan, Annals of
Mathematics and Artificial Intelligence 1996). Its linear relaxation is solved by adding sets that its solution
violates, which takes far less time than an integer master that is solved again for each set.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treeform.backends.linear_programs import LinearProgram
from treeform.formulations.odd.hulls import Hulls
from treeform.utils.arrays import Bools, Floats, Ints

WORK = 8 * 10**6
"""Entries of the tables of points, over all linear programs of a covering: one to four seconds."""
DROPS = 150
"""Points that are given up one by one for a model; a candidate that needs more is far from any."""
SPREAD = 1e-4
"""Cost of a share of a point that the master keeps: small sets are cheaper than large ones."""
NEW = 1e-4
"""By how much a set has to be violated."""


def disjoint(hulls: Hulls, alive: Bools, cost: Floats, margin: float) -> Iterator[Ints]:
    """Disjoint sets of living points whose hulls meet, cheap ones first, until the rest's do not."""
    alive = alive.copy()
    while (found := hulls.meet(alive, cost, margin)) is not None:
        yield found
        alive[found] = False


def binding(hulls: Hulls, weight: Floats, margin: float, most: int = WORK) -> Iterator[Ints]:
    """Inseparable sets that the linear relaxation of the covering problem needs, as far as the work goes.

    Each is given as soon as it is found, so that the caller can end the search.
    """
    master = LinearProgram(np.zeros((0, hulls.n)), np.zeros(0), np.zeros(0))
    given_up = np.zeros(hulls.n)
    work = 0
    while work < most:
        violated = False
        for found in disjoint(hulls, np.ones(hulls.n, dtype=bool), given_up + SPREAD, margin):
            work += hulls.unit.size
            if given_up[found].sum() >= 1 - NEW:
                break
            yield found
            violated = True
            master.add_row(found, 1.0, np.inf)
        work += hulls.unit.size
        if not violated:
            return
        solution = master.solve(weight, np.zeros(hulls.n), np.ones(hulls.n))
        if solution is None:
            return
        given_up = np.clip(solution.x, 0.0, 1.0)


def separable(hulls: Hulls, alive: Bools, weight: Floats, margin: float) -> Bools | None:
    """The living points without some that make them separable, one of each set in the way; None after `DROPS`."""
    alive = alive.copy()
    cost = np.full(hulls.n, SPREAD)
    for _ in range(DROPS):
        share = hulls.mixture(alive, cost)
        found = None if share is None else np.flatnonzero(share > 0)
        if share is None or found is None or not hulls.distance(share) < margin:
            found = hulls.nearest(alive, margin)
            if found is None:
                return alive
            share = np.ones(hulls.n)
        alive[found[np.argmax(share[found] / weight[found])]] = False
    return None
