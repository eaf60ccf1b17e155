"""Groups that a certificate rests on, from a column of the table or from a separate file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from treeform.certify.schema import DataPart
from treeform.cli.table import take_column
from treeform.data.table_files import SUFFIXES, read_table
from treeform.errors import SpecError


def take_groups(
    given: Sequence[str], stated: DataPart, frame: pd.DataFrame, source: Path
) -> tuple[Any, pd.DataFrame]:
    """Read what ``--groups`` names.

    Raises DataError if there is no such column or file; SpecError if names are missing or repeated.

    Parameters
    ----------
    given : sequence of str
        ``COLUMN`` or ``FILE``, or ``NAME=COLUMN`` and ``NAME=FILE`` where the certificate rests on several arrays.
    stated : DataPart
        The entry about data in the certificate.
    frame : DataFrame
        The table.
    source : Path
        Where it came from.

    Returns
    -------
    groups : array, mapping of names to arrays, or None
        As `treeform.check` takes them.
    frame : DataFrame
        The table without the columns that were no part of it when the problem was stated.
    """
    if not given:
        return None, frame
    names = {part.name for part in stated.groups}
    groups: dict[str, Any] = {}
    for text in given:
        name, sign, place = text.partition("=")
        if not sign or name not in names:
            name, place = next(iter(names)) if len(names) == 1 else "", text
        if name in groups or not name:
            known = ", ".join(map(repr, sorted(names))) or "no groups given as an array"
            raise SpecError(
                f"--groups {text} does not say which groups it gives",
                cause=f"the certificate rests on {known}",
                fix="give each once, as --groups NAME=COLUMN or NAME=FILE",
            )
        groups[name], frame = _one(place, stated, frame, source)
    return groups, frame


def _one(place: str, stated: DataPart, frame: pd.DataFrame, source: Path) -> tuple[Any, pd.DataFrame]:
    if place not in frame.columns and place.lower().endswith(SUFFIXES):
        groups = read_table(Path(place))
        return groups.to_numpy(dtype=object), frame
    values = take_column(frame, place, "groups", source).to_numpy(dtype=object)
    return values, frame if _is_used(place, stated) else frame.drop(columns=place)


def _is_used(column: str, stated: DataPart) -> bool:
    """Whether the problem had the column in its table, as a feature or excluded."""
    return column in stated.exclude or any(
        feature == column or feature.startswith(f"{column} = ") for feature in stated.features
    )
