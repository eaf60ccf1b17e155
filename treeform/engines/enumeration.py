"""All trees up to a cost, under rows over totals: what the list of near-optimal models is made of.

A tree is listed once in its normal form: every test separates the samples that reach it, no test has two leaves of one
class, and tests of a node that read the same column of the table and part its samples in the same two sets are one.

Subtrees are kept only as long as they fit into some tree below the limit. With a multiplier on each row, the cost of a
tree that satisfies the rows plus its priced rows is at most the limit plus the priced sides (Lagrangian relaxation).
Each subtree has to leave room for the best that the other one can be. Depth two is counted from pairs of tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.engines.contributions import LARGEST_SUM, NO_BOUND
from treeform.engines.table_of_totals import TableOfTotals
from treeform.engines.tree_lists import Block, Leaf, Stumps, TreeList
from treeform.steps import report_step

Ints = NDArray[np.int64]
FAR = 2**61
"""Above the price of any tree."""
MOST_COUNTS = 2**20
"""Counts of pairs of tests that are held at once, for each side."""


class TooManyTrees(Exception):
    """More trees than may be held at once."""


class Stopped(Exception):
    """The enumeration was stopped before its end."""


@dataclass(frozen=True)
class Limits:
    """What restricts the trees beside cost and rows."""

    depth: int
    min_support: int
    min_flow: int


class Enumeration:
    """The trees over one table.

    Parameters
    ----------
    table : TableOfTotals
    categories : sequence of arrays
        Tests of one categorical column each: no sample goes right at two of them.
    limits : Limits
    multipliers, unit : sequence of int, int
        A price for each row, relative to ``unit`` for the cost. Any numbers are right; good ones leave fewer trees.
    most : int
        Subtrees that are held at once, and pairs that are formed of them.
    stop : callable
    """

    def __init__(
        self,
        table: TableOfTotals,
        categories: list[Ints],
        limits: Limits,
        multipliers: list[int],
        unit: int,
        most: int,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.table, self.limits, self.stop, self.most = table, limits, stop, most
        self.categories = categories
        self.bits = table.bits.astype(np.float64)
        self.weight = table.count.astype(np.float64)
        # What a unit of weight of each kind adds: cost first, then the rows; likewise a test.
        self.adds = np.concatenate([table.cost[:, :, None], table.row], axis=2)
        self.test_adds = np.concatenate([table.test_cost[:, None], table.test_row], axis=1)
        self.prices, self.slack = self._priced(multipliers, unit)
        self.price = self.adds @ self.prices
        self.test_price = self.test_adds @ self.prices
        self.same_feature = np.concatenate([[False], table.feature[1:] == table.feature[:-1]])
        self._bounds: dict[bytes, int] = {}
        self._of_root: Ints | None = None
        self._formed = 0

    def _priced(self, multipliers: list[int], unit: int) -> tuple[Ints, int]:
        """(1 + R,) prices that stay in 64 bits, and the priced sides of the rows; without rows, the cost alone."""
        table = self.table
        usable = [
            m if (m > 0 and hi < NO_BOUND) or (m < 0 and lo > -NO_BOUND) else 0
            for m, lo, hi in zip(multipliers, table.lo.tolist(), table.hi.tolist(), strict=True)
        ]
        weight = [int(w) for w in table.count.sum(axis=0)]
        tests = 2**self.limits.depth
        largest = 0
        for k, price in enumerate([unit, *usable]):
            each = [int(v) for v in np.abs(self.adds[:, :, k]).max(axis=1, initial=0)]
            on_tests = int(np.abs(self.test_adds[:, k]).max(initial=0))
            largest += abs(price) * (sum(w * v for w, v in zip(weight, each, strict=True)) + tests * on_tests)
        if largest >= LARGEST_SUM or unit < 1:
            return np.array([1, *[0] * len(usable)], dtype=np.int64), 0
        sides = zip(usable, table.lo.tolist(), table.hi.tolist(), strict=True)
        slack = sum(m * (hi if m > 0 else lo) for m, lo, hi in sides if m)
        return np.array([unit, *usable], dtype=np.int64), slack

    # -- all trees ------------------------------------------------------------------------------------

    def trees(self, cost: int) -> TreeList:
        """Every tree of at most this cost that satisfies the rows and limits.

        Raises
        ------
        TooManyTrees
            If more than ``most`` subtrees had to be held or pairs formed.
        Stopped
            When ``stop`` answers true.
        """
        self._formed = 0
        everything = np.arange(len(self.bits))
        # cost * unit + sum m_r row_r <= limit * unit + sum m_r side_r
        budget = cost * int(self.prices[0]) + self.slack
        listed = self._list(everything, self.limits.depth, budget)
        kept = (listed.adds[:, 0] <= cost) & (listed.adds[:, 1:] >= self.table.lo).all(axis=1)
        kept &= (listed.adds[:, 1:] <= self.table.hi).all(axis=1)
        return listed.only(np.flatnonzero(kept))

    def _list(self, rows: Ints, depth: int, budget: int) -> TreeList:
        """Every subtree of these rows whose priced sum is at most ``budget``."""
        if self.stop():
            raise Stopped
        report_step(self._formed, "trees formed")
        counts = self.weight[rows].sum(axis=0)
        blocks = [self._leaves(counts, budget)]
        if depth >= 1 and counts.sum() >= self.limits.min_flow:
            if depth == 1:
                blocks += self._stumps_of(rows, counts, budget)
            elif depth == 2:
                blocks += self._pairs_of(rows, budget)
            else:
                blocks += self._splits_of(rows, depth, budget)
        return self._held(TreeList.joined(blocks, self.adds.shape[2]))

    def _leaves(self, counts: Ints, budget: int) -> TreeList:
        adds = np.einsum("m,mck->ck", counts.astype(np.int64), self.adds)
        kept = np.flatnonzero(adds @ self.prices <= budget)
        return TreeList.of(adds[kept], kept, Leaf(kept))

    def _stumps_of(self, rows: Ints, counts: Ints, budget: int) -> list[TreeList]:
        bits = self.bits[rows]
        right = (bits.T @ self.weight[rows]).astype(np.int64)
        valid = self._valid(bits.sum(axis=0).astype(np.int64), len(rows)) & self._supported(right, counts)
        return [self._stumps(counts.astype(np.int64) - right, right, valid, budget)]

    def _stumps(self, left: Ints, right: Ints, valid: NDArray[np.bool_], budget: int) -> TreeList:
        """Trees of one test from the kinds (T, M) on both sides."""
        low, high = left @ self.price, right @ self.price  # (T, classes)
        total = low[:, :, None] + high[:, None, :] + self.test_price[:, None, None]
        classes = np.arange(total.shape[1])
        kept = (total <= budget) & valid[:, None, None] & (classes[:, None] != classes[None, :])
        t, a, b = np.nonzero(kept)
        by_class = self.adds.transpose(1, 0, 2)
        adds = np.einsum("im,imk->ik", left[t], by_class[a]) + np.einsum("im,imk->ik", right[t], by_class[b])
        adds = adds + self.test_adds[t]
        return TreeList.of(adds, np.full(len(t), -1), Stumps(t, a, b))

    def _pairs_of(self, rows: Ints, budget: int) -> list[TreeList]:
        """Trees of depth two, from the counts of all pairs of tests."""
        fitting = np.flatnonzero(self._least_by_first(rows) <= budget)
        lists = []
        for pairs in self._pairs(rows, fitting):
            for i, t in enumerate(pairs.first.tolist()):
                sides = []
                for side in (0, 1):
                    remaining = budget - int(self.test_price[t]) - int(pairs.best[1 - side][i])
                    counts = pairs.counts[side][i]
                    leaves = self._leaves(counts, remaining)
                    left, right = pairs.inner[side][0][i], pairs.inner[side][1][i]
                    stumps = self._stumps(left, right, pairs.inner_valid[side][i], remaining)
                    sides.append(TreeList.joined([leaves, stumps], self.adds.shape[2]))
                lists.append(self._join(t, sides[0], sides[1], budget))
        return lists

    def _splits_of(self, rows: Ints, depth: int, budget: int) -> list[TreeList]:
        lists = []
        for t, left, right in self._parted(rows):
            low, high = self._bound(left, depth - 1), self._bound(right, depth - 1)
            room = budget - int(self.test_price[t])
            if low + high > room:
                continue
            on_left = self._list(left, depth - 1, room - high)
            on_right = self._list(right, depth - 1, room - low)
            lists.append(self._join(t, on_left, on_right, budget))
        return lists

    def _parted(self, rows: Ints) -> list[tuple[int, Ints, Ints]]:
        bits = self.table.bits[rows].astype(bool)
        counts = self.weight[rows].sum(axis=0)
        right = (self.bits[rows].T @ self.weight[rows]).astype(np.int64)
        valid = self._valid(bits.sum(axis=0).astype(np.int64), len(rows)) & self._supported(right, counts)
        return [(t, rows[~bits[:, t]], rows[bits[:, t]]) for t in np.flatnonzero(valid).tolist()]

    def _join(self, t: int, left: TreeList, right: TreeList, budget: int) -> TreeList:
        """Every pair of subtrees that fits, without two leaves of one class."""
        left_cost = left.adds @ self.prices + int(self.test_price[t])
        other = right.adds @ self.prices
        order = np.argsort(other, kind="stable")
        fits = np.searchsorted(other[order], budget - left_cost, side="right")
        self._formed += int(fits.sum())
        if self._formed > 20 * self.most or int(fits.sum()) > self.most:
            raise TooManyTrees
        i = np.repeat(np.arange(len(left_cost)), fits)
        start = np.repeat(np.cumsum(fits) - fits, fits)
        j = order[np.arange(len(i)) - start]
        equal = (left.label[i] >= 0) & (left.label[i] == right.label[j])
        i, j = i[~equal], j[~equal]
        adds = left.adds[i] + right.adds[j] + self.test_adds[t]
        return TreeList.of(adds, np.full(len(i), -1), Block(t, left, right, i, j))

    def _held(self, trees: TreeList) -> TreeList:
        if len(trees.adds) > self.most:
            raise TooManyTrees
        return trees

    # -- bounds -----------------------------------------------------------------------------------------

    def _bound(self, rows: Ints, depth: int) -> int:
        """A lower bound on the priced sum of any subtree of these rows."""
        member = np.zeros(len(self.bits), dtype=bool)
        member[rows] = True
        key = np.packbits(member).tobytes() + bytes([depth])
        if key not in self._bounds:
            if self.stop():
                raise Stopped
            self._bounds[key] = self._least(rows, depth)
        return self._bounds[key]

    def _least(self, rows: Ints, depth: int) -> int:
        counts = self.weight[rows].sum(axis=0).astype(np.int64)
        least = int((counts @ self.price).min())
        if depth == 0 or counts.sum() < self.limits.min_flow:
            return least
        if depth == 2:
            return min(least, int(self._least_by_first(rows).min(initial=FAR)))
        for t, left, right in self._parted(rows):
            sides = self._bound(left, depth - 1) + self._bound(right, depth - 1)
            least = min(least, sides + int(self.test_price[t]))
        return least

    def _least_by_first(self, rows: Ints) -> Ints:
        """(T,) the least priced sum of a tree of depth two by its first test; far above all where there is none."""
        whole = len(rows) == len(self.bits)  # asked again with each budget
        if whole and self._of_root is not None:
            return self._of_root
        least = np.full(len(self.test_price), FAR)
        for pairs in self._pairs(rows, np.arange(len(least))):
            sums = pairs.best[0] + pairs.best[1] + self.test_price[pairs.first]
            least[pairs.first] = np.where(pairs.valid, sums, FAR)
        if whole:
            self._of_root = least
        return least

    def _pairs(self, rows: Ints, first: Ints) -> Iterator[_Pairs]:
        """The counts of pairs of these first tests and all others, some first tests at a time."""
        bits, weight = self.bits[rows], self.weight[rows]
        of_all = _All(
            bits,
            weight,
            (bits.T @ weight).astype(np.int64),
            bits.sum(axis=0).astype(np.int64),
            weight.sum(axis=0).astype(np.int64),
        )
        step = max(1, MOST_COUNTS // max(of_all.right.size, 1))
        for start in range(0, len(first), step):
            if self.stop():
                raise Stopped
            yield self._pairs_with(of_all, first[start : start + step])

    def _pairs_with(self, of_all: _All, first: Ints) -> _Pairs:
        bits, weight, whole = of_all.bits, of_all.weight, of_all.whole
        right, points = of_all.right[first], of_all.points[first]
        starts = bits[:, first]
        shared_kinds = [(starts * weight[:, [m]]).T @ bits for m in range(weight.shape[1])]
        both: Ints = np.stack(shared_kinds, axis=2).astype(np.int64)  # (F, T, M): right at both tests
        inner = {
            1: (right[:, None, :] - both, both),
            0: (whole - right[:, None, :] - of_all.right[None, :, :] + both, of_all.right[None, :, :] - both),
        }
        shared = (starts.T @ bits).astype(np.int64)
        counts = {1: right, 0: whole - right}
        inner_valid = {
            1: self._valid(shared, points[:, None]) & self._supported(both, right[:, None, :]),
            0: self._valid(of_all.points[None, :] - shared, len(bits) - points[:, None])
            & self._supported(inner[0][1], counts[0][:, None, :]),
        }
        best = {}
        for side in (0, 1):
            low, high = ((part @ self.price).min(axis=2) for part in inner[side])
            tested = np.where(inner_valid[side], low + high + self.test_price, FAR)
            flows = counts[side].sum(axis=1) >= self.limits.min_flow
            inner_valid[side] &= flows[:, None]
            leaf = (counts[side] @ self.price).min(axis=1)
            best[side] = np.where(flows, np.minimum(leaf, tested.min(axis=1, initial=FAR)), leaf)
        valid = self._valid(of_all.points, len(bits)) & self._supported(of_all.right, whole)
        return _Pairs(first, valid[first], counts, inner, inner_valid, best)

    def _valid(self, right: Ints, all_: Any) -> NDArray[np.bool_]:
        """Tests that separate something, one for each partition and column; the last axis is that of tests.

        ``right``: how many rows go right, of ``all_``.
        """
        separates = (right > 0) & (right < all_)
        # Thresholds of a column are nested: with as many rows on one side, they part alike.
        repeated = np.zeros_like(separates)
        repeated[..., 1:] = (right[..., 1:] == right[..., :-1]) & self.same_feature[1:]
        out: NDArray[np.bool_] = separates & ~repeated
        for tests in self.categories:
            here, sizes = out[..., tests], right[..., tests]
            whole = np.asarray(all_)[..., 0] if np.ndim(all_) == right.ndim else np.asarray(all_)
            two = (here.sum(axis=-1) == 2) & ((sizes * here).sum(axis=-1) == whole)
            first = here & (np.cumsum(here, axis=-1) == 1)
            out[..., tests] = np.where(two[..., None], first, here)
        return out

    def _supported(self, right: Ints, whole: Ints) -> NDArray[np.bool_]:
        """Tests both of whose sides have enough weight."""
        heavy = right.sum(axis=-1)
        least: NDArray[np.bool_] = np.minimum(heavy, whole.sum(axis=-1) - heavy) >= self.limits.min_support
        return least


@dataclass(frozen=True)
class _All:
    """The rows whose pairs are counted."""

    bits: NDArray[np.float64]
    weight: NDArray[np.float64]
    right: Ints
    """(T, M) kinds that go right."""
    points: Ints
    """(T,) merged points that go right."""
    whole: Ints
    """(M,) kinds."""


@dataclass(frozen=True)
class _Pairs:
    """Counts for some first tests (side 0: left) and all second tests on that side."""

    first: Ints
    valid: NDArray[np.bool_]
    """(F,) whether the first test separates enough."""
    counts: dict[int, Ints]
    """(F, M) kinds on each side of the first test."""
    inner: dict[int, tuple[Ints, Ints]]
    """(F, T, M) kinds left and right of the second test."""
    inner_valid: dict[int, NDArray[np.bool_]]
    best: dict[int, Ints]
    """(F,) least priced sum of a leaf or a tree of one test on each side."""
