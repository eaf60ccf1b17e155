"""Bounds under rows over totals, proved again by a search of its own in NumPy.

It shares no code with ``treeform/native/totals``: no bit sets, no lazy rows, no guesses, no bounds from similar sets.
Multipliers and the rows that take part are hints: with any of them, what is found to be empty is empty.

A tree that satisfies the rows and costs at most C has a price ``W cost + sum_r mu_r row_r`` of at most
``W C + sum_r mu_r side_r``. Its subtrees are each within what that leaves above the minima of the others, so all trees
within it are listed from the leaves upwards; those that another one makes needless are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.engines.table_of_totals import NO_BOUND, TableOfTotals
from treeform.engines.task import TreeTask

LARGEST = 2**52
MOST_PAIRS = 20_000_000
"""Pairs of subtrees joined at once; beyond that the search gives up."""
COMPARED = 1_500
"""Lists up to this length are compared pair by pair."""

Numbers = NDArray[np.float64]
Path = tuple[tuple[int, bool], ...]


class GaveUp(Exception):
    """The search was stopped, or has too much to list."""


@dataclass
class Trees:
    """Trees for a subproblem: their prices, costs and rows; (N,), (N,) and (N, A)."""

    price: Numbers
    cost: Numbers
    row: Numbers

    def __len__(self) -> int:
        return len(self.price)

    def where(self, keep: Any) -> Trees:
        """Some of them."""
        return Trees(self.price[keep], self.cost[keep], self.row[keep])


def nothing_below(
    table: TableOfTotals, task: TreeTask, cost: int, hints: Mapping[str, Any], stop: Callable[[], bool]
) -> bool | None:
    """Whether no tree that satisfies the rows costs less than ``cost``.

    Parameters
    ----------
    table : TableOfTotals
    task : TreeTask
        Depth, supports and flows are taken from it. A budget of columns is left out, which leaves more trees.
    cost : int
    hints : mapping
        ``multipliers`` and ``active`` per row, and ``unit``; see `EngineOutcome.witness`.
    stop : callable
        Asked now and then.

    Returns
    -------
    bool or None
        False: a tree within the rows that take part costs less, so that nothing is proved. None: stopped, or too much
        to list.
    """
    try:
        search = _Search(table, task, hints, stop)
        return not search.some_below(cost)
    except GaveUp:
        return None


class _Search:
    def __init__(
        self, table: TableOfTotals, task: TreeTask, hints: Mapping[str, Any], stop: Callable[[], bool]
    ) -> None:
        self.table, self.task, self.stop = table, task, stop
        self.unit = int(hints["unit"])
        multipliers = [int(m) for m in hints["multipliers"]]
        sides = [int(a) for a in hints["active"]]
        rows = range(len(table.lo))
        if len(multipliers) != len(rows) or len(sides) != len(rows) or self.unit < 1:
            raise GaveUp
        self.constant = 0
        self.signs: list[tuple[int, int, int | None]] = []  # (row, sign, two-sided: its lower side)
        self.high: list[int] = []
        for r in rows:
            lo, hi, mu = int(table.lo[r]), int(table.hi[r]), multipliers[r]
            if (mu > 0 and hi >= NO_BOUND) or (mu < 0 and lo <= -NO_BOUND):
                raise GaveUp
            self.constant += mu * (hi if mu > 0 else lo)
            if mu == 0 and sides[r] == 0:
                continue
            sign = 1 if mu > 0 or (mu == 0 and sides[r] > 0) else -1
            upper, lower = (hi, lo) if sign > 0 else (-lo, -hi)
            both = sides[r] == 2 and abs(lo) < NO_BOUND and abs(hi) < NO_BOUND
            self.signs.append((r, sign, lower if both else None))
            self.high.append(upper)
        self._set_prices(multipliers)
        self.bits = table.bits.astype(bool)
        self.known: dict[Path, tuple[float, float]] = {}

    def _set_prices(self, multipliers: list[int]) -> None:
        table, kinds, classes = self.table, len(self.table.cost), self.table.cost.shape[1]
        price = [
            [
                self.unit * int(table.cost[k, c])
                + sum(m * int(table.row[k, c, r]) for r, m in enumerate(multipliers))
                for c in range(classes)
            ]
            for k in range(kinds)
        ]
        tests = [
            self.unit * int(table.test_cost[f])
            + sum(m * int(table.test_row[f, r]) for r, m in enumerate(multipliers))
            for f in range(len(table.test_cost))
        ]
        weight = [int(w) for w in table.count.sum(axis=0)]
        widest = sum(w * 2 * max(map(abs, own)) for w, own in zip(weight, price, strict=True))
        widest += (2**self.task.depth) * max([0, *map(abs, tests)])
        for r, *_ in self.signs:
            reach = sum(
                w * int(np.abs(table.row[k, :, r].astype(object)).max()) for k, w in enumerate(weight)
            )
            reach += 2**self.task.depth * max([0, *(abs(int(t)) for t in table.test_row[:, r])])
            widest = max(widest, reach)
        if max(widest, abs(self.constant)) >= LARGEST:
            raise GaveUp
        self.price = np.array(price, dtype=float)
        self.cost = table.cost.astype(float)
        self.test_price = np.array(tests, dtype=float)
        signed = [sign * table.row[:, :, r].astype(float) for r, sign, _ in self.signs]
        self.row = np.stack(signed, axis=2) if signed else np.zeros((kinds, classes, 0))
        own = [sign * table.test_row[:, r].astype(float) for r, sign, _ in self.signs]
        self.test_row = np.stack(own, axis=1) if own else np.zeros((len(tests), 0))

    # -- minima -----------------------------------------------------------------------------------

    def _leaf(self, counts: Numbers) -> Numbers:
        """The cheapest leaf for each set of counts (..., M); infinite below the minimum support."""
        best: Numbers = (counts @ self.price).min(axis=-1)
        return np.where(counts.sum(axis=-1) >= self.task.min_support, best, np.inf)

    def _may_test(self, weight: Numbers) -> Any:
        return weight >= max(self.task.min_flow, 1)

    def _stumps(self, sub: NDArray[np.int64]) -> tuple[Numbers, Numbers, Numbers]:
        """(M,) counts of a set; (T, M) counts of both sides of each test."""
        counts = self.table.count[sub].astype(float)
        held = self.bits[sub].T.astype(float) @ counts
        total: Numbers = counts.sum(axis=0)
        return total, total - held, held

    def minimum(self, sub: NDArray[np.int64], path: Path, depth: int, limit: float) -> float:
        """The least price of a tree; a bound above the limit where it exceeds that."""
        if path in self.known and (self.known[path][0] > limit or self.known[path][1] == 0):
            return self.known[path][0]
        if self.stop():
            raise GaveUp
        total, none, held = self._stumps(sub)
        best = float(self._leaf(total))
        exact = True
        if depth and self._may_test(total.sum()):
            if depth == 1:
                best = min(best, float(self._with_test(self._leaf(none), self._leaf(held), none, held)))
            elif depth == 2:
                sides = self._two(sub, total, none, held)
                best = min(best, float(self._with_test(*sides, none, held)))
            else:
                best, exact = self._deeper(sub, path, depth, limit, best)
        self.known[path] = (best, 0.0 if exact else 1.0)
        return best

    def _with_test(self, a: Numbers, b: Numbers, none: Numbers, held: Numbers) -> Any:
        usable = (none.sum(axis=-1) > 0) & (held.sum(axis=-1) > 0)
        return np.where(usable, a + b + self.test_price, np.inf).min(initial=np.inf)

    def _two(
        self, sub: NDArray[np.int64], total: Numbers, none: Numbers, held: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Minima of both sides of each test with at most one more test, from counts of pairs."""
        bits = self.bits[sub].astype(float)
        counts = self.table.count[sub].astype(float)
        both = np.stack(
            [(bits * counts[:, [k]]).T @ bits for k in range(counts.shape[1])], axis=2
        )  # (g, h, M)
        found = []
        for side, pair in ((none, held[None, :, :] - both), (held, both)):
            rest = side[:, None, :] - pair
            parts = self._leaf(pair) + self._leaf(rest) + self.test_price[None, :]
            parts = np.where((pair.sum(axis=2) > 0) & (rest.sum(axis=2) > 0), parts, np.inf)
            below = np.where(self._may_test(side.sum(axis=1)), parts.min(axis=1, initial=np.inf), np.inf)
            found.append(np.minimum(self._leaf(side), below))
        return found[0], found[1]

    def _deeper(
        self, sub: NDArray[np.int64], path: Path, depth: int, limit: float, best: float
    ) -> tuple[float, bool]:
        bound = np.inf
        for f, parts in self._splits(sub):
            paths = [_with(path, f, False), _with(path, f, True)]
            floor = self._floor(parts[1])
            cut = min(limit, best) - self.test_price[f]
            first = self.minimum(parts[0], paths[0], depth - 1, cut - floor)
            value = first + floor + self.test_price[f]
            if first + floor <= cut:
                value = first + self.test_price[f] + self.minimum(parts[1], paths[1], depth - 1, cut - first)
                best = min(best, value) if value <= limit else best
            bound = min(bound, value)
        if best <= limit:
            return min(best, bound), True
        return min(best, bound), False

    def _floor(self, sub: NDArray[np.int64]) -> float:
        """What the rows cost with the best label each."""
        return float((self.table.count[sub].astype(float) @ self.price).min(axis=1).sum())

    def _splits(
        self, sub: NDArray[np.int64]
    ) -> Iterator[tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]]]]:
        for f in range(self.bits.shape[1]):
            held = self.bits[sub, f]
            if held.any() and not held.all():
                yield f, (sub[~held], sub[held])

    # -- lists of trees -----------------------------------------------------------------------------

    def some_below(self, cost: int) -> bool:
        """Whether a tree costs less and satisfies the rows that take part."""
        every = np.arange(len(self.bits))
        limit = float(self.unit * (cost - 1) + self.constant)
        if self.minimum(every, (), self.task.depth, limit) > limit:
            return False
        trees = self.trees(every, (), self.task.depth, limit)
        good = trees.cost < cost
        for a, (_, _, low) in enumerate(self.signs):
            good &= trees.row[:, a] <= self.high[a]
            if low is not None:
                good &= trees.row[:, a] >= low
        return bool(good.any())

    def _leaves(self, counts: Numbers) -> Trees:
        """All labels for each set of counts (N, M), one after the other: (classes * N) trees."""
        labels = range(self.price.shape[1])
        return Trees(
            np.concatenate([counts @ self.price[:, c] for c in labels]),
            np.concatenate([counts @ self.cost[:, c] for c in labels]),
            np.concatenate([counts @ self.row[:, c] for c in labels]),
        )

    def trees(self, sub: NDArray[np.int64], path: Path, depth: int, limit: float) -> Trees:
        """All trees of at most this price, without needless ones."""
        if self.stop():
            raise GaveUp
        total, none, held = self._stumps(sub)
        found = []
        if total.sum() >= self.task.min_support:
            found.append(self._leaves(total[None, :]))
        if depth and self._may_test(total.sum()):
            found += [self._one(none, held)] if depth == 1 else self._joined(sub, path, depth, limit)
        merged = _together(found, self.row.shape[2])
        return self._tidy(merged.where(merged.price <= limit))

    def _one(self, none: Numbers, held: Numbers) -> Trees:
        weights = np.stack([none.sum(axis=1), held.sum(axis=1)])
        usable = np.flatnonzero((weights >= max(1, self.task.min_support)).all(axis=0))
        a, b, classes, n = (
            self._leaves(none[usable]),
            self._leaves(held[usable]),
            self.price.shape[1],
            len(usable),
        )
        left = np.repeat(np.arange(classes), classes)[:, None] * n + np.arange(n)
        right = np.tile(np.arange(classes), classes)[:, None] * n + np.arange(n)
        i, j, f = left.ravel(), right.ravel(), np.tile(usable, classes * classes)
        return self._sum(a.where(i), b.where(j), f)

    def _sum(self, a: Trees, b: Trees, f: Any) -> Trees:
        return Trees(
            a.price + b.price + self.test_price[f],
            a.cost + b.cost + self.table.test_cost[f],
            a.row + b.row + self.test_row[f],
        )

    def _joined(self, sub: NDArray[np.int64], path: Path, depth: int, limit: float) -> list[Trees]:
        out: list[Trees] = []
        sides = self._two(sub, *self._stumps(sub)) if depth == 2 else None
        for f, parts in self._splits(sub):
            paths = [_with(path, f, False), _with(path, f, True)]
            room = limit - self.test_price[f]
            if sides is not None:
                a, b = float(sides[0][f]), float(sides[1][f])
            else:
                a = self.minimum(parts[0], paths[0], depth - 1, room - self._floor(parts[1]))
                b = np.inf if a > room else self.minimum(parts[1], paths[1], depth - 1, room - a)
            if a + b > room:
                continue
            left = self.trees(parts[0], paths[0], depth - 1, room - b)
            right = self.trees(parts[1], paths[1], depth - 1, room - a)
            if len(left) * len(right) > MOST_PAIRS:
                raise GaveUp
            i, j = np.nonzero(left.price[:, None] + right.price[None, :] <= room)
            out.append(self._sum(left.where(i), right.where(j), np.full(len(i), f)))
        return out

    def _tidy(self, trees: Trees) -> Trees:
        """Equal rows keep the cheapest; then those that another one makes needless are dropped."""
        if not len(trees):
            return trees
        order = np.lexsort((trees.cost, *trees.row.T[::-1]))
        trees = trees.where(order)
        fresh = np.ones(len(trees), dtype=bool)
        fresh[1:] = (trees.row[1:] != trees.row[:-1]).any(axis=1)
        trees = trees.where(fresh)
        if len(self.signs) == 1 and self.signs[0][2] is None:
            least = np.minimum.accumulate(trees.cost)
            keep = np.ones(len(trees), dtype=bool)
            keep[1:] = trees.cost[1:] < least[:-1]
            return trees.where(keep)
        if len(trees) > COMPARED:
            return trees
        two_sided = np.array([low is not None for *_, low in self.signs], dtype=bool)
        better = trees.cost[:, None] <= trees.cost[None, :]
        for a, both in enumerate(two_sided):
            one, other = trees.row[:, a][:, None], trees.row[:, a][None, :]
            better &= one == other if both else one <= other
        np.fill_diagonal(better, False)
        return trees.where(~better.any(axis=0))


def _with(path: Path, f: int, side: bool) -> Path:
    return tuple(sorted((*path, (f, side))))


def _together(parts: list[Trees], width: int) -> Trees:
    none = Trees(np.zeros(0), np.zeros(0), np.zeros((0, width)))
    every = [none, *parts]
    return Trees(
        np.concatenate([t.price for t in every]),
        np.concatenate([t.cost for t in every]),
        np.concatenate([t.row for t in every]),
    )
