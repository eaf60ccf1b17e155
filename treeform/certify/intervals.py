"""No tree costs less than a claim: shown by intervals of cuts, on large tables where listing tests takes too long.

A test between two cuts of a feature sends at least the points before the first cut to the left, and at least those
behind the second to the right. What trees of these two parts cost at least is a bound for all tests between. If it
is too low, a cut in the middle divides the interval. Trees of one test are tried one by one.

Requirements are left out, and a diagram is taken for a tree of its depth: neither makes a model cheaper. NumPy only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from treeform.certify.reference import NOTHING, plain_part
from treeform.language.question import Question
from treeform.utils.budget import Budget
from treeform.utils.out_of_reach import OutOfReach, Stopped

BY_INTERVALS = "the search by intervals"
EXACT_DEPTH = 3
"""Up to here the least cost of each part is found, deeper a bound that is found sooner."""
Orders = NDArray[np.intp]
"""(F, n) points, sorted by each feature."""


def no_tree_below(question: Question, value: Fraction, budget: Budget) -> bool | None:
    """Whether nothing below ``value`` is left; False: a tree may be. None where costs of points do not add up.

    Raises OutOfReach if numbers would leave the exact range, and Stopped once the budget is spent.
    """
    points, depth = question.data.points, question.shape.depth
    plain = plain_part(question.only(()), unrolled=True)
    if plain is None or not plain.worth or plain.cost.min() < 0:
        return None
    unit = math.lcm(plain.worth.denominator, plain.price.denominator)
    worth, a_test = int(plain.worth * unit), int(plain.price * unit)
    if (question.data.total_weight * int(plain.cost.max()) * worth) + a_test * 2**depth >= NOTHING:
        raise OutOfReach("numbers leave the exact range")
    rank = np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in np.asarray(points.X).T])
    cost = np.asarray(points.weights, dtype=np.int64) @ (plain.cost * worth)
    search = _Search(rank, cost, cost.min(axis=1), a_test, depth, budget)
    target = math.ceil((value - plain.constant) * unit)
    return search.least(np.argsort(rank, axis=1, kind="stable"), depth, target) >= target


@dataclass(frozen=True)
class _Search:
    """``rank``: (F, P) of each value. ``cost``: (P, K) of each class. ``free``: (P,) the least of these.

    ``price``: of a test.
    """

    rank: NDArray[np.intp]
    cost: NDArray[np.int64]
    free: NDArray[np.int64]
    price: int
    depth: int
    budget: Budget

    def least(self, orders: Orders, depth: int, wanted: int) -> int:
        """What a tree on these points costs at least: ``wanted`` or more, if that can be shown."""
        if self.budget.stop():
            raise Stopped
        here = self.cost[orders[0]].sum(axis=0)
        free, leaf = int(self.free[orders[0]].sum()), int(here.min())
        wanted = min(wanted, leaf)
        if depth == 0 or wanted <= free + self.price:  # a leaf costs as much, and so does a test
            return wanted
        if depth == 1:
            return min(leaf, self.price + self._one_test(orders, here))
        room = wanted - self.price
        for feature in range(len(orders)):
            room = self._tests(orders, feature, depth, room)
            if room <= free:
                break
        return room + self.price

    def _tests(self, orders: Orders, feature: int, depth: int, room: int) -> int:
        """What both sides of each test of a feature cost at least: ``room``, if that can be shown."""
        cuts = self._cuts(orders[feature], feature)
        intervals = [(0, len(cuts), 0, 0)]
        while intervals and room > 0:
            first, last, left, right = intervals.pop()
            if first == last or left + right >= room:
                continue
            middle = (first + last) // 2
            low, high = _divided(orders, feature, cuts[middle], len(self.cost))
            below = max(left, self.least(low, depth - 1, room - right))
            above = max(right, self.least(high, depth - 1, room - below))
            if below + above < room:
                # What is sought on where not all can be shown: nothing at the root.
                room = below + above if self.depth <= EXACT_DEPTH else (below + above) // 2
                room = 0 if depth == self.depth else room
            intervals += [(first, middle, left, above), (middle + 1, last, below, right)]
        return room

    def _one_test(self, orders: Orders, here: NDArray[np.int64]) -> int:
        """The least cost of one test and two leaves, without its price."""
        least = NOTHING
        for feature, order in enumerate(orders):
            cuts = self._cuts(order, feature)
            low = self.cost[order].cumsum(axis=0)[cuts - 1]
            least = min(least, int((low.min(axis=1) + (here - low).min(axis=1)).min(initial=NOTHING)))
        return least

    def _cuts(self, order: Orders, feature: int) -> Orders:
        """How many points are to the left of each test."""
        rank = self.rank[feature, order]
        return np.flatnonzero(rank[1:] != rank[:-1]) + 1


def _divided(orders: Orders, feature: int, cut: int, n_points: int) -> tuple[Orders, Orders]:
    left = np.zeros(n_points, dtype=bool)
    left[orders[feature, :cut]] = True
    goes_left = left[orders]
    return orders[goes_left].reshape(len(orders), -1), orders[~goes_left].reshape(len(orders), -1)
