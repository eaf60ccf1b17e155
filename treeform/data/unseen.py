"""Levels that a model meets for the first time when it predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import Any

from treeform.errors import DataError, UnseenLevels, warn_caller
from treeform.utils.rows import setting_text

SHOWN = 5


class Unseen(Enum):
    """What to do about a value that is none of the levels seen in training.

    Such a value differs from every level: a test "job = skilled" is answered with no. In an ordered column it stands
    below all levels.
    """

    ERROR = "error"
    WARN = "warn"
    OTHER = "other"

    @classmethod
    def of(cls, stated: Any) -> Unseen:
        """Read ``"error"``, ``"warn"`` or ``"other"``.

        Raises DataError if it is none of them.
        """
        if isinstance(stated, cls):
            return stated
        if stated not in [policy.value for policy in cls]:
            raise DataError(
                f"{setting_text('unseen', stated)} is not known", fix="use 'error', 'warn' or 'other'"
            )
        return cls(stated)

    def act(self, unseen: Mapping[str, Counter[str]], n_rows: int) -> None:
        """Warn of values never seen, or refuse them.

        ``found``: by column, how often each such value occurs. Raises DataError if they are refused.
        """
        odd = {name: counts for name, counts in unseen.items() if counts}
        if self is Unseen.OTHER or not odd:
            return
        text = "; ".join(_column_text(name, counts, n_rows) for name, counts in odd.items())
        if self is Unseen.ERROR:
            raise DataError(
                f"levels that were not there in training: {text}",
                cause="the model has no test that knows them",
                fix=f"correct their spelling, or use {setting_text('unseen', 'other')} to let them pass",
            )
        what = f"levels that were not there in training count as none of those known: {text}"
        warn_caller(what, UnseenLevels)


def _column_text(name: str, counts: Counter[str], n_rows: int) -> str:
    shown = ", ".join(f"{value} ({times})" for value, times in counts.most_common(SHOWN))
    more = f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
    return f"column {name!r} in {counts.total()} of {n_rows} rows: {shown}{more}"
