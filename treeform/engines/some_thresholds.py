"""A search on some thresholds of each column, where the table of all tests has no room; it proves nothing.

Each round takes thresholds that part the rows about evenly, at other places than the round before, those of the best
model, and some between these and their neighbours. So a model is never lost, and its thresholds become exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.data import midpoint
from treeform.engines.few_thresholds import chosen_ranks, nodes_with_tests, tests_of_model
from treeform.engines.task import EngineOutcome, EngineRun
from treeform.graph import DecisionGraph
from treeform.utils.budget import Share

if TYPE_CHECKING:
    from treeform.data import Dataset

EVEN = 16
"""Thresholds of a column that part its rows evenly, in the first round; twice as many after a round in vain."""
NEAR = 16
"""Thresholds of a column in a round that are around those of the best model."""
ROUND = Share(0.15, least=0.5)
"""Of the time that is left, for each round."""


@dataclass(frozen=True)
class SomeThresholds:
    """The rows with the place of each value among the chosen thresholds."""

    full: Dataset
    cuts: tuple[np.ndarray, ...]
    """By column: ranks, of which each stands for the test *no larger than the value of that rank*."""
    data: Dataset

    @classmethod
    def chosen(cls, full: Dataset, model: DecisionGraph | None, even_ones: int, turn: int) -> SomeThresholds:
        """The rows with the thresholds of one round.

        Parameters
        ----------
        full : Dataset
            The table with all thresholds.
        model : DecisionGraph or None
            The best model known; thresholds around its own are chosen.
        even_ones : int
            Thresholds of a column that part its rows evenly.
        turn : int
            The number of the round, the seed by which the even ones are shifted.
        """
        shift = np.random.default_rng(turn).random()
        cuts = tuple(chosen_ranks(full, even_ones, NEAR, model, shift))
        codes = full.ranks.codes
        X = np.empty(codes.shape)
        for f, cut in enumerate(cuts):
            X[:, f] = np.searchsorted(cut, codes[:, f])
        return cls(full, cuts, replace(full, X=X))

    def below(self, model: DecisionGraph | None) -> DecisionGraph | None:
        """A model whose thresholds are among these, over the places."""
        if model is None:
            return None
        threshold = model.threshold.copy()
        for node, (f, rank) in zip(
            nodes_with_tests(model, self.full), tests_of_model(model, self.full), strict=True
        ):
            threshold[node] = np.searchsorted(self.cuts[f], rank) + 0.5
        return _with_thresholds(model, threshold, self.data)

    def above(self, model: DecisionGraph) -> DecisionGraph:
        """The model over the values."""
        threshold = model.threshold.copy()
        for node in nodes_with_tests(model, self.full):
            f = int(model.feature[node])
            values, rank = self.full.ranks.values[f], int(self.cuts[f][int(threshold[node])])
            threshold[node] = midpoint(values[rank], values[rank + 1])
        return _with_thresholds(model, threshold, self.full)


def fits(data: Dataset, memory: int, even_ones: int = EVEN) -> bool:
    """Whether the tests of a round have room, as sets of points."""
    return data.n_features * (even_ones + NEAR) * data.n_samples // 8 <= memory // 4


def search(
    run_on: Callable[[Dataset, EngineRun], EngineOutcome], full: Dataset, run: EngineRun, memory: int
) -> EngineOutcome:
    """Rounds of a search until the time is over; without a limit, until the tests of the next round have no room.

    Parameters
    ----------
    run_on : callable
        The search on all tests of a table; what it proves holds for these tests only, and is not used.
    """
    began = time.monotonic()
    best = EngineOutcome(None, None, 0, False)
    start, turn, even_ones = run.start, 0, EVEN

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if run.on_incumbent is not None and (best.upper is None or upper < best.upper):
            here = None if graph is None else some.above(graph)
            run.on_incumbent(time.monotonic() - began, upper, 0, here)

    while best.reason is None:
        some = SomeThresholds.chosen(full, start, even_ones, turn)
        inner = replace(run, budget=ROUND.of(run.budget), start=some.below(start), on_incumbent=on_incumbent)
        found = run_on(some.data, inner)
        turn += 1
        if (
            found.graph is not None
            and found.upper is not None
            and (best.upper is None or found.upper < best.upper)
        ):
            start = some.above(found.graph)
            best = replace(found, graph=start, lower=0, proved=False, reason=None)
        elif fits(full, memory, 2 * even_ones):
            even_ones *= 2
        elif run.budget.remaining is None:
            best = replace(best, reason="memory")
        if found.reason in ("memory", "interrupted"):
            best = replace(best, reason=found.reason)
        elif run.budget.stop():
            best = replace(best, reason="time")
    note = (
        f"{full.n_tests} tests have no room in memory as sets of rows: models were searched on some thresholds of "
        "each column at a time"
    )
    return replace(best, notes=(note,), seconds=time.monotonic() - began)


def _with_thresholds(model: DecisionGraph, threshold: Any, data: Dataset) -> DecisionGraph:
    return DecisionGraph.from_arrays(
        model.feature, threshold, model.left, model.right, model.label, data, forms=model.forms
    )
