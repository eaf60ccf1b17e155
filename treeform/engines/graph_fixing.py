"""Alternatives of an AND/OR graph that no admissible tree within a cost uses, shown by many multipliers.

The search that writes a graph out (`treeform.engines.and_or_graph`) has one vector of multipliers for all of it: that
which bounds the cheapest tree best. For the trees through a certain alternative another vector may be better, and any
one is a proof. So the graph is priced at many vectors, each in two passes over it; what one of them shows to be too
dear is left out. This is reduced-cost fixing at several points of the Lagrangian dual. On what is left, prices are
tighter, so the passes are repeated.

Trees of one test are few: the sums of each are added up, without prices.

Nothing is rounded: prices are whole numbers, as in ``treeform/native/totals/prices.hpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from treeform.engines.and_or_graph import GraphOfTrees, Priced
from treeform.engines.contributions import NO_BOUND
from treeform.language.alternatives import AndOrGraph

AROUND = (1.0, 0.95, 1.05, 0.85, 1.15, 0.7, 1.3, 0.5, 1.5, 0.25, 2.0, 0.0, 3.0)
"""Multiples of a row's multiplier."""
FROM_ZERO = (1.0, 2.0, 4.0, 0.5, 8.0, 16.0, 32.0, 64.0)
"""Multiples of the least multiplier that can leave anything out."""
ROUNDS = 8
LEAST_SHARE = 0.05
"""The share of alternatives that a round has to leave out for another one."""
VISITS = 20_000_000
"""Of alternatives, in the passes of one round."""
LARGEST = 2**60


def fixed(
    trees: GraphOfTrees, graph: AndOrGraph, priced: Priced, cost: int, stop: Callable[[], bool]
) -> AndOrGraph:
    """The graph without alternatives of which ``priced`` and other multipliers show that trees through them cost more
    than ``cost``."""
    return _Fixing(trees, graph, priced, cost).run(stop)


class _Fixing:
    """The passes over one graph."""

    def __init__(self, trees: GraphOfTrees, graph: AndOrGraph, priced: Priced, cost: int) -> None:
        self.graph, self.cost, self.unit = graph, cost, priced.unit
        self.lo, self.hi = trees.table.lo.tolist(), trees.table.hi.tolist()
        self.at = list(priced.multipliers)
        self.own = graph.sums

    def run(self, stop: Callable[[], bool]) -> AndOrGraph:
        """The graph without what is left out."""
        if self.lo and self.graph.n_alternatives and self.graph.depth[0] == 1:
            return self._of_one_test()
        for _ in range(ROUNDS):
            before = self.graph.n_alternatives
            if not self.lo or not before or stop():
                break
            self._round(stop)
            if self.graph.n_alternatives > (1 - LEAST_SHARE) * before:
                break
        return self.graph

    def _of_one_test(self) -> AndOrGraph:
        """The alternatives of trees of at most one test that are within the cost and satisfy the rows."""
        graph, own = self.graph, self.own
        lo, hi = np.array([-NO_BOUND, *self.lo]), np.array([self.cost, *self.hi])
        ends, tests = graph.leaves, graph.tests
        leaf = np.full((graph.n_nodes, int(graph.label.max(initial=0)) + 1), -1)
        leaf[graph.node[ends], graph.label[ends]] = ends
        kept = np.zeros(graph.n_alternatives, dtype=bool)
        alone = ends[graph.node[ends] == 0]
        kept[alone] = ((own[alone] >= lo) & (own[alone] <= hi)).all(axis=1)
        for low, high in product(leaf[graph.left[tests]].T, leaf[graph.right[tests]].T):
            sums = own[tests] + own[low] + own[high]
            good = (low >= 0) & (high >= 0) & ((sums >= lo) & (sums <= hi)).all(axis=1)
            for part in (tests, low, high):
                kept[part[good]] = True
        return graph.part(kept)

    def _round(self, stop: Callable[[], bool]) -> None:
        graph, best = self.graph, None
        kept = np.ones(graph.n_alternatives, dtype=bool)
        left = max(len(AROUND), VISITS // graph.n_alternatives)
        most = [2 ** (1 + int(graph.depth[0])) * int(size) for size in np.abs(self.own).max(axis=0)]
        for multipliers in self._probes():
            if left == 0 or stop():
                break
            slack = self._slack(multipliers, most)
            if slack is None:
                continue
            left -= 1
            through = graph.through(self.own @ np.array([self.unit, *multipliers], dtype=np.int64))
            kept &= through <= self.unit * self.cost + slack
            bound = int(through.min()) - slack
            if best is None or bound > best:
                best, self.at = bound, multipliers
            if not kept.any():
                break
        mask = graph.used(kept)
        self.graph = graph.part(mask)
        self.own = self.graph.sums

    def _slack(self, multipliers: list[int], most: list[int]) -> int | None:
        """By how much the price of an admissible tree may exceed that of its cost; None where it may not be exact.

        ``most``: what a tree adds to the cost and to each row at most, in size.
        """
        sides = zip(multipliers, self.lo, self.hi, strict=True)
        bounded = [(m, hi if m > 0 else lo) for m, lo, hi in sides if m]
        if any(abs(side) >= NO_BOUND for _, side in bounded):
            return None
        slack = sum(m * side for m, side in bounded)
        largest = sum(abs(price) * size for price, size in zip([self.unit, *multipliers], most, strict=True))
        return slack if abs(slack) < LARGEST and largest < LARGEST else None

    def _probes(self) -> Iterator[list[int]]:
        """Vectors to try: the present one, then with other entries of one row."""
        yield self.at
        here = list(self.at)
        for r, present in enumerate(here):
            values = [int(present * factor) for factor in AROUND] if present else []
            for sign in (1, -1):
                if present * sign <= 0 and (least := self._least(r, sign)):
                    values += [int(sign * least * factor) for factor in FROM_ZERO]
            for value in dict.fromkeys(values):
                yield [*here[:r], value, *here[r + 1 :]]

    def _least(self, row: int, sign: int) -> int:
        """About the smallest multiplier that leaves something out; 0 where all trees satisfy that side of a row."""
        side = self.hi[row] if sign > 0 else self.lo[row]
        if abs(side) >= NO_BOUND:
            return 0
        least, _ = self.graph.passes(-sign * self.own[:, 1 + row])
        excess = -int(least[0]) - sign * side
        if excess <= 0:
            return 0
        room = self.unit * (self.cost + 1) - int(self.graph.passes(self.unit * self.own[:, 0])[0][0])
        return int(max(1, room // excess))
