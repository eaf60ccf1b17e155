"""Some thresholds of each column: trees over them are few, and good ones are among them.

On continuous columns neighbouring thresholds part almost the same rows, so that a good tree has a neighbour over the
quantiles of each column. Where a model is known, its own thresholds are taken as well, and some around them, each twice
as far away as the one before: from one choice to the next they become exact.
"""

from __future__ import annotations

import numpy as np

from treeform.data import Dataset
from treeform.engines.table_of_totals import Tests
from treeform.graph import DecisionGraph
from treeform.utils.arrays import Ints


def chosen_ranks(data: Dataset, even: int, near: int, model: DecisionGraph | None = None) -> list[Ints]:
    """By feature, ranks of values, of which each stands for the test *no larger than the value of that rank*.

    ``even``: of a feature, so many with about as much weight between two of them; one with fewer thresholds has all of
    them. ``near``: about so many on both sides of the model's tests of a feature. ``model``: its own tests are among
    those chosen.
    """
    ranks, places, tests, out = data.ranks, (np.arange(even) + 0.5) / even, tests_of_model(model, data), []
    for f, values in enumerate(ranks.values):
        gaps = len(values) - 1
        if gaps <= even:
            out.append(np.arange(max(gaps, 0)))
            continue
        below = np.cumsum(data.weight_by_code(ranks.codes[:, f].astype(np.int64), gaps + 1))[:-1]
        taken = np.searchsorted(below, places * below[-1]).clip(0, gaps - 1)
        own = [rank for feature, rank in tests if feature == f]
        out.append(np.union1d(taken, ranks_around(own, near, gaps)))
    return out


def ranks_around(own: list[int], near: int, gaps: int) -> Ints:
    """These ranks and about so many around them, from 0 to ``gaps - 1``; each twice as far away as the one before."""
    steps = 2 ** np.arange(max(1, near // (2 * max(1, len(own)))))
    around = [np.concatenate([[rank], rank - steps, rank + steps]) for rank in own]
    chosen = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *around]))
    return chosen[(chosen >= 0) & (chosen < gaps)]


def tests_of_model(model: DecisionGraph | None, data: Dataset) -> list[tuple[int, int]]:
    """Of each node that tests a column, the column and the rank of the largest value on the left; -1: there is none."""
    if model is None:
        return []
    found = []
    for node in np.flatnonzero((model.feature >= 0) & (model.feature < data.n_features)).tolist():
        f = int(model.feature[node])
        found.append((f, int(np.searchsorted(data.ranks.values[f], model.threshold[node], side="right")) - 1))
    return found


def few_thresholds(data: Dataset, each: int, around: DecisionGraph | None = None) -> Tests:
    """So many tests of each feature, as `treeform.engines.table_of_totals.tests_of` gives all of them.

    ``each``: a feature with fewer thresholds has all of them. ``around``: a model: half of the tests of a feature are
    those around its own.
    """
    even = each if around is None else each // 2
    ranks = chosen_ranks(data, even, each - even, around)
    X = data.points.X
    places = (np.searchsorted(values, X[:, f]) for f, values in enumerate(data.ranks.values))
    bits = [place[:, None] > rank for place, rank in zip(places, ranks, strict=True)]
    feature = np.repeat(np.arange(len(ranks), dtype=np.int32), [len(rank) for rank in ranks])
    threshold = [data.ranks.thresholds(f)[rank] for f, rank in enumerate(ranks)]
    return np.hstack(bits).view(np.uint8), feature, np.concatenate(threshold)
