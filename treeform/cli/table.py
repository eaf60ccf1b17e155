"""The roles of a table's columns: target, weights, features, and the groups that a certificate rests on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from treeform.certify.schema import DataPart
from treeform.data.exact import plain
from treeform.data.table_files import SUFFIXES, read_table
from treeform.errors import DataError, SpecError, did_you_mean, listing
from treeform.utils.rows import BY_LINE

WHERE = BY_LINE.word


def take_column(frame: pd.DataFrame, column: str, role: str, source: Path) -> pd.Series:
    """The column that plays ``role`` (target, weight, …).

    Raises DataError if there is none of that name; the message names the closest.
    """
    if column in frame.columns:
        return frame[column]
    several = [part.strip() for part in column.split(",")]
    if len(several) > 1 and set(several) <= set(frame.columns):
        raise DataError(
            f"{source} has no column {column!r}",
            cause="an option names one column",
            fix=f"give the option once for each of {listing(several)}",
        )
    raise DataError(
        f"{source} has no column {column!r}",
        cause=f"it was named as the {role} column; the columns are {listing(map(repr, frame.columns))}",
        fix=did_you_mean(column, frame.columns, others=2)
        or f"name the {role} column as the header spells it",
    )


def split(
    frame: pd.DataFrame,
    *,
    target: str,
    weight: str | None,
    exclude: Sequence[str],
    source: Path,
    regression: bool = False,
    learnt: bool = False,
) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Features, target and weights. Excluded columns stay in the table, since requirements may name them.

    A target that is a measurement is refused, except for ``regression``. Where a model is ``learnt`` already, whole
    numbers are its classes, however seldom they repeat in these rows.

    Raises DataError if a column that is named does not exist, or target or weight cannot be what they are named for,
    and SpecError if one column is named for two roles.
    """
    y = take_column(frame, target, "target", source)
    for column in exclude:
        take_column(frame, column, "excluded", source)
    for role, named in (("target", target), ("weight", weight)):
        if named in exclude or (role == "target" and named == weight):
            raise SpecError(
                f"the column {named!r} is named twice",
                cause=f"it is the {role} and also {'excluded' if named in exclude else 'the weight'}",
                fix=f"the {role} is never a feature: leave it out of the other options",
            )
    if not regression:
        _check_target(y, target, learnt)
    weights = None if weight is None else _weights(take_column(frame, weight, "weight", source), weight)
    features = frame.drop(columns=[target, *([weight] if weight else [])])
    if not len(features.columns.difference(list(exclude))):
        raise DataError(
            f"{source} has no feature columns",
            cause=f"without {', '.join(c for c in [target, weight, *exclude] if c)} nothing is left",
            fix="give a table with at least one column that tests may use",
        )
    return features, y, weights


def _check_target(y: pd.Series, name: str, learnt: bool) -> None:
    """A column of many distinct fractions, or of numbers that seldom repeat, is a measurement and no class."""
    numeric = pd.api.types.is_numeric_dtype(y) and not pd.api.types.is_bool_dtype(y)
    known = y.dropna()
    many = numeric and known.nunique() > 20
    if many and ((known % 1 != 0).any() or (not learnt and known.nunique() > len(known) / 2)):
        raise DataError(
            f"the target {name!r} is a measurement, not a class",
            cause=f"it holds {known.nunique()} distinct numbers such as {float(known.iloc[0])}",
            fix="for regression add --minimize squared_error or absolute_error; else cut the target into classes",
        )


def _weights(values: pd.Series, name: str) -> pd.Series:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    first = int((numbers.isna()).to_numpy().argmax())
    raise DataError(
        f"the weight column {name!r} is not numeric",
        cause=f"{WHERE} {first + 1} says {plain(values.iloc[first])!r}",
        fix="weights are non-negative numbers",
    )


def take_groups(
    given: Sequence[str], stated: DataPart, frame: pd.DataFrame, source: Path
) -> tuple[Any, pd.DataFrame]:
    """Read what ``--groups`` names: the groups as `treeform.check` takes them, and the table without them.

    Names are ``COLUMN`` or ``FILE``, or ``NAME=COLUMN`` and ``NAME=FILE`` where the certificate rests on several
    arrays. Columns that were no part of the table when the problem was stated are left out of it.

    Raises DataError if there is no such column or file; SpecError if names are missing or repeated.
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
