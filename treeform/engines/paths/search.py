"""Dynamic programming over rows, tests left on the path, and the state of the rules.

Subtrees of depth two are counted from all pairs of tests at once, as in the specialised depth-two algorithm of
Demirović et al., JMLR 2022, with the rules as masks over the pairs. What is above depth two is searched test by test,
and pruned by the best tree known. The first ones are grown from single tests above such subtrees, and the best trees of
less depth: both are found long before the search has a tree of the whole depth.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treeform.engines.native_call import Room
from treeform.engines.paths.pairs import Node, Pairs
from treeform.engines.paths.rules import Rules
from treeform.engines.paths.table import AT_A_TIME, Table, parts
from treeform.engines.task import TreeTask
from treeform.utils.arrays import Floats, Ints
from treeform.utils.budget import report_step
from treeform.utils.out_of_reach import Stopped

Better = Callable[[float, Node], None]
"""Called with each better tree and its cost."""
AT_ONCE = 4_000_000
"""Counts of pairs of tests, by class, that are held at once."""


class Search:
    """Least costs of subtrees, over the tests of one set of features."""

    def __init__(
        self,
        table: Table,
        task: TreeTask,
        features: frozenset[int] | None,
        stop: Callable[[], bool],
        pairs: bool,
        room: Room,
    ) -> None:
        self.table, self.task, self.stop, self.room = table, task, stop, room
        self.counted_depth = 2 if pairs else 1
        self.rules = Rules(table, task, features)
        self.best: tuple[float, Node] | None = None
        """The cheapest tree that the root has found so far."""
        self._known: dict[tuple[bytes, int, int], tuple[float, Node]] = {}

    def root(self, upper: float, found: Better) -> None:
        """Find the cheapest tree below ``upper``: it is `best` at the end, None where there is none."""
        if self.table.weight.sum() < self.task.min_support:
            return

        def better(cost: float, tree: Node) -> None:
            self.best = cost, tree
            found(cost, tree)

        rows = np.arange(len(self.table.bits))
        start, depth = self.rules.start, self.task.depth
        upper, _ = self._least(rows, 0, start, upper, better)
        for exact in range(self.counted_depth, depth):
            grown = self._grown(rows, depth, start, exact)
            if grown[0] < upper:
                upper = grown[0]
                better(*grown)
            upper, _ = self._least(rows, exact, start, upper, better)
        self._least(rows, depth, start, upper, better)

    def _grown(self, rows: Ints, depth: int, state: int, exact: int) -> tuple[float, Node]:
        """A tree whose subtrees of depth ``exact`` are the best ones below tests that cost least with leaves."""
        if depth <= exact:
            return self._least(rows, depth, state, float("inf"))
        best, (candidates, estimate) = self._leaf(rows, state), self._candidates(rows, state)
        if not len(candidates) or self.table.weight[rows].sum() < self.task.min_flow:
            return best
        test = int(candidates[estimate[candidates].argmin()])
        right, heads = self.table.bits[rows, test] > 0, self.rules.after(state)
        a, b = (self._grown(rows[right == side], depth - 1, int(heads[side, test]), exact) for side in (0, 1))
        cost = a[0] + b[0] + self.task.node_penalty
        return best if a[1] is None or b[1] is None or cost >= best[0] else (cost, (test, a[1], b[1]))

    def _least(
        self, rows: Ints, depth: int, state: int, upper: float, better: Better = lambda cost, tree: None
    ) -> tuple[float, Node]:
        """The least cost below ``upper`` and its tree; ``(upper, None)``: there is none below."""
        member = np.zeros(len(self.table.bits), dtype=bool)
        member[rows] = True
        key = (np.packbits(member).tobytes(), depth, state)
        known = self._known.get(key)
        if known is not None and (known[1] is not None or known[0] >= upper):
            return known if known[0] < upper else (upper, None)
        best: tuple[float, Node] = (upper, None)
        leaf = self._leaf(rows, state)
        if leaf[0] < best[0]:
            best = leaf
            better(*best)
        if depth > 0 and self.table.weight[rows].sum() >= self.task.min_flow:
            deeper = self._pairs if depth <= self.counted_depth else self._splits
            found = deeper(rows, depth, state, best[0], better)
            best = found if found[1] is not None else best
        self._known[key] = best
        return best

    def _leaf(self, rows: Ints, state: int) -> tuple[float, Node]:
        if not self.rules.may_end[state]:
            return float("inf"), None
        sums = self.table.cost[rows].sum(axis=0)
        label = int(sums.argmin())
        return float(sums[label]), label

    def _splits(self, rows: Ints, depth: int, state: int, upper: float, better: Better) -> tuple[float, Node]:
        """The cheapest tree with a test at its root, test by test."""
        self._need(len(rows) * self._bytes_of_row())
        price, (bits, cost, _) = self.task.node_penalty, self.table.of(rows)
        floor = cost.min(axis=1)
        candidates, estimate = self._candidates(rows, state)
        heads = self.rules.after(state)
        best: tuple[float, Node] = (upper, None)
        for test in candidates[np.argsort(estimate[candidates], kind="stable")].tolist():
            right = bits[:, test] > 0
            sides = (rows[~right], rows[right])
            floors = (float(floor[~right].sum()), float(floor[right].sum()))
            if price + sum(floors) >= best[0]:
                continue
            first = int(floors[0] <= floors[1])
            a = self._least(
                sides[first], depth - 1, int(heads[first, test]), best[0] - price - floors[1 - first]
            )
            if a[1] is None:
                continue
            b = self._least(sides[1 - first], depth - 1, int(heads[1 - first, test]), best[0] - price - a[0])
            if b[1] is None:
                continue
            left, right_tree = (b, a) if first else (a, b)
            best = (a[0] + b[0] + price, (test, left[1], right_tree[1]))
            better(*best)
        return best

    def _candidates(self, rows: Ints, state: int) -> tuple[Ints, Floats]:
        """The tests that may stand here, and what each costs with leaves on both sides, allowed or not."""
        if self.stop():
            raise Stopped
        tests = self.table.bits.shape[1]
        points, heavy, right = np.zeros(tests), np.zeros(tests), np.zeros((tests, self.table.cost.shape[1]))
        for part in parts(len(rows), tests, AT_A_TIME, self.stop):
            bits, cost, weight = self.table.of(rows[part])
            points += bits.sum(axis=0)
            heavy += weight @ bits
            right += bits.T @ cost
        fits = self.rules.allowed[state] & (points > 0) & (points < len(rows))
        fits &= np.minimum(heavy, self.table.weight[rows].sum() - heavy) >= self.task.min_support
        estimate = right.min(axis=1) + (self.table.cost[rows].sum(axis=0) - right).min(axis=1)
        return np.flatnonzero(fits), estimate

    def _pairs(self, rows: Ints, depth: int, state: int, upper: float, better: Better) -> tuple[float, Node]:
        """The cheapest tree of depth one or two with a test at its root, from the counts of all pairs of tests."""
        self._need(len(rows) * self._bytes_of_row())
        candidates, _ = self._candidates(rows, state)
        best: tuple[float, Node] = (upper, None)
        if not len(candidates):  # the rules may leave no test at all
            return best
        most = self._at_once(len(rows))
        for begin in range(0, len(candidates), most):
            if self.stop():
                raise Stopped
            self.table.counted += 1
            report_step(self.table.counted, "pairs of tests counted")
            found = self._best_pair(rows, depth, state, candidates[begin : begin + most], best[0])
            if found is not None:
                best = found
                better(*best)
        return best

    def _bytes_of_row(self) -> int:
        return int(self.table.bits.itemsize * self.table.bits.shape[1])

    def _need(self, table: int) -> None:
        """Raise `MemoryError` where a table of that many bytes does not fit."""
        if self.room.limit is not None and table > self.room.left():
            raise MemoryError

    def _at_once(self, rows: int) -> int:
        """With how many first tests pairs are counted at once, over so many rows."""
        tests, classes = map(int, (self.table.bits.shape[1], self.table.cost.shape[1]))
        most = max(1, AT_ONCE // (tests * classes))
        if self.room.limit is None:
            return most
        # Of each first test: its answers, on a side, by class, and by weight; and the counts of its pairs, by class.
        each = self.table.bits.itemsize * (4 * rows + (3 * classes + 5) * tests)
        fit = (self.room.left() - 3 * rows * self._bytes_of_row()) // each
        if fit < 1:
            raise MemoryError
        return min(most, fit)

    def _best_pair(
        self, rows: Ints, depth: int, state: int, first: Ints, upper: float
    ) -> tuple[float, Node] | None:
        """The cheapest tree below ``upper`` whose root has one of the tests ``first``, if there is one."""
        pairs = Pairs(self.table, self.rules, self.task, rows, first, depth, self.stop)
        heads = self.rules.after(state)[:, first]
        sides = [pairs.side(side, heads[side]) for side in (0, 1)]
        total = sides[0][0] + sides[1][0] + self.task.node_penalty
        place = int(total.argmin())
        if not total[place] < upper:
            return None
        return float(total[place]), (int(first[place]), sides[0][1](place), sides[1][1](place))
