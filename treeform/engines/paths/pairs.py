"""Least costs below a first test, from the counts of all pairs of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treeform.engines.paths.rules import Rules
from treeform.engines.paths.table import Table, parts
from treeform.engines.task import TreeTask
from treeform.utils.arrays import Bools, Floats, Ints

Node = Any
"""A class, or (test, left, right)."""
AT_A_TIME = 300_000_000
"""Products of numbers between two looks at the clock."""


class Pairs:
    """Costs of leaves and of single tests on each side of the first tests, over some rows."""

    def __init__(
        self,
        table: Table,
        rules: Rules,
        task: TreeTask,
        rows: Ints,
        first: Ints,
        depth: int,
        stop: Callable[[], bool],
    ) -> None:
        self.rules, self.task, self.depth, self.stop = rules, task, depth, stop
        bits, self.cost, weight = table.of(rows)
        points = bits.sum(axis=0)
        self.second = np.flatnonzero((points > 0) & (points < len(rows)))
        self.bits, self.others = (
            bits if len(tests) == bits.shape[1] else bits[:, tests] for tests in (first, self.second)
        )
        self.amounts = np.stack([np.ones(len(rows)), weight])
        """(2, rows): points, and their weights."""

    def side(self, side: int, heads: Ints) -> tuple[Floats, Callable[[int], Node]]:
        """The least cost on a side of each first test, and the subtree of one of them.

        ``side``: 0 is left. ``heads``, (T1,) int: the states of the rules there.
        """
        whole = self._on(side, self.cost)  # (T1, K)
        ends = np.array([self.rules.may_end[state] for state in heads.tolist()])
        leaf = np.where(ends, whole.min(axis=1), np.inf)
        labels = whole.argmin(axis=1)
        if self.depth < 2 or not len(self.second):
            return leaf, lambda place: int(labels[place])
        # right[k, f, g]: of class k on this side of f, what goes right at g
        right = np.stack([self._right_on(side, amount) for amount in self.cost.T])
        left = whole.T[:, :, None] - right
        value = left.min(axis=0) + right.min(axis=0) + self.task.node_penalty
        value[~self._admissible(side, heads)] = np.inf
        best = value.argmin(axis=1)
        tested = value[np.arange(len(best)), best]

        def subtree(place: int) -> Node:
            if leaf[place] <= tested[place]:
                return int(labels[place])
            test = int(best[place])
            return (
                int(self.second[test]),
                int(left[:, place, test].argmin()),
                int(right[:, place, test].argmin()),
            )

        return np.minimum(leaf, tested), subtree

    def _on(self, side: int, amounts: Floats) -> Floats:
        """(T1, A) what is on a side of each first test, of amounts (rows, A)."""
        right = self.bits.T @ amounts
        return np.asarray(right if side else amounts.sum(axis=0) - right)

    def _right_on(self, side: int, amount: Floats) -> Floats:
        """(T1, T2) of it, what goes right at each second test."""
        pairs = self.bits.shape[1], self.others.shape[1]
        sums = np.zeros(pairs)
        for part in parts(len(amount), pairs[0] * pairs[1], AT_A_TIME, self.stop):
            here = self.bits[part] if side else 1 - self.bits[part]
            sums += (here * amount[part, None]).T @ self.others[part]
        return sums

    def _admissible(self, side: int, heads: Ints) -> Bools:
        """(T1, T2) whether the second test may stand on this side of the first, with a leaf on both sides."""
        task = self.task
        n_points, heavy = self._on(side, self.amounts.T).T[:, :, None]
        points = self._right_on(side, self.amounts[0])
        out = (points > 0) & (points < n_points)
        if task.min_support > 0:
            weight = self._right_on(side, self.amounts[1])
            out &= np.minimum(weight, heavy - weight) >= task.min_support
        out &= heavy >= task.min_flow
        states, of_first = np.unique(heads, return_inverse=True)
        allowed = np.stack([self._with_leaves(int(state)) for state in states])
        return np.asarray(out & allowed[of_first.reshape(-1)])

    def _with_leaves(self, state: int) -> Bools:
        """(T2,) whether each test is allowed in a state and may have two leaves."""
        rules = self.rules
        heads = rules.after(state)
        ends = np.array([*rules.may_end, False])  # -1, where a test is not allowed, is the last one
        return np.asarray(rules.allowed[state] & ends[heads].all(axis=0))[self.second]
