"""Costs of leaves and of single tests for many tests at once, in doubles, with a price on rows over the values.

With multipliers u >= 0 of the rows  sum_i a_ki v_i <= b_k,  each sample pays  w_i loss(y_i, v) + c_i v,  c = u A:
a tree that satisfies the rows pays at most its loss plus u b. For squares that is the loss of moved targets,

    w (y - v)^2 + c v  =  w (y - c / (2 w) - v)^2 + c y - c^2 / (4 w).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from treeform import _core
from treeform.engines.relaxation import Relaxation
from treeform.language.values import ValueRule
from treeform.utils.arrays import Floats, Ints, Mask


@dataclass(frozen=True, eq=False)
class PricedSamples:
    """What samples pay: ``w |y - v| + c v`` at a value v, which is one of the levels."""

    weight: Floats
    price: Floats
    target: Floats
    """(n,) float64"""
    level: Ints
    """(n,) int64: the place of each target among the levels."""
    levels: Floats
    """(L,) float64: the distinct targets, ascending."""

    def tests(
        self, order: Ints, ways: Ints, near: float, low: float = -np.inf, high: float = np.inf
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The costs, (C, m - 1), of the first k + 1 samples and of the others together, in the ``order`` of each
        column; and whether all best values of both sides, of any size, are the wrong way round.

        ``ways``, (C,): 1 where values may not fall from left to right, -1 where they may not rise, else 0. Levels whose
        slope is within ``near`` of 0 count as best ones, where sides are compared. Values are levels from ``low`` to
        ``high``; there is one at least.
        """
        numbers = (self.weight, self.price, self.target, self.level, self.levels, ways)
        first = int(np.searchsorted(self.levels, low, side="left"))
        last = int(np.searchsorted(self.levels, high, side="right")) - 1
        cost, wrong = _core.priced_tests(np.ascontiguousarray(order), *numbers, near, first, last)
        shape = len(order), max(0, order.shape[1] - 1)
        return cost.reshape(shape), wrong.reshape(shape).astype(bool)

NEAR = 1e-9
"""Share of the cost of one leaf for all by which doubles may be off."""
nothing = partial(np.zeros, 0)


@dataclass(frozen=True)
class Subtrees:
    """A leaf (entry 0) and all single tests on some rows."""

    cost: Floats
    """(A,): a lower bound with prices, of tests included."""
    plain: Floats
    """(A,): the same without the prices of rows."""
    column: Ints
    """(A,) int: -1 for the leaf."""
    below: Floats
    """(A,): the greatest value that goes left."""
    totals: Floats = field(default_factory=nothing)
    shares: Floats = field(default_factory=nothing)
    """(R, A): of each row: the sum of a v at the best values, and the sum of a^2 / n over the leaves; empty where
    unknown."""
    least: Floats = field(default_factory=nothing)
    least_weight: Floats = field(default_factory=nothing)
    most: Floats = field(default_factory=nothing)
    most_weight: Floats = field(default_factory=nothing)
    """(A,): the smallest and the greatest value of a leaf, and the weights there; empty where unknown."""


class Costs(ABC):
    """Costs on the rows of one part of a problem.

    ``X``, (C, n) float64: the columns that tests may read. ``constant``: what is added to the cost of a tree under
    prices to get a bound of its loss. ``slack``: how far a sum of costs may be off.
    """

    constant: float
    slack: float

    def __init__(self, part: Relaxation, rule: ValueRule, prices: Floats) -> None:
        data, task = part.part.data, part.loss_task
        assert data.quantity is not None and task.columns is not None
        self.rule, self.features = rule, task.columns
        self.X = np.ascontiguousarray(data.X[:, task.columns].T)
        self.order = np.argsort(self.X, axis=1, kind="stable")
        self.w = data.weights.astype(np.float64)
        self.y = data.quantity.deviations.astype(np.float64)
        self.low, self.high = data.quantity.lowest, data.quantity.highest
        self.price, self.support, self.flow = float(task.price), max(1, task.min_support), task.min_flow
        self.coef = np.array([row.coef for row in rule.rows], dtype=np.float64).reshape(-1, len(self.y))
        self.sides = np.array([row.side for row in rule.rows], dtype=np.float64)
        self.prices = prices
        self.c = prices @ self.coef
        self.ways = rule.ways(task.columns)

    @abstractmethod
    def leaf(self, rows: Mask) -> float:
        """The cost of a leaf."""

    @abstractmethod
    def least(self, rows: Mask) -> float:
        """The least cost of a leaf or a single test; leaves may be light, so that fewer rows never cost more."""

    @abstractmethod
    def subtrees(
        self, rows: Mask, tests: bool = True, low: float = -np.inf, high: float = np.inf
    ) -> Subtrees:
        """A leaf and, where tests are wanted, all that may stand on these rows, in the same order at all prices.

        ``cost`` is that with values from ``low`` to ``high``, each infinite or a target; what else there is counts any.
        """

    def bears_test(self, rows: Mask) -> bool:
        """Whether the weight suffices for a test."""
        return bool(self.w[rows].sum() >= max(self.flow, 2 * self.support))

    def sorted_rows(self, rows: Mask) -> tuple[Ints, Floats]:
        """(C, k) the rows in the order of each column, and their values there."""
        order = self.order[rows[self.order]].reshape(len(self.X), -1)
        return order, np.take_along_axis(self.X, order, axis=1)

    def light(self, weight: Floats, total: float) -> Mask:
        """Which sides are lighter than a leaf may be."""
        return (weight < self.support) | (total - weight < self.support)


class SquaredCosts(Costs):
    """Costs of squared errors."""

    def __init__(self, part: Relaxation, rule: ValueRule, prices: Floats) -> None:
        super().__init__(part, rule, prices)
        self.z = self.y - self.c / (2 * self.w)
        self.wz, self.wy = self.w * self.z, self.w * self.y
        self.constant = float((self.c * self.y - self.c**2 / (4 * self.w)).sum() - self.prices @ self.sides)
        every = np.ones(len(self.y), dtype=bool)
        self.slack = NEAR * (self.leaf(every) + self._spread(self.wy, self.y, every) + 1e-300)

    def _spread(self, weighted: Floats, values: Floats, rows: Mask) -> float:
        total = float(weighted[rows].sum())
        return max(0.0, float(weighted[rows] @ values[rows]) - total**2 / float(self.w[rows].sum()))

    def _wrong(self, ways: Ints, left: Floats, right: Floats) -> Mask:
        """Which sides are the wrong way round: with one value for both they are the leaf, and cost no less."""
        return np.asarray(ways * (left - right) > NEAR * (np.abs(left) + np.abs(right)))

    def leaf(self, rows: Mask) -> float:
        return self._spread(self.wz, self.z, rows)

    def least(self, rows: Mask) -> float:
        alone = self.leaf(rows)
        if not len(self.X):
            return alone
        order, value = self.sorted_rows(rows)
        if order.shape[1] < 2:
            return alone
        weight, sums = self.w[order].cumsum(axis=1), self.wz[order].cumsum(axis=1)
        n, s = weight[:, :-1], sums[:, :-1]
        m, t = weight[:, -1:] - n, sums[:, -1:] - s
        gain = s * s / n + t * t / m
        possible = value[:, :-1] < value[:, 1:]
        possible &= ~self._wrong(self.ways[:, None], s * m, t * n)
        if not possible.any():
            return alone
        best = float(self.wz[rows] @ self.z[rows]) - float(gain[possible].max())
        return min(alone, max(0.0, best) + self.price)

    def subtrees(
        self, rows: Mask, tests: bool = True, low: float = -np.inf, high: float = np.inf
    ) -> Subtrees:
        order, value = self.sorted_rows(rows)
        sums = [part[order].cumsum(axis=1) for part in (self.w, self.wz, self.wy, *self.coef)]
        total = float(self.w[rows].sum())
        possible = (value[:, :-1] < value[:, 1:]) & ~self.light(sums[0][:, :-1], total)
        if not tests or not self.bears_test(rows):
            possible[:] = False
        column, at = np.nonzero(possible)
        n, sz, sy, *a = (part[column, at] for part in sums)
        tz, ty, *b = (float(part[rows].sum()) for part in (self.wz, self.wy, *self.coef))
        m, uz, uy = total - n, tz - sz, ty - sy
        squares_z, squares_y = float(self.wz[rows] @ self.z[rows]), float(self.wy[rows] @ self.y[rows])
        cost = np.maximum(0.0, squares_z - sz * sz / n - uz * uz / m)
        plain = np.maximum(0.0, squares_y - sy * sy / n - uy * uy / m)
        cost += _moved(n, sz, low, high) + _moved(m, uz, low, high)
        alone = self.leaf(rows) + float(_moved(np.array(total), np.array(tz), low, high))
        wrong = self._wrong(self.ways[column], sz * m, uz * n)
        cost[wrong] = np.inf if not self.rule.rows else alone
        below, above = sy / n, uy / m
        totals = [q * ty / total for q in b]
        of_tests = [p * below + (q - p) * above for p, q in zip(a, b, strict=True)]
        shares = [p * p / n + (q - p) ** 2 / m for p, q in zip(a, b, strict=True)]
        smaller = below <= above
        return Subtrees(
            cost=np.append(alone, cost + self.price),
            plain=np.append(self._spread(self.wy, self.y, rows), plain + self.price),
            column=np.append(-1, column),
            below=np.append(np.nan, value[column, at]),
            totals=_stacked(totals, of_tests, len(column)),
            shares=_stacked([q * q / total for q in b], shares, len(column)),
            least=np.append(ty / total, np.where(smaller, below, above)),
            least_weight=np.append(total, np.where(smaller, n, m)),
            most=np.append(ty / total, np.where(smaller, above, below)),
            most_weight=np.append(total, np.where(smaller, m, n)),
        )


def _moved(weight: Floats, sums: Floats, low: float, high: float) -> Floats:
    """What leaves with these weights and sums cost more where their values have to lie between two numbers."""
    mean = sums / weight
    return np.asarray(weight * (np.maximum(0.0, mean - high) ** 2 + np.maximum(0.0, low - mean) ** 2))


def _stacked(of_leaf: list[float], of_tests: list[Floats], tests: int) -> Floats:
    """(R, 1 + tests) the numbers of a leaf and of tests."""
    rows = [np.append(first, others) for first, others in zip(of_leaf, of_tests, strict=True)]
    return np.array(rows).reshape(len(rows), 1 + tests)


class AbsoluteCosts(Costs):
    """Costs of absolute errors: the best value of a leaf is a target, or the end of the range where values have one."""

    def __init__(self, part: Relaxation, rule: ValueRule, prices: Floats) -> None:
        super().__init__(part, rule, prices)
        if not rule.whole and (most := float((np.abs(self.c) / self.w).max(initial=0.0))) > 1:
            self.prices, self.c = self.prices / most, self.c / most  # else far values cost less and less
        self.unpriced = AbsoluteCosts(part, rule, np.zeros_like(prices)) if self.c.any() else None
        self.levels, level = np.unique(self.y, return_inverse=True)
        self.by_target = np.argsort(self.y, kind="stable")
        self.samples = PricedSamples(self.w, self.c, self.y, level, self.levels)
        ends = [self.w * np.abs(self.y - end) + self.c * end for end in (self.low, self.high)]
        self.floor = np.minimum(self.c * self.y, np.minimum(*ends))
        self.constant = float(self.floor.sum() - self.prices @ self.sides)
        self.slack = NEAR * (self.leaf(np.ones(len(self.y), dtype=bool)) + 1e-300)

    def leaf(self, rows: Mask) -> float:
        return self._leaf(rows, -np.inf, np.inf)

    def _leaf(self, rows: Mask, low: float, high: float) -> float:
        ascending = self.by_target[rows[self.by_target]]
        y, w, c = self.y[ascending], self.w[ascending], float(self.c[rows].sum())
        weight, spent = w.cumsum(), (w * y).cumsum()
        # at y_k:  sum_i w_i |y_i - y_k| = y_k (2 W_k - W) - 2 S_k + S
        costs = y * (2 * weight - weight[-1]) - 2 * spent + spent[-1] + c * y
        costs = costs[(y >= low) & (y <= high)]
        ends = {end for end in (low, high) if np.isfinite(end)}
        if self.rule.whole and c:
            ends |= {min(max(end, low), high) for end in (float(self.low), float(self.high))}
        outside = [float(w @ np.abs(y - end)) + c * end for end in ends]
        return float(min([costs.min(initial=np.inf), *outside]) - self.floor[rows].sum())

    def least(self, rows: Mask) -> float:
        alone = self.leaf(rows)
        cost, _, possible, _ = self._tests(rows, alone, -np.inf, np.inf)
        return min(alone, float(cost[possible].min()) + self.price) if possible.any() else alone

    def _tests(
        self, rows: Mask, alone: float, low: float, high: float
    ) -> tuple[Floats, Floats, Mask, Floats]:
        """(C, k - 1) costs without the price, values that end left sides, which tests there are, left weights."""
        order, value = self.sorted_rows(rows)
        near = NEAR * float(self.w[rows].sum())
        cost, wrong = self.samples.tests(order, self.ways, near, low, high)
        cost -= float(self.floor[rows].sum())
        # Wrong ones cost what the leaf does under the prices; with rows over values they may be right in the end.
        cost[wrong] = alone
        possible = value[:, :-1] < value[:, 1:]
        if not self.rule.rows:
            possible &= ~wrong
        return cost, value[:, :-1], possible, self.w[order].cumsum(axis=1)[:, :-1]

    def subtrees(
        self, rows: Mask, tests: bool = True, low: float = -np.inf, high: float = np.inf
    ) -> Subtrees:
        alone = self._leaf(rows, low, high)
        cost, value, possible, weight = self._tests(rows, alone, low, high)
        possible &= ~self.light(weight, float(self.w[rows].sum()))
        if not tests or not self.bears_test(rows):
            possible[:] = False
        column, at = np.nonzero(possible)
        costs = np.append(alone, cost[column, at] + self.price)
        # With rows, no test is left out of either list, so that both are in the same order.
        plain = costs if self.unpriced is None else self.unpriced.subtrees(rows, tests).cost
        return Subtrees(costs, plain, np.append(-1, column), np.append(np.nan, value[column, at]))
