"""Thresholds between two neighbouring values, safe in float64.

The arithmetic mean of two adjacent floats rounds to one of them, the sum of two huge ones overflows, and
the half of a denormal vanishes. A threshold that lands on the upper value silently moves samples to the
other side, so every threshold here satisfies ``lo <= t < hi`` by construction and by a final check.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from treeform.errors import DataError
from treeform.utils.arrays import Floats

_EXACT_POWERS = 22  # 10**22 is the largest power of ten that float64 holds exactly
_TENS = 10.0 ** np.arange(_EXACT_POWERS + 1)
_WHOLE = 2.0**53


def midpoint(lo: float, hi: float) -> float:
    """Choose a threshold ``t`` with ``lo <= t < hi`` in float64.

    Returns the shortest decimal in the middle half of the gap where there is one (37.5, not 37.49999), else the mean,
    else `lo`. Never -0.0.

    Parameters
    ----------
    lo, hi : float
        Finite, ``lo < hi``.

    Raises
    ------
    DataError
        Unless both are finite and ``lo < hi``.

    Examples
    --------
    >>> midpoint(37.0, 38.0), midpoint(10.0, 30.0), midpoint(0.1, 0.2)
    (37.5, 20.0, 0.15)
    """
    return float(midpoints(np.array([lo], dtype=np.float64), np.array([hi], dtype=np.float64))[0])


def midpoints(lo: ArrayLike, hi: ArrayLike) -> Floats:
    """Do the same as `midpoint` for arrays of shape (k,)."""
    low, high = np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64)
    if not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
        raise DataError(
            "there is no threshold between two values that are not in increasing order or not finite",
            fix="pass finite values with lo < hi",
        )
    half = high / 2 - low / 2  # halved first: the difference of two huge values overflows
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # once: it costs more than short sums
        total = low + high
        mean = np.where(np.isfinite(total), total / 2, low / 2 + high / 2)
        mean = np.where((low <= mean) & (mean < high), mean, low)
        chosen = _shortest(mean, half)
    sound = (low <= chosen) & (chosen < high)
    return np.where(sound, chosen, mean) + 0.0  # + 0.0 turns -0.0 into 0.0


def _shortest(mean: Floats, half: Floats) -> Floats:
    """The coarsest decimal grid that has a point in [mean - half/2, mean + half/2] gives that point.

    A step just above `half` has at most one point in the interval, and every coarser grid is part of
    it; the next finer step is below `half`, so it always has one. Two attempts are enough.
    """
    finer = np.floor(np.log10(half))
    best = mean.copy()
    for candidate in _to_grid(mean, np.array([finer, finer + 1])):
        best = np.where(np.abs(candidate - mean) <= half / 2, candidate, best)
    return best


def _to_grid(mean: Floats, exponent: Floats) -> Floats:
    """Nearest multiple of 10**exponent, correctly rounded; NaN where float64 cannot represent it exactly."""
    usable = np.abs(exponent) <= _EXACT_POWERS
    power = _TENS[np.where(usable, np.abs(exponent), 0).astype(np.int64)]
    below = exponent < 0
    count = np.rint(np.where(below, mean * power, mean / power))
    grid = np.where(below, count / power, count * power)
    return np.where(usable & (np.abs(count) < _WHOLE), grid, np.nan)
