"""How a table is to be read, where that is the user's choice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from treeform.data.rows import setting_text
from treeform.errors import DataError, no_column

MISSING = ("value", "error")
DATES = (None, "days")


@dataclass(frozen=True)
class TableOptions:
    """The user's choices about columns.

    Parameters
    ----------
    categorical : tuple of str
        Columns whose values are levels, whatever they look like.
    missing : {"value", "error"}
        Whether a missing value is a value that tests send left or right, or refused.
    dates : {None, "days"}
        None refuses dates; ``"days"`` makes them days since 1970-01-01.
    abstain : str or None
        The label of leaves that decide nothing, one more class that no row has.
    """

    categorical: tuple[str, ...] = ()
    missing: str = "value"
    dates: str | None = None
    abstain: str | None = None

    @classmethod
    def of(cls, categorical: Any, missing: Any, dates: Any, abstain: Any = None) -> TableOptions:
        """Check what the user gave.

        Raises
        ------
        DataError
            If a choice is none of those above.
        """
        if isinstance(categorical, str):
            categorical = (categorical,)
        if categorical is not None and not isinstance(categorical, Iterable):
            raise DataError(
                f"categorical={categorical!r} names no columns",
                cause="it is the name of a column, or a list of names",
                fix="use for example categorical=['branch']",
            )
        _one_of("missing", missing, MISSING)
        _one_of("dates", dates, DATES)
        if abstain is not None and (not isinstance(abstain, str) or not abstain.strip()):
            raise DataError(
                f"abstain={abstain!r} is no label",
                cause="it is what is predicted where the model decides nothing",
                fix="use for example abstain='ask'",
            )
        return cls(tuple(str(name) for name in categorical or ()), missing, dates, abstain)

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        entry: dict[str, Any] = {
            "categorical": list(self.categorical),
            "missing": self.missing,
            "dates": self.dates,
        }
        return entry if self.abstain is None else {**entry, "abstain": self.abstain}

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse names of columns that are not in the table."""
        unknown = [name for name in self.categorical if name not in names]
        if unknown:
            what = f"categorical names {unknown[0]!r}, which is no column"
            raise no_column(what, unknown[0], names, fix="name columns of the table")


USUAL = TableOptions()


def _one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if not isinstance(value, str | None) or value not in known:
        raise DataError(
            f"{setting_text(name, value)} is not known",
            fix=f"use {' or '.join(repr(choice) for choice in known)}",
        )
