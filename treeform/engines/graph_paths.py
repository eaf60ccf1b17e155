"""Rules on paths for the AND/OR graph: an automaton over its tests, as far down as that stays small.

The native search shares least prices between nodes where everything may follow. Above such nodes it tries every
allowed test (``treeform/native/and_or/path_states.cpp``). A rule that gives the upper part of a tree leaves few tests
there; one that counts columns along a path leaves most of them. So states are followed down to a depth at which a
bounded number of nodes has to be tried, and below it everything may follow: what is left out of a rule makes bounds
weaker, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeform.engines.paths.rules import Rules, TableOfTests
from treeform.engines.task import TreeTask

FREE = -1
MOST_ENTRIES = 1_000_000
"""States at one number of tests above, times tests."""
MOST_TRIED = 100_000
"""Nodes, from the root down, at which all tests are tried."""


@dataclass(frozen=True)
class PathStates:
    """The automaton, in state 0 at the root."""

    allowed: NDArray[np.uint8]
    """(S, T) uint8"""
    next: NDArray[np.int32]
    """(S, T, 2) int32: the state on each side of an allowed test; -1: everything may follow."""
    may_end: NDArray[np.uint8]
    """(S,) uint8"""
    levels: int
    """The number of tests above, from which on everything may follow."""
    whole: bool
    """Whether this is all that the rules say."""


def states_of(task: TreeTask, table: TableOfTests, most: int | None = None) -> PathStates | None:
    """The rules of a task over the tests of a table; None where everything may follow at the root.

    That is so where the first tests alone are too many, too.

    ``most``: levels to follow; None: as many as `MOST_TRIED` allows.
    """
    rules = Rules(table, task)
    levels, whole = _levels(rules, task.depth, most)
    if not levels:
        return None
    number = {
        place: index for index, place in enumerate((d, s) for d, here in enumerate(levels) for s in here)
    }
    states, tests = len(number), len(table.feature)
    allowed, may_end = np.zeros((states, tests), dtype=np.uint8), np.zeros(states, dtype=np.uint8)
    after = np.full((states, tests, 2), FREE, dtype=np.int32)
    for (above, state), index in number.items():
        may_end[index] = rules.may_end[state]
        if above == task.depth:
            continue
        allowed[index] = rules.allowed[state]
        heads = rules.after(state)
        for head in np.unique(heads[heads >= 0]).tolist():
            after[index][np.equal(heads.T, head)] = number.get((above + 1, head), FREE)
    return PathStates(allowed, after, may_end, len(levels), whole)


def _levels(rules: Rules, depth: int, most: int | None) -> tuple[list[list[int]], bool]:
    """The states to follow at each number of tests above, and whether that is all that the rules say."""
    levels: list[list[int]] = []
    here, tried = {rules.start: 1}, 0
    for above in range(depth + 1):
        here = {state: paths for state, paths in here.items() if not _free(rules, state, depth - above)}
        if not here:
            return levels, True
        tried += sum(here.values()) if above < depth else 0
        if (
            (tried > MOST_TRIED or len(here) * len(rules.tests.feature) > MOST_ENTRIES)
            if most is None
            else above == most
        ):
            return levels, False
        levels.append(sorted(here))
        below: dict[int, int] = {}
        for state, paths in here.items() if above < depth else ():
            heads, times = np.unique(rules.after(state), return_counts=True)
            for head, count in zip(heads.tolist(), times.tolist(), strict=True):
                if head >= 0:
                    below[head] = below.get(head, 0) + paths * count
        here = below
    return levels, True


def _free(rules: Rules, state: int, tests: int) -> bool:
    """Whether all trees of at most so many tests on a path may stand below the state."""
    seen: set[int] = set()
    here = {state}
    for left in range(tests, -1, -1):
        here -= seen  # what was looked at with more tests left
        if not all(rules.may_end[s] and (left == 0 or rules.allowed[s].all()) for s in here):
            return False
        seen |= here
        if left == 0 or not here:
            return True
        here = {int(head) for s in here for head in np.unique(rules.after(s))}
    return True
