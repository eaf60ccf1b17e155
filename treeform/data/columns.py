"""Columns: what an encoded feature means in the user's table, and how a test on it reads."""

from __future__ import annotations

import math
from dataclasses import dataclass

NUMERIC, BOOLEAN, CATEGORY = "numeric", "boolean", "category"

Level = str | int | float | bool


@dataclass(frozen=True)
class Column:
    """One encoded feature and where it comes from.

    Parameters
    ----------
    source : str
        Name of the user's column.
    kind : {"numeric", "boolean", "category"}
        How the column was encoded: as it is, as 0/1, or one 0/1 column for each level.
    category : str, int, float, bool or None
        The level that this column marks; None unless `kind` is "category".
    """

    source: str
    kind: str = NUMERIC
    category: Level | None = None

    @property
    def name(self) -> str:
        """Display name: ``age`` or ``job = skilled``."""
        return f"{self.source} = {level_text(self.category)}" if self.kind == CATEGORY else self.source

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
            For example ``age <= 37.5``, ``job != skilled`` or ``owner is true``.
        """
        if self.kind != NUMERIC and 0 <= threshold < 1:
            if self.kind == BOOLEAN:
                return f"{self.source} is {'true' if negate else 'false'}"
            return f"{self.source} {'=' if negate else '!='} {level_text(self.category)}"
        return f"{self.name} {'>' if negate else '<='} {number_text(threshold)}"

    def question(self, threshold: float) -> tuple[str, bool]:
        """Read the test as a statement, with the side that samples take when it holds.

        Returns
        -------
        text : str
            ``age <= 37.5``, but ``job = skilled`` and ``owner is true`` for 0/1 columns.
        yes_is_left : bool
            Whether samples for which the statement holds go left.
        """
        on_indicator = self.kind != NUMERIC and 0 <= threshold < 1
        return self.test(threshold, negate=on_indicator), not on_indicator


def number_text(value: float) -> str:
    """Write the shortest decimal that reads back as the same float64, without a trailing ``.0``."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def level_text(level: Level | None) -> str:
    """Show a level; text that could be taken for something else is put in quotation marks."""
    if not isinstance(level, str):
        return number_text(level) if isinstance(level, float) else str(level)
    return repr(level) if _looks_like_other(level) else level


def _looks_like_other(text: str) -> bool:
    if not text or text != text.strip() or text in ("True", "False", "None") or not text.isprintable():
        return True
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
