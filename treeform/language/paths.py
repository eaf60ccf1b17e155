"""Rules on paths: what may be tested next, by what was tested above.

A rule is an automaton that reads a path from the root downwards. A tree satisfies it when each of its tests is allowed
in the state that the tests above have led to, and no path ends in a state in which it may not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeform.utils.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class PathTests:
    """The tests that a path can be made of; each parts the data's points in two.

    Attributes
    ----------
    feature : (T,) int array
        The encoded feature that each test reads.
    right : (P, T) bool
        Whether each of the data's points goes right.
    """

    feature: Ints
    right: Bools


class PathRule(ABC):
    """A requirement on the paths of a tree, read from the root downwards.

    Tests that no point reaches, or that all points leave by one side, stand on no path.

    Attributes
    ----------
    reads_points : bool
        Whether `allowed` reads where the points of the table go, so that in some states it holds for that table only.
    """

    reads_points: ClassVar[bool] = False

    @property
    @abstractmethod
    def start(self) -> Hashable:
        """The state at the root."""

    @abstractmethod
    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        """Whether each test may come next.

        Parameters
        ----------
        state : hashable
            What `start` and `after` returned on the path from the root.
        tests : PathTests
            The T tests of the table.

        Returns
        -------
        (T,) bool array
        """

    @abstractmethod
    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        """The state on one side of an allowed test.

        Parameters
        ----------
        state : hashable
            The state above the test.
        feature : int
            The encoded feature that the test reads.
        right : bool
            True for the right side, False for the left one.
        """

    def may_end(self, state: Hashable) -> bool:
        """Whether a leaf may stand here."""
        return True


class Below(PathRule):
    """A rule below one node of a tree: it begins in the state that the tests above have led to."""

    def __init__(self, rule: PathRule, state: Hashable) -> None:
        self.rule, self.state = rule, state

    @property
    def start(self) -> Hashable:
        return self.state

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        return self.rule.allowed(state, tests)

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        return self.rule.after(state, feature, right)

    def may_end(self, state: Hashable) -> bool:
        return self.rule.may_end(state)


class ColumnRule(PathRule):
    """A rule that speaks of columns only: its state says which groups of features were tested on the path.

    ``group``, (F,) int, is the number of the group of each encoded feature; -1 where the rule does not speak of it.
    """

    def __init__(self, group: Ints) -> None:
        self.group = group

    @property
    def start(self) -> Hashable:
        return frozenset()

    @abstractmethod
    def may_follow(self, tested: frozenset[int], group: int) -> bool:
        """Whether a test of a group may come below tests of these groups."""

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        assert isinstance(state, frozenset)
        of_group = {g: g < 0 or self.may_follow(state, g) for g in set(self.group.tolist())}
        return np.array([of_group[g] for g in self.group[tests.feature].tolist()], dtype=bool)

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        assert isinstance(state, frozenset)
        group = int(self.group[feature])
        return state if group < 0 else state | {group}
