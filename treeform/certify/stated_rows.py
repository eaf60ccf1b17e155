"""Proving a bound again where requirements state rows of their own: prices of these rows over a counted graph.

The graph of a claim (`treeform.certify.left_out`) holds every tree below it that satisfies the sums. The requirements
that no sum states are stated over it by their ``build``, and what each alternative has in their rows is read from that
model. A linear program gives a price for each row. With whole prices, at most zero for a row that has one side,

    reduced cost = cost - sum of price_r * row_r  <=  most - sum of price_r * side_r - least of other columns

holds for every model of value at most ``most`` (Lagrangian relaxation), so that an alternative is left out where the
cheapest tree through it costs more. Sums here are Python's whole numbers, and nothing is rounded. The trees that are
left within the limit are listed and judged one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeform.catalogue.solvers import find_formulation
from treeform.engines.relaxation import Relaxation
from treeform.language.alternatives import AndOrGraph
from treeform.language.question import Question
from treeform.language.requirement import asks_for_tests
from treeform.solve.columns_on_demand import BY_ROW, OF_FEATURES
from treeform.solve.row_prices import UNIT, StatedRows, rest_of
from treeform.solve.verification import verify
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

FORMULATION = "hypergraph-flow"
SECONDS = 30.0
"""For a linear program, which proves nothing by itself."""
ROUNDS = 8
"""Of prices, each for what the one before leaves."""
MOST_TREES = 300_000
"""That are listed."""
MOST_JUDGED = 20_000
"""Of those, trees whose sums are within their sides."""
MOST_STATED = 100_000
"""Alternatives over which rows are stated."""
MOST_ENTRIES = 3_000_000
"""Of rows that have one for each sample and node."""


@dataclass(frozen=True)
class LeftByRows:
    """What the rows leave of a graph."""

    alternatives: int
    listed: int | None
    """The trees over these, none of which is an admissible model below the claim; None: they are too many."""
    below: Fraction | None = None
    """The value of an admissible model below the claim."""


def left_by_rows(
    question: Question,
    relaxation: Relaxation,
    graph: AndOrGraph,
    sides: tuple[np.ndarray, np.ndarray],
    value: Fraction,
    budget: Budget,
) -> LeftByRows | None:
    """What models below ``value`` may use of a graph; None where requirements state no rows that can have a price.

    The graph holds all trees below ``value`` that satisfy the sums; ``sides`` are those of the sum constraints. Raises
    Stopped once the budget is spent.
    """
    if question.objective.is_squared or not _reaches(question, relaxation, graph):
        return None
    most = -(-value.numerator * question.scale // value.denominator) - 1
    formulation, terms_and_rows = find_formulation(FORMULATION), rest_of(question, relaxation, relaxation.dropped)
    budgets = None
    for _ in range(ROUNDS):
        if budget.stop():
            raise Stopped
        compiled = formulation.over(graph).compile(question.data, question.shape, *terms_and_rows)
        columns = formulation.columns_of(compiled)
        stated = StatedRows.of(compiled, columns, graph, most, relaxation, sides)
        hints = None if stated is None else stated.prices(SECONDS)
        if stated is None or hints is None:
            return None
        reduced, room = _reduced(stated, hints.tolist())
        least, through = _through(graph, reduced)
        kept = graph.used(np.array([one <= room for one in through], dtype=bool))
        budgets = least, reduced, room
        before = graph.n_alternatives
        if not kept.any():
            return LeftByRows(0, 0)
        if kept.all():
            break
        graph = graph.part(kept)
        least, _ = _through(graph, reduced := [reduced[a] for a in np.flatnonzero(kept)])
        budgets = least, reduced, room
        if graph.n_alternatives > 0.9 * before:
            break
    assert budgets is not None
    cost = relaxation.upper(most)
    within = np.array([-np.inf, *sides[0]]), np.array([float(cost), *sides[1]])
    return _judged(question, _trees(graph, *budgets, budget), graph, within, value)


def _reaches(question: Question, relaxation: Relaxation, graph: AndOrGraph) -> bool:
    """Whether every model has a tree in the graph that satisfies as much, and rows over it can be held."""
    needs = question.objective.needs.union(*(one.needs for one in question.requirements))
    if asks_for_tests(question.requirements):  # no tree of the graph has a test that decides nothing
        return False
    if not graph.by_feature and (OF_FEATURES & needs or relaxation.task.paths):
        return False
    size = graph.covers.times(np.ones(graph.covers.n_points)) if BY_ROW & needs else np.ones(graph.n_nodes)
    return graph.n_alternatives <= MOST_STATED and float(size[graph.node].sum()) <= MOST_ENTRIES


def _reduced(stated: StatedRows, hints: list[int]) -> tuple[list[int], int]:
    """(A,) the reduced cost of each alternative, and the most that those of a wanted model add up to.

    Raises OutOfReach where another column has no whole bound.
    """
    rows, model = stated.rows, stated.model
    prices = [price if row < rows.equal else min(0, price) for row, price in enumerate(hints)]
    reduced = [UNIT * int(cost) for cost in stated.cost]
    matrix = rows.matrix.tocoo()
    for row, column, entry in zip(*(axis.tolist() for axis in matrix.coords), matrix.data, strict=True):
        reduced[column] -= prices[row] * int(entry)
    room = UNIT * stated.most
    room -= sum(price * int(side) for price, side in zip(prices, rows.high, strict=True) if price)
    others = set(range(model.n_cols)).difference(stated.columns.tolist())
    for column in others:
        if one := reduced[column]:
            side = float(model.lb[column] if one > 0 else model.ub[column])
            if not side.is_integer():
                raise OutOfReach("the rows are out of reach", cause="a column has no whole bound")
            room -= one * int(side)
    return [reduced[column] for column in stated.columns.tolist()], room


def _through(graph: AndOrGraph, own: list[int]) -> tuple[list[int | None], list[int]]:
    """The least reduced cost of the tree of each node, and of the trees through each alternative."""
    left, right, node = graph.left.tolist(), graph.right.tolist(), graph.node.tolist()
    least: list[int | None] = [None] * graph.n_nodes
    price = list(own)
    for a in reversed(range(len(own))):  # children come after their parents
        if left[a] >= 0:
            price[a] += _known(least[left[a]]) + _known(least[right[a]])
        known = least[node[a]]
        least[node[a]] = price[a] if known is None else min(known, price[a])
    around: list[int | None] = [0, *[None] * (graph.n_nodes - 1)]
    through = []
    for a, one in enumerate(price):
        through.append(_known(around[node[a]]) + one)
        for side in (left[a], right[a]):
            if side >= 0:
                rest, known = through[a] - _known(least[side]), around[side]
                around[side] = rest if known is None else min(known, rest)
    return least, through


def _known(price: int | None) -> int:
    assert price is not None
    return price


def _judged(
    question: Question,
    trees: Iterator[list[int]],
    graph: AndOrGraph,
    within: tuple[np.ndarray, np.ndarray],
    value: Fraction,
) -> LeftByRows:
    """Judge the trees whose cost and sums are within their sides."""
    listed = judged = 0
    for chosen in trees:
        sums, listed = graph.sums[chosen].sum(axis=0), listed + 1
        if listed > MOST_TREES or judged > MOST_JUDGED:
            return LeftByRows(graph.n_alternatives, None)
        if (sums < within[0]).any() or (sums > within[1]).any():
            continue
        at, judged = {int(graph.node[a]): a for a in chosen}, judged + 1
        verdict = verify(question, graph.tree(at.__getitem__, question.data))
        worth = question.to_units(verdict.value) if verdict.ok else None
        if worth is not None and worth < value:
            return LeftByRows(graph.n_alternatives, listed, worth)
    return LeftByRows(graph.n_alternatives, listed)


def _trees(
    graph: AndOrGraph, least: list[int | None], reduced: list[int], room: int, budget: Budget
) -> Iterator[list[int]]:
    """The choices of each tree whose reduced costs add up to at most ``room``."""
    begun: list[tuple[list[int], int, list[int]]] = [([0], room, [])]
    while begun:
        if budget.stop():
            raise Stopped
        # Nodes that wait for a choice, what is left for all that they add, and what was chosen.
        waiting, left, chosen = begun.pop()
        if not waiting:
            yield chosen
            continue
        node, *others = waiting
        rest = sum(_known(least[one]) for one in others)
        for a in range(graph.begin[node], graph.begin[node + 1]):
            sides = [int(side) for side in (graph.left[a], graph.right[a]) if side >= 0]
            if reduced[a] + rest + sum(_known(least[side]) for side in sides) <= left:
                begun.append(([*sides, *others], left - reduced[a], [*chosen, a]))
