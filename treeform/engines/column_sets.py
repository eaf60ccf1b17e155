"""Trees that test at most so many columns, by branch and bound over sets of columns.

A search that takes no budget is asked for the best tree over a set of columns. If that tree keeps to the budget, no
subset of these columns has a better one. If not, whatever keeps to it leaves out one of the columns that the tree
tests, say the i-th one and keeps those before it: so many smaller sets, of which no two share a choice. A set is left
alone once the best tree over a larger one costs as much as the best one known.

Where the sets of as many columns as are allowed are few and small, they are asked at once, without larger ones: trees
of depth d over m of s columns take about (m / s)^d of the work over all of them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

Cost = int | Fraction
MOST_SETS_AT_ONCE = 200
PART_AT_ONCE = 0.85
"""The part of the time for sets that are asked at once; the rest is for the bound over all columns if it is needed."""


@dataclass(frozen=True)
class Found:
    """The answer over one set of columns."""

    cost: Cost | None
    """Of the best tree below the upper bound; None when there is none."""
    lower: Cost
    """No tree over these columns costs less, or less than the upper bound that was given."""
    weights: dict[int, int] = field(default_factory=dict)
    """For each column that the tree tests, the weight of the samples that these tests see."""
    complete: bool = True
    """Whether the search came to its end."""


@dataclass(frozen=True)
class Outcome:
    """The outcome: nothing costs less than ``lower``; whether that is settled; sets that were asked."""

    lower: Cost
    complete: bool
    sets: int


Ask = Callable[[Sequence[int], Any, float], Found]
"""``ask(columns, upper, part)``: the best tree over these columns that costs less than ``upper``.

It ends when ``part`` of the time limit is spent.
"""


def search_column_sets(
    columns: Iterable[int],
    most: int,
    ask: Ask,
    upper: Callable[[], Cost | None],
    keep: Callable[[Sequence[int]], None],
    nothing: int,
    depth: int,
) -> Outcome:
    """Search for the best tree with tests on at most `most` of the columns.

    ``upper``: the cost that a tree has to beat at present, or None; falls when `keep` is called. ``keep``:
    ``keep(columns)`` after an answer whose tree keeps to the budget. ``nothing``: the bound that says that there is no
    tree. ``depth``: of the trees.
    """
    every = tuple(columns)
    first = _first_sets(every, most, depth)
    at_once = len(first) > 1
    open_sets: list[tuple[Cost, int, tuple[int, ...], frozenset[int]]] = [
        (0, i, within, frozenset()) for i, within in enumerate(first)
    ]
    asked = 0

    def least(bound: Cost) -> Cost:
        """What is proved when all open sets cost at least their bounds, and one `bound`."""
        known = upper()
        rest = min((entry[0] for entry in open_sets), default=nothing)
        return min(bound, rest, nothing if known is None else known)

    def least_over_all() -> Cost:
        """What is proved of trees over all columns in the time that is left."""
        known = upper()
        lower = ask(every, known, 1.0).lower
        return lower if known is None else min(lower, known)

    while open_sets:
        bound, _, within, kept = heapq.heappop(open_sets)
        known = upper()
        if known is not None and bound >= known:
            break  # the least of all bounds
        asked += 1
        answer = ask(within, known, PART_AT_ONCE if at_once else 1.0)
        if not answer.complete:
            lower = least(max(bound, answer.lower))
            return Outcome(max(lower, least_over_all()) if at_once else lower, False, asked)
        if answer.cost is None:
            continue
        if len(answer.weights) <= most:
            keep(within)
            continue
        tested = sorted(set(answer.weights) - kept, key=lambda c: -answer.weights[c])
        for i, column in enumerate(tested):
            forced = kept | set(tested[:i])
            if len(forced) > most:
                break
            rest = tuple(sorted(forced)) if len(forced) == most else tuple(c for c in within if c != column)
            heapq.heappush(open_sets, (answer.cost, len(first) + asked * len(every) + i, rest, forced))
    return Outcome(least(nothing), True, asked)


def _first_sets(every: tuple[int, ...], most: int, depth: int) -> list[tuple[int, ...]]:
    """All columns, or all sets of `most` of them where these are less work."""
    sets = math.comb(len(every), most)
    if most >= len(every) or sets > MOST_SETS_AT_ONCE or sets * most**depth > len(every) ** depth:
        return [every]
    return list(combinations(every, most))
