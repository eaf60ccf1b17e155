"""A fingerprint of 64 bits for each row, and for each column: which rows two tables share, and where they differ.

A print depends on what a row holds, column by column and by name, and not on how a table was encoded: a level that
occurs in one row only, or the first missing value of a column, changes the features of all rows, and the print of one.
Prints tell rows apart; rows with equal prints can be made up.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.columns import CATEGORY, ORDERED, Column
from treeform.data.dataset import Dataset
from treeform.utils.arrays import Bools, Floats, Ints

Words = NDArray[np.uint64]
TARGET, WEIGHTS = "the target", "the weights"


@dataclass(frozen=True, eq=False)
class Prints:
    """Prints of a data set."""

    rows: Words
    """(n,) uint64: of the features, and of the target where ``of_target``. Weights and excluded columns are no part of
    it."""
    columns: dict[str, int]
    """Of all values of a column, in any order: by what it is called in a message. Weights and excluded columns, too."""
    of_target: bool
    """False where the target was rounded: the same row may be rounded otherwise elsewhere."""


def prints_of(data: Dataset, of_target: bool = True) -> Prints:
    """The prints of a data set; with ``of_target`` False those of the features alone."""
    points = data.points  # equal rows once
    merged = np.zeros(points.n_points, dtype=np.uint64)
    columns: dict[str, int] = {}
    at = 0
    for source in data.encoder.sources:
        width = len(source.columns)
        values = _of_source(source.columns, points.X[:, at : at + width])
        at += width
        named = _mixed(values + _word(source.name))
        merged += named
        columns[f"column {source.name!r}"] = _sum(named[points.index])
    rows = merged[points.index]
    target = _of_target(data)
    columns[TARGET] = _sum(target)
    of_target = of_target and (data.quantity is None or not data.quantity.note)
    if of_target:
        rows = rows + target
    exact = [_word(str(int(weight) * data.weight_unit)) for weight in np.unique(data.weights)]
    columns[WEIGHTS] = _sum(np.array(exact)[np.unique(data.weights, return_inverse=True)[1].reshape(-1)])
    for name in data.exclude:
        columns[f"the excluded column {name!r}"] = _sum(_of_texts(list(map(str, data.column(name).tolist()))))
    return Prints(rows, columns, of_target)


def shared(rows: Words, others: Words) -> Bools:
    """Which of ``rows`` are among ``others``, each as often as it is there: (n,) bool."""
    order = np.argsort(rows, kind="stable")
    ordered, there = rows[order], np.sort(others)
    number = np.arange(len(rows)) - np.searchsorted(ordered, ordered)  # how many equal ones come before
    times = np.searchsorted(there, ordered, side="right") - np.searchsorted(there, ordered)
    out = np.empty(len(rows), dtype=bool)
    out[order] = number < times
    return out


def shared_rows(data: Dataset, others: Dataset) -> int:
    """How many rows of ``data`` are equal to rows of ``others``, in features and target."""
    of_target = prints_of(others).of_target and prints_of(data).of_target
    return int(shared(prints_of(data, of_target).rows, prints_of(others, of_target).rows).sum())


def order_like(rows: Words, others: Words) -> Ints:
    """(n,) positions in ``rows``, which are the same in another order, that make them ``others``."""
    place = np.empty(len(rows), dtype=np.int64)
    place[np.argsort(others, kind="stable")] = np.argsort(rows, kind="stable")
    return place


def _of_source(columns: tuple[Column, ...], X: Floats) -> Words:
    """The print of one of the user's columns at each point."""
    if columns[0].kind == CATEGORY:
        out = np.zeros(len(X), dtype=np.uint64)
        for f, column in enumerate(columns):
            out[X[:, f] == 1] = _word(column.name)
        return out
    first = columns[0]  # a column with gaps is there twice
    if first.kind == ORDERED:
        words = np.array([_word("no level"), *(_word(str(level)) for level in first.levels)])
        known = np.clip(X[:, 0], -1, len(first.levels)).astype(np.int64)
        out = words[np.where(known < len(first.levels), known + 1, 0)]
    else:
        out = _mixed(np.ascontiguousarray(X[:, 0]).view(np.uint64))
    out[first.missing_values(X[:, 0])] = _word("missing")
    return out


def _of_target(data: Dataset) -> Words:
    if data.quantity is not None:
        return _mixed(data.quantity.values.view(np.uint64) + _word(TARGET))
    return np.array([_word(f"{TARGET} {label}") for label in data.classes])[data.y]


def _of_texts(texts: list[str]) -> Words:
    codes, levels = pd.factorize(np.array(texts, dtype=object))
    return np.array([_word(str(level)) for level in levels])[codes]


def _word(text: str) -> np.uint64:
    raw = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.uint64(int.from_bytes(raw[:8], "little"))


def _mixed(words: Words) -> Words:
    """Each word with its bits spread (the finalizer of splitmix64; Steele, Lea and Flood, OOPSLA 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _sum(words: Any) -> int:
    return int(_mixed(words).sum(dtype=np.uint64))
