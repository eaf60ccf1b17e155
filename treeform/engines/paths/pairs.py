"""Least costs below a first test, from the counts of all pairs of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treeform.engines.paths.rules import Rules
from treeform.engines.paths.table import Table
from treeform.engines.task import TreeTask
from treeform.utils.arrays import Bools, Floats, Ints

Node = Any
"""A class, or (test, left, right)."""


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
    ) -> None:
        self.rules, self.task, self.depth = rules, task, depth
        bits, self.cost, self.weight = table.bits[rows], table.cost[rows], table.weight[rows]
        points = bits.sum(axis=0)
        self.second = np.flatnonzero((points > 0) & (points < len(rows)))
        self.bits = bits[:, first]
        self.others = bits[:, self.second]

    def side(self, side: int, heads: Ints) -> tuple[Floats, Callable[[int], Node]]:
        """The least cost on a side of each first test, and the subtree of one of them.

        ``side``: 0 is left. ``heads``, (T1,) int: the states of the rules there.
        """
        here = self.bits if side else 1 - self.bits
        whole = here.T @ self.cost  # (T1, K)
        ends = np.array([self.rules.may_end[state] for state in heads.tolist()])
        leaf = np.where(ends, whole.min(axis=1), np.inf)
        labels = whole.argmin(axis=1)
        if self.depth < 2 or not len(self.second):
            return leaf, lambda place: int(labels[place])
        # right[k, f, g]: of class k on this side of f, what goes right at g
        right = np.stack([(here * column[:, None]).T @ self.others for column in self.cost.T])
        left = whole.T[:, :, None] - right
        value = left.min(axis=0) + right.min(axis=0) + self.task.node_penalty
        value[~self._admissible(here, heads)] = np.inf
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

    def _admissible(self, here: Floats, heads: Ints) -> Bools:
        """(T1, T2) whether the second test may stand on this side of the first, with a leaf on both sides."""
        task = self.task
        n_points, heavy = here.sum(axis=0)[:, None], (self.weight @ here)[:, None]
        points = here.T @ self.others
        out = (points > 0) & (points < n_points)
        if task.min_support > 0:
            weight = (here * self.weight[:, None]).T @ self.others
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
