"""One of the user's columns: how it was taken when the model was fitted, and its values as features ever after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from treeform.data.columns import (
    BOOLEAN,
    CATEGORY,
    DATE,
    DATETIME,
    LARGEST_PRESENT,
    MISSING_ABOVE,
    MISSING_BELOW,
    ORDERED,
    Column,
    Level,
)
from treeform.data.levels import positions, unseen_of
from treeform.data.rows import rows_note, rows_text
from treeform.data.table import numeric_values
from treeform.data.text_dates import days_of, days_of_text
from treeform.data.text_numbers import NO_VALUE, Notation
from treeform.errors import DataError

GAP_CAUSE = "the training table had no missing value in it, so nothing decides where one goes"
GAP_FIX = "drop these rows, or fill in the values"


@dataclass(frozen=True)
class Source:
    """How one column is read."""

    name: str
    kind: str
    """One of `treeform.data.columns.KINDS`."""
    levels: tuple[Level, ...] = ()
    """Of categorical and ordered columns."""
    gaps: bool = False
    """Whether values were missing in training; categorical columns have a level for them instead."""
    notation: Notation | None = None
    """Of numbers that were written as text."""
    date_order: str = ""
    """Of dates that were written as text."""

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The features that this column becomes."""
        if self.kind == CATEGORY:
            return tuple(Column(self.name, CATEGORY, level) for level in self.levels)
        levels = self.levels if self.kind == ORDERED else ()
        if self.gaps:
            return (
                Column(self.name, self.kind, missing="below", levels=levels),
                Column(self.name, self.kind, missing="above", levels=levels),
            )
        return (Column(self.name, self.kind, levels=levels),)

    def encode(
        self, values: Any, rows: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], Counter[str]]:
        """The features of a column, and how often each value occurs that was never seen in training.

        Raises DataError if a value cannot be read as the column was read in training.

        Parameters
        ----------
        rows : ndarray of int64, optional
            The user's row numbers, for messages.

        Returns
        -------
        features : (m, len(columns)) float64
        unseen : Counter
            By value as text.
        """
        if self.kind == CATEGORY:
            codes = positions(values, self.levels, self.name)
            return (codes[:, None] == np.arange(len(self.levels))).astype(np.float64), unseen_of(
                values, codes
            )
        exact, unseen = (
            self._ordered(values) if self.kind == ORDERED else (self._numbers(values, rows), Counter())
        )
        gaps = np.isnan(exact)
        if not self.gaps:
            self._refuse(gaps, rows, "is missing (NaN)", GAP_FIX)
            return (exact + 0.0)[:, None], unseen
        with np.errstate(invalid="ignore"):
            beyond = ~gaps & (np.abs(exact) > LARGEST_PRESENT)
        self._refuse(beyond, rows, "is beyond 2**1000", "scale the column")
        twice = np.repeat((exact + 0.0)[:, None], 2, axis=1)
        twice[gaps] = (MISSING_BELOW, MISSING_ABOVE)
        return twice, unseen

    def _ordered(self, values: Any) -> tuple[NDArray[np.float64], Counter[str]]:
        """Positions among the levels; a level never seen stands below all, a missing value is NaN."""
        codes = positions(values, self.levels, self.name)
        exact = codes.astype(np.float64)
        missing = np.asarray(pd.isna(values))
        exact[missing] = np.nan
        unseen = unseen_of(np.asarray(values, dtype=object)[~missing], codes[~missing])
        return exact, unseen

    def _numbers(self, values: Any, rows: NDArray[np.int64] | None) -> NDArray[np.float64]:
        if self.kind in (DATE, DATETIME):
            return self._days(values, rows)
        missing = np.asarray(pd.isna(values))
        if self.notation is not None and not types.is_numeric_dtype(values.dtype):
            return self._written(values, missing, rows)
        exact = np.full(len(missing), np.nan)
        known = values[~missing] if missing.any() else values
        exact[~missing] = numeric_values(known, self.name, _among(rows, ~missing))
        if self.kind == BOOLEAN and not np.isin(exact[~missing], (0, 1)).all():
            raise DataError(
                f"column {self.name!r} holds numbers other than 0 and 1",
                cause="the column was boolean when the model was fitted",
                fix="pass booleans",
            )
        return exact

    def _written(
        self, values: Any, missing: NDArray[np.bool_], rows: NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        assert self.notation is not None
        entries = np.asarray(values, dtype=object)
        missing = missing | no_value(entries)
        exact = np.full(len(entries), np.nan)
        exact[~missing] = self.notation.read(entries[~missing].tolist())
        self._refuse(
            np.isnan(exact) & ~missing, rows, "is no number in the notation of the training table",
            "write all numbers of the column in one way",
        )  # fmt: skip
        return exact

    def _days(self, values: Any, rows: NDArray[np.int64] | None) -> NDArray[np.float64]:
        if types.is_numeric_dtype(values.dtype):
            raise DataError(
                f"column {self.name!r} held dates when the model was fitted and holds numbers here",
                fix="pass dates in this column",
            )
        if types.is_datetime64_any_dtype(values.dtype):
            days = days_of(pd.Series(values))
        else:
            entries = np.asarray(values, dtype=object)
            missing = np.asarray(pd.isna(entries)) | no_value(entries)
            if all(isinstance(entry, date) for entry in entries[~missing]):
                known = entries.copy()
                known[missing] = None
                days = days_of(pd.Series(known.tolist()).astype("object"))
            else:
                days = days_of_text(entries.tolist(), self.date_order or "year first")
            days[missing] = np.nan
            self._refuse(
                np.isnan(days) & ~missing, rows, "is no date as in the training table",
                "write all dates of the column in one way, for example 2021-03-05",
            )  # fmt: skip
        return np.floor(days) if self.kind == DATE else days

    def _refuse(self, bad: NDArray[np.bool_], rows: NDArray[np.int64] | None, what: str, fix: str) -> None:
        if bad.any():
            at = np.flatnonzero(bad)
            raise DataError(
                f"column {self.name!r} {what} in {rows_text(at if rows is None else rows[at])}{rows_note()}",
                fix=fix,
            )


def no_value(entries: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries are text that stands for no value, such as ``NA`` and ``?``."""
    return np.fromiter(
        (isinstance(entry, str) and entry.strip() in NO_VALUE for entry in entries),
        dtype=bool,
        count=len(entries),
    )


def _among(rows: NDArray[np.int64] | None, kept: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    if kept.all():
        return rows
    return np.flatnonzero(kept) if rows is None else rows[kept]
