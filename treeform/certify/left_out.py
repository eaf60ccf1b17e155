"""Counting again what a formulation with columns on demand stated, and so what it left out.

A claim that rests on the AND/OR graph of trees (`treeform.engines.and_or_graph`) names multipliers, a cost, and how
many alternatives trees of at most that cost use. Here they are counted by a search of its own, on the tables of
`treeform.certify.prices`: NumPy only, no bound, nothing of the native search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.certify.out_of_reach import OutOfReach
from treeform.certify.prices import Prices, Table
from treeform.certify.provers import multipliers_of
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.utils.text import count_of

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask

MOST_NODES = 50_000
Points = NDArray[np.intp]


def count_left_out(
    question: Question, value: Fraction | None, details: Mapping[str, Any], stop: Callable[[], bool]
) -> str | None:
    """What counting the graph of a claim again shows (`treeform.certify.left_out`); None where it names none.

    Parameters
    ----------
    question : Question
    value : Fraction or None
        What is claimed.
    details : mapping
        Of the claim; a graph that is not the one counted here raises.
    stop : callable

    Raises
    ------
    OutOfReach, Stopped
    CertificateError
        If the graph is another one, or does not reach as far as the claim.
    """
    named = details.get("graph")
    keys = {"up_to": int, "nodes": int, "alternatives": int, "by_feature": bool}
    if not isinstance(named, dict) or any(type(named.get(key)) is not kind for key, kind in keys.items()):
        return None
    relaxation = priced_part(question)
    if relaxation is None or value is None or relaxation.task.max_features == 0:
        return None
    reach = question.to_units(relaxation.lower(named["up_to"] + 1))
    if value > reach:
        raise CertificateError(f"the graph states models below {reach} only")
    numbers, unit = multipliers_of(details.get("witness"))
    counted = count_alternatives(
        question.data, relaxation.task, named["up_to"], numbers, unit, named["by_feature"], stop
    )
    if counted != (named["nodes"], named["alternatives"]):
        raise CertificateError(
            f"the graph has {counted[0]:,} nodes and {counted[1]:,} alternatives, the claim names others"
        )
    return (
        f"all that models below {reach} use was stated: {count_of(counted[1], 'alternative')}, counted again"
    )


def count_alternatives(
    data: Dataset,
    task: TreeTask,
    cost: int,
    multipliers: Sequence[int],
    unit: int,
    by_feature: bool,
    stop: Callable[[], bool],
) -> tuple[int, int]:
    """Nodes and alternatives of the graph that trees of at most ``cost`` use, if they satisfy the sum constraints.

    Parameters
    ----------
    data : Dataset
    task : TreeTask
    cost : int
        In units of the task.
    multipliers : sequence of int
        One for each row, in 1 / ``unit`` of a unit of cost.
    unit : int
    by_feature : bool
        Whether tests of different features that part a node's points alike are different alternatives.
    stop : callable
        Ends the search with `Stopped`.

    Raises
    ------
    OutOfReach
        If the graph has too many nodes, or numbers would leave the exact range.
    """
    table = Table(data, task)
    prices = Prices(table, task, multipliers, unit, stop)
    limit = float(prices.limit(cost))
    everything = np.arange(len(table.weight))
    if prices.least(everything, task.depth) > limit:
        return 0, 0
    allowed = np.ones(len(table.feature), dtype=bool)
    if task.features is not None:
        allowed = np.isin(table.feature, sorted(frozenset().union(*task.features)))
    group = table.feature if by_feature else np.zeros(len(table.feature), dtype=np.int64)
    nodes = alternatives = 0
    level: dict[bytes, tuple[Points, float]] = {everything.tobytes(): (everything, limit)}
    for depth in range(task.depth, -1, -1):
        below: dict[bytes, tuple[Points, float]] = {}
        nodes += len(level)
        if nodes > MOST_NODES:
            raise OutOfReach("the graph is out of reach", cause=f"it has more than {MOST_NODES:,} nodes")
        for points, budget in level.values():
            alternatives += int((prices.price[points].sum(axis=0) <= budget).sum())
            if depth:
                alternatives += _tests(prices, points, depth, budget, allowed, group, below)
        level = below
    return nodes, alternatives


def _tests(
    prices: Prices,
    points: Points,
    depth: int,
    budget: float,
    allowed: NDArray[np.bool_],
    group: NDArray[np.int64],
    below: dict[bytes, tuple[Points, float]],
) -> int:
    """The tests of a node within its budget; their sides are added to the nodes below."""
    table, seen = prices.table, set[tuple[int, frozenset[bytes]]]()
    by_test = prices.by_test(points, depth)
    for t in np.flatnonzero(allowed & (by_test <= budget)).tolist():
        right = table.side[points, t] == 1
        sides = points[~right], points[right]
        key = int(group[t]), frozenset(side.tobytes() for side in sides)
        if key in seen:
            continue
        seen.add(key)
        least = [prices.least(side, depth - 1) for side in sides]
        for side, other in zip(sides, reversed(least), strict=True):
            room = budget - float(prices.test_price[t]) - other
            known = below.get(side.tobytes())
            below[side.tobytes()] = side, room if known is None else max(room, known[1])
    return len(seen)
