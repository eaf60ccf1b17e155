"""Counting again what a formulation with columns on demand stated, and so what it left out.

A claim that rests on the AND/OR graph of trees (`treeform.engines.and_or_graph`) names multipliers, a cost, and how
many alternatives trees of at most that cost use. Here they are counted by a search of its own, on the tables of
`treeform.certify.tables`: NumPy only, no bound, nothing of the native search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.certify.dominated_tests import may_be_left_out, undominated
from treeform.certify.path_states import Followed, States, read_by
from treeform.certify.prices import Prices
from treeform.certify.provers import multipliers_of
from treeform.certify.stated_rows import left_by_rows
from treeform.certify.tables import Table
from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.engines.graph_paths import FREE, states_of
from treeform.errors import CertificateError
from treeform.language.alternatives import AndOrGraph
from treeform.language.numbers import is_whole
from treeform.language.question import Question
from treeform.solve.columns_on_demand import priced_part
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach
from treeform.utils.text import count_of

BY_ROWS = "prices of rows over its graph"
MOST_NODES = 100_000
MOST_SETS = 5000
"""Of columns."""
Points = NDArray[np.intp]
Level = dict[tuple[bytes, int], tuple[Points, float]]
"""By rows and by what may follow there: the points, and the most that their tree may cost."""


@dataclass(frozen=True)
class Counted:
    """What was counted."""

    text: str
    proved: bool
    """Whether nothing of what was counted is a model below the claim."""


@dataclass(frozen=True)
class Reach:
    """The trees whose alternatives are counted: those of at most ``cost``, if they keep the sum constraints."""

    cost: int
    """In units of the task."""
    multipliers: Sequence[int]
    """One for each row, in 1 / ``unit`` of a unit of cost."""
    unit: int
    by_feature: bool
    """Whether tests of different features that part a node's points alike are different alternatives."""
    path_levels: int = 0
    """The number of tests above, from which on rules on paths do not count."""
    undominated: bool = False
    """Whether tests over two leaves are left out that others dominate (`treeform.certify.dominated_tests`)."""


def count_left_out(
    question: Question, value: Fraction | None, details: Mapping[str, Any], budget: Budget
) -> Counted | None:
    """What counting the graph of a claim again shows (`treeform.certify.left_out`); None where it names none.

    ``details`` are those of the claim of ``value``. Raises OutOfReach or Stopped; CertificateError if the graph is
    another one, or does not reach as far as the claim, or holds a model that refutes it.
    """
    named = details.get("graph")
    if not isinstance(named, dict) or not isinstance(named.get("by_feature"), bool):
        return None
    if not all(is_whole(named.get(key)) for key in ("up_to", "nodes", "alternatives")):
        return None
    relaxation = priced_part(question)
    if relaxation is None or value is None or relaxation.task.max_features == 0:
        return None
    below = question.to_units(relaxation.lower(named["up_to"] + 1))
    if value > below:
        raise CertificateError(f"the graph states models below {below} only")
    numbers, unit = multipliers_of(details.get("witness"))
    levels, sets = named.get("path_levels", 0), named.get("column_sets", 0)
    if not (is_whole(levels) and is_whole(sets)):
        return None
    task = replace(relaxation.task, paths=relaxation.task.paths if levels else ())
    fewer = bool(named.get("undominated"))
    if fewer and (sets or levels or not may_be_left_out(question.data, relaxation)):
        raise CertificateError("tests that others dominate may be needed, and its graph is without them")
    if sets and len(_sets_of_columns(question.data, task)) != sets:
        raise CertificateError("the graph is over other sets of columns, the claim names others")
    reach = Reach(named["up_to"], numbers, unit, named["by_feature"], levels, fewer)
    written = None if sets else write_out(Table(question.data, task), task, reach, budget)
    if written is None:
        counted = count_alternatives(question.data, task, reach, budget, over_sets=True)
    else:
        counted = written.n_nodes, written.n_alternatives
    if counted != (named["nodes"], named["alternatives"]):
        raise CertificateError(
            f"the graph has {counted[0]:,} nodes and {counted[1]:,} alternatives, the claim names others"
        )
    use = "a cheapest model below {} uses" if fewer else "models below {} use"
    stated = f"{use.format(below)} no others than {count_of(counted[1], 'alternative')}, counted again"
    if not counted[1]:
        return Counted(f"no tree costs so little, counted again below {below}", True)
    left = None
    if written is not None:
        graph, sides = written.graph(question.data, named["up_to"]), (written.table.lo, written.table.hi)
        left = left_by_rows(question, relaxation, graph, sides, value, budget)
    if left is None:
        return Counted(f"{stated}; what further prices left out of these is on trust", False)
    if left.below is not None:
        raise CertificateError(f"refuted by a model of value {left.below} over its graph")
    left_over = f"prices of rows leave {count_of(left.alternatives, 'alternative')} of these"
    if left.listed is None:
        return Counted(f"{stated}; {left_over}, and what a solver showed of their trees is on trust", False)
    judged = f", and none of {count_of(left.listed, 'tree')} over these is a model below the claim"
    return Counted(f"{stated}; {left_over}{judged if left.alternatives else ''}", True)


def count_alternatives(
    data: Dataset, task: TreeTask, reach: Reach, budget: Budget, over_sets: bool = False
) -> tuple[int, int]:
    """Nodes and alternatives of the graph of a reach; ``budget`` ends the search with `Stopped`.

    With ``over_sets``, the columns that a tree may test are chosen at the root, among all sets that the task allows.
    Raises OutOfReach if the graph has too many nodes or sets, or numbers would leave the exact range.
    """
    if over_sets:
        return _over_sets(data, task, lambda table, part: write_out(table, part, reach, budget))
    written = write_out(Table(data, task), task, reach, budget)
    return written.n_nodes, written.n_alternatives


def _over_sets(
    data: Dataset, task: TreeTask, counted: Callable[[Table, TreeTask], Written]
) -> tuple[int, int]:
    """The graphs of all sets share the root, and the labels that it may have as a leaf."""
    sets = _sets_of_columns(data, task)
    table, nodes, alternatives = Table(data, replace(task, max_features=None)), 1, 0
    at_root: set[int] = set()
    for features in sets:
        own = replace(task, features=(features,))
        of_set = counted(table.over(features), own)
        if nodes + of_set.n_nodes > MOST_NODES:
            raise _too_large()
        nodes += max(0, of_set.n_nodes - 1)
        alternatives += of_set.n_alternatives - len(at_root & of_set.at_root)
        at_root |= of_set.at_root
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


class Written:
    """A graph as it is counted: its nodes by their points, and the alternatives of one after the other."""

    def __init__(self, table: Table, by_feature: bool) -> None:
        self.table, self.by_feature = table, by_feature
        self.depth: list[int] = []
        self.points: list[Points] = []
        self.alternatives: list[tuple[int, int, int, int, int]] = []
        """Node, test or -1, label or -1, and the nodes of both sides or -1."""

    @property
    def n_nodes(self) -> int:
        """Nodes."""
        return len(self.depth)

    @property
    def n_alternatives(self) -> int:
        """Labels of leaves, and tests."""
        return len(self.alternatives)

    @property
    def at_root(self) -> set[int]:
        """The labels that the root may have as a leaf."""
        return {label for node, _, label, *_ in self.alternatives if node == 0 and label >= 0}

    def graph(self, data: Dataset, up_to: int) -> AndOrGraph:
        """The same as arrays; what trees through an alternative cost at least is left out."""
        table = self.table
        node, test, label, left, right = np.array(self.alternatives, dtype=np.int64).reshape(-1, 5).T
        sums = np.zeros((len(node), table.amounts.shape[2]), dtype=np.int64)
        threshold = np.full(len(node), np.nan)
        for a in np.flatnonzero(label >= 0):
            sums[a] = table.amounts[self.points[node[a]], label[a]].sum(axis=0) + table.leaf[label[a]]
        tests = np.flatnonzero(test >= 0)
        sums[tests] = table.test[test[tests]]
        cuts = [data.points.X[table.side[table.at, t] == 0, table.feature[t]].max() for t in test[tests]]
        threshold[tests] = cuts
        packed = np.stack([self._packed(points) for points in self.points])
        return AndOrGraph(
            depth=np.array(self.depth, dtype=np.int64),
            cover=packed,
            n_points=len(table.at),
            node=node,
            feature=np.where(test >= 0, table.feature[test], -1),
            threshold=threshold,
            label=label,
            left=left,
            right=right,
            least=np.zeros(len(node), dtype=np.int64),
            by_feature=self.by_feature,
            test=test,
            sums=sums,
            up_to=up_to,
        )

    def _packed(self, points: Points) -> NDArray[np.uint8]:
        there = np.zeros(len(self.table.weight), dtype=bool)
        there[points] = True
        return np.packbits(there[self.table.at], bitorder="little")


def write_out(table: Table, task: TreeTask, reach: Reach, budget: Budget) -> Written:
    """The graph over the tests of a table; as for `count_alternatives`."""
    levels = reach.path_levels
    followed = states_of(task, _Sides(table), levels) if levels and task.paths else None
    read = read_by(task, table.feature)
    states = _Rules(read)
    if followed is not None:
        states.follow(followed.allowed > 0, followed.next, followed.may_end > 0)
    if followed is not None and not admits(states, Followed(task.paths, table.tests, read), task.depth):
        raise CertificateError("the graph leaves out paths that the rules allow")
    prices = Prices(table, task, reach.multipliers, reach.unit, budget, states)
    out = Written(table, reach.by_feature)
    limit = float(prices.limit(reach.cost))
    everything = np.arange(len(table.weight))
    if prices.least(everything, task.depth, states.start) > limit:
        return out
    group = table.feature if reach.by_feature else np.zeros(len(table.feature), dtype=np.int64)
    level: Level = {(everything.tobytes(), states.start): (everything, limit)}
    for depth in range(task.depth, -1, -1):
        below: Level = {}
        first = out.n_nodes
        if first + len(level) > MOST_NODES:
            raise _too_large()
        numbers: dict[tuple[bytes, int], int] = {}
        for (_, state), (points, room) in level.items():
            node = out.n_nodes
            out.depth.append(depth)
            out.points.append(points)
            if states.may_end(state):
                for label in np.flatnonzero(prices.of_leaves(points) <= room).tolist():
                    out.alternatives.append((node, -1, label, -1, -1))
            if depth:
                fewer = reach.undominated and depth == 1
                for t, *sides in _tests(prices, state, points, depth, room, group, below, fewer):
                    low, high = (
                        numbers.setdefault(side, first + len(level) + len(numbers)) for side in sides
                    )
                    out.alternatives.append((node, t, -1, low, high))
        level = below
    return out


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

    def __init__(self, read: NDArray[np.bool_]) -> None:
        self._allowed, self._next = read[None], np.full((1, len(read), 2), FREE, dtype=np.int64)
        self._may_end, self.start = [True], FREE

    def follow(
        self, allowed: NDArray[np.bool_], after: NDArray[np.int32], may_end: NDArray[np.bool_]
    ) -> None:
        """Begin with these states: (S, T), (S, T, 2) and (S,)."""
        self._allowed = np.concatenate([allowed & self._allowed, self._allowed])
        self._next = np.concatenate([after.astype(np.int64), self._next])
        self._may_end, self.start = [*may_end.tolist(), True], 0

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
    fewer: bool,
) -> Iterator[tuple[int, tuple[bytes, int], tuple[bytes, int]]]:
    """The tests of a node within its budget, with both sides, which are added to the nodes below."""
    table, seen = prices.table, set[tuple[int, frozenset[bytes]]]()
    by_test = prices.by_test(points, depth, state)
    after = prices.states.after(state)
    within = np.flatnonzero(by_test <= budget)
    for t in (undominated(prices, points, within, budget) if fewer else within).tolist():
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
        low, high = zip((side.tobytes() for side in sides), heads, strict=True)
        yield t, low, high
