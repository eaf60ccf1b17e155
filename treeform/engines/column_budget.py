"""Trees that test at most so many columns of the table: a search without such a bound, asked over sets of columns."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.data.columns import by_source
from treeform.engines.column_sets import Cost, Found, search_column_sets
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.graph import DecisionGraph

LARGEST = "largest_front"
"""The counter that is no sum."""


class ColumnBudget:
    """One run within a bound on the number of columns.

    ``features``: encoded features that tests may read. ``solve``: ``solve(features, run)``: the best tree over these
    features. ``cost``: the exact cost of an outcome's tree; `unit` is the size of one unit of its ``lower`` in units of
    that. ``nothing``: the bound that says that there is no tree. ``start``, (int, DecisionGraph): an admissible tree
    and its cost.
    """

    def __init__(
        self,
        data: Dataset,
        task: TreeTask,
        run: EngineRun,
        features: Sequence[int],
        solve: Callable[[list[int], EngineRun], EngineOutcome],
        cost: Callable[[EngineOutcome], Cost],
        nothing: int,
        unit: Fraction | int = 1,
        start: tuple[int, DecisionGraph] | None = None,
    ) -> None:
        self.data, self.task, self.given, self.solve, self.cost = data, task, run, solve, cost
        self.nothing, self.unit = nothing, unit
        self.began, self.limit = time.monotonic(), run.budget.elapsed_limit
        self.features = by_source(data.columns, features)
        self.sources = list(self.features)
        self.counters: Counter[str] = Counter()
        self.notes: dict[str, None] = {}
        self.used: list[tuple[bool, ...]] = []  # rows, by set of columns
        self.asked: dict[tuple[int, ...], EngineOutcome] = {}
        self.asked_all = False
        self.reason: str | None = None
        self.witness: dict[str, Any] | None = None
        self.best: Cost | None = None
        self.graph: DecisionGraph | None = None
        self.upper: int | None = None
        known = self.least()
        if start is not None and (known is None or start[0] < known):
            self._take(start[0], start[1], start[0])

    def run(self) -> EngineOutcome:
        """Search; see `Engine.run`."""
        most = self.task.max_features
        assert most is not None
        found = search_column_sets(
            range(len(self.sources)), most, self._ask, self.least, self._keep, self.nothing, self.task.depth
        )
        lower = found.lower if self.best is None else min(found.lower, self.best)
        return EngineOutcome(
            graph=self.graph,
            upper=self.upper,
            lower=math.floor(Fraction(lower) / self.unit),
            proved=found.complete and (self.upper is None or found.lower >= self.upper),
            nothing=found.complete and self.least() is None,
            reason=self.reason,
            seconds=time.monotonic() - self.began,
            counters=dict(self.counters) | {"column_sets": found.sets},
            notes=tuple(self.notes),
            witness=self.witness,
            rows_used=self.rows_used(),
        )

    def rows_used(self) -> tuple[bool, ...]:
        """Whether some proof over a set of columns uses each row; a search that was stopped at once reports no rows."""
        return tuple(any(flags) for flags in zip_longest(*self.used, fillvalue=False))

    def least(self) -> Cost | None:
        """The upper bound: only cheaper trees are wanted."""
        wanted = self.given.upper() if callable(self.given.upper) else self.given.upper
        return min((value for value in (self.best, wanted) if value is not None), default=None)

    def _ask(self, within: Sequence[int], upper: Cost | None, part: float) -> Found:
        """The best tree over these columns."""
        left = None if self.limit is None else self.limit * part - (time.monotonic() - self.began)
        run = EngineRun(self.given.budget.share(left), self.least)  # type: ignore[arg-type]
        outcome = self.solve(sorted(f for c in within for f in self.features[self.sources[c]]), run)
        for name, count in outcome.counters.items():
            known = self.counters[name]
            self.counters[name] = max(known, count) if name == LARGEST else known + count
        self.notes |= dict.fromkeys(outcome.notes)
        self.used.append(outcome.rows_used)
        self.witness = self.witness or outcome.witness
        self.asked_all = self.asked_all or len(within) == len(self.sources)
        if not outcome.proved:
            self.reason = outcome.reason
        lower = outcome.lower * self.unit
        if outcome.graph is None:
            return Found(None, lower, {}, outcome.proved)
        cost, weights = self.cost(outcome), self._weights_of(outcome.graph)
        self.asked[tuple(within)] = outcome
        if not outcome.proved and len(weights) <= (self.task.max_features or 0):
            self._keep(within)
        return Found(cost, cost if outcome.proved else lower, weights, outcome.proved)

    def _keep(self, within: Sequence[int]) -> None:
        """Keep the tree over these columns if it is better."""
        outcome = self.asked[tuple(within)]
        cost, graph = self.cost(outcome), outcome.graph
        if graph is not None and (self.best is None or cost < self.best):
            if not self.asked_all:  # the run over most columns has the strongest witness
                self.witness = outcome.witness
            self._take(cost, graph, outcome.upper)

    def _take(self, cost: Cost, graph: DecisionGraph, upper: int | None) -> None:
        self.best, self.graph, self.upper = cost, graph, upper
        if self.given.on_incumbent is not None:
            self.given.on_incumbent(time.monotonic() - self.began, upper or 0, 0, graph)

    def _weights_of(self, graph: DecisionGraph) -> dict[int, int]:
        """The weight that reaches the tests of each column."""
        reaching = self.data.weights @ graph.route(self.data.X)
        out: Counter[int] = Counter()
        for node in np.flatnonzero(graph.feature >= 0).tolist():
            out[self.sources.index(self.data.columns[int(graph.feature[node])].source)] += int(reaching[node])
        return dict(out)
