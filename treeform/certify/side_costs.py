"""Costs of a leaf and of every single test on some rows, in doubles, with a price on values and limits for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from treeform.engines.regression_task import RegressionTask
from treeform.utils.arrays import Floats, Ints, Mask

NEAR = 1e-9
"""Share of the cost of one leaf for all rows by which costs may be off."""
Limits = Sequence[tuple[float, float]]


class SideCosts(ABC):
    """Costs on the rows of a table, where each row pays ``w loss(y, v) + factor c v``.

    ``slack``: how far the cost of a tree may be off. ``most_factor``: the greatest factor that is possible.
    ``whole_values``: whether leaves may have to hold whole values. ``support``: the least weight of a leaf. ``ways``,
    (C,) int: 1 where the left value of a test may not be the greater one, -1 where it may not be the smaller one, else
    0.
    """

    slack: float
    most_factor = np.inf
    whole_values = True

    def __init__(
        self, X: Floats, y: Ints, w: Ints, c: Floats, ways: Ints, task: RegressionTask, whole: bool
    ) -> None:
        self.X, self.y, self.w, self.c, self.ways, self.whole = (
            X,
            y.astype(float),
            w.astype(float),
            c,
            ways,
            whole,
        )
        self.support, self.flow, self.price = max(1, task.min_support), task.min_flow, float(task.price)
        self.order = np.argsort(X, axis=1, kind="stable")

    @abstractmethod
    def work(self) -> int:
        """Additions for all tests on all rows."""

    @abstractmethod
    def of_subtrees(self, rows: Mask, tests: bool, factor: float, limits: Limits) -> Floats:
        """(K, 1 + T) for each pair of limits of values, of a leaf and of the tests as `tests` lists them."""

    def bears_test(self, rows: Mask) -> bool:
        return len(self.X) > 0 and bool(self.w[rows].sum() >= max(1, self.flow))

    @staticmethod
    def no_tests() -> tuple[Ints, Floats]:
        return np.zeros(0, dtype=np.int64), np.zeros(0)

    def tests(self, rows: Mask) -> tuple[Ints, Floats]:
        """Columns, and the values that end left sides."""
        order, column, at = self._places(rows)
        return column, np.take_along_axis(self.X, order, axis=1)[column, at]

    def _places(self, rows: Mask) -> tuple[Ints, Ints, Ints]:
        """The rows in the order of each column, and the columns and places of all tests."""
        order = self.order[rows[self.order]].reshape(len(self.X), -1)
        if not self.bears_test(rows):
            return order, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        value, weight = np.take_along_axis(self.X, order, axis=1), self.w[order].cumsum(axis=1)
        heavy = (weight[:, :-1] >= self.support) & (weight[:, -1:] - weight[:, :-1] >= self.support)
        column, at = np.nonzero(heavy & (value[:, :-1] < value[:, 1:]))
        return order, column, at


class Squares(SideCosts):
    """A leaf of weight n, mean m and prices c costs  q - n m^2 + n (v - m)^2 + c v,  least at v = m - c / 2n."""

    whole_values = False

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        n, s, q, _ = (float(part.sum()) for part in self._parts())
        paid = float(np.abs(self.c).sum())
        self.slack = NEAR * (q - s * s / n + paid * float(np.abs(self.y).max()) + paid**2 + 1e-300)

    def _parts(self) -> tuple[Floats, ...]:
        return self.w, self.w * self.y, self.w * self.y**2, self.c

    def work(self) -> int:
        return self.X.size

    def of_subtrees(self, rows: Mask, tests: bool, factor: float, limits: Limits) -> Floats:
        order, column, at = self._places(rows)
        if not tests:
            column, at = column[:0], at[:0]
        first = [part[order].cumsum(axis=1)[column, at] for part in self._parts()]
        whole = [part[rows].sum() for part in self._parts()]
        rest = [all_of - part for all_of, part in zip(whole, first, strict=True)]
        out = []
        for low, high in limits:
            alone, _ = _least(whole, factor, low, high)
            left, below = _least(first, factor, low, high)
            right, above = _least(rest, factor, low, high)
            costs = np.where(self.ways[column] * (below - above) > 0, alone, left + right)
            out.append(np.append(alone, costs + self.price))
        return np.array(out)


def _least(sums: Sequence[Floats], factor: float, low: float, high: float) -> tuple[Floats, Floats]:
    """What leaves cost with their best values, and these without limits."""
    n, s, q, c = sums
    mean, paid = s / n, factor * c
    free = mean - paid / (2 * n)
    value = np.clip(free, low, high)
    return np.maximum(0.0, q - s * mean) + n * (value - mean) ** 2 + paid * value, free


class Distances(SideCosts):
    """A leaf has one of the targets of the table as its value: all are tried."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.levels = np.unique(self.y)
        # A row that is paid more than its weight for each unit has no best value, unless the range has an end.
        most = float((np.abs(self.c) / self.w).max(initial=0.0))
        self.most_factor = np.inf if self.whole or most == 0 else 1 / most
        spent = (self.w * np.abs(self.y - self.levels[:, None])).sum(axis=1)
        self.slack = NEAR * (float(spent.min()) + float(np.abs(self.c) @ np.abs(self.y)) + 1e-300)

    def work(self) -> int:
        return self.X.size * len(self.levels)

    def _levels(self, rows: Mask, limits: Limits) -> Floats:
        """Where the cost of some of the rows may be least: at their targets, and at ends of the range."""
        ends = [end for pair in limits for end in pair if np.isfinite(end)]
        return np.unique(np.concatenate([self.y[rows], self.levels[[0, -1]], ends]))

    def of_subtrees(self, rows: Mask, tests: bool, factor: float, limits: Limits) -> Floats:
        order, column, at = self._places(rows)
        if not tests:
            column, at = column[:0], at[:0]
        levels = self._levels(rows, limits)
        paid = self.w * np.abs(self.y - levels[:, None]) + factor * self.c * levels[:, None]
        alone = paid @ rows
        kept = [(levels >= low) & (levels <= high) for low, high in limits]
        costs: list[list[Floats]] = [[np.array([alone[inside].min()])] for inside in kept]
        for number in range(len(self.X)):
            here = at[column == number]
            if not len(here):
                continue
            left = paid[:, order[number]].cumsum(axis=1)[:, here]
            right = alone[:, None] - left
            for inside, out in zip(kept, costs, strict=True):
                one, other = left[inside], right[inside]
                if self.ways[number]:
                    lower, upper = (one, other) if self.ways[number] > 0 else (other, one)
                    # The greater value is some level, the smaller one a level up to it.
                    least = (np.minimum.accumulate(lower, axis=0) + upper).min(axis=0)
                else:
                    least = one.min(axis=0) + other.min(axis=0)
                out.append(least + self.price)
        return np.array([np.concatenate(out) for out in costs])
