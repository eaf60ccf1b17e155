"""Rules on paths, written again for the check from the definitions of the requirements.

A rule on columns is a question about a path: may a test of this column stand below tests of those? `Fix` is one about
rows: which test stands where exactly these arrive? See `treeform.certify.restated`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from treeform import requirements as known
from treeform.data import Dataset
from treeform.language.paths import PathRule, PathTests
from treeform.requirements.updates import encoded_for
from treeform.utils.arrays import Bools

Above = tuple[str, ...]
"""The columns of the tests further up, each as often as it was tested."""


class ByColumn(PathRule):
    """What may be tested, by the columns that were; those that the rule does not name are free.

    ``fits``: whether a test of a column may stand below tests of others.
    """

    def __init__(self, data: Dataset, named: Iterable[str], fits: Callable[[Above, str], bool]) -> None:
        self.column = [one.source for one in data.columns]
        self.named, self.fits = frozenset(named), fits

    @property
    def start(self) -> Hashable:
        return ()

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        assert isinstance(state, tuple)
        may = [name not in self.named or self.fits(state, name) for name in self.column]
        return np.array(may, dtype=bool)[tests.feature]

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        assert isinstance(state, tuple)
        name = self.column[feature]
        return tuple(sorted((*state, name))) if name in self.named else state


class AsGiven(PathRule):
    """The tests of a tree that is given, at the same rows; the state is its node, -1 below it."""

    reads_points = True

    def __init__(self, of: known.Fix, data: Dataset) -> None:
        given = of.graph
        X = encoded_for(given, data)[np.unique(np.asarray(data.points.index), return_index=True)[1]]
        self.left = np.asarray(given.goes_left(X))
        self.heads = np.stack([given.left, given.right])
        self.column = {int(test.node): given.columns[test.columns[0]].source for test in given.tests()}
        self.arriving: dict[int, Bools] = {}
        self._route(0, np.ones(len(X), dtype=bool))
        self.source = np.array([one.source for one in data.columns])

    def _route(self, node: int, points: Bools) -> None:
        if node in self.column:
            self.arriving[node] = points
            for side, goes in enumerate((self.left[:, node], ~self.left[:, node])):
                self._route(int(self.heads[side, node]), points & goes)

    @property
    def start(self) -> Hashable:
        return self._place(0)

    def _place(self, node: int) -> int:
        return node if node in self.column else -1

    def allowed(self, state: Hashable, tests: PathTests) -> Bools:
        assert isinstance(state, int)
        if state < 0:
            return np.ones(len(tests.feature), dtype=bool)
        here = self.arriving[state]
        differs = tests.right[here] == self.left[here, state][:, None]
        return np.asarray(~differs.any(axis=0) & (self.source[tests.feature] == self.column[state]))

    def after(self, state: Hashable, feature: int, right: bool) -> Hashable:
        assert isinstance(state, int)
        return state if state < 0 else self._place(int(self.heads[int(right), state]))

    def may_end(self, state: Hashable) -> bool:
        return state == -1


def _once(one: known.OncePerPath, data: Dataset) -> PathRule:
    named = {column.source for column in data.columns} if one.columns is None else one.columns
    return ByColumn(data, named, lambda above, column: column not in above)


def _a_few_times(one: known.MaxTestsPerPath, data: Dataset) -> PathRule:
    return ByColumn(data, one.columns, lambda above, _: len(above) < one.at_most)


def _below(one: known.Below, data: Dataset) -> PathRule:
    return ByColumn(
        data, (one.column, one.above), lambda above, column: column == one.above or one.above in above
    )


def _paid(one: known.FeatureCost, data: Dataset) -> PathRule | None:
    price = dict(one.costs)

    def within(above: Above, column: str) -> bool:
        return sum((price[name] for name in {*above, column}), Fraction(0)) <= one.at_most

    return ByColumn(data, price, within) if one.per_path else None


def _together(one: known.Interaction, data: Dataset) -> PathRule:
    names = {column.source for column in data.columns}
    sets = [frozenset(each) for each in one.sets]
    sets.append(frozenset(names).difference(*sets))
    return ByColumn(data, names, lambda above, column: any({*above, column} <= each for each in sets))


PATHS: dict[type, Callable[[Any, Dataset], PathRule | None]] = {
    known.OncePerPath: _once,
    known.MaxTestsPerPath: _a_few_times,
    known.Below: _below,
    known.FeatureCost: _paid,
    known.Interaction: _together,
    known.Fix: AsGiven,
}
