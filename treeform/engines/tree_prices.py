"""Bounds for every number of tests of a tree from the best tree at one price of a test.

ConTree searches for the cheapest tree of ``rate * cost + price * tests`` over all thresholds at once, where
DiagramSearch refutes one number of tests after the other. On tables with many thresholds this is often faster.

Let G be that sum, and L a lower bound of it for all trees of the depth. A tree of t <= k tests costs at least
(L - price * t) / rate, and so at least (L - price * k) / rate: a bound for at most k tests, rounded up.

With f tests free, the value of a tree of t tests is V = rate * cost + price * max(t - f, 0) = G - price * min(t, f).
Where U is the least value known, trees with G >= U + price * f have V >= U; so that sum is what ConTree is asked to
go below. If it refutes it, then G >= U + price * f for all trees, and with these bounds every k proves V >= U. A tree
of t < f tests may have G below that sum, and V above U: where one is known, nothing is asked, as ConTree would
return it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from treeform.engines.contree import ConTree
from treeform.engines.diagram_core import cost_matrix
from treeform.engines.task import EngineRun, TreeTask

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines.size_outcome import SizeOutcome
    from treeform.graph import DecisionGraph

Search = Callable[[Sequence[int], "float | None", Callable[[], bool]], "SizeOutcome"]

SEARCH_FIRST = 2.0
"""CPU seconds of the search by numbers of tests before the trees: most tables take less."""
FOR_A_PRICE = 12.0
"""CPU seconds for the best tree of a price."""


@dataclass
class Share:
    """CPU seconds of the process, at most so many, within what the caller allows."""

    seconds: float
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        self._began = time.process_time()

    def is_over(self) -> bool:
        return self.stop() or time.process_time() - self._began > self.seconds


def has_question(sizes: SizeOutcome, price: Fraction) -> bool:
    """Whether the price is open, and no tree of too few tests would be the answer (see above)."""
    if sizes.proved(price):
        return False
    cutoff = sizes.best(price)[0] + price * sizes.free
    return all(cost is None or cost + price * k >= cutoff for k, cost in enumerate(sizes.upper[: sizes.free]))


def best_at_price(
    data: Dataset,
    task: TreeTask,
    sizes: SizeOutcome,
    price: Fraction,
    *,
    time_limit: float | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[list[int], DecisionGraph | None]:
    """Lower bounds for 0, 1, 2, ... tests, and a tree that is better at this price than any of `sizes`, if found."""
    rate, of_test = price.denominator, price.numerator
    cutoff = rate * (sizes.best(price)[0] + price * sizes.free)
    assert cutoff.denominator == 1
    priced = replace(task, cost=rate * cost_matrix(task, data), node_penalty=of_test)
    run = EngineRun(time_limit=time_limit, stop=stop, upper=int(cutoff))
    found = ConTree().run(data, priced, run)
    lower = [max(low, -((of_test * k - found.lower) // rate)) for k, low in enumerate(sizes.lower)]
    return lower, found.graph


def with_best_trees(
    data: Dataset,
    task: TreeTask,
    search: Search,
    take: Callable[[DecisionGraph], None],
    lower: Sequence[int],
    time_limit: float | None,
    stop: Callable[[], bool],
) -> SizeOutcome:
    """Search for a while, find the best tree of every open price until one takes too long, and search on.

    Parameters
    ----------
    search : callable
        ``search(lower, seconds, stop)``: the size table, from these bounds and all trees taken.
    take : callable
        Takes a tree to begin with.
    """
    began = time.monotonic()

    def left() -> float | None:
        return None if time_limit is None else max(0.0, time_limit - (time.monotonic() - began))

    sizes = search(lower, time_limit, Share(SEARCH_FIRST, stop).is_over)
    if sizes.reason != "interrupted" or stop():
        return sizes
    early = sizes.proved_at
    for graph in sizes.graphs:
        if graph is not None:
            take(graph)
    known = list(sizes.lower)
    for price in sorted(early, reverse=True):
        if has_question(sizes, price):
            share = Share(FOR_A_PRICE, stop)
            known, graph = best_at_price(data, task, sizes, price, time_limit=left(), stop=share.is_over)
            sizes = replace(sizes, lower=tuple(known))
            if graph is not None:
                take(graph)
            if share.is_over():  # the others would hardly be faster, and the search needs the time
                break
    before = time.monotonic() - began
    last = search(known, left(), stop)
    proved_at = {
        price: early[price] if early[price] is not None else None if at is None else before + at
        for price, at in last.proved_at.items()
    }
    return replace(last, proved_at=proved_at, seconds=before + last.seconds)
