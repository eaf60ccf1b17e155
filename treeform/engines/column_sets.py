"""Trees that test at most so many columns, by branch and bound over sets of columns.

A search that takes no budget is asked for the best tree over a set of columns. If that tree keeps to the budget, no
subset of these columns has a better one. If not, whatever keeps to it leaves out one of the columns that the tree
tests, say the i-th one and keeps those before it: so many smaller sets, of which no two share a choice. A set is left
alone once the best tree over a larger one costs as much as the best one known.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Cost = int | Fraction


@dataclass(frozen=True)
class Found:
    """The answer over one set of columns.

    Attributes
    ----------
    cost : int, Fraction or None
        Of the best tree below the upper bound; None when there is none.
    lower : int or Fraction
        No tree over these columns costs less, or less than the upper bound that was given.
    weights : dict of int to int
        For each column that the tree tests, the weight of the samples that these tests see.
    complete : bool
        Whether the search came to its end.
    """

    cost: Cost | None
    lower: Cost
    weights: dict[int, int] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True)
class Outcome:
    """What is known at the end: nothing costs less than ``lower``; whether that is settled; sets that were asked."""

    lower: Cost
    complete: bool
    sets: int


Ask = Callable[[Sequence[int], Any], Found]
"""``ask(columns, upper)``: the best tree over these columns that costs less than ``upper``."""


def search_column_sets(
    columns: Iterable[int],
    most: int,
    ask: Ask,
    upper: Callable[[], Cost | None],
    keep: Callable[[Sequence[int]], None],
    nothing: int,
) -> Outcome:
    """Search for the best tree with tests on at most `most` of the columns.

    Parameters
    ----------
    upper : callable
        The cost that a tree has to beat at present, or None; falls when `keep` is called.
    keep : callable
        ``keep(columns)`` after an answer whose tree keeps to the budget.
    nothing : int
        The bound that says that there is no tree.
    """
    every = tuple(columns)
    open_sets: list[tuple[Cost, int, tuple[int, ...], frozenset[int]]] = [(0, 0, every, frozenset())]
    asked = 0

    def least(bound: Cost) -> Cost:
        """What is proved when all open sets cost at least their bounds, and one `bound`."""
        known = upper()
        rest = min((entry[0] for entry in open_sets), default=nothing)
        return min(bound, rest, nothing if known is None else known)

    while open_sets:
        bound, _, within, kept = heapq.heappop(open_sets)
        known = upper()
        if known is not None and bound >= known:
            break  # the least of all bounds
        asked += 1
        answer = ask(within, known)
        if not answer.complete:
            return Outcome(least(max(bound, answer.lower)), False, asked)
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
            heapq.heappush(open_sets, (answer.cost, asked * len(every) + i, rest, forced))
    return Outcome(least(nothing), True, asked)
