"""Regression trees that test at most so many columns of the table: the search, asked over sets of columns."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from treeform.engines.column_sets import Found, search_column_sets
from treeform.engines.regression_task import RegressionTask
from treeform.engines.task import EngineOutcome, EngineRun

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

Solve = Callable[[RegressionTask, EngineRun], EngineOutcome]
NOTHING = 2**200
"""Larger than every loss: the bound that says that there is no tree."""


class ColumnBudget:
    """One run within a bound on the number of columns.

    Parameters
    ----------
    solve : callable
        The search without that bound: ``solve(task, run)``.
    bound_unit : Fraction
        The size of one unit of an outcome's ``lower``, in units of the loss.
    """

    def __init__(
        self, data: Dataset, task: RegressionTask, run: EngineRun, solve: Solve, bound_unit: Fraction
    ) -> None:
        self.data, self.task, self.given, self.solve, self.unit = data, task, run, solve, bound_unit
        self.began = time.monotonic()
        self.limit = run.budget.elapsed_limit
        self.features: dict[str, list[int]] = {}
        columns = range(data.n_features) if task.columns is None else task.columns.tolist()
        for f in columns:
            self.features.setdefault(data.columns[f].source, []).append(f)
        self.sources = list(self.features)
        self.counters: Counter[str] = Counter()
        self.best: tuple[Fraction, DecisionGraph] | None = None
        self.asked: dict[tuple[int, ...], tuple[Fraction, DecisionGraph]] = {}
        self.reason: str | None = None
        self.notes: dict[str, None] = {}

    def run(self) -> EngineOutcome:
        """Search; see `Engine.run`."""
        most = self.task.max_features
        assert most is not None
        found = search_column_sets(
            range(len(self.sources)), most, self.ask, self.least, self.keep, NOTHING, self.task.depth
        )
        lower = min(Fraction(found.lower), NOTHING if self.best is None else self.best[0])
        self.counters["column_sets"] = found.sets
        return EngineOutcome(
            graph=None if self.best is None else self.best[1],
            upper=None,
            lower=math.floor(lower / self.unit),
            proved=found.complete,
            nothing=found.complete and self.best is None,
            reason=self.reason,
            seconds=time.monotonic() - self.began,
            counters=dict(self.counters),
            notes=tuple(self.notes),
        )

    def least(self) -> Fraction | None:
        return None if self.best is None else self.best[0]

    def ask(self, within: Sequence[int], upper: Fraction | int | None, part: float) -> Found:
        """The best tree over these columns."""
        features = sorted(f for c in within for f in self.features[self.sources[c]])
        task = replace(self.task, columns=np.array(features, dtype=np.int64), max_features=None)
        left = None if self.limit is None else self.limit * part - (time.monotonic() - self.began)
        outcome = self.solve(task, EngineRun(self.given.budget.share(left)))
        self.counters.update(outcome.counters)
        lower = outcome.lower * self.unit
        self.notes |= dict.fromkeys(outcome.notes)
        if not outcome.proved:
            self.reason = outcome.reason
        if outcome.graph is None:
            return Found(None, lower, {}, outcome.proved)
        cost, weights = self.cost_of(outcome.graph), self.weights_of(outcome.graph)
        self.asked[tuple(within)] = cost, outcome.graph
        if not outcome.proved and len(weights) <= (self.task.max_features or 0):
            self.keep(within)
        return Found(cost, cost if outcome.proved else lower, weights, outcome.proved)

    def keep(self, within: Sequence[int]) -> None:
        """Keeps the tree over these columns if it is better."""
        cost, graph = self.asked[tuple(within)]
        if self.best is None or cost < self.best[0]:
            self.best = cost, graph
            if self.given.on_incumbent is not None:
                self.given.on_incumbent(time.monotonic() - self.began, 0, 0, graph)

    def cost_of(self, graph: DecisionGraph) -> Fraction:
        """Of a tree with the best values, exactly."""
        leaf = graph.apply(self.data.X)
        loss = sum((self.task.best_loss(np.flatnonzero(leaf == k)) for k in np.unique(leaf)), Fraction(0))
        return loss + self.task.price * int((graph.feature >= 0).sum())

    def weights_of(self, graph: DecisionGraph) -> dict[int, int]:
        """The weight that reaches the tests of each column."""
        reaching = self.data.weights @ graph.route(self.data.X)
        out: dict[int, int] = {}
        for node in np.flatnonzero(graph.feature >= 0).tolist():
            column = self.sources.index(self.data.columns[int(graph.feature[node])].source)
            out[column] = out.get(column, 0) + int(reaching[node])
        return out
