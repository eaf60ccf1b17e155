"""Counting near-optimal models again: all trees up to an objective, by a search of the check's own.

It goes from the root down, on the tables of `treeform.certify.tables`: NumPy only, nothing of the native search, and no
graph. Each set of points gives how many of its trees add each vector: the cost, and what counts for each linear
constraint. A tree is counted in its normal form: every test separates the points that reach it, no test has two leaves
of one class, and tests of a node on one column that separate its points alike are one.

The constraints are priced into the cost, with the multipliers of the claims about the optimum. Whatever the multipliers
are, the price of a tree that satisfies the constraints and is cheap enough stays within a limit; poor multipliers only
leave more vectors.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from operator import itemgetter, mul

import numpy as np
from numpy.typing import NDArray

from treeform.certify.prices import Prices
from treeform.certify.provers import multipliers_of
from treeform.certify.restated import restated
from treeform.certify.schema import ClaimPart, CountedPart
from treeform.certify.tables import Table
from treeform.certify.verdicts import CheckRow, false, holds, on_trust
from treeform.data import Dataset
from treeform.engines import TreeTask
from treeform.engines.relaxation import relax
from treeform.engines.totals import OfCounts
from treeform.errors import CertificateError
from treeform.language.question import Question
from treeform.utils.budget import Budget, ProcessorBudget
from treeform.utils.out_of_reach import OutOfReach, Stopped
from treeform.utils.text import count_of

BY_COUNT = "the count of near-optimal models"
MOST_SUMS = 300_000
"""Largest number of vectors in memory."""
Numbers = Counter[tuple[int, ...]]
"""Number of trees, by the sums of a tree."""


def counted_row(
    part: CountedPart, claims: Iterable[ClaimPart], question: Question, time_limit: float | None
) -> CheckRow:
    """The verdict on a count of near-optimal models, and what it covers; multipliers are taken from the claims."""
    up_to, threshold = Fraction(part.up_to), Fraction(part.threshold)
    what = f"{count_of(f'{part.models:,}', 'model')} up to {part.up_to}"
    if up_to > threshold:
        raise CertificateError("the certificate counts models beyond its threshold")
    beyond = "" if up_to == threshold else f"; models beyond, up to {part.threshold}, are not counted"
    budget = ProcessorBudget(time_limit)
    try:
        hints = [multipliers_of(claim.metadata.details.get("witness")) for claim in claims]
        number = count_models(question, up_to, budget, *max(hints, key=lambda hint: len(hint[0]), default=()))
    except OutOfReach as error:
        return on_trust(what, f"{error}{beyond}", BY_COUNT)
    except Stopped:
        return on_trust(what, f"counting again was not finished{beyond}", BY_COUNT)
    if number != part.models:
        return false(what, f"there are {number:,}, counted again")
    return holds(what, f"counted again, each tree in normal form{beyond}", "the check's own count")


def count_models(
    question: Question, up_to: Fraction, budget: Budget, multipliers: Sequence[int] = (), unit: int = 1
) -> int:
    """How many trees in normal form satisfy all requirements and have at most this objective.

    It does not depend on ``multipliers`` (of the linear constraints) and ``unit`` (the price of a unit of cost).

    Raises OutOfReach if some requirement is not a linear constraint over sums, or numbers are too large; Stopped.
    """
    relaxation = relax(restated(question), OfCounts())
    if relaxation is None or relaxation.dropped or question.limits.max_errors is not None:
        raise OutOfReach(
            "counting again does not reach this problem", cause="some requirement is judged on each model"
        )
    cost = relaxation.upper(math.floor(up_to * question.scale))
    return _Count(question.data, relaxation.task, budget, multipliers, unit).number(cost)


class _Count:
    """Trees of one task."""

    def __init__(
        self, data: Dataset, task: TreeTask, budget: Budget, multipliers: Sequence[int] = (), unit: int = 1
    ) -> None:
        self.table, self.depth, self.budget = Table(data, task), task.depth, budget
        try:
            self.prices = Prices(self.table, task, multipliers, max(1, unit), budget)
        except OutOfReach:  # prices are too large for exact sums; costs alone may be small enough
            self.prices = Prices(self.table, task, (), 1, budget)
        self.source = [data.columns[f].source for f in self.table.feature]
        self.known: dict[tuple[bytes, int], NDArray[np.float64]] = {}

    def number(self, cost: int) -> int:
        """How many there are of at most this cost that satisfy the rows."""
        everything = np.arange(len(self.table.weight))
        lo, hi = self.table.lo.tolist(), self.table.hi.tolist()
        return sum(
            number
            for (own, *rows), number in self.numbers(everything, self.depth, self.prices.limit(cost)).items()
            if own <= cost and all(low <= value <= high for low, value, high in zip(lo, rows, hi, strict=True))
        )

    def numbers(self, points: NDArray[np.intp], depth: int, most: float) -> Numbers:
        """The trees on these points with a price of at most `most`, counted by what they add."""
        if self.budget.stop():
            raise Stopped
        out = Counter(leaf for leaf in self.leaves(points) if self.price(leaf) <= most)
        if depth == 0:
            return out
        least = self.least_by_test(points, depth)
        for test, parts in self.distinct(points, np.flatnonzero(least <= most)):
            own = self.table.test[test].tolist()
            room = most - self.price(own)
            low, high = (
                self.numbers(part, depth - 1, room - self.least(other, depth - 1))
                for part, other in (parts, parts[::-1])
            )
            self.join(own, low, high, room, out)
            for one, other in zip(*map(self.leaves, parts), strict=True):  # of one class
                if self.price(one) + self.price(other) <= room:
                    out[_joined(own, one, other)] -= 1
        return out

    def join(self, own: list[int], low: Numbers, high: Numbers, room: float, out: Numbers) -> None:
        """Adds the pairs of trees of both sides of a test that leave room."""
        few, many = sorted((low, high), key=len)
        ranked = sorted((self.price(other), other, times) for other, times in many.items())
        for one, number in few.items():
            left = room - self.price(one)
            for _, other, times in ranked[: bisect_right(ranked, left, key=itemgetter(0))]:
                out[_joined(own, one, other)] += number * times
            if self.budget.stop():
                raise Stopped
            if len(out) > MOST_SUMS:
                raise OutOfReach("counting again does not reach this problem", cause="sums differ too much")

    def price(self, sums: Iterable[int]) -> int:
        """The price of what a tree, a leaf or a test adds."""
        return sum(map(mul, self.prices.factor, sums))

    def leaves(self, points: NDArray[np.intp]) -> list[tuple[int, ...]]:
        """What a leaf of each class adds."""
        return [tuple(sums) for sums in (self.table.amounts[points].sum(axis=0) + self.table.leaf).tolist()]

    def least(self, points: NDArray[np.intp], depth: int) -> float:
        """No tree on these points costs less."""
        leaf = min(map(self.price, self.leaves(points)))
        return min(leaf, float(self.least_by_test(points, depth).min(initial=np.inf))) if depth else leaf

    def least_by_test(self, points: NDArray[np.intp], depth: int) -> NDArray[np.float64]:
        """The same with each test."""
        key = points.tobytes(), depth
        if key not in self.known:
            if len(self.known) * (len(self.source) + len(points)) > 10**7:
                self.known.clear()
            self.known[key] = self.prices.by_test(points, depth)
        return self.known[key]

    def distinct(
        self, points: NDArray[np.intp], tests: NDArray[np.intp]
    ) -> Iterator[tuple[int, tuple[NDArray[np.intp], NDArray[np.intp]]]]:
        """Tests with the points of both sides, once for each column and pair of sides."""
        seen: set[tuple[str, bytes]] = set()
        for test in tests.tolist():
            right = self.table.side[points, test] > 0
            key = self.source[test], (right ^ right[0]).tobytes()
            if key not in seen:
                seen.add(key)
                yield test, (points[~right], points[right])


def _joined(*sums: tuple[int, ...] | list[int]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*sums, strict=True)))
