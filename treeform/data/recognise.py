"""How a column is taken: what its values are, and what is refused because it is not clear."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from treeform.data.columns import BOOLEAN, CATEGORY, DATE, DATETIME, NUMERIC, ORDERED
from treeform.data.levels import levels_of, refuse_many_levels
from treeform.data.options import TableOptions
from treeform.data.rows import rows_note, rows_text, setting_text
from treeform.data.sources import Source, no_value
from treeform.data.text_dates import DAY_FIRST, MONTH_FIRST, date_orders, days_of, days_of_text
from treeform.data.text_numbers import read_numbers
from treeform.errors import DataError, listing

NEARLY_ALL = (
    0.9  # the share of entries that have to be numbers, or dates, for a column of text to be taken as such
)

MOST_SHOWN = 8
"""Of the columns that cannot be read, so many are explained in one message."""


def recognise(values: Any, name: str, options: TableOptions, rows: NDArray[np.int64] | None = None) -> Source:
    """Find out what a column holds.

    Raises DataError if the column cannot be used, or has two readings.

    Parameters
    ----------
    rows : ndarray of int64, optional
        The user's row numbers, for messages.
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
            fix=f"make it a number, for example X[{name!r}].dt.days",
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


def _objects(values: Any, name: str, options: TableOptions, rows: NDArray[np.int64] | None) -> Source:
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


def _text(
    values: Any, known: NDArray[Any], rows: NDArray[np.int64], name: str, options: TableOptions
) -> Source:
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


def _refuse_unread(name: str, what: str, at: NDArray[np.int64], unread: list[str]) -> None:
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


def read_all(read: Callable[[str], Source], names: Sequence[str], options: TableOptions) -> tuple[Source, ...]:
    """All columns, or one error that names every column that cannot be read as it is.

    Raises
    ------
    DataError
        Columns of dates count as such where days are not asked for.
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
            cause="\n    ".join([f"{one.what}: {one.cause}" if one.cause else one.what for one in shown] + more),
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


def _date_kind(days: NDArray[np.float64]) -> str:
    known = days[~np.isnan(days)]
    return DATE if (known == np.floor(known)).all() else DATETIME


def _as_numbers_fix(name: str) -> str:
    return f"turn column {name!r} into numbers, booleans or text first"
