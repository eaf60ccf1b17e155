"""Numbers that are written as text: ``1,234.50``, ``€35000.00``, ``12 %``.

A column is read as numbers only where its notation is clear: all entries share one currency or unit, and no entry
has two readings, as ``1,234`` has where nothing else shows which mark is the decimal one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from treeform.utils.arrays import Floats

# Text that stands for "no value" in a column whose other entries are numbers or dates.
NO_VALUE = frozenset(
    ("", "?", "-", "--", ".", "NA", "N/A", "n/a", "na", "n.a.", "N.A.", "#N/A", "<NA>", "NaN", "nan", "NaT", "null",
     "NULL", "None", "none", "missing", "unknown", "k.A.", "k. A.")
)  # fmt: skip
_SIGNS = "$€£¥₹₽₩₺₫฿"
_UNIT = re.compile(
    rf"^(?P<before>[{_SIGNS}]|[A-Z]{{3}}\s)?\s*(?P<body>.*?)\s*(?P<after>[{_SIGNS}%‰]|\s[A-Z]{{3}})?$"
)
_SPACES = "\u00a0\u202f "
_WHOLE = r"[+-]?(?:\d+|\d{1,3}(?:[MARK]\d{3})+)"
_EXPONENT = r"(?:[eE][+-]?\d+)?"


@dataclass(frozen=True)
class Notation:
    """How a column of text writes its numbers."""

    decimal: str = "."
    """The decimal mark; the other one may part thousands."""
    unit: str = ""
    """What stands before or after every number, such as ``€`` or ``%``; empty for none."""

    def read(self, entries: Sequence[object]) -> Floats:
        """The numbers, NaN where an entry is none in this notation; numbers stay as they are."""
        read = {
            entry: self._number(entry) for entry in {entry for entry in entries if isinstance(entry, str)}
        }
        values = (read[entry] if isinstance(entry, str) else self._number(entry) for entry in entries)
        return np.fromiter(values, dtype=np.float64, count=len(entries))

    def _number(self, entry: object) -> float:
        if not isinstance(entry, str):
            return float(entry) if isinstance(entry, int | float | np.number) else float("nan")
        unit, body = take_apart(entry)
        if unit != self.unit or not _pattern(self.decimal).fullmatch(body):
            return float("nan")
        thousands = "," if self.decimal == "." else "."
        plain = re.sub(f"['{_SPACES}{re.escape(thousands)}]", "", body)
        return float(plain.replace(self.decimal, "."))


@dataclass(frozen=True)
class Reading:
    """What a column of text holds if it is numbers."""

    notation: Notation | None
    """None where two notations fit and give different numbers."""
    unread: tuple[int, ...] = ()
    """Positions of entries that are no numbers in this notation."""
    plain_codes: bool = False
    """Whether all entries are bare whole numbers, which are often codes."""


def take_apart(entry: str) -> tuple[str, str]:
    """Unit and number of one entry."""
    matched = _UNIT.match(entry.strip())
    if matched is None:
        return "", entry.strip()
    units = [part.strip() for part in (matched["before"], matched["after"]) if part]
    return " ".join(units), matched["body"]


def read_numbers(entries: Sequence[str], enough: float) -> Reading | None:
    """Find the notation of a column of text.

    ``entries``: without those that stand for no value. ``enough``: the share of entries that have to be numbers.
    Returns None where fewer are numbers.
    """
    units: Counter[str] = Counter()
    for entry, count in Counter(entries).items():
        units[take_apart(entry)[0]] += count
    unit = max(sorted(units), key=units.__getitem__) if units else ""
    fits: dict[Notation, Floats] = {}
    for decimal in (".", ","):
        notation = Notation(decimal, unit)
        values = notation.read(entries)
        if len(entries) and np.isfinite(values).mean() >= enough:
            fits[notation] = values
    if not fits:
        return None
    most = max(int(np.isfinite(values).sum()) for values in fits.values())
    best = [notation for notation, values in fits.items() if np.isfinite(values).sum() == most]
    if len(best) > 1 and not np.array_equal(fits[best[0]], fits[best[1]], equal_nan=True):
        return Reading(None)
    unread = tuple(np.flatnonzero(~np.isfinite(fits[best[0]])).tolist())
    codes = not unread and all(entry.strip().isdigit() for entry in set(entries))
    return Reading(best[0], unread, codes)


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    thousands = ("," if decimal == "." else r"\.") + f"'{_SPACES}"
    fraction = rf"(?:{re.escape(decimal)}\d*)?"
    alone = rf"[+-]?{re.escape(decimal)}\d+"
    return re.compile(rf"(?:{_WHOLE.replace('MARK', thousands)}{fraction}|{alone}){_EXPONENT}")
