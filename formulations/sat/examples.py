"""Which training examples the formula holds: counterexamples (Algorithm 3); contradictions between rows."""

from __future__ import annotations

import numpy as np

from treeform.data import Dataset, contradictions_text, contradictory_rows
from treeform.errors import Infeasible
from treeform.utils.arrays import Bools, Ints

SHORT_LIST = 500
"""Misclassified points, beyond those needed, that are compared one by one."""


def refuse_contradictions(data: Dataset) -> None:
    """Raise Infeasible, which names the rows, when some have equal features and different classes."""
    groups = contradictory_rows(data)
    if groups:
        raise Infeasible(
            "no tree classifies all training rows correctly",
            cause=contradictions_text(groups),
            fix="allow errors: tf.MaxErrors(k) with k > 0, or minimise tf.Error() at a given depth",
        )


def distances(right: Bools, some: Ints, others: Ints) -> np.ndarray:
    """Number of tests that separate two points: Hamming distances, (len(some), len(others)) float32."""
    a, b = right[some].astype(np.float32), right[others].astype(np.float32)
    return np.asarray(a.sum(axis=1)[:, None] + b.sum(axis=1)[None, :] - 2.0 * (a @ b.T))


def first_examples(right: Bools, truth: Ints, count: int) -> Ints:
    """A few points to begin with: the first of each class, and those nearest to them of other classes."""
    if len(np.unique(truth)) < 2:
        return np.arange(min(1, len(truth)))
    anchors = np.array([np.flatnonzero(truth == label)[0] for label in np.unique(truth)])
    return nearest(right, truth, np.setdiff1d(np.arange(len(truth)), anchors), anchors, count, keep=anchors)


def choose(how: str, right: Bools, truth: Ints, wrong: Ints, inside: Ints, count: int) -> Ints:
    """Misclassified points to add: the ``count`` "nearest" to another class, or the "first"; ``inside`` are there."""
    return wrong[:count] if how == "first" else nearest(right, truth, wrong, inside, count)


def nearest(
    right: Bools, truth: Ints, wrong: Ints, inside: Ints, count: int, keep: Ints | None = None
) -> Ints:
    """Misclassified points that are closest to a point of another class in the formula.

    They show the borders between classes that matter; far fewer are needed than with the paper's "any misclassified
    example". Each one chosen counts as in the formula for the choice of the next.

    ``right``: (P, m). ``wrong``: points to choose from. ``inside``: points in the formula. ``keep``: points that are
    returned in any case, before the others.
    """
    start = np.zeros(0, dtype=np.int64) if keep is None else keep
    if not len(wrong):
        return start
    gap = _to_other_class(right, truth, wrong, inside)
    closest = np.argsort(gap, kind="stable")[: SHORT_LIST + count]
    wrong, gap = wrong[closest], gap[closest]
    chosen: list[int] = []
    while len(chosen) < min(count, len(wrong)):
        best = int(gap.argmin())
        chosen.append(int(wrong[best]))
        gap = np.minimum(gap, _to_other_class(right, truth, wrong, wrong[best : best + 1]))
        gap[np.isin(wrong, chosen)] = np.inf
    return np.concatenate([start, np.array(chosen, dtype=np.int64)]).astype(np.int64)


def _to_other_class(right: Bools, truth: Ints, some: Ints, others: Ints) -> np.ndarray:
    """Distance of each point to the nearest one of another class among ``others``; the number of tests if none."""
    none = np.full(len(some), float(right.shape[1] + 1))
    if not len(others):
        return none
    gap = distances(right, some, others)
    gap[truth[some][:, None] == truth[others][None, :]] = np.inf
    return np.asarray(np.minimum(gap.min(axis=1), none))
