"""What may follow the tests above, over the tests of the search by prices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from treeform.engines import TreeTask
from treeform.language.paths import PathRule, PathTests
from treeform.utils.arrays import Bools
from treeform.utils.out_of_reach import OutOfReach

MOST_ENTRIES = 30_000_000
"""States times tests."""


class States(Protocol):
    """An automaton that reads the tests of a path from the root down; its states are numbers, 0 the first one."""

    start: int

    def allowed(self, state: int) -> Bools:
        """(T,) whether each test may come next."""

    def after(self, state: int) -> NDArray[np.int64]:
        """(2, T) the state on each side of an allowed test; of the others any state."""

    def may_end(self, state: int) -> bool:
        """Whether a leaf may stand here."""


def read_by(task: TreeTask, feature: NDArray[np.int64]) -> Bools:
    """(T,) whether the task allows tests of each feature; of several sets, their union."""
    if task.features is None:
        return np.ones(len(feature), dtype=bool)
    return np.asarray(np.isin(feature, sorted(frozenset().union(*task.features))))


class Followed:
    """Rules as such an automaton: states of all of them together are numbered as they are met.

    Without rules, everything may follow. ``read``: (T,) the tests that are allowed anywhere.
    """

    start = 0

    def __init__(self, rules: Sequence[PathRule], tests: PathTests, read: Bools) -> None:
        self.rules, self.tests, self.read = tuple(rules), tests, read
        self.number: dict[tuple[Hashable, ...], int] = {}
        self.states: list[tuple[Hashable, ...]] = []
        self._allowed: dict[int, Bools] = {}
        self._after: dict[int, NDArray[np.int64]] = {}
        self._numbered(tuple(rule.start for rule in self.rules))

    def _numbered(self, state: tuple[Hashable, ...]) -> int:
        at = self.number.setdefault(state, len(self.states))
        if at == len(self.states):
            self.states.append(state)
            if len(self.states) * len(self.tests.feature) > MOST_ENTRIES:
                raise OutOfReach(
                    "the search by prices does not reach this problem",
                    cause="the rules on paths have too many states",
                )
        return at

    def allowed(self, state: int) -> Bools:
        if state not in self._allowed:
            mask = self.read.copy()
            for rule, one in zip(self.rules, self.states[state], strict=True):
                mask &= rule.allowed(one, self.tests)
            self._allowed[state] = mask
        return self._allowed[state]

    def after(self, state: int) -> NDArray[np.int64]:
        if state not in self._after:
            heads = np.zeros((2, len(self.tests.feature)), dtype=np.int64)
            allowed = self.allowed(state)
            for feature in np.unique(self.tests.feature[allowed]).tolist():
                own = allowed & (self.tests.feature == feature)
                for side in (0, 1):
                    pairs = zip(self.rules, self.states[state], strict=True)
                    heads[side, own] = self._numbered(
                        tuple(rule.after(one, feature, bool(side)) for rule, one in pairs)
                    )
            self._after[state] = heads
        return self._after[state]

    def may_end(self, state: int) -> bool:
        return all(rule.may_end(one) for rule, one in zip(self.rules, self.states[state], strict=True))
