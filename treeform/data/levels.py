"""The levels of a categorical column: which there are, in what order, and which one a value is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.columns import Level
from treeform.data.exact import plain
from treeform.errors import DataError
from treeform.utils.arrays import Ints
from treeform.utils.rows import setting_text
from treeform.utils.text import count_of

MAX_LEVELS = 1000  # each becomes a feature
FEW_LEVELS = 20  # a column of text may always have as many
ROWS_PER_LEVEL = 5  # and beyond these, one for so many rows


def levels_of(values: Any, name: str) -> tuple[Level, ...]:
    """The levels that occur, sorted, numbers before text; missing values are the last one.

    Raises DataError if a level is neither text, a finite number nor a boolean, or there are too many.
    """
    gaps = np.asarray(pd.isna(values))
    known = np.asarray(values, dtype=object)[~gaps].tolist()
    levels = [_plain(level, name) for level in dict.fromkeys(known)]
    if len(levels) > MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {len(levels)} different levels",
            cause=f"each becomes a 0/1 feature, and at most {MAX_LEVELS} are supported; is it an identifier?",
            fix="leave the column out, or group rare levels",
        )
    last: tuple[Level, ...] = (None,) if gaps.any() else ()
    return (*sorted(levels, key=_order), *last)


def refuse_many_levels(n_levels: int, n_rows: int, name: str, examples: list[Any]) -> None:
    """Refuse text that looks like names, numbers of records or free text.

    A column of text may have 20 levels, and beyond these one level for every five rows.

    Raises DataError.
    """
    if n_levels <= max(FEW_LEVELS, n_rows // ROWS_PER_LEVEL):
        return
    raise DataError(
        f"column {name!r} has {n_levels} different texts in {count_of(n_rows, 'row')}, such as "
        + ", ".join(map(repr, examples[:3])),
        cause=f"each would become a 0/1 feature; identifiers and free text have more than {FEW_LEVELS} levels, "
        f"and fewer than {ROWS_PER_LEVEL} rows for each",
        fix=f"leave it out with {setting_text('exclude', name, True)}, group its levels, or use "
        + setting_text("categorical", name, True),
    )


def positions(values: Any, levels: tuple[Level, ...], name: str) -> Ints:
    """Position of each value among the levels, -1 where it is none of them; missing values are the level None.

    Raises DataError if the column holds text where levels are numbers, or the other way round: no value could match.
    """
    gaps = np.asarray(pd.isna(values))
    objects = np.asarray(values, dtype=object)
    known = [level for level in levels if level is not None]
    index = pd.Index(_objects(known), dtype=object)
    codes: Ints = index.get_indexer(pd.Index(objects, dtype=object)).astype(np.int64)
    codes[gaps] = levels.index(None) if None in levels else -1
    was = {isinstance(level, str) for level in known}
    now = {isinstance(value, str) for value in objects[~gaps]} if (codes[~gaps] < 0).all() else was
    if now and was and not (was & now):
        before, here = ("text", "numbers") if True in was else ("numbers", "text")
        raise DataError(
            f"column {name!r} held {before} when the model was fitted and holds {here} here",
            cause="no level can match, so every row would be treated as unknown",
            fix=f"convert the column to {before} first",
        )
    return codes


def unseen_of(values: Any, codes: Ints) -> Counter[str]:
    """How often each value occurs that is none of the levels."""
    objects = np.asarray(values, dtype=object)[codes < 0]
    return Counter("missing" if pd.isna(value) else repr(value) for value in objects.tolist())


def _order(level: Level) -> tuple[bool, float, str]:
    return (True, 0.0, level) if isinstance(level, str) else (False, float(level or 0), "")


def _plain(level: Any, name: str) -> Level:
    value = plain(level)
    if isinstance(value, str | bool | int | float) and value not in (float("inf"), float("-inf")):
        return str(value) if isinstance(value, str) else value
    raise DataError(
        f"column {name!r} has a level of type {type(value).__name__}: {value!r}",
        cause="levels are text, finite numbers or booleans",
        fix=f"make it text, for example X[{name!r}].astype(str)",
    )


def _objects(values: Any) -> NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))
