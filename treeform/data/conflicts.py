"""Rows that contradict each other: equal features, different classes."""

from __future__ import annotations

import numpy as np

from treeform.data.dataset import Dataset
from treeform.utils.rows import numbers_text, rows_note, rows_word

SHOWN_GROUPS = 3


def contradictory_rows(data: Dataset) -> list[list[int]]:
    """Groups of rows with equal features and different classes: no model classifies all of them correctly.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    list of list of int
        Row numbers of the user's table, one list per shared feature vector, ordered.
    """
    points = data.points
    mixed = (np.asarray(points.weights) > 0).sum(axis=1) > 1
    rows = np.flatnonzero(mixed[points.index])
    if not len(rows):
        return []
    order = rows[np.argsort(points.index[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(points.index[order])) + 1
    return [np.asarray(data.kept_rows)[group].tolist() for group in np.split(order, cuts)]


def contradictions_text(groups: list[list[int]]) -> str:
    """A text about the first of such groups."""
    shown = "; ".join(numbers_text(rows) for rows in groups[:SHOWN_GROUPS])
    more = "; ..." if len(groups) > SHOWN_GROUPS else ""
    return f"{len(groups)} feature vectors occur with several classes ({rows_word()}s {shown}{more}){rows_note()}"
