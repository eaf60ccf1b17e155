"""Exact confidence intervals of shares."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from treeform.data import Dataset

LEVEL = 0.95
Interval = tuple[float, float]


@lru_cache(maxsize=4096)
def exact_interval(count: int, of: int) -> Interval:
    """The Clopper-Pearson interval of a share, ``count`` of ``of``, at the level `LEVEL`.

    Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika
    1934. Its ends are quantiles of beta distributions, so that `scipy.special` is enough, without the import of
    `scipy.stats`, which takes a second.
    """
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    low = betaincinv(count, of - count + 1, tail) if count else 0.0
    high = betaincinv(count + 1, of - count, 1 - tail) if count < of else 1.0
    return float(low), float(high)


def counts_rows(data: Dataset) -> bool:
    """Whether weights are rows: a share of other weights has no binomial distribution."""
    return data.weight_unit == 1 and bool((data.weights == 1).all())


def interval_of(part: Fraction, total: Fraction, data: Dataset) -> Interval | None:
    """The interval of ``part`` of ``total`` rows; None without rows, or where rows have weights."""
    return exact_interval(int(part), int(total)) if total and counts_rows(data) else None
