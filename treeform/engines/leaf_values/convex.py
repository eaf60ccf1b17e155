"""Sums of convex piecewise linear functions under linear rows, in fractions.

Minimise  sum_l f_l(v_l)  subject to  A v <= b,  where each f_l is convex and piecewise linear: the simplex method for
such sums (Fourer, Mathematical Programming 33, 1985), with the order of Bland. A row is a function of its slack that
falls steeply below 0, so the best values without rows are a point to begin with, and what is found is a lower bound
even where a row is still violated; then rows are made steeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

from treeform.engines.leaf_values.problem import BestValues, Stop, never, product, solved
from treeform.language.values import ValueRow
from treeform.utils.out_of_reach import Stopped

STEEPEST = 2**200
"""Where rows as steep as this are violated still, nothing satisfies them."""
MOST_STEPS = 20_000


@dataclass(frozen=True)
class Convex:
    """A convex piecewise linear function."""

    breaks: tuple[int, ...]
    """Ascending."""
    slopes: tuple[int, ...]
    """One more than breaks, ascending: ``slopes[k]`` stands before ``breaks[k]``."""
    least: Fraction = Fraction(0)
    """Its value at ``breaks[0]``."""

    def at(self, x: Fraction) -> Fraction:
        """The value at a point."""
        first = self.breaks[0]
        if x <= first:
            return self.least + self.slopes[0] * (x - first)
        value = self.least
        for k, start in enumerate(self.breaks):
            end = self.breaks[k + 1] if k + 1 < len(self.breaks) else None
            if end is None or x <= end:
                return value + self.slopes[k + 1] * (x - start)
            value += self.slopes[k + 1] * (end - start)
        return value

    def lowest(self) -> int:
        """The first break after which it does not fall."""
        return next(k for k in range(len(self.breaks)) if self.slopes[k + 1] >= 0)


def of_targets(targets: Sequence[int], weights: Sequence[int]) -> Convex:
    """The weighted sum of distances from targets."""
    at: dict[int, int] = {}
    for target, weight in zip(targets, weights, strict=True):
        at[target] = at.get(target, 0) + weight
    breaks = tuple(sorted(at))
    slopes = [-sum(at.values())]
    for target in breaks:
        slopes.append(slopes[-1] + 2 * at[target])
    least = sum(weight * (target - breaks[0]) for target, weight in at.items())
    return Convex(breaks, tuple(slopes), Fraction(least))


def least_sum(
    functions: Sequence[Convex], rows: Sequence[ValueRow], stop: Stop = never
) -> BestValues | None:
    """The point of least sum that satisfies all rows; None where none does.

    Rows are taken up as they are violated.
    """
    taken: list[int] = []
    steep = 1 + sum(max(-f.slopes[0], f.slopes[-1]) for f in functions)
    while True:
        search = _Simplex(functions, [rows[i] for i in taken], steep)
        search.run(stop)
        values = search.values()
        missed = [i for i, row in enumerate(rows) if product(row.coef, values) > row.side]
        if not missed:
            cost = sum((f.at(v) for f, v in zip(functions, values, strict=True)), Fraction(0))
            tight = {taken[r]: y for r, y in search.multipliers().items()}
            return BestValues(tuple(values), cost, tight)
        new = [i for i in missed if i not in taken]
        if new:
            taken += new
        elif steep > STEEPEST:
            return None
        else:
            steep **= 2


class _Simplex:
    """Variables are the values of leaves, then the slacks of rows; each is a function of its own.

    A basic variable lies in a segment of its function; any other one at a break.
    """

    def __init__(self, functions: Sequence[Convex], rows: Sequence[ValueRow], steep: int) -> None:
        self.n, self.rows = len(functions), rows
        self.entries = [[(leaf, a) for leaf, a in enumerate(row.coef) if a] for row in rows]
        """Of each row: leaves with a coefficient, and these."""
        self.functions = [*functions, *(Convex((0,), (-steep, 0)) for _ in rows)]
        self.place = [f.lowest() for f in functions] + [0] * len(rows)
        """The break of a variable that is not basic; the segment of a basic one, which ends at that break."""
        self.x = [Fraction(f.breaks[k]) for f, k in zip(functions, self.place, strict=False)]
        self.x += [row.side - product(row.coef, self.x) for row in rows]
        self.basic = set(range(self.n, self.n + len(rows)))
        for r in self.basic:
            self.place[r] = int(self.x[r] >= 0)

    def values(self) -> list[Fraction]:
        return self.x[: self.n]

    def multipliers(self) -> dict[int, Fraction]:
        """Of the rows whose slack is not basic."""
        tight, leaves = self._system()
        return {r - self.n: y for r, y in self._prices(tight, leaves).items() if y}

    def run(self, stop: Stop) -> None:
        for _ in range(MOST_STEPS):
            if stop():
                raise Stopped
            move = self._improving()
            if move is None:
                return
            self._step(*move)
        raise AssertionError("the simplex method for leaf values does not end")

    def _system(self) -> tuple[list[int], list[int]]:
        """The slacks that are not basic, and the leaves that are: as many."""
        tight = [self.n + r for r in range(len(self.rows)) if self.n + r not in self.basic]
        return tight, [leaf for leaf in range(self.n) if leaf in self.basic]

    def _coef(self, row: int, leaf: int) -> int:
        return int(self.rows[row - self.n].coef[leaf])

    def _slope(self, variable: int) -> int:
        return self.functions[variable].slopes[self.place[variable]]

    def _prices(self, tight: list[int], leaves: list[int]) -> dict[int, Fraction]:
        """The y of rows for which no basic variable has a reduced slope; with those of basic slacks that are not 0."""
        # slope of a slack: + y_r;   of a leaf: slope_l + sum_r y_r A_rl  is 0 for basic ones
        y = {r: Fraction(-self._slope(r)) for r in range(self.n, len(self.functions)) if r in self.basic}
        y = {r: price for r, price in y.items() if price}
        known = self._added(y)
        right = [-self._slope(leaf) - known[leaf] for leaf in leaves]
        found = solved([[self._coef(r, leaf) for r in tight] for leaf in leaves], right)
        assert found is not None
        y.update(zip(tight, found, strict=True))
        return y

    def _added(self, y: dict[int, Fraction]) -> list[Fraction]:
        """What prices of rows add to the slopes of leaves."""
        added = [Fraction(0)] * self.n
        for r, price in y.items():
            for leaf, a in self.entries[r - self.n] if price else ():
                added[leaf] += price * a
        return added

    def _improving(self) -> tuple[int, int] | None:
        """A variable that is not basic, and the direction in which it makes the sum smaller."""
        tight, leaves = self._system()
        y = self._prices(tight, leaves)
        of_leaves = self._added(y)
        for variable, function in enumerate(self.functions):
            if variable in self.basic:
                continue
            added = of_leaves[variable] if variable < self.n else y[variable]
            k = self.place[variable]
            if function.slopes[k + 1] + added < 0:
                return variable, 1
            if function.slopes[k] + added > 0:
                return variable, -1
        return None

    def _step(self, entering: int, way: int) -> None:
        """Move along an edge for as long as the sum falls, past the breaks of any number of variables."""
        change = self._changes(entering, way)
        slope = self._slope_along(entering, way, change)
        ahead = [
            (reach, variable)
            for variable, rate in change.items()
            if (reach := self._reach(variable, rate, variable == entering)) is not None
        ]
        heapify(ahead)
        crossed = dict.fromkeys(change, 0)
        while True:
            length, last = heappop(ahead)  # the sum has a least value, so there is a break before it rises
            rate = change[last]
            up = rate > 0
            at = self._break_ahead(last, up, last == entering) + (crossed[last] if up else -crossed[last])
            function = self.functions[last]
            slope += abs(rate) * (function.slopes[at + 1] - function.slopes[at])
            if slope >= 0:
                break
            crossed[last] += 1
            beyond = at + 1 if up else at - 1
            if 0 <= beyond < len(function.breaks):
                heappush(ahead, ((function.breaks[beyond] - self.x[last]) / rate, last))
        for variable, rate in change.items():
            self.x[variable] += length * rate
            self.place[variable] += crossed[variable] if rate > 0 else -crossed[variable]
        if last == entering:
            self.place[entering] += way
            return
        self.basic.add(entering)
        self.place[entering] += way > 0  # from the break to the segment beside it
        self.basic.remove(last)
        self.place[last] -= not up  # the segment's upper or lower break

    def _slope_along(self, entering: int, way: int, change: dict[int, Fraction]) -> Fraction:
        """How the sum changes at the beginning of a step."""
        k = self.place[entering]
        slope = Fraction(way * self.functions[entering].slopes[k + 1 if way > 0 else k])
        others = [(variable, rate) for variable, rate in change.items() if variable != entering]
        return slope + sum((self._slope(variable) * rate for variable, rate in others), Fraction(0))

    def _changes(self, entering: int, way: int) -> dict[int, Fraction]:
        """How fast each variable moves when one does, and the slacks of tight rows do not."""
        tight, leaves = self._system()
        if entering < self.n:
            right = [-way * self._coef(r, entering) for r in tight]
        else:
            right = [-way if r == entering else 0 for r in tight]
        found = solved([[self._coef(r, leaf) for leaf in leaves] for r in tight], right)
        assert found is not None
        change = dict(zip(leaves, found, strict=True))
        change[entering] = Fraction(way)
        for r in range(self.n, len(self.functions)):
            if r in self.basic:
                moved = ((a, change[leaf]) for leaf, a in self.entries[r - self.n] if leaf in change)
                change[r] = -sum((a * rate for a, rate in moved), Fraction(0))
        return {variable: rate for variable, rate in change.items() if rate}

    def _reach(self, variable: int, rate: Fraction, enters: bool) -> Fraction | None:
        """How far a step can go until the variable is at a break."""
        breaks, at = self.functions[variable].breaks, self._break_ahead(variable, rate > 0, enters)
        return (breaks[at] - self.x[variable]) / rate if 0 <= at < len(breaks) else None

    def _break_ahead(self, variable: int, up: bool, enters: bool) -> int:
        k = self.place[variable]
        if enters:
            return k + (1 if up else -1)
        return k if up else k - 1
