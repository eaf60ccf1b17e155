"""The conditions of a path on a column with missing values, as one text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from treeform.data.columns import LARGEST_PRESENT, NUMERIC, Column, number_text


def gaps_text(bounds: Sequence[tuple[Column, float, float]]) -> str | None:
    """Conditions ``lo < x <= hi`` on the two features of a column, as one condition on the column.

    For example ``20 < age <= 37.5 or missing``; None where nothing satisfies all of them.

    Parameters
    ----------
    bounds : sequence of (Column, float, float)
        Features whose missing values stand below or above all others.
    """
    low, high, missing, present = -math.inf, math.inf, True, True
    for column, lo, hi in bounds:
        below = column.missing == "below"
        missing = missing and (lo == -math.inf if below else hi == math.inf)
        present = present and (hi >= -LARGEST_PRESENT if below else lo <= LARGEST_PRESENT)
        low = max(low, lo) if abs(lo) <= LARGEST_PRESENT else low
        high = min(high, hi) if abs(hi) <= LARGEST_PRESENT else high
    plain = replace(bounds[0][0], missing="")
    if not present or low >= high:
        return f"{plain.source} is missing" if missing else None
    text = _range_text(plain, low, high)
    if missing:
        return f"{text} or missing" if text else ""
    return text or f"{plain.source} is not missing"


def _range_text(column: Column, low: float, high: float) -> str:
    if column.kind == NUMERIC and math.isfinite(low) and math.isfinite(high):
        return f"{number_text(low)} < {column.source} <= {number_text(high)}"
    parts = [column.test(low, negate=True)] if math.isfinite(low) else []
    return " and ".join([*parts, column.test(high)] if math.isfinite(high) else parts)
