"""Counting again what a formulation with columns on demand stated, and so what it left out.

A claim that rests on the AND/OR graph of trees (`treeform.engines.and_or_graph`) names multipliers, a cost, and how
many alternatives trees of at most that cost use. Here they are counted by a search of its own, on the tables of
`treeform.certify.prices`: NumPy only, no bound, nothing of the native search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.certify.out_of_reach import OutOfReach
from treeform.certify.prices import Prices, Table
from treeform.certify.provers import multipliers_of
from treeform.engines.graph_paths import FREE, PathStates, states_of
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.utils.text import count_of

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask

MOST_NODES = 50_000
Points = NDArray[np.intp]
Level = dict[tuple[bytes, int], tuple[Points, float]]
"""By rows and by what may follow there: the points, and the most that their tree may cost."""


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
    levels = named.get("path_levels", 0)
    if type(levels) is not int:
        return None
    task, up_to = replace(relaxation.task, paths=relaxation.task.paths if levels else ()), named["up_to"]
    counted = count_alternatives(question.data, task, up_to, numbers, unit, named["by_feature"], stop, levels)
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
    path_levels: int = 0,
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
    path_levels : int
        The number of tests above, from which on rules on paths do not count.

    Raises
    ------
    OutOfReach
        If the graph has too many nodes, or numbers would leave the exact range.
    """
    table = Table(data, task)
    prices = Prices(table, task, multipliers, unit, stop)
    limit = float(prices.limit(cost))
    everything = np.arange(len(table.weight))
    states = _States(data, task, table, prices, path_levels)
    if states.least(everything, task.depth, states.start) > limit:
        return 0, 0
    allowed = np.ones(len(table.feature), dtype=bool)
    if task.features is not None:
        allowed = np.isin(table.feature, sorted(frozenset().union(*task.features)))
    group = table.feature if by_feature else np.zeros(len(table.feature), dtype=np.int64)
    nodes = alternatives = 0
    level: Level = {(everything.tobytes(), states.start): (everything, limit)}
    for depth in range(task.depth, -1, -1):
        below: Level = {}
        nodes += len(level)
        if nodes > MOST_NODES:
            raise OutOfReach("the graph is out of reach", cause=f"it has more than {MOST_NODES:,} nodes")
        for (_, state), (points, budget) in level.items():
            if states.may_end(state):
                alternatives += int((prices.price[points].sum(axis=0) <= budget).sum())
            if depth:
                alternatives += _tests(states, state, points, depth, budget, allowed, group, below)
        level = below
    return nodes, alternatives


class _States:
    """Least prices by what the tests above allow; without rules on paths everything may follow."""

    def __init__(self, data: Dataset, task: TreeTask, table: Table, prices: Prices, levels: int) -> None:
        self.prices = prices
        followed = states_of(task, _Sides(data, table), levels) if levels and task.paths else None
        self.start = FREE if followed is None else 0
        if followed is not None:
            self.rules: PathStates = followed

    def may_end(self, state: int) -> bool:
        """Whether a leaf may stand there."""
        return state == FREE or bool(self.rules.may_end[state])

    def after(self, state: int, test: int, side: int) -> int:
        """The state below an allowed test."""
        return FREE if state == FREE else int(self.rules.next[state, test, side])

    def least(self, points: Points, depth: int, state: int) -> float:
        """The least price of a tree on these points."""
        if state == FREE:
            return self.prices.least(points, depth)
        leaf = float(self.prices.price[points].sum(axis=0).min()) if self.may_end(state) else np.inf
        return min(leaf, float(self.by_test(points, depth, state).min(initial=np.inf))) if depth else leaf

    def by_test(self, points: Points, depth: int, state: int) -> NDArray[np.float64]:
        """The least price of a tree that begins with each test; infinite where it is not allowed."""
        if state == FREE:
            return self.prices.by_test(points, depth)
        table = self.prices.table
        weight, out = table.weight[points], np.full(len(table.feature), np.inf)
        on_right = weight @ table.side[points]
        parts = np.minimum(on_right, weight.sum() - on_right) >= self.prices.side_weight
        parts &= weight.sum() >= self.prices.test_weight
        for test in np.flatnonzero(parts & (self.rules.allowed[state] > 0)).tolist():
            right = table.side[points, test] == 1
            sides = (points[~right], points[right])
            least = (self.least(at, depth - 1, self.after(state, test, s)) for s, at in enumerate(sides))
            out[test] = sum(least) + float(self.prices.test_price[test])
        return out


class _Sides:
    """The tests of a table, over the points of the data."""

    def __init__(self, data: Dataset, table: Table) -> None:
        each = np.unique(data.X, axis=0, return_inverse=True)[1].reshape(-1)
        first = np.unique(np.asarray(data.points.index), return_index=True)[1]
        self.bits, self.feature = table.side[each[first]], table.feature


def _tests(
    states: _States,
    state: int,
    points: Points,
    depth: int,
    budget: float,
    allowed: NDArray[np.bool_],
    group: NDArray[np.int64],
    below: Level,
) -> int:
    """The tests of a node within its budget; their sides are added to the nodes below."""
    prices = states.prices
    table, seen = prices.table, set[tuple[int, frozenset[bytes]]]()
    by_test = states.by_test(points, depth, state)
    for t in np.flatnonzero(allowed & (by_test <= budget)).tolist():
        right = table.side[points, t] == 1
        sides = points[~right], points[right]
        key = int(group[t]), frozenset(side.tobytes() for side in sides)
        if key in seen:
            continue
        seen.add(key)
        heads = [states.after(state, t, index) for index in (0, 1)]
        least = [states.least(side, depth - 1, head) for side, head in zip(sides, heads, strict=True)]
        for side, head, other in zip(sides, heads, reversed(least), strict=True):
            room = budget - float(prices.test_price[t]) - other
            known = below.get((side.tobytes(), head))
            below[side.tobytes(), head] = side, room if known is None else max(room, known[1])
    return len(seen)
