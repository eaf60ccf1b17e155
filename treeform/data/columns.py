"""Columns: what an encoded feature means in the user's table, and how a test on it reads."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import numpy as np

from treeform.utils.arrays import Bools, Floats
from treeform.utils.text import count_of

NUMERIC, BOOLEAN, CATEGORY, ORDERED = "numeric", "boolean", "category", "ordered"
DATE, DATETIME = "date", "datetime"
KINDS = (NUMERIC, BOOLEAN, CATEGORY, ORDERED, DATE, DATETIME)

Level = str | int | float | bool | None  # None is the level of cells without a value
Side = Literal["", "below", "above"]

# A column with gaps is encoded twice: its missing values stand below all others in one feature and above all
# others in the other. Values of such columns are at most LARGEST_PRESENT in size, so that a threshold between
# a missing value and a value lies beyond it: the test asks whether the value is missing, and nothing else.
MISSING_BELOW = -sys.float_info.max
MISSING_ABOVE = sys.float_info.max
LARGEST_PRESENT = 2.0**1000

ORIGIN = datetime(1970, 1, 1)  # dates are days since then


@dataclass(frozen=True)
class Column:
    """One encoded feature and where it comes from.

    Parameters
    ----------
    source : str
        Name of the user's column.
    kind : {"numeric", "boolean", "category", "ordered", "date", "datetime"}
        How the column was encoded: as it is, as 0/1, one 0/1 column for each level, positions of ordered levels,
        whole days since 1970-01-01, days with fractions.
    category : str, int, float, bool or None
        The level that this column marks, for the kind "category"; None marks missing values.
    missing : {"", "below", "above"}
        Where missing values stand: there are none, below all values, or above all values.
    levels : tuple of str, int, float or bool
        The levels of an ordered column, lowest first.
    """

    source: str
    kind: str = NUMERIC
    category: Level = None
    missing: Side = ""
    levels: tuple[Level, ...] = ()

    @property
    def name(self) -> str:
        """Display name: ``age``, ``job = skilled`` or ``age (missing below)``."""
        if self.kind == CATEGORY:
            return self.test(0.5, negate=True)
        return f"{self.source} (missing {self.missing})" if self.missing else self.source

    @property
    def is_indicator(self) -> bool:
        """Whether its values are 0 and 1 only."""
        return self.kind in (BOOLEAN, CATEGORY) and not self.missing

    def test(self, threshold: float, negate: bool = False) -> str:
        """Read one branch of the test ``x <= threshold``.

        Parameters
        ----------
        threshold : float
            In the column's own units.
        negate : bool, default False
            False for the left branch (``x <= threshold``), True for the right one.

        Returns
        -------
        str
            For example ``age <= 37.5``, ``job != skilled``, ``owner is true``, ``age <= 37.5 or missing``.
        """
        if self.missing and abs(threshold) > LARGEST_PRESENT:
            return f"{self.source} is {'' if self.marks_missing(negate) else 'not '}missing"
        text = self._present(threshold, negate)
        return f"{text} or missing" if self.missing and self.marks_missing(negate) else text

    def missing_values(self, values: Floats) -> Bools:
        """Which encoded values of this column stand for a missing one."""
        return np.abs(values) > LARGEST_PRESENT if self.missing else np.zeros(len(values), dtype=bool)

    def marks_missing(self, negate: bool) -> bool:
        """Whether missing values take the left branch (``negate=False``) or the right one."""
        return self.missing == ("above" if negate else "below")

    def _present(self, threshold: float, negate: bool) -> str:
        if self.kind in (BOOLEAN, CATEGORY) and 0 <= threshold < 1:
            if self.kind == BOOLEAN:
                return f"{self.source} is {'true' if negate else 'false'}"
            if self.category is None:
                return f"{self.source} is {'' if negate else 'not '}missing"
            return f"{self.source} {'=' if negate else '!='} {level_text(self.category)}"
        return f"{self.source} {'>' if negate else '<='} {self.value_text(threshold)}"

    def value_text(self, value: float) -> str:
        """A threshold in the user's terms: a number, an ordered level, or a date."""
        if self.kind == ORDERED and 0 <= value < len(self.levels):
            return level_text(self.levels[math.floor(value)])
        if self.kind == DATE:  # values are whole days
            return date_text(math.floor(value))
        return date_text(value) if self.kind == DATETIME else number_text(value)

    def question(self, threshold: float) -> tuple[str, bool]:
        """Read the test as a statement, with the side that samples take when it holds.

        Returns
        -------
        text : str
            ``age <= 37.5``, but ``job = skilled``, ``owner is true`` and ``age is missing`` where that is the test.
        yes_is_left : bool
            Whether samples for which the statement holds go left.
        """
        if self.missing and abs(threshold) > LARGEST_PRESENT:
            yes_is_left = self.marks_missing(False)
        else:
            yes_is_left = not (self.kind in (BOOLEAN, CATEGORY) and 0 <= threshold < 1)
        return self.test(threshold, negate=not yes_is_left), yes_is_left


def number_text(value: float) -> str:
    """Write the shortest decimal that reads back as the same float64, without a trailing ``.0``."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def date_text(days: float) -> str:
    """Days since 1970-01-01 as a date, with the time of day unless it is midnight."""
    try:
        moment = ORIGIN + timedelta(days=days)
    except OverflowError:
        return f"day {number_text(days)}"
    if moment == datetime(moment.year, moment.month, moment.day):
        return moment.date().isoformat()
    return moment.isoformat(sep=" ", timespec="minutes" if moment.second == 0 else "auto")


def level_text(level: Level) -> str:
    """Show a level; text that could be taken for something else is put in quotation marks."""
    if level is None:
        return "missing"
    if not isinstance(level, str):
        return number_text(level) if isinstance(level, float) else str(level)
    return repr(level) if _looks_like_other(level) else level


def _looks_like_other(text: str) -> bool:
    if (
        not text
        or text != text.strip()
        or text in ("True", "False", "None", "missing")
        or not text.isprintable()
    ):
        return True
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def by_source(columns: Sequence[Column], features: Iterable[int]) -> dict[str, list[int]]:
    """The features of each column of the table, in the order given."""
    of: dict[str, list[int]] = {}
    for feature in features:
        of.setdefault(columns[feature].source, []).append(feature)
    return of


def columns_in_words(columns: Sequence[Column]) -> str:
    """How many there are: "2 features", or "20 columns (56 features after encoding)"."""
    sources, features = len({column.source for column in columns}), count_of(len(columns), "feature")
    return features if sources == len(columns) else f"{count_of(sources, 'column')} ({features} after encoding)"
