"""The rules of a task as masks over the tests: states of all rules together are numbered."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeform.engines.task import TreeTask
from treeform.language.paths import PathTests
from treeform.utils.arrays import Bools, Ints


class TableOfTests(Protocol):
    """The tests of a table."""

    bits: NDArray[Any]
    """(P, T) array: 1 where a point of the data fails a test, and goes right."""
    feature: NDArray[Any]
    """(T,) array"""


class Rules:
    """The rules on paths over the tests of one set of features.

    ``start``: the number of the state at the root. ``allowed``: of each state: the tests that may come next.
    ``may_end``: of each state: whether a leaf may stand there.
    """

    def __init__(self, table: TableOfTests, task: TreeTask, features: frozenset[int] | None = None) -> None:
        self.rules = task.paths
        self.tests = PathTests(table.feature.astype(np.int64), table.bits > 0)
        self.anywhere = np.ones(len(table.feature), dtype=bool)
        if features is not None:
            self.anywhere = np.isin(table.feature, sorted(features))
        self.number: dict[tuple[Hashable, ...], int] = {}
        self.states: list[tuple[Hashable, ...]] = []
        self.allowed: list[Bools] = []
        self.may_end: list[bool] = []
        self._next: dict[int, Ints] = {}
        self.start = self._numbered(tuple(rule.start for rule in self.rules))

    def _numbered(self, state: tuple[Hashable, ...]) -> int:
        if state not in self.number:
            self.number[state] = len(self.states)
            self.states.append(state)
            masks = [rule.allowed(one, self.tests) for rule, one in zip(self.rules, state, strict=True)]
            self.allowed.append(np.logical_and.reduce([self.anywhere, *masks]))
            self.may_end.append(all(rule.may_end(one) for rule, one in zip(self.rules, state, strict=True)))
        return self.number[state]

    def after(self, state: int) -> Ints:
        """(2, T) the state below each allowed test, on its left and its right; -1 below the others."""
        if state not in self._next:
            heads = np.full((2, len(self.tests.feature)), -1, dtype=np.int64)
            for test in np.flatnonzero(self.allowed[state]).tolist():
                feature = int(self.tests.feature[test])
                for side in (0, 1):
                    pairs = zip(self.rules, self.states[state], strict=True)
                    heads[side, test] = self._numbered(
                        tuple(rule.after(one, feature, bool(side)) for rule, one in pairs)
                    )
            self._next[state] = heads
        return self._next[state]
