"""Graphs of trees that are written out for one cost after another, each once."""

from __future__ import annotations

from collections.abc import Callable

from treeform.language.alternatives import AndOrGraph
from treeform.utils.budget import Budget

AT_FIRST = 300_000
"""The most alternatives while a step is sought; if the least step has more, all that fit are written out."""


class WrittenGraphs:
    """What trees of a cost use; what the answers at other costs show is not asked again.

    ``ask``: as `treeform.engines.and_or_graph.GraphOfTrees.up_to`. ``leaves_out``: whether a graph with too many
    alternatives is asked for again with ``fewer``.
    """

    def __init__(
        self,
        ask: Callable[..., AndOrGraph | None],
        leaves_out: bool,
        budget: Budget,
        stop: Callable[[], bool],
    ) -> None:
        self.ask, self.leaves_out, self.budget, self.stop = ask, leaves_out, budget, stop
        self._widest: AndOrGraph | None = None
        self._too_large: dict[tuple[int, bool], int] = {}
        """By the most alternatives, and whether some are omitted: a cost whose graph has more."""

    def up_to(self, cost: int, most: int, short_by: int = 0, fewer: bool = True) -> AndOrGraph | None:
        """The graph of a cost; None when it was stopped, or has more than ``most`` alternatives.

        ``fewer``: whether some may be omitted.
        """
        widest = self._widest
        if widest is not None and widest.up_to is not None and cost <= widest.up_to and not short_by:
            return widest.within(cost)
        graph = self._asked(cost, most, short_by, False)
        if graph is None and fewer and self.leaves_out:
            graph = self._asked(cost, max(most, AT_FIRST), short_by, True)
        # Of a graph without dominated tests, the part of a smaller cost has tests that are dominated there.
        if graph is not None and not short_by and graph.is_whole:
            self._widest = graph
        return graph

    def _asked(self, cost: int, most: int, short_by: int, fewer: bool) -> AndOrGraph | None:
        # Short of a unit of cost, the graph still has all of the cost before.
        reach = cost - (short_by > 0)
        if self.stop() or reach >= self._too_large.get((most, fewer), cost + 1):
            return None
        graph = self.ask(cost, most, self.budget.remaining, self.stop, short_by, fewer)
        if graph is None and not short_by and not self.stop():
            self._too_large[most, fewer] = cost
        return graph
