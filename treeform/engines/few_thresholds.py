"""A few thresholds of each column: all trees over them are few, and good ones are among them.

On continuous columns neighbouring thresholds part almost the same rows, so that a good tree has a neighbour over the
quantiles of each column. Where a model is known, thresholds around its tests are taken as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treeform.data import midpoints

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines.table_of_totals import Tests
    from treeform.graph import DecisionGraph

Ints = NDArray[np.int64]


def few_thresholds(data: Dataset, each: int, around: DecisionGraph | None = None) -> Tests:
    """So many tests of each feature, as `treeform.engines.table_of_totals.tests_of` gives all of them.

    Parameters
    ----------
    each : int
        A feature with fewer thresholds has all of them.
    around : DecisionGraph, optional
        A model: half of the tests of a feature are those next to its own.
    """
    X = data.points.X
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    spread = each if around is None else each // 2
    weights = data.weight_by_code(data.points.index, len(X))
    feature, threshold, bits = (
        [np.zeros(0, dtype=np.int32)],
        [np.zeros(0)],
        [np.zeros((len(X), 0), dtype=bool)],
    )
    for f in varying.tolist():
        values, place = np.unique(X[:, f], return_inverse=True)
        taken = _spread(np.bincount(place, weights=weights).astype(np.float64), spread)
        if around is not None:
            taken = np.union1d(taken, _near(values, around, f, each - spread))
        cuts = midpoints(values[taken], values[taken + 1])
        feature.append(np.full(len(cuts), f, dtype=np.int32))
        threshold.append(cuts)
        bits.append(place[:, None] > taken)
    return np.hstack(bits).view(np.uint8), np.concatenate(feature), np.concatenate(threshold)


def _spread(weight: NDArray[np.float64], number: int) -> Ints:
    """So many of the gaps after values, with about as much weight between two of them."""
    gaps = len(weight) - 1
    if gaps <= number:
        return np.arange(gaps)
    below = np.cumsum(weight)[:-1]
    wanted = below[-1] * np.arange(1, number + 1) / (number + 1)
    return np.unique(np.searchsorted(below, wanted).clip(0, gaps - 1))


def _near(values: NDArray[np.float64], model: DecisionGraph, feature: int, number: int) -> Ints:
    """About so many gaps around the thresholds of a model in one feature."""
    at = np.searchsorted(values, model.threshold[model.feature == feature], side="right") - 1
    reach = max(1, number // (2 * max(1, len(at))))
    near = (at[:, None] + np.arange(-reach, reach + 1)).ravel()
    return np.unique(near[(near >= 0) & (near < len(values) - 1)])
