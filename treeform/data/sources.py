"""One of the user's columns: how it is taken, what is refused because it is not clear, and its values as features."""

from __future__ import annotations

import datetime
import numbers
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
    NUMERIC,
    ORDERED,
    Column,
    Level,
)
from treeform.data.levels import levels_of, positions, refuse_many_levels, unseen_of
from treeform.data.roles import TableOptions
from treeform.data.table import numeric_values
from treeform.data.text_dates import DAY_FIRST, MONTH_FIRST, date_orders, days_of, days_of_text
from treeform.data.text_numbers import NO_VALUE, Notation, read_numbers
from treeform.errors import DataError, listing
from treeform.utils.arrays import Bools, Floats, Ints
from treeform.utils.rows import rows_note, rows_text, setting_text

GAP_CAUSE = "the training table had no missing value in it, so nothing decides where one goes"
GAP_FIX = "drop these rows, or fill in the values"

NEARLY_ALL = 0.9
"""The share of entries that have to be numbers, or dates, for a column of text to be taken as such."""

MOST_SHOWN = 8
"""Of the columns that cannot be read, so many are explained in one message."""


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

    @property
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

    def encode(self, values: Any, rows: Ints | None = None) -> tuple[Floats, Counter[str]]:
        """The features of a column, and how often each value occurs that was never seen in training.

        ``rows``: the user's row numbers, for messages. Returns the features, (m, len(columns)) float64, and the
        counter, by value as text. Raises DataError if a value cannot be read as the column was read in training.
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

    def _ordered(self, values: Any) -> tuple[Floats, Counter[str]]:
        """Positions among the levels; a level never seen stands below all, a missing value is NaN."""
        codes = positions(values, self.levels, self.name)
        exact = codes.astype(np.float64)
        missing = np.asarray(pd.isna(values))
        exact[missing] = np.nan
        unseen = unseen_of(np.asarray(values, dtype=object)[~missing], codes[~missing])
        return exact, unseen

    def _numbers(self, values: Any, rows: Ints | None) -> Floats:
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

    def _written(self, values: Any, missing: Bools, rows: Ints | None) -> Floats:
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

    def _days(self, values: Any, rows: Ints | None) -> Floats:
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
            if all(isinstance(entry, datetime.date) for entry in entries[~missing]):
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

    def _refuse(self, bad: Bools, rows: Ints | None, what: str, fix: str) -> None:
        if bad.any():
            at = np.flatnonzero(bad)
            raise DataError(
                f"column {self.name!r} {what} in {rows_text(at if rows is None else rows[at])}{rows_note()}",
                fix=fix,
            )


def no_value(entries: NDArray[Any]) -> Bools:
    """Which entries are text that stands for no value, such as ``NA`` and ``?``."""
    return np.fromiter(
        (isinstance(entry, str) and entry.strip() in NO_VALUE for entry in entries),
        dtype=bool,
        count=len(entries),
    )


def _among(rows: Ints | None, kept: Bools) -> Ints | None:
    if kept.all():
        return rows
    return np.flatnonzero(kept) if rows is None else rows[kept]


def recognise(values: Any, name: str, options: TableOptions, rows: Ints | None = None) -> Source:
    """Find out what a column holds.

    ``rows``: the user's row numbers, for messages. Raises DataError if the column cannot be used, or has two readings.
    """
    dtype = values.dtype
    if name in options.categorical:
        return Source(name, CATEGORY, levels_of(values, name))
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(values, name)
    gaps = bool(np.asarray(pd.isna(values)).any())
    if types.is_bool_dtype(dtype):
        return Source(name, BOOLEAN, gaps=gaps)
    if types.is_datetime64_any_dtype(dtype):
        return Source(name, _date_kind(days_of(pd.Series(values))), gaps=gaps)
    if types.is_timedelta64_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        raise DataError(
            f"column {name!r} holds durations or periods ({dtype})",
            cause="a test on one depends on the unit that you mean",
            fix=f"make it dates: X[{name!r}].dt.to_timestamp()"
            if isinstance(dtype, pd.PeriodDtype)
            else f"make it a number, for example X[{name!r}].dt.days",
        )
    if types.is_complex_dtype(dtype):
        raise DataError(f"column {name!r} holds complex numbers", fix="split it into two real columns")
    if types.is_numeric_dtype(dtype):
        return Source(name, NUMERIC, gaps=gaps)
    if types.is_string_dtype(dtype) or dtype.kind in "OUS":
        return _objects(values, name, options, rows)
    raise DataError(f"column {name!r} has the type {dtype}", fix=_as_numbers_fix(name))


def _categorical(values: Any, name: str) -> Source:
    if not values.dtype.ordered:
        return Source(name, CATEGORY, levels_of(values, name))
    levels_of(values, name)  # of types that levels may have
    levels = tuple(values.dtype.categories.tolist())
    return Source(name, ORDERED, levels, gaps=bool(np.asarray(pd.isna(values)).any()))


def _objects(values: Any, name: str, options: TableOptions, rows: Ints | None) -> Source:
    missing = np.asarray(pd.isna(values))
    known = np.asarray(values, dtype=object)[~missing]
    gaps = bool(missing.any())
    types = {type(value) for value in known}
    if types and all(issubclass(kind, bool | np.bool_) for kind in types):
        return Source(name, BOOLEAN, gaps=gaps)
    if types and all(
        issubclass(kind, numbers.Real | Decimal) and not issubclass(kind, bool) for kind in types
    ):
        return Source(name, NUMERIC, gaps=gaps)
    if types and all(issubclass(kind, datetime.date) for kind in types):
        return Source(name, _date_kind(days_of(pd.Series(values))), gaps=gaps)
    odd = [kind for kind in types if not issubclass(kind, str | bool | np.bool_ | int | float | np.number)]
    if odd:
        listed = ", ".join(sorted(kind.__name__ for kind in odd))
        raise DataError(
            f"column {name!r} holds values of type {listed}: argument must be a string or a number",
            fix=_as_numbers_fix(name),
        )
    if types and all(issubclass(kind, str) for kind in types):
        at = np.flatnonzero(~missing)
        return _text(values, known, at if rows is None else rows[at], name, options)
    return Source(name, CATEGORY, levels_of(values, name))


def _text(values: Any, known: NDArray[Any], rows: Ints, name: str, options: TableOptions) -> Source:
    empty = no_value(known)
    entries, at = known[~empty].tolist(), rows[~empty]
    gaps = bool(empty.any()) or len(known) < len(values)
    reading = read_numbers(entries, NEARLY_ALL)
    if reading is not None and not reading.plain_codes:
        if reading.notation is None:
            raise _two_readings(name, "numbers", f"{entries[0]!r} may have a decimal mark, or mark thousands")
        _refuse_unread(name, "numbers", at[list(reading.unread)], [entries[i] for i in reading.unread])
        return Source(name, NUMERIC, gaps=gaps, notation=reading.notation)
    orders = date_orders(entries, NEARLY_ALL)
    if orders:
        if options.dates is None:  # refused with all other columns of dates
            return Source(name, DATE, gaps=gaps, date_order=next(iter(orders)))
        if {DAY_FIRST, MONTH_FIRST} <= set(orders):
            raise _two_readings(name, "dates", f"in {entries[0]!r} the day or the month may come first")
        order, fits = next(iter(orders.items()))
        _refuse_unread(name, "dates", at[~fits], [entries[i] for i in np.flatnonzero(~fits)])
        return Source(name, _date_kind(days_of_text(entries, order)), gaps=gaps, date_order=order)
    levels = levels_of(values, name)
    refuse_many_levels(len(levels), len(values), name, entries)
    return Source(name, CATEGORY, levels)


def _refuse_unread(name: str, what: str, at: Ints, unread: list[str]) -> None:
    if unread:
        raise DataError(
            f"column {name!r} holds {what} as text, but not in {rows_text(at)}{rows_note()}",
            cause="such as " + ", ".join(map(repr, dict.fromkeys(unread[:3]))),
            fix="correct these entries, leave them empty, or make every text a level: "
            + setting_text("categorical", name, True),
        )


def _two_readings(name: str, what: str, cause: str) -> DataError:
    return DataError(
        f"column {name!r} holds {what} as text that can be read in two ways",
        cause=cause,
        fix=f"turn it into {what} before, or make every text a level: {setting_text('categorical', name, True)}",
    )


def read_all(
    read: Callable[[str], Source], names: Sequence[str], options: TableOptions
) -> tuple[Source, ...]:
    """All columns, or one error that names every column that cannot be read as it is.

    Raises DataError; columns of dates count as such where days are not asked for.
    """
    sources, errors = [], list[DataError]()
    for name in names:
        try:
            sources.append(read(name))
        except DataError as error:
            errors.append(error)
    dated = [source for source in sources if source.kind in (DATE, DATETIME)]
    if dated and options.dates is None:
        errors.append(_dates_refused(dated))
    if len(errors) == 1:
        raise errors[0]
    if errors:
        shown = errors[:MOST_SHOWN]
        more = [f"… and {len(errors) - len(shown)} more"] if len(errors) > len(shown) else []
        raise DataError(
            "columns cannot be read as they are",
            cause="\n    ".join(
                [f"{one.what}: {one.cause}" if one.cause else one.what for one in shown] + more
            ),
            fix="\n    ".join(one.fix for one in shown if one.fix),
        )
    return tuple(sources)


def _dates_refused(dated: Sequence[Source]) -> DataError:
    several = len(dated) > 1
    if several:
        named = listing(f"{source.name!r}{' (text)' if source.date_order else ''}" for source in dated)
        what = f"columns {named} hold dates or times"
    else:
        what = f"column {dated[0].name!r} holds dates or times"
        what += " written as text" if dated[0].date_order else ""
    return DataError(
        what,
        cause="a test on a date depends on the unit and origin that you mean",
        fix=f"ask for days since 1970-01-01 with {setting_text('dates', 'days')}, or leave "
        f"{'these columns' if several else 'the column'} out",
    )


def _date_kind(days: Floats) -> str:
    known = days[~np.isnan(days)]
    return DATE if (known == np.floor(known)).all() else DATETIME


def _as_numbers_fix(name: str) -> str:
    return f"turn column {name!r} into numbers, booleans or text first"
