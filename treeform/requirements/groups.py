"""Groups of samples for fairness requirements: codes and labels, from whatever the user has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from treeform.data import Dataset
from treeform.data.roles import in_row_order, of_some_rows
from treeform.errors import CertificateError, DataError, SpecError
from treeform.language.classes import plain_label
from treeform.utils.rows import rows_note, rows_text, worded
from treeform.utils.text import count_of

MAX_GROUPS = 50
CROSSED = " & "
"""Between the names of columns that are crossed: ``"sex & age"``."""


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the kept rows of a data set."""

    codes: np.ndarray
    """(n,) int64: group of each kept row."""
    labels: tuple[Any, ...]
    """The label of each group: text, numbers or booleans."""
    name: str | None = None
    """What the groups are called, where known."""

    @classmethod
    def of(cls, values: Any, data: Dataset) -> Groups:
        """Groups from a column's name, names of columns that are crossed, an array, a Series, or a frame of columns.

        Raises
        ------
        DataError
            If there is no such column, the length is wrong, a value is missing, or there are not at least two
            and at most 50 groups.
        """
        if isinstance(values, Groups):
            return values._fitted(data)
        values = by_name(values, data)
        if not isinstance(values, str):
            return cls._read(_kept_rows(values, data), _name_of(values), data)
        known = _read_once.setdefault(data, {})
        if values not in known:
            known[values] = cls._read(_of_columns(values, data), values, data)
        return known[values]

    @classmethod
    def _read(cls, raw: np.ndarray, name: str | None, data: Dataset) -> Groups:
        if raw.ndim == 2 and raw.shape[1] == 1:
            raw = raw[:, 0]
        missing = np.asarray(pd.isna(raw))
        if missing.any():
            rows = data.kept_rows[missing if missing.ndim == 1 else missing.any(axis=1)]
            raise DataError(
                f"the groups{_called(name)} have a missing value in {rows_text(rows)}{rows_note()}",
                cause="every sample belongs to one group",
                fix="fill the missing values (for example with 'unknown'), or drop those rows",
            )
        if raw.ndim == 2:
            raw = np.array([CROSSED.join(map(str, row)) for row in raw], dtype=object)
        try:
            codes, uniques = pd.factorize(pd.Series(list(raw)), sort=False)
        except TypeError:
            kinds = ", ".join(sorted({type(value).__name__ for value in raw}))
            raise DataError(
                f"the groups{_called(name)} cannot be told apart (types: {kinds})",
                cause="a group is text, a number or a boolean",
                fix="give one such value for each row, or a table whose columns are crossed",
            ) from None
        labels = [plain_label(label) for label in uniques]
        order = sorted(range(len(labels)), key=lambda g: (str(type(labels[g])), labels[g]))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return cls(rank[codes], tuple(labels[g] for g in order), name)._fitted(data)

    def _fitted(self, data: Dataset) -> Groups:
        if len(self.codes) != data.n_samples:
            raise DataError(
                f"the groups{_called(self.name)} have {count_of(len(self.codes), 'entry')} for "
                + count_of(data.n_samples, "sample"),
                cause="groups were bound to other data",
                fix="give the groups again, or name a column",
            )
        if len(self.labels) < 2:
            raise DataError(
                f"the groups{_called(self.name)} have one value only ({self.labels[0]!r})",
                cause="fairness compares two groups or more",
                fix="name another column, or drop the requirement",
            )
        if len(self.labels) > MAX_GROUPS:
            raise DataError(
                f"the groups{_called(self.name)} have {len(self.labels)} different values",
                cause=f"each pair of groups gives rows; at most {MAX_GROUPS} groups are taken",
                fix="bin the values, for example with pandas.cut",
            )
        return self

    def taken(self, order: np.ndarray) -> Groups:
        """The groups of the samples at these positions."""
        return Groups(self.codes[order], self.labels, self.name)

    def weights(self, data: Dataset) -> list[int]:
        """Total weight of every group, in weight units."""
        total = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(total, self.codes, data.weights)
        return [int(w) for w in total]

    def to_json(self) -> dict[str, Any]:
        return {"codes": self.codes.tolist(), "labels": list(self.labels), "name": self.name}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Groups:
        try:
            codes = np.asarray(value["codes"], dtype=np.int64)
            labels = tuple(value["labels"])
            fits = codes.ndim == 1 and len(codes) and codes.min() >= 0 and codes.max() < len(labels)
        except (KeyError, TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise CertificateError(
                "the groups of a requirement are damaged", cause="codes and labels do not fit"
            )
        return cls(codes, labels, value.get("name"))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Groups)
            and (self.labels, self.name) == (other.labels, other.name)
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        return hash((self.labels, self.name))

    def __repr__(self) -> str:
        return f"<Groups{_called(self.name)}: {', '.join(map(str, self.labels))}>"


_read_once: WeakKeyDictionary[Dataset, dict[str, Groups]] = WeakKeyDictionary()
"""Groups that columns are, of each data set: every judgement of a model asks for them."""


def resolved(values: Any, data: Dataset, owner: str, kind: str, written: str) -> tuple[Any, Groups]:
    """What an ``owner`` keeps of its groups, and the groups: a name is right for other rows too, arrays become codes.

    Raises SpecError if there are none, naming the ``kind`` of the owner and how groups are ``written``.
    """
    if values is None:
        raise SpecError(
            f"{owner} has no groups",
            cause=f"neither the {kind} nor the problem names a sensitive attribute",
            fix=worded(f"write {written}, or pass sensitive_features=...", "add groups=COLUMN to it"),
        )
    values = by_name(values, data)
    groups = Groups.of(values, data)
    return (values if isinstance(values, str) else groups), groups


def by_name(values: Any, data: Dataset) -> Any:
    """Columns that are crossed as one text, ``"sex & age"``; a column's name and anything else as they are."""
    known = data.table.names
    if isinstance(values, int | float) and str(values) in known:  # a name such as 3 in text
        values = str(values)
    if isinstance(values, str):
        parts = [part.strip() for part in values.split(CROSSED.strip())]
        crossed = values not in known and any(part in known for part in parts)
        return CROSSED.join(parts) if crossed else values
    if not isinstance(values, list | tuple) or not values or len(values) == data.table.n_rows:
        return values
    named = all(isinstance(value, str) for value in values) and any(value in known for value in values)
    return CROSSED.join(values) if named else values


def _of_columns(name: str, data: Dataset) -> np.ndarray:
    """A column, or a matrix of those that the name of `by_name` crosses."""
    parts = [name] if name in data.table.names else name.split(CROSSED)
    if not any(part in data.table.names for part in parts):
        return data.column(name)
    return np.column_stack([np.asarray(data.column(part), dtype=object) for part in parts])


def _kept_rows(values: Any, data: Dataset) -> np.ndarray:
    """One entry per row that the user passed, cut down to the rows that count."""
    values = in_row_order(values, data.table.labels, "the groups", "groups")
    values = of_some_rows(values, data.table.labels)
    raw = np.asarray(values, dtype=object)
    rows = data.table.n_rows
    if raw.ndim not in (1, 2) or len(raw) != rows:
        some = (
            "; a fold of cross-validation has some of the rows, and an array does not say which entries are theirs"
            if raw.ndim in (1, 2) and len(raw) > rows
            else ""
        )
        raise DataError(
            f"the groups have shape {raw.shape} for {count_of(rows, 'row')}",
            cause=f"there is one group per row of the table as passed, rows of weight 0 included{some}",
            fix="pass an array with one entry per row, a Series with the index of the DataFrame X, or the name of a "
            "column (which `exclude` keeps from being tested)",
        )
    return np.asarray(raw[data.kept_rows])


def _name_of(values: Any) -> str | None:
    name = getattr(values, "name", None)
    if name is None and isinstance(values, pd.DataFrame):
        return CROSSED.join(map(str, values.columns))
    return None if name is None else str(name)


def groups_to_json(groups: Any) -> Any:
    """Groups for a file: a column's name as it is, arrays as codes."""
    return groups.to_json() if isinstance(groups, Groups) else groups


def groups_from_json(value: Any) -> Any:
    """The inverse of `groups_to_json`."""
    return Groups.from_json(value) if isinstance(value, Mapping) else value


def groups_text(groups: Any) -> str:
    """What groups are called in the text of a requirement."""
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    return "<array>" if name is None else str(name)


def of_groups(groups: Any) -> str:
    """ " of sex" for groups of that name, nothing for groups without one."""
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    return "" if name is None else f" of {name}"


def _called(name: str | None) -> str:
    return "" if name is None else f" {name!r}"
