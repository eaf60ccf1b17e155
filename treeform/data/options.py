"""How a table is to be read, where that is the user's choice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.data.exact import AUTO, exact_number, fraction_of
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
    weight_grid : Fraction, "auto" or None
        What sample weights are rounded to multiples of; None: they are exact. See `treeform.data.weights.read_weights`.
    """

    categorical: tuple[str, ...] = ()
    missing: str = "value"
    dates: str | None = None
    abstain: str | None = None
    weight_grid: Fraction | str | None = None

    @classmethod
    def of(
        cls, categorical: Any, missing: Any, dates: Any, abstain: Any = None, weight_grid: Any = None
    ) -> TableOptions:
        """Check what the user gave. Raises DataError if a choice is none of those above."""
        if isinstance(categorical, str):
            categorical = (categorical,)
        if categorical is not None and not isinstance(categorical, Iterable):
            raise DataError(
                f"categorical_features={categorical!r} names no columns",
                cause="it is the name of a column, or a list of names",
                fix="use for example categorical_features=['branch']",
            )
        names = () if categorical is None else tuple(str(name) for name in categorical)
        if isinstance(missing, str) and missing == "majority":
            raise DataError(
                f"{setting_text('missing', missing)} is for predictions, and a problem is stated on the training rows",
                cause="in training a missing value is a value that each test sends left or right",
                fix="leave it out here; result.graph.accepting predicts so, and estimators take missing='majority'",
            )
        one_of("missing", missing, MISSING)
        one_of("dates", dates, DATES)
        if abstain is not None and (not isinstance(abstain, str) or not abstain.strip()):
            raise DataError(
                f"abstain={abstain!r} is no label",
                cause="it is what is predicted where the model decides nothing",
                fix="use for example abstain='ask'",
            )
        return cls(names, missing, dates, abstain, grid_of(weight_grid))

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        entry: dict[str, Any] = {
            "categorical": list(self.categorical),
            "missing": self.missing,
            "dates": self.dates,
        }
        more = {"abstain": self.abstain, "weight_grid": self.weight_grid and str(self.weight_grid)}
        return entry | {key: value for key, value in more.items() if value is not None}

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse names of columns that are not in the table."""
        unknown = [name for name in self.categorical if name not in names]
        if unknown:
            what = f"categorical_features names {unknown[0]!r}, which is no column"
            raise no_column(what, unknown[0], names, fix="name columns of the table")


USUAL = TableOptions()


def grid_of(value: Any, name: str = "weight_grid") -> Fraction | str | None:
    """A grid that numbers are rounded to: a positive number, "auto" or None.

    Raises DataError if it is none of these.
    """
    if value is None or (isinstance(value, str) and value == AUTO):
        return value
    try:
        grid = fraction_of(value) if isinstance(value, str) else exact_number(value)
    except (ValueError, ZeroDivisionError):
        grid = None
    if grid is None or grid <= 0 or isinstance(value, bool):
        raise DataError(
            f"{setting_text(name, value)} is no grid",
            cause="numbers are rounded to multiples of it, so that it is a positive number",
            fix=f"use for example {setting_text(name, '0.001')}, or {setting_text(name, AUTO)}",
        )
    return grid


def one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    """Refuse a setting that is none of those known. Raises DataError if it is not."""
    if not isinstance(value, str | None) or value not in known:
        raise DataError(
            f"{setting_text(name, value)} is not known",
            fix=f"use {' or '.join(repr(choice) for choice in known)}",
        )
