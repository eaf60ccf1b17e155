"""Bounds on layered diagrams under rows over predictions, proved again by going through those near the least price.

As in `treeform.certify.prices`, ``price = unit * cost + sum_r multiplier_r * row_r``, and a diagram that satisfies the
rows and costs at most ``most`` has a price within a limit, whatever the multipliers are. Tests are chosen layer by
layer. The rows that arrive at a test form a set S, and what becomes of them is a tree of the layers below: it costs at
least the least price of a tree on S. Of two sets that meet at a test, the least price is at least the sum of both. So
a choice is given up when these least prices exceed the limit together. An arc into a terminal may choose any class,
which allows a few models too many, and proves no less.

This is NumPy and a recursion: nothing of the native search, which it proves again, is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treeform.certify.prices import CARRIED, Found, Prices
from treeform.certify.tables import Table, beyond_prices
from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.utils.arrays import Ints
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import Stopped

Set = NDArray[np.bool_]
"""Distinct points of the table."""

MOST_STEPS = 100_000
"""Partial diagrams that are looked at."""


def cheapest_diagram(
    data: Dataset, task: TreeTask, most: int, multipliers: Sequence[int], unit: int, budget: Budget
) -> Found:
    """The cheapest diagram that costs at most ``most``, or a cheaper model that is none.

    The task has ``widths``, linear constraints over sums of samples, and perhaps a bound on the tests. There is a
    multiplier for each row of its totals, others are taken as zeros; ``unit`` is the price of a unit of cost.

    Raises OutOfReach if numbers would leave the exact range, there are too many diagrams near the least price, or the
    task is of another kind; Stopped once the budget is spent.
    """
    if task.widths is None or task.node_penalty or task.min_support or task.min_flow or task.meetings:
        raise beyond_prices("tests have prices, supports or marks")
    # The trees that the diagrams unroll to; their tests are not limited.
    tree = replace(task, depth=len(task.widths), widths=None, max_nodes=None)
    table = Table(data, tree)
    search = _Diagrams(task, most, table, Prices(table, tree, multipliers, unit, budget), budget)
    return Found(search.least(), search.steps, complete=True)


class _Diagrams:
    """The diagrams of one task within the limit; ``steps`` counts partial diagrams."""

    def __init__(self, task: TreeTask, most: int, table: Table, prices: Prices, budget: Budget) -> None:
        assert task.widths is not None
        self.widths, self.max_nodes, self.most, self.budget = task.widths, task.max_nodes, most, budget
        self.table, self.prices = table, prices
        self.limit = self.prices.limit(most)
        self.right = self.table.side.T == 1  # (T, P)
        self.steps = 0
        self._known: dict[tuple[bytes, int], float] = {}
        self._found: int | None = None

    def least(self) -> int | None:
        """The least cost of a diagram that satisfies the rows; None where none costs at most ``most``."""
        everything = np.ones(len(self.table.weight), dtype=bool)
        nothing = np.zeros((1, self.table.amounts.shape[2] + CARRIED), dtype=np.int64)
        for leaf in self._leaves(everything):
            self._judge(leaf[None, :])
        self._layer(0, (everything,), nothing, 0)
        return self._found

    def _judge(self, models: Ints) -> None:
        """Complete models, as their costs and rows: the cheapest that satisfies the rows counts."""
        rows = models[:, 1:-CARRIED]
        good = (models[:, 0] <= self.most) & (rows <= self.table.hi).all(axis=1)
        good &= (rows >= self.table.lo).all(axis=1)
        if good.any():
            found = int(models[good, 0].min())
            self._found = found if self._found is None else min(self._found, found)

    def _layer(self, layer: int, sets: tuple[Set, ...], ended: Ints, tests: int) -> None:
        """All ways to go on from the tests of a layer at which ``sets`` arrive; ``ended``: what terminals hold."""
        tests += len(sets)
        if self.max_nodes is not None and tests > self.max_nodes:
            return
        if not sets:
            self._judge(ended)
            return
        if layer == len(self.widths) - 1:
            self._last(sets, ended)
            return
        below = len(self.widths) - layer - 1
        rest = [self._least(points, below + 1) for points in sets]
        for heads, more in self._choices(sets, below, rest, (), ended):
            self._layer(layer + 1, heads, more, tests)

    def _choices(
        self, sets: tuple[Set, ...], below: int, rest: list[float], heads: tuple[Set, ...], ended: Ints
    ) -> Iterator[tuple[tuple[Set, ...], Ints]]:
        """What arrives at the next layer and in terminals, test by test, within the limit."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise beyond_prices("the multipliers leave too many diagrams to go through")
        if self.budget.stop():
            raise Stopped
        ended = self._within(ended, self.limit - sum(rest) - sum(self._least(one, below) for one in heads))
        if not len(ended):
            return
        if not sets:
            yield heads, ended
            return
        points, width = sets[0], self.widths[len(self.widths) - below]
        for parts in self._parts(points):
            for moved, more in self._arcs(parts, width, heads, ended, frozenset()):
                yield from self._choices(sets[1:], below, rest[1:], moved, more)

    def _parts(self, points: Set) -> Iterator[tuple[Set, ...]]:
        """A pass-through, and every way in which a test parts the points."""
        yield (points,)
        seen = set()
        for right in self.right:
            high = points & right
            if high.any() and (high != points).any() and (key := high.tobytes()) not in seen:
                seen.add(key)
                yield points & ~right, high

    def _arcs(
        self, parts: tuple[Set, ...], width: int, heads: tuple[Set, ...], ended: Ints, taken: frozenset[int]
    ) -> Iterator[tuple[tuple[Set, ...], Ints]]:
        """The parts go to terminals or to different tests of the next layer; new ones are opened in order."""
        if not parts:
            yield heads, ended
            return
        first, others = parts[0], parts[1:]
        yield from self._arcs(others, width, heads, self._joined(ended, self._leaves(first)), taken)
        for j in range(min(width, len(heads) + 1)):
            if j not in taken:
                moved = (
                    (*heads, first) if j == len(heads) else (*heads[:j], heads[j] | first, *heads[j + 1 :])
                )
                yield from self._arcs(others, width, moved, ended, taken | {j})

    def _last(self, sets: tuple[Set, ...], ended: Ints) -> None:
        """The tests of the last layer: each set has the list of its trees of one test."""
        least = [self._least(points, 1) for points in sets]
        models = ended
        for i, points in enumerate(sets):
            room = self.limit - sum(least[i + 1 :])
            models = self._within(models, room - least[i])
            if not len(models):
                return
            own = self.prices.trees(np.flatnonzero(points), 1, room - float(self._priced(models).min()))
            models = self._within(self._joined(models, own), room)
        self._judge(models)

    def _least(self, points: Set, depth: int) -> float:
        """The least price of a tree on the points."""
        key = (points.tobytes(), depth)
        if key not in self._known:
            self._known[key] = self.prices.least(np.flatnonzero(points), depth)
        return self._known[key]

    def _leaves(self, points: Set) -> Ints:
        """Cost and rows of the points in one terminal, by its class."""
        sums = self.table.amounts[points].sum(axis=0)
        return np.concatenate([sums, np.zeros((len(sums), CARRIED), dtype=np.int64)], axis=1)

    def _joined(self, some: Ints, others: Ints) -> Ints:
        both = (some[:, None, :] + others[None, :, :]).reshape(-1, some.shape[1])
        if len(both) > MOST_STEPS:
            raise beyond_prices("the multipliers leave too many diagrams to go through")
        return np.asarray(np.unique(both, axis=0))

    def _within(self, models: Ints, limit: float) -> Ints:
        return np.asarray(models[self._priced(models) <= limit])

    def _priced(self, models: Ints) -> NDArray[np.float64]:
        return self.prices.priced(models)
