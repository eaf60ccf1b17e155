"""A short search that proves bounds under sum constraints again: all trees whose price is near the least are listed.

Let ``price = unit * cost + sum_r multiplier_r * row_r``. It adds up over leaves and tests. A tree that satisfies the
rows ``lo_r <= row_r <= hi_r`` and costs at most ``most`` has a price of at most

    limit = unit * most + sum of multiplier_r * hi_r where it is > 0 + sum of multiplier_r * lo_r where it is < 0,

whatever the multipliers are. So the trees of price ``limit`` or less are all listed, as their costs and rows; if none
of them satisfies the rows at a cost of at most ``most``, no tree does. The multipliers are taken from the certificate
as a hint: bad ones make the list long, never wrong.

Marks and tested columns are joined by union along the way: a tree where marks clash, or that tests too many columns, is
left off the list. Rules on paths say at each node which tests may come next (`treeform.certify.path_states`).

This is NumPy only: no cache, no lazy rows, nothing of the native engines. Prices are whole numbers below 2**53, so that
sums and matrix products of float64 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeform.certify.path_states import Followed, States, read_by
from treeform.certify.tables import EXACT, Table, beyond_prices
from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import Stopped, each_in_time

LONGEST = 3_000_000
"""Trees that one list may hold."""
ENTRIES = 1_000_000
"""Of a table of pairs of tests, which is made in parts: a limit is looked at between them."""
CARRIED = 2
"""Columns at the end of a list of trees: marks, and columns of the table that are tested, as sums of powers of two."""


@dataclass(frozen=True)
class Found:
    """What the list shows."""

    least: int | None
    """The least cost, up to ``most``, of a tree that satisfies the rows; None when no such tree costs so little."""
    listed: int
    """Different trees on the list, as their costs, rows, marks and columns."""
    complete: bool
    """Whether all conditions of the task were supported: a budget is left out on tables of more than 62 columns, and of
    several sets of features their union counts."""


def cheapest(
    data: Dataset, task: TreeTask, most: int, multipliers: Sequence[int], unit: int, budget: Budget
) -> Found:
    """The cheapest tree of the task that costs at most ``most``.

    There is a multiplier for each row of the task's totals, and one for the number of tests where that is limited;
    others are taken as zeros. ``unit`` is the price of a unit of cost; 0 prices the rows alone.

    Raises OutOfReach if numbers would leave the exact range, the list would be too long, or the task is of another
    kind; Stopped once the budget is spent.
    """
    if task.widths is not None:
        raise beyond_prices("it lists trees")
    table = Table(data, task)
    priced = Prices(table, task, multipliers, unit, budget)
    limit = priced.limit(most)
    everything = np.arange(len(table.weight))
    if priced.least(everything, task.depth) > limit:
        return Found(None, 0, table.complete)
    trees = priced.trees(everything, task.depth, limit)
    rows = trees[:, 1:-CARRIED]
    good = (trees[:, 0] <= most) & (rows <= table.hi).all(axis=1) & (rows >= table.lo).all(axis=1)
    return Found(int(trees[good, 0].min()) if good.any() else None, len(trees), table.complete)


class Prices:
    """The least price of trees on a set of points, and the trees near it.

    What follows the rules on paths is asked for by a state (`treeform.certify.path_states`), 0 at the root.
    """

    def __init__(
        self,
        table: Table,
        task: TreeTask,
        multipliers: Sequence[int],
        unit: int,
        budget: Budget,
        states: States | None = None,
    ) -> None:
        given = list(multipliers) if len(multipliers) == len(table.hi) else [0] * len(table.hi)
        bounded = zip(given, table.lo.tolist(), table.hi.tolist(), strict=True)
        usable = [m if np.isfinite(hi if m > 0 else lo) else 0 for m, lo, hi in bounded]
        # Prices on the rows alone may show that no tree satisfies them.
        self.factor = [max(0 if any(usable) else 1, unit), *usable]
        sizes = np.abs(table.amounts).max(axis=1).sum(axis=0).tolist()
        tests = (np.abs(table.test).max(axis=0, initial=0) + np.abs(table.leaf).max(axis=0)).tolist()
        most = sum(
            abs(f) * (int(s) + 2**task.depth * int(t))
            for f, s, t in zip(self.factor, sizes, tests, strict=True)
        )
        if 8 * most >= EXACT:
            raise beyond_prices("prices leave the exact range")
        self.table, self.budget = table, budget
        self.price: Floats = (table.amounts @ np.array(self.factor, dtype=np.int64)).astype(np.float64)
        self.test_price: Floats = (table.test @ np.array(self.factor, dtype=np.int64)).astype(np.float64)
        self.leaf_price: Floats = (table.leaf @ np.array(self.factor, dtype=np.int64)).astype(np.float64)
        self.side_weight = max(1, task.min_support)
        self.test_weight = task.min_flow
        self.states: States = states or Followed(task.paths, table.tests, read_by(task, table.feature))
        self._last: dict[int, Bools] = {}
        self._below: dict[int, list[_Below]] = {}

    def limit(self, most: int) -> int:
        """The highest price of a tree that satisfies the rows and costs at most ``most``."""
        sides = zip(self.factor[1:], self.table.lo.tolist(), self.table.hi.tolist(), strict=True)
        return self.factor[0] * most + sum(m * int(hi if m > 0 else lo) for m, lo, hi in sides if m)

    def least(self, points: NDArray[np.intp], depth: int, state: int = 0) -> float:
        """The least price of a tree on these points; infinite where there is none."""
        leaf = float(self.of_leaves(points).min()) if self.states.may_end(state) else np.inf
        return min(leaf, float(self.by_test(points, depth, state).min(initial=np.inf))) if depth else leaf

    def of_leaves(self, points: NDArray[np.intp]) -> Floats:
        """(C,) the price of one leaf on these points."""
        return np.asarray(self.price[points].sum(axis=0) + self.leaf_price)

    def last(self, state: int) -> Bools:
        """(T,) whether each test may come next, with two leaves below."""
        if state not in self._last:
            self._last[state] = self.states.allowed(state).copy()
            for below in self.below(state):
                self._last[state] &= below.ends[below.of]
        return self._last[state]

    def below(self, state: int) -> list[_Below]:
        """What may follow on each side of the tests that may come next."""
        if state not in self._below:
            made = []
            for heads in self.states.after(state):
                distinct, of = np.unique(heads, return_inverse=True)
                ends = np.array([self.states.may_end(int(head)) for head in distinct], dtype=bool)
                made.append(_Below(distinct, of.reshape(-1), ends))
            self._below[state] = made
        return self._below[state]

    def by_test(self, points: NDArray[np.intp], depth: int, state: int = 0) -> Floats:
        """The least price of a tree that begins with each test; infinite where the test is not allowed."""
        if self.budget.stop():
            raise Stopped
        table = self.table
        weight: Floats = table.weight[points]
        price: Floats = self.price[points]
        right, *by_class = table.on_right(points, np.column_stack([weight, price]))
        allowed = (right >= self.side_weight) & (weight.sum() - right >= self.side_weight)
        allowed &= weight.sum() >= self.test_weight
        allowed &= self.last(state) if depth == 1 else self.states.allowed(state)
        if depth == 1:
            on_right = np.array(by_class)
            own, whole = self.leaf_price[:, None], price.sum(axis=0)[:, None]
            sum_of_sides = (on_right + own).min(axis=0) + (whole - on_right + own).min(axis=0)
        elif depth == 2 and table.cell is None:
            sum_of_sides = self._pairs(table.side[points], weight, price, state)
        else:
            sum_of_sides = np.full(len(allowed), np.inf)
            heads = self.states.after(state)
            for f in each_in_time(np.flatnonzero(allowed).tolist(), self.budget):
                goes_right = table.side[points, f] == 1
                parts = points[~goes_right], points[goes_right]
                sum_of_sides[f] = sum(
                    self.least(part, depth - 1, int(head))
                    for part, head in zip(parts, heads[:, f], strict=True)
                )
        return np.asarray(np.where(allowed, sum_of_sides + self.test_price, np.inf))

    def _pairs(self, side: Floats, weight: Floats, price: Floats, state: int) -> Floats:
        """Depth two: each side of a first test takes its best class, or its best second test and two classes."""
        n_tests = side.shape[1]
        step = max(1, ENTRIES // max(1, n_tests))
        firsts = [slice(at, at + step) for at in range(0, n_tests, step)]
        parts = [self._pairs_of(first, side, weight, price, state) for first in firsts]
        return np.concatenate([np.zeros(0), *parts])

    def _pairs_of(self, first: slice, side: Floats, weight: Floats, price: Floats, state: int) -> Floats:
        """The same for some first tests: a table with a row for each of these, and a column for each second one."""
        if self.budget.stop():
            raise Stopped
        chosen, together = side[:, first], weight @ side
        both_right = (weight[:, None] * chosen).T @ side
        on_right, whole = price.T @ side, price.sum(axis=0)
        pair = np.stack([(column[:, None] * chosen).T @ side for column in price.T])
        right_weight, right_price = together[first, None], on_right[:, first, None]
        sides = (
            (right_weight, both_right, right_price, pair),
            (
                weight.sum() - right_weight,
                together[None, :] - both_right,
                whole[:, None, None] - right_price,
                on_right[:, None, :] - pair,
            ),
        )
        total = np.zeros(chosen.shape[1])
        for below, (all_weight, part_weight, all_price, part_price) in zip(
            self.below(state), sides, strict=True
        ):
            own = self.leaf_price[:, None, None]
            second = (
                (part_price + own).min(axis=0) + (all_price - part_price + own).min(axis=0) + self.test_price
            )
            fits = (part_weight >= self.side_weight) & (all_weight - part_weight >= self.side_weight)
            fits &= all_weight >= self.test_weight
            fits &= np.array([self.last(int(head)) for head in below.heads])[below.of[first]]
            second = np.where(fits, second, np.inf).min(axis=1, initial=np.inf)
            leaf = np.where(below.ends[below.of[first]], (all_price + own)[:, :, 0].min(axis=0), np.inf)
            total += np.minimum(second, leaf)
        return total

    def trees(self, points: Ints, depth: int, limit: float, state: int = 0) -> Ints:
        """All trees on these points whose price is at most ``limit``: (m, 1 + R + 2) cost, rows, what they carry.

        Each vector once.
        """
        marks = np.bitwise_or.reduce(self.table.marks[points], axis=0)
        sums = self.table.amounts[points].sum(axis=0) + self.table.leaf
        leaves = np.concatenate([sums, marks[:, None], np.zeros((len(marks), 1), dtype=np.int64)], axis=1)
        leaves = leaves if self.states.may_end(state) else leaves[:0]
        cheap = [leaves[self.priced(leaves) <= limit]]
        if depth:
            prices, heads = self.by_test(points, depth, state), self.states.after(state)
            for f in np.flatnonzero(prices <= limit):
                right = self.table.side[points, f] == 1
                low, high = ((points[~right], int(heads[0, f])), (points[right], int(heads[1, f])))
                cheap.append(self._joined(low, high, int(f), depth - 1, limit))
        return self._distinct(np.concatenate(cheap))

    def _joined(
        self, low: tuple[Ints, int], high: tuple[Ints, int], test: int, depth: int, limit: float
    ) -> Ints:
        """The trees with this test: each pair of trees of its sides that stays within the limit together."""
        room = limit - float(self.test_price[test])
        left, right = (
            self.trees(points, depth, room - self.least(other, depth, its), state)
            for (points, state), (other, its) in ((low, high), (high, low))
        )
        left_price, right_price = self.priced(left), np.sort(self.priced(right))
        right = right[np.argsort(self.priced(right), kind="stable")]
        fits = np.searchsorted(right_price, room - left_price, side="right")
        if fits.sum() > LONGEST:
            raise beyond_prices("the multipliers leave too many trees to list")
        of_left = np.repeat(np.arange(len(left)), fits)
        of_right = np.arange(fits.sum()) - np.repeat(np.cumsum(fits) - fits, fits)
        return self._with_test(left[of_left], right[of_right], test)

    def _with_test(self, low: Ints, high: Ints, test: int) -> Ints:
        """The trees of a test over these sides, those that it may not have left out."""
        table = self.table
        joined = low + high
        joined[:, :-CARRIED] += table.test[test]
        joined[:, -CARRIED:] = low[:, -CARRIED:] | high[:, -CARRIED:]
        joined[:, -1] |= table.source[test]
        allowed = np.ones(len(joined), dtype=bool)
        if table.source[test]:
            allowed &= _ones(joined[:, -1]) <= table.most_sources
        for below, above in table.clashes[test]:
            allowed &= ((low[:, -2] & below) == 0) | ((high[:, -2] & above) == 0)
        return np.asarray(joined[allowed])

    def priced(self, amounts: Ints) -> Floats:
        """The prices of trees, as `trees` lists them."""
        return np.asarray(amounts[:, :-CARRIED] @ np.array(self.factor, dtype=np.int64), dtype=np.float64)

    @staticmethod
    def _distinct(amounts: Ints) -> Ints:
        if len(amounts) > LONGEST:
            raise beyond_prices("the multipliers leave too many trees to list")
        return np.unique(amounts, axis=0)


@dataclass(frozen=True)
class _Below:
    """What may follow on one side of each test."""

    heads: Ints
    """(U,) the states there."""
    of: Ints
    """(T,) of each test, which of them."""
    ends: Bools
    """(U,) whether a leaf may stand there."""


def _ones(values: Ints) -> Ints:
    """How many powers of two each number is the sum of."""
    distinct, index = np.unique(values, return_inverse=True)
    counted = np.array([int(value).bit_count() for value in distinct], dtype=np.int64)
    return np.asarray(counted[index.reshape(-1)])
