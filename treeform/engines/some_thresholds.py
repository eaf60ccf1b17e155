"""A search on some thresholds of each column, where the table of all tests has no room; it proves nothing.

Each round takes thresholds that part the rows about evenly, at other places than the round before, those of the best
model, and some between these and their neighbours. So a model is never lost, and its thresholds become exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treeform.data import Dataset
from treeform.engines.few_thresholds import ranks_around
from treeform.engines.task import EngineOutcome, EngineRun
from treeform.graph import DecisionGraph
from treeform.utils.budget import Budget, Share

EVEN = 16
"""Thresholds of a column that part its rows evenly, in the first round; twice as many after a round in vain."""
NEAR = 16
"""Thresholds of a column in a round that are around those of the best model."""
SAMPLE = 10_000
"""Rows of which each round draws the even ones: to rank all rows takes longer, and more memory than the table."""
ROUND = Share(0.15, least=0.5)
"""Of the time that is left, for each round."""


def chosen(full: Dataset, model: DecisionGraph | None, even_ones: int, turn: int) -> list[np.ndarray]:
    """The thresholds of one round, ascending, by column.

    ``model``: the best model known; its thresholds are chosen, and some around them. ``even_ones``: thresholds of a
    column that part its rows evenly. ``turn``: the number of the round, the seed of the rows and of the shift of the
    even ones.
    """
    pick = np.random.default_rng(turn)
    shift, rows = pick.random(), np.arange(full.n_samples)
    if full.total_weight != full.n_samples:
        rows = pick.choice(rows, SAMPLE, p=full.weights / full.total_weight)
    elif full.n_samples > SAMPLE:
        rows = pick.integers(full.n_samples, size=SAMPLE)
    found = [_even(np.sort(full.X[rows, f]), even_ones, shift) for f in range(full.n_features)]
    if model is not None:
        for f in np.unique(model.feature[(model.feature >= 0) & (model.feature < full.n_features)]).tolist():
            values = np.unique(full.X[:, f])
            own = np.searchsorted(values, model.threshold[model.feature == f], side="right") - 1
            near = ranks_around(own.tolist(), NEAR, len(values) - 1)
            found[f] = np.union1d(found[f], values[near])
    return found


def _even(values: np.ndarray, many: int, shift: float) -> np.ndarray:
    """So many of the sorted values, about equally far apart, or all where there are few; not the largest one."""
    distinct: np.ndarray = values[:-1][values[:-1] != values[1:]]
    if len(distinct) <= many:
        return distinct
    places = (np.arange(many) + shift) / many * len(values)
    return np.intersect1d(distinct, values[places.astype(int)])


def fits(data: Dataset, memory: int, even_ones: int = EVEN) -> bool:
    """Whether the tests of a round have room, as sets of points."""
    return data.n_features * (even_ones + NEAR) * data.n_samples // 8 <= memory


def _is_too_late(budget: Budget, asked: list[float], began: float) -> bool:
    """Whether a round more would end before its search begins: that is about four times as long as until it asks."""
    left = budget.remaining
    return left is not None and left < 4 * ((asked[0] if asked else budget.seconds) - began)


def search(
    run_on: Callable[[list[np.ndarray], EngineRun], EngineOutcome], full: Dataset, run: EngineRun, memory: int
) -> EngineOutcome:
    """Rounds of a search until the time is over; without a limit, until the tests of the next round have no room.

    ``run_on``: the search over some thresholds; what it proves holds for these tests only, and is not used.
    """
    began = time.monotonic()
    best = EngineOutcome(None, None, 0, False)
    start, turn, even_ones = run.start, 0, EVEN
    asked: list[float] = []  # when the search of a round asked first whether it is over

    def is_asked() -> bool:
        asked.append(run.budget.seconds)
        return False

    def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
        if run.on_incumbent is not None and (best.upper is None or upper < best.upper):
            run.on_incumbent(time.monotonic() - began, upper, 0, graph)

    while best.reason is None:
        asked.clear()
        round_began = run.budget.seconds
        own = ROUND.of(run.budget).until(is_asked)
        inner = replace(run, budget=own, start=start, on_incumbent=on_incumbent)
        found = run_on(chosen(full, start, even_ones, turn), inner)
        turn += 1
        if (
            found.graph is not None
            and found.upper is not None
            and (best.upper is None or found.upper < best.upper)
        ):
            start = found.graph
            best = replace(found, lower=0, proved=False, reason=None)
        elif fits(full, memory, 2 * even_ones):
            even_ones *= 2
        elif run.budget.remaining is None:
            best = replace(best, reason="memory")
        if found.reason in ("memory", "interrupted"):
            best = replace(best, reason=found.reason)
        elif run.budget.stop():
            best = replace(best, reason="time")
        elif best.graph is not None and _is_too_late(run.budget, asked, round_began):
            best = replace(best, reason="late")
    note = (
        "the tests have no room in memory as sets of rows: models were searched on some thresholds of each column at a "
        "time"
    )
    return replace(best, notes=(note,), seconds=time.monotonic() - began)
