"""Numeric columns as 0/1 tests, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.data.views import bit_rows, first_of_each
from treeform.engines.checks import impossible
from treeform.errors import SpecError, listing

Binarisation = str | int | tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True, eq=False)
class Binarised:
    """A data set as the binary engines see it."""

    bits: NDArray[np.uint8]
    """(P, T) uint8: distinct rows; 1 where the test ``x[feature] <= threshold`` fails."""
    weights: NDArray[np.int64]
    """(P, K) int64: weight of each class at each row."""
    feature: NDArray[np.int32]
    """(T,) int32: encoded feature of each test."""
    threshold: NDArray[np.float64]
    """(T,) float64: its threshold."""
    lossless: bool
    """Every split of the data by one feature is offered, so that the optimum is that of the original columns."""
    floor: NDArray[np.int64]
    """(P0, K) int64: class weights of the distinct original rows: what no tree can separate."""

    def tests(self, data: Dataset) -> list[str]:
        """The tests as text: ``"age <= 37.5"``."""
        return [data.columns[f].test(t) for f, t in zip(self.feature, self.threshold, strict=True)]


def normalised(stated: Any, engine: str) -> Binarisation:
    """Check the setting ``binarize=`` of an engine.

    ``stated``: all distinct tests; at most so many per numeric column, at quantiles; or thresholds by column name
    (columns left out keep all of theirs), as text ``age@30+50``. Raises SpecError if it is none of these.
    """
    if stated == "all" and isinstance(stated, str):
        return stated
    if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 1:
        return stated
    if isinstance(stated, Mapping):
        stated = tuple(stated.items())
    written = (stated,) if isinstance(stated, str) else stated
    if isinstance(written, tuple) and written and isinstance(written[0], str) and "@" in written[0]:
        stated = _written(written)
    if isinstance(stated, tuple):
        try:
            return tuple((str(name), tuple(sorted(float(t) for t in values))) for name, values in stated)
        except (TypeError, ValueError):
            pass
    cause = "numeric columns become tests by 'all' thresholds, a number of quantiles, or given thresholds"
    fix = "use binarize='all', binarize=10 or binarize={'age': [30, 50]}; as text age@30+50"
    raise impossible(engine, "binarize", stated, cause, fix)


def _written(entries: tuple[Any, ...]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Thresholds as a solver's name spells them: ``age@30+50+income@2000`` has come apart at the plus signs."""
    by_column: dict[str, tuple[Any, ...]] = {}
    name = ""
    for entry in entries:
        before, at, value = entry.rpartition("@") if isinstance(entry, str) else ("", "", entry)
        name = before if at else name
        by_column[name] = (*by_column.get(name, ()), value)
    return tuple(by_column.items())


def binarise(data: Dataset, how: Binarisation) -> Binarised:
    """Turn every column of `data` into 0/1 tests.

    ``how``: see `normalised`. Raises SpecError if a named column is not there, or its thresholds are not finite.
    """
    if isinstance(how, str) and ((data.X == 0) | (data.X == 1)).all():
        return _already_binary(data)
    points, splits = data.points, data.splits("feature")
    if isinstance(how, str):
        bits = np.ascontiguousarray(~splits.left.T).view(np.uint8)
        return Binarised(bits, points.weights, splits.feature, splits.threshold, True, points.weights)
    if isinstance(how, int):
        keep = _quantiles(data, splits.feature, splits.threshold, how)
        feature, threshold = splits.feature[keep], splits.threshold[keep]
    else:
        feature, threshold = _given(data, splits.feature, splits.threshold, dict(how))
    bits = (points.X[:, feature] > threshold).astype(np.uint8)
    first, group = groups_of_bits(bits)
    merged = np.zeros((len(first), points.weights.shape[1]), dtype=np.int64)
    np.add.at(merged, group, points.weights)
    return Binarised(
        np.ascontiguousarray(bits[first]),
        merged,
        feature,
        threshold,
        len(feature) == len(splits) and isinstance(how, int),
        points.weights,
    )


def _already_binary(data: Dataset) -> Binarised:
    """The shortcut for 0/1 columns, without ranks or split tables; constant columns are left out."""
    bits = data.X.astype(np.uint8)
    ones = bits.sum(axis=0, dtype=np.int64)
    varying = np.flatnonzero((ones > 0) & (ones < data.n_samples))
    bits = np.ascontiguousarray(bits[:, varying])
    first, group = groups_of_bits(bits)
    merged = np.zeros((len(first), data.n_classes), dtype=np.int64)
    np.add.at(merged, (group, data.y), data.weights)
    half = np.full(len(varying), 0.5)
    return Binarised(bits[first], merged, varying.astype(np.int32), half, True, merged)


def groups_of_bits(bits: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal rows: (first row of each group, group of each row); groups are in the order of their rows."""
    group, groups = bit_rows(bits)
    return first_of_each(group, groups), group


def _quantiles(
    data: Dataset, feature: NDArray[np.int32], threshold: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Of each column's thresholds, the `count` that are nearest to equal shares of the weight."""
    kept = []
    for f in range(data.n_features):
        mine = np.flatnonzero(feature == f)
        if len(mine) > count:
            order = np.argsort(data.X[:, f], kind="stable")
            below = np.cumsum(data.weights[order])
            reached = below[np.searchsorted(data.X[order, f], threshold[mine], side="right") - 1]
            wanted = below[-1] * np.arange(1, count + 1) / (count + 1)
            mine = mine[np.unique([int(np.abs(reached - w).argmin()) for w in wanted])]
        kept.append(mine)
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def _given(
    data: Dataset,
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    thresholds: dict[str, tuple[float, ...]],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The thresholds that the user named; all of the data's for the other columns."""
    names = [column.name for column in data.columns]
    unknown = [name for name in thresholds if name not in names]
    if unknown:
        raise SpecError(
            f"binarize= names a column {unknown[0]!r} that is not there",
            cause=f"the columns are {listing(map(repr, names))}",
            fix="correct the name",
        )
    if not all(np.isfinite(t) for values in thresholds.values() for t in values):
        raise SpecError("binarize= holds a threshold that is not finite", fix="use finite numbers")
    features, values = [], []
    for f, name in enumerate(names):
        mine = np.array(thresholds[name]) if name in thresholds else threshold[feature == f]
        low, high = data.X[:, f].min(), data.X[:, f].max()
        mine = np.unique(mine[(low <= mine) & (mine < high)])
        features.append(np.full(len(mine), f, dtype=np.int32))
        values.append(mine.astype(np.float64))
    return np.concatenate(features), np.concatenate(values)
