"""Dates that are written as text, where the order of day, month and year is clear."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from treeform.utils.arrays import Bools, Floats

ISO, DAY_FIRST, MONTH_FIRST = "year first", "day first", "month first"
_PATTERNS = {
    ISO: re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:Z|[+-]\d{2}:?\d{2})?"),
    DAY_FIRST: re.compile(r"(0?[1-9]|[12]\d|3[01])[./-](0?[1-9]|1[0-2])[./-]\d{4}"),
    MONTH_FIRST: re.compile(r"(0?[1-9]|1[0-2])[./-](0?[1-9]|[12]\d|3[01])[./-]\d{4}"),
}


def date_orders(entries: Sequence[str], enough: float) -> dict[str, Bools]:
    """The orders in which at least the share ``enough`` of the entries are dates, with the entries that are.

    Two orders that fit equally many entries, ``day first`` and ``month first``, leave the dates unclear.
    """
    orders = {}
    for order, pattern in _PATTERNS.items():
        matched = {entry: pattern.fullmatch(entry.strip()) is not None for entry in set(entries)}
        fits = np.array([matched[entry] for entry in entries], dtype=bool)
        if len(fits) and fits.mean() >= enough:
            orders[order] = fits
    most = max((int(fits.sum()) for fits in orders.values()), default=0)
    return {order: fits for order, fits in orders.items() if fits.sum() == most}


def days_of_text(entries: Sequence[object], order: str) -> Floats:
    """Days since 1970-01-01, NaN where an entry is no date in this order."""
    text = pd.Series([entry.strip() if isinstance(entry, str) else entry for entry in entries], dtype=object)
    if order == ISO:
        moments = pd.to_datetime(text, format="ISO8601", errors="coerce", utc=True)
    else:
        plain = text.map(lambda entry: re.sub("[./-]", "/", entry) if isinstance(entry, str) else entry)
        written = "%d/%m/%Y" if order == DAY_FIRST else "%m/%d/%Y"
        moments = pd.to_datetime(plain, format=written, errors="coerce", utc=True)
    return days_of(moments)


def days_of(moments: pd.Series) -> Floats:
    """Days since 1970-01-01 of a column of timestamps, in UTC where they have a time zone; NaN where one is missing.

    Dates of Arrow, and ``datetime.date`` as objects, count as midnight.
    """
    if not isinstance(moments.dtype, np.dtype | pd.DatetimeTZDtype) or moments.dtype.kind == "O":
        moments = pd.to_datetime(pd.Series(moments.to_numpy(dtype=object)), utc=True)
    if getattr(moments.dt, "tz", None) is not None:
        moments = moments.dt.tz_convert("UTC").dt.tz_localize(None)
    micro = moments.astype("datetime64[us]")
    whole = micro.astype("int64").to_numpy(dtype=np.int64)
    days = whole / np.float64(86_400_000_000)
    return np.where(moments.isna().to_numpy(), np.nan, days)
