"""Distributions of numbers for the page: bins of equal width with an edge at one mark."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data.columns import Column

BINS = 20


def bins(column: Column, known: NDArray[np.float64], threshold: float) -> dict[str, Any]:
    """Bins of equal width, with an edge at the threshold where it is inside the range.

    Parameters
    ----------
    column : Column
        Words the numbers.
    known : (m,) float64
        At least one number, and no missing one.

    Returns
    -------
    dict
        As the page's script reads it: counts and edges (shares of the range), or one bar for a single value.
    """
    low, high = float(known.min()), float(known.max())
    if low == high or not np.isfinite(high - low):
        return {"bars": [[column.value_text(low), len(known), low <= threshold]]}
    inside = low < threshold < high
    width = (high - low) / BINS
    edges = np.linspace(low, high, BINS + 1)
    if inside:  # a whole number of bins on either side
        left = min(BINS - 1, max(1, round((threshold - low) / width)))
        edges = np.concatenate(
            [np.linspace(low, threshold, left + 1), np.linspace(threshold, high, BINS - left + 1)[1:]]
        )
    # Bins are (a, b], as tests are x <= t; the first one holds its lower end.
    place = np.clip(np.searchsorted(edges, known, side="left") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    return {
        "counts": counts.tolist(),
        "edges": [round(float(edge - low) / (high - low), 6) for edge in edges],
        "low": column.value_text(low),
        "high": column.value_text(high),
        "cut": (threshold - low) / (high - low) if inside else None,
        "threshold": column.value_text(threshold),
    }
