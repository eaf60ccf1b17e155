"""Counting again what a formulation with columns on demand stated, and so what it left out.

A claim that rests on the AND/OR graph of trees (`treeform.engines.and_or_graph`) names multipliers, a cost, and how
many alternatives trees of at most that cost use. Here they are counted by a search of its own, on the tables of
`treeform.certify.prices`: NumPy only, no bound, nothing of the native search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeform.certify.path_states import Followed, States, read_by
from treeform.certify.prices import Prices, Table
from treeform.certify.provers import multipliers_of
from treeform.engines.graph_paths import FREE, PathStates, states_of
from treeform.errors import CertificateError
from treeform.language.numbers import is_whole
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.utils.out_of_reach import OutOfReach
from treeform.utils.text import count_of

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask

MOST_NODES = 50_000
MOST_SETS = 5000
"""Of columns."""
Points = NDArray[np.intp]
Level = dict[tuple[bytes, int], tuple[Points, float]]
"""By rows and by what may follow there: the points, and the most that their tree may cost."""


def count_left_out(
    question: Question, value: Fraction | None, details: Mapping[str, Any], stop: Callable[[], bool]
) -> str | None:
    """What counting the graph of a claim again shows (`treeform.certify.left_out`); None where it names none.

    Raises OutOfReach or Stopped; CertificateError if the graph is another one, or does not reach as far as the claim.

    Parameters
    ----------
    value : Fraction or None
        What is claimed.
    details : mapping
        Of the claim; a graph that is not the one counted here raises.
    """
    named = details.get("graph")
    if not isinstance(named, dict) or not isinstance(named.get("by_feature"), bool):
        return None
    if not all(is_whole(named.get(key)) for key in ("up_to", "nodes", "alternatives")):
        return None
    relaxation = priced_part(question)
    if relaxation is None or value is None or relaxation.task.max_features == 0:
        return None
    reach = question.to_units(relaxation.lower(named["up_to"] + 1))
    if value > reach:
        raise CertificateError(f"the graph states models below {reach} only")
    numbers, unit = multipliers_of(details.get("witness"))
    levels, sets = named.get("path_levels", 0), named.get("column_sets", 0)
    if not (is_whole(levels) and is_whole(sets)):
        return None
    task = replace(relaxation.task, paths=relaxation.task.paths if levels else ())
    if sets and len(_sets_of_columns(question.data, task)) != sets:
        raise CertificateError("the graph is over other sets of columns, the claim names others")
    counted = count_alternatives(
        question.data, task, named["up_to"], numbers, unit, named["by_feature"], stop, levels, sets > 0
    )
    if counted != (named["nodes"], named["alternatives"]):
        raise CertificateError(
            f"the graph has {counted[0]:,} nodes and {counted[1]:,} alternatives, the claim names others"
        )
    return (
        f"models below {reach} use no others than {count_of(counted[1], 'alternative')}, counted again; "
        "what further prices left out of these is on trust"
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
    over_sets: bool = False,
) -> tuple[int, int]:
    """Nodes and alternatives of the graph that trees of at most ``cost`` use, if they satisfy the sum constraints.

    Raises OutOfReach if the graph has too many nodes or sets, or numbers would leave the exact range.

    Parameters
    ----------
    cost : int
        In units of the task.
    multipliers : sequence of int
        One for each row, in 1 / ``unit`` of a unit of cost.
    by_feature : bool
        Whether tests of different features that part a node's points alike are different alternatives.
    stop : callable
        Ends the search with `Stopped`.
    path_levels : int
        The number of tests above, from which on rules on paths do not count.
    over_sets : bool
        Whether the columns that a tree may test are chosen at the root, among all sets that the task allows.
    """

    def counted(table: Table, part: TreeTask) -> tuple[int, int, set[int]]:
        return _counted(table, part, cost, multipliers, unit, by_feature, stop, path_levels)

    if over_sets:
        return _over_sets(data, task, counted)
    nodes, alternatives, _ = counted(Table(data, task), task)
    return nodes, alternatives


def _over_sets(
    data: Dataset, task: TreeTask, counted: Callable[[Table, TreeTask], tuple[int, int, set[int]]]
) -> tuple[int, int]:
    """The graphs of all sets share the root, and the labels that it may have as a leaf."""
    sets = _sets_of_columns(data, task)
    table, nodes, alternatives = Table(data, replace(task, max_features=None)), 1, 0
    at_root: set[int] = set()
    for features in sets:
        own = replace(task, features=(features,))
        more, here, labels = counted(table.over(features), own)
        if nodes + more > MOST_NODES:
            raise _too_large()
        nodes, alternatives = nodes + max(0, more - 1), alternatives + here - len(at_root & labels)
        at_root |= labels
    return (nodes, alternatives) if alternatives else (0, 0)


def _sets_of_columns(data: Dataset, task: TreeTask) -> set[frozenset[int]]:
    """The encoded features with a test over which a tree may go, as its budget of columns and its sets allow."""
    varying = [f for f in range(data.n_features) if len(set(data.X[:, f].tolist())) > 1]
    most = data.n_features if task.max_features is None else task.max_features
    out: set[frozenset[int]] = set()
    for allowed in task.features or (frozenset(varying),):
        inside = [f for f in varying if f in allowed]
        columns = sorted({data.columns[f].source for f in inside})
        k = len(columns) if most >= 2**task.depth - 1 else min(most, len(columns))
        if comb(len(columns), k) > MOST_SETS:
            raise OutOfReach("the graph is out of reach", cause=f"it is over more than {MOST_SETS:,} sets")
        for chosen in combinations(columns, k):
            out.add(frozenset(f for f in inside if data.columns[f].source in chosen))
    return out


def _too_large() -> OutOfReach:
    return OutOfReach("the graph is out of reach", cause=f"it has more than {MOST_NODES:,} nodes")


def _counted(
    table: Table,
    task: TreeTask,
    cost: int,
    multipliers: Sequence[int],
    unit: int,
    by_feature: bool,
    stop: Callable[[], bool],
    path_levels: int,
) -> tuple[int, int, set[int]]:
    """Nodes and alternatives of the graph over the tests of a table, and the labels that its root may have."""
    followed = states_of(task, _Sides(table), path_levels) if path_levels and task.paths else None
    read = read_by(task, table.feature)
    states = _Rules(followed, read)
    if followed is not None and not admits(states, Followed(task.paths, table.tests, read), task.depth):
        raise CertificateError("the graph leaves out paths that the rules allow")
    prices = Prices(table, task, multipliers, unit, stop, states)
    limit = float(prices.limit(cost))
    everything = np.arange(len(table.weight))
    if prices.least(everything, task.depth, states.start) > limit:
        return 0, 0, set()
    group = table.feature if by_feature else np.zeros(len(table.feature), dtype=np.int64)
    nodes = alternatives = 0
    at_root: set[int] | None = None
    level: Level = {(everything.tobytes(), states.start): (everything, limit)}
    for depth in range(task.depth, -1, -1):
        below: Level = {}
        nodes += len(level)
        if nodes > MOST_NODES:
            raise _too_large()
        for (_, state), (points, budget) in level.items():
            labels: set[int] = set()
            if states.may_end(state):
                labels.update(np.flatnonzero(prices.price[points].sum(axis=0) <= budget).tolist())
            at_root = labels if at_root is None else at_root
            alternatives += len(labels)
            if depth:
                alternatives += _tests(prices, state, points, depth, budget, group, below)
        level = below
    return nodes, alternatives, at_root or set()


def admits(graph: States, rules: States, depth: int) -> bool:
    """Whether every path that the rules allow is one of the graph's: pairs of their states, from the root down.

    The automaton of the graph is the engine's. It may leave out a part of a rule, and must not add to one.
    """
    here = {(graph.start, rules.start)}
    for left in range(depth, -1, -1):
        below: set[tuple[int, int]] = set()
        for stated, meant in here:
            allowed = rules.allowed(meant)
            if rules.may_end(meant) and not graph.may_end(stated):
                return False
            if left == 0 or stated == FREE:
                continue
            if not graph.allowed(stated)[allowed].all():
                return False
            heads = zip(graph.after(stated), rules.after(meant), strict=True)
            below |= {
                pair for on in heads for pair in zip(*(side[allowed].tolist() for side in on), strict=True)
            }
        here = below
    return True


class _Rules:
    """The states of the graph, and one in which everything may follow: the last row, so that -1 is its index."""

    def __init__(self, rules: PathStates | None, read: NDArray[np.bool_]) -> None:
        tests = len(read)
        given = rules or PathStates(
            np.zeros((0, tests), np.uint8), np.zeros((0, tests, 2), np.int32), np.zeros(0, np.uint8), 0, True
        )
        self._allowed = np.concatenate([given.allowed > 0, np.ones((1, tests), dtype=bool)]) & read
        self._next = np.concatenate([given.next.astype(np.int64), np.full((1, tests, 2), FREE)])
        self._may_end = [*(given.may_end > 0).tolist(), True]
        self.start = FREE if rules is None else 0

    def allowed(self, state: int) -> NDArray[np.bool_]:
        """(T,) whether each test may come next."""
        return np.asarray(self._allowed[state])

    def after(self, state: int) -> NDArray[np.int64]:
        """(2, T) the state on each side of it."""
        return np.asarray(self._next[state].T)

    def may_end(self, state: int) -> bool:
        """Whether a leaf may stand there."""
        return bool(self._may_end[state])


class _Sides:
    """The tests of a table, over the points of the data."""

    def __init__(self, table: Table) -> None:
        self.bits, self.feature = table.side[table.at], table.feature


def _tests(
    prices: Prices,
    state: int,
    points: Points,
    depth: int,
    budget: float,
    group: NDArray[np.int64],
    below: Level,
) -> int:
    """The tests of a node within its budget; their sides are added to the nodes below."""
    table, seen = prices.table, set[tuple[int, frozenset[bytes]]]()
    by_test = prices.by_test(points, depth, state)
    after = prices.states.after(state)
    for t in np.flatnonzero(by_test <= budget).tolist():
        right = table.side[points, t] == 1
        sides = points[~right], points[right]
        key = int(group[t]), frozenset(side.tobytes() for side in sides)
        if key in seen:
            continue
        seen.add(key)
        heads = after[:, t].tolist()
        least = [prices.least(side, depth - 1, head) for side, head in zip(sides, heads, strict=True)]
        for side, head, other in zip(sides, heads, reversed(least), strict=True):
            room = budget - float(prices.test_price[t]) - other
            known = below.get((side.tobytes(), head))
            below[side.tobytes(), head] = side, room if known is None else max(room, known[1])
    return len(seen)
