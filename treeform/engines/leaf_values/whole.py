"""Sums of distances or of squares at whole points, under linear rows: branch and bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product as product_of

from treeform.engines.leaf_values.convex import Convex, least_sum
from treeform.engines.leaf_values.problem import BestValues, Stop, never, product
from treeform.engines.leaf_values.squares import least_squares
from treeform.language.values import ValueRow

MOST_PARTS = 500
"""Most parts of one search; rows with long coefficients can have few whole points, far apart."""


@dataclass(frozen=True)
class Whole:
    """The best whole point that was found."""

    best: BestValues | None
    """Its multipliers are those of the best point that need not be whole."""
    lower: Fraction | None
    """No whole point costs less; None where there is none."""

    @property
    def closed(self) -> bool:
        """Whether the point is the best one, or there is none."""
        return self.lower is None if self.best is None else self.lower == self.best.cost


Relaxed = Callable[[Sequence[ValueRow]], BestValues | None]
"""The least point under rows that need not be whole; None where there is none."""
Cost = Callable[[Sequence[Fraction]], Fraction]
"""Of a point; whole at whole points."""


def least_whole_sum(
    functions: Sequence[Convex],
    rows: Sequence[ValueRow],
    low: int,
    high: int,
    upper: Fraction | None = None,
    stop: Stop = never,
) -> Whole:
    """The best whole point with coordinates from ``low`` to ``high``; one as dear as ``upper`` need not be found."""

    def cost(values: Sequence[Fraction]) -> Fraction:
        return sum((f.at(v) for f, v in zip(functions, values, strict=True)), Fraction(0))

    return _least_whole(lambda held: least_sum(functions, held, stop), cost, len(functions), rows, low, high, upper)


def least_whole_squares(
    weights: Sequence[int],
    means: Sequence[Fraction],
    least: Fraction,
    rows: Sequence[ValueRow],
    low: int,
    high: int,
    upper: Fraction | None = None,
    stop: Stop = never,
) -> Whole:
    """The same for the sum of weights times squares of distances from means, beyond the ``least`` that they cost."""

    def cost(values: Sequence[Fraction]) -> Fraction:
        each = zip(weights, values, means, strict=True)
        return sum((n * (v - m) ** 2 for n, v, m in each), least)

    def relaxed(held: Sequence[ValueRow]) -> BestValues | None:
        found = least_squares(weights, means, held, stop)
        return None if found is None else replace(found, cost=least + found.cost)

    return _least_whole(relaxed, cost, len(weights), rows, low, high, upper)


def _least_whole(
    relaxed: Relaxed,
    cost: Cost,
    n: int,
    rows: Sequence[ValueRow],
    low: int,
    high: int,
    upper: Fraction | None,
) -> Whole:
    rows = [_rounded(row) for row in rows]
    best: BestValues | None = None
    multipliers: dict[int, Fraction] | None = None
    limit = upper
    open_parts: list[tuple[ValueRow, ...]] = [
        tuple(bound for leaf in range(n) for bound in (_at_most(n, leaf, high), _at_least(n, leaf, low)))
    ]
    lowest: Fraction | None = None  # of what was cut off by the limit, or left open

    def note(value: Fraction) -> None:
        nonlocal lowest
        lowest = value if lowest is None else min(lowest, value)

    for _ in range(MOST_PARTS):
        if not open_parts:
            break
        bounds = open_parts.pop()
        found = relaxed([*rows, *bounds])
        if found is None:
            continue
        if multipliers is None:
            multipliers = {i: u for i, u in found.multipliers.items() if i < len(rows)}
        least = Fraction(math.ceil(found.cost))
        if limit is not None and least >= limit:
            note(least)
            continue
        near = _nearest(cost, rows + list(bounds), found)
        if near is not None and (limit is None or near.cost < limit):
            best, limit = replace(near, multipliers=multipliers), near.cost
            if least >= limit:
                continue
        leaf = next((k for k, v in enumerate(found.of_leaf) if v.denominator != 1), None)
        if leaf is None:
            continue
        below = math.floor(found.of_leaf[leaf])
        parts = [(*bounds, _at_least(n, leaf, below + 1)), (*bounds, _at_most(n, leaf, below))]
        open_parts += parts if found.of_leaf[leaf] - below < Fraction(1, 2) else parts[::-1]
    for bounds in open_parts:
        found = relaxed([*rows, *bounds])
        if found is not None:
            note(Fraction(math.ceil(found.cost)))
    if best is not None:
        note(best.cost)
    return Whole(best, lowest)


def _rounded(row: ValueRow) -> ValueRow:
    """The row divided by what its coefficients have in common, its side rounded down: whole points satisfy no less."""
    common = math.gcd(*row.coef) or 1
    return ValueRow(tuple(a // common for a in row.coef), math.floor(Fraction(row.side) / common))


def _nearest(cost: Cost, rows: Sequence[ValueRow], found: BestValues) -> BestValues | None:
    """The best admissible point with each coordinate rounded up or down."""
    best: BestValues | None = None
    for point in product_of(*({math.floor(v), math.ceil(v)} for v in found.of_leaf)):
        values = tuple(map(Fraction, point))
        if all(product(row.coef, values) <= row.side for row in rows):
            here = cost(values)
            if best is None or here < best.cost:
                best = BestValues(values, here, {})
    return best


def _at_most(n: int, leaf: int, value: int) -> ValueRow:
    return ValueRow(tuple(int(k == leaf) for k in range(n)), value)


def _at_least(n: int, leaf: int, value: int) -> ValueRow:
    return ValueRow(tuple(-int(k == leaf) for k in range(n)), -value)
