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

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.certify.path_states import Followed, States, read_by
from treeform.language.paths import PathTests
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EXACT = 2**53
LONGEST = 3_000_000
"""Trees that one list may hold."""
LARGEST_TABLE = 50_000_000
"""Points times tests."""
ENTRIES = 1_000_000
"""Of a table of pairs of tests, which is made in parts: a limit is looked at between them."""
CARRIED = 2
"""Columns at the end of a list of trees: marks, and columns of the table that are tested, as sums of powers of two."""
MOST_SOURCES = 62
"""Columns of the table that one number of 64 bits can encode."""


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

    Raises OutOfReach if numbers would leave the exact range, the list would be too long, or the task is of another
    kind.

    Parameters
    ----------
    task : TreeTask
        A tree.
    multipliers : sequence of int
        One for each row of the task's totals, and one for the number of tests where that is limited. Others than
        that are taken as zeros.
    unit : int
        The price of a unit of cost; 0 prices the rows alone.
    budget : Budget
        Ends the search with `Stopped`.
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


class Table:
    """Distinct points, the tests on them, and what each adds to the cost and to every row.

    Attributes
    ----------
    side : (P, T) float64
        1 where the point fails the test and goes right.
    weight : (P,) float64
    amounts : (P, C, 1 + R) int64
        What the point adds if it is predicted a class: cost, then rows.
    leaf : (C, 1 + R) int64
        What a leaf of a class adds by itself.
    feature : (T,) int64
        The feature of each test.
    test : (T, 1 + R) int64
    lo, hi : (R,) float64
        Sides of the rows; infinite where there is none.
    marks : (P, C) int64
        The marks of the point if it is predicted a class.
    clashes : list of T lists of (int, int)
        Marks that must not meet at the test: of its lower side, of its upper one.
    source : (T,) int64
        The column of the table that the test reads, as a power of two; 0 where these are not limited.
    most_sources : int
    complete : bool
    at : (P',) int64
        Of each of the data's points, its place among these.
    """

    def __init__(self, data: Dataset, task: TreeTask) -> None:
        points, index = np.unique(data.X, axis=0, return_inverse=True)
        index = index.reshape(-1)
        self.at = index[np.unique(np.asarray(data.points.index), return_index=True)[1]]
        cost = task.cost_of_samples(data)
        rows = [] if task.totals is None else [row.reduced() for row in task.totals.rows]
        per_sample = [cost]
        features, per_test = self._tests(points)
        self.feature = features
        test = [np.full(len(features), task.node_penalty)]
        leaf = [np.zeros(data.n_classes, dtype=np.int64)]
        for row in rows:
            assert task.totals is not None
            coef = np.array(row.coef, dtype=object)
            per_sample.append(_small(task.totals.weighted(coef)))
            of_tests = task.totals.per_test
            test.append(np.zeros(len(features)) if of_tests is None else _small(of_tests @ coef)[features])
            of_leaves = task.totals.per_leaf
            leaf.append(leaf[0] if of_leaves is None else _small(of_leaves @ coef))
        sides = [(row.lo, row.hi) for row in rows]
        if task.max_nodes is not None:
            per_sample.append(np.zeros_like(cost))
            test.append(np.ones(len(features)))
            leaf.append(leaf[0])
            sides.append((None, task.max_nodes))
        of_nodes = [t.any() or one.any() for t, one in zip(test[1:], leaf[1:], strict=True)]
        if any(lo is not None and some for (lo, _), some in zip(sides, of_nodes, strict=True)):
            raise beyond_prices("a row asks for tests, which tests that part nothing may satisfy")
        weighted = np.stack(per_sample, axis=2) * data.weights[:, None, None]
        if int(np.abs(weighted).astype(object).sum()) >= EXACT:
            raise beyond_prices("sums over the samples leave the exact range")
        self.amounts = np.zeros((len(points), data.n_classes, len(per_sample)), dtype=np.int64)
        np.add.at(self.amounts, index, weighted)
        self.weight: Floats = np.bincount(index, weights=data.weights).astype(np.float64)
        self.side = per_test
        self.test = np.stack(test, axis=1).astype(np.int64)
        self.leaf = np.stack(leaf, axis=1)
        self.lo = np.array([-np.inf if lo is None else lo for lo, _ in sides])
        self.hi = np.array([np.inf if hi is None else hi for _, hi in sides])
        self._set_carried(data, task, index, features)

    def _set_carried(self, data: Dataset, task: TreeTask, index: NDArray[np.intp], features: Ints) -> None:
        self.marks = np.zeros((len(self.weight), data.n_classes), dtype=np.int64)
        clashes = () if task.meetings is None else task.meetings.clashes
        if task.meetings is not None:
            np.bitwise_or.at(self.marks, index, task.meetings.masks)
        self.clashes = [[clash.masks for clash in clashes if clash.feature == f] for f in features]
        names = list(dict.fromkeys(column.source for column in data.columns))
        limited = task.max_features is not None and task.max_features < len(names)
        self.complete = (not limited or len(names) <= MOST_SOURCES) and len(task.features or ()) <= 1
        self.most_sources = MOST_SOURCES if task.max_features is None else task.max_features
        number = [names.index(data.columns[f].source) for f in features]
        counted = limited and len(names) <= MOST_SOURCES
        self.source = np.array([1 << s if counted else 0 for s in number], dtype=np.int64)

    @property
    def tests(self) -> PathTests:
        """The tests, as rules on paths read them."""
        return PathTests(self.feature, self.side[self.at] > 0)

    def over(self, features: Collection[int]) -> Table:
        """The same with the tests of some features only."""
        out, kept = copy(self), np.isin(self.feature, sorted(features))
        out.feature, out.test, out.source = self.feature[kept], self.test[kept], self.source[kept]
        out.side = np.ascontiguousarray(self.side[:, kept])
        out.clashes = [marks for marks, one in zip(self.clashes, kept, strict=True) if one]
        return out

    @staticmethod
    def _tests(points: Floats) -> tuple[Ints, Floats]:
        """The feature of each test and its sides: every threshold between two values of a column."""
        features, sides = [], []
        values = [np.unique(column)[:-1] for column in points.T]
        if len(points) * sum(map(len, values)) > LARGEST_TABLE:
            raise beyond_prices("the table has too many points and thresholds")
        for f in range(points.shape[1]):
            for value in values[f]:
                features.append(f)
                sides.append(points[:, f] > value)
        shaped = np.array(sides, dtype=np.float64).reshape(len(sides), len(points))
        return np.array(features, dtype=np.int64), np.ascontiguousarray(shaped.T)


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
        side: Floats = self.table.side[points]
        weight: Floats = self.table.weight[points]
        price: Floats = self.price[points]
        right = weight @ side
        allowed = (right >= self.side_weight) & (weight.sum() - right >= self.side_weight)
        allowed &= weight.sum() >= self.test_weight
        allowed &= self.last(state) if depth == 1 else self.states.allowed(state)
        if depth == 1:
            on_right = price.T @ side
            own, whole = self.leaf_price[:, None], price.sum(axis=0)[:, None]
            sum_of_sides = (on_right + own).min(axis=0) + (whole - on_right + own).min(axis=0)
        elif depth == 2:
            sum_of_sides = self._pairs(side, weight, price, state)
        else:
            sum_of_sides = np.full(len(allowed), np.inf)
            heads = self.states.after(state)
            for f in np.flatnonzero(allowed):
                parts = points[side[:, f] == 0], points[side[:, f] == 1]
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


def _small(values: NDArray[np.object_]) -> Ints:
    """Exact sums as int64, where they are small enough to stay exact later on."""
    if values.size and max(abs(int(values.max())), abs(int(values.min()))) >= EXACT:
        raise beyond_prices("a row's coefficients leave the exact range")
    return values.astype(np.int64)


def beyond_prices(cause: str) -> OutOfReach:
    """The error of a search by prices that is beyond its limits."""
    return OutOfReach("the search by prices does not reach this problem", cause=cause)
