"""The exact search for diagrams under rows over predictions, at given multipliers (``native/diagram/rows.hpp``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.engines.diagram_core import MOST_PARTS, NEVER, USUAL_MEMORY
from treeform.engines.native_call import time_limit_of, to_diagram
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Ints
from treeform.utils.budget import Budget

Found = Callable[["DecisionGraph"], None]


def cheapest_within(
    data: Dataset,
    widths: tuple[int, ...],
    max_nodes: int | None,
    below: int,
    *,
    reduced: Ints,
    truth: Ints,
    taken: Ints,
    rhs: Sequence[int],
    rate: int,
    base: int,
    budget: Budget | None = None,
) -> tuple[int | None, DecisionGraph | None, bool]:
    """The least true cost below ``below`` of a diagram that satisfies the rows, its model, and whether that is proved:
    nothing below that cost, or below ``below`` without one, satisfies the rows.

    ``reduced``, (P, K): the reduced costs by point and predicted class, ``rate * truth + sum of multiplier * taken``,
    less what makes the least entry of a kind of sample 0. ``truth``, (P, K): the costs that are minimised. ``taken``,
    (R, P, K), and ``rhs``: the rows ``sum of taken <= rhs``. A model that satisfies them at a true cost c has a sum of
    ``reduced`` of at most ``rate * c + base``. All are whole numbers.
    """
    most = sum(widths) if max_nodes is None else min(sum(widths), max_nodes)
    if max(min(width, most) for width in widths) > MOST_PARTS:
        return None, None, False
    left = Budget() if budget is None else budget.share(None)

    def poll(*_: object) -> tuple[bool, None]:
        try:
            return left.stop(), None
        except KeyboardInterrupt:
            left.interrupt()
            return True, None

    points = data.points
    native = _core.diagram_rows(
        x=np.ascontiguousarray(points.X),
        value=np.ascontiguousarray(reduced),
        weight=np.ascontiguousarray(points.weights.sum(axis=1)),
        truth=np.ascontiguousarray(truth),
        taken=np.ascontiguousarray(taken),
        widths=list(widths),
        max_nodes=most,
        rhs=list(rhs),
        rate=rate,
        base=base,
        below=min(below, NEVER),
        memory=USUAL_MEMORY,
        simd="auto",
        time_limit=time_limit_of(left.elapsed_limit),
        poll=poll,
    )
    if native["diagram"] is None:
        return None, None, bool(native["complete"])
    return int(native["cost"]), to_diagram(native["diagram"], data), bool(native["complete"])
