"""Views of a data set: merged points, ranks, and the distinct tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeform.data.columns import Column
from treeform.data.midpoints import midpoints
from treeform.errors import DataError
from treeform.utils.arrays import Bools, Floats, Ints, row_numbers
from treeform.utils.budget import report_step

Codes = Ints
_SMALL_TABLE = 2**18
_ENTRIES_PER_ROW = 16
"""A table of flags up to these sizes is cheaper than sorting."""


def dense(codes: Codes, size: int) -> tuple[Codes, int]:
    """Number the codes that occur from 0 on, in their order, as the inverse of ``np.unique`` does.

    ``codes``, (n,) int64: from 0 to ``size - 1``. Returns the new codes, and how many there are.
    """
    if size > max(_SMALL_TABLE, _ENTRIES_PER_ROW * len(codes)):
        values, code = np.unique(codes, return_inverse=True)
        return code.reshape(-1).astype(np.int64, copy=False), len(values)
    occurs = np.zeros(size, dtype=bool)
    occurs[codes] = True
    used = np.flatnonzero(occurs)
    if len(used) == size:
        return codes, size
    rank = np.empty(size, dtype=np.int64)
    rank[used] = np.arange(len(used))
    return rank[codes], len(used)


def with_columns(codes: Codes, size: int, columns: Iterable[NDArray[np.integer]]) -> tuple[Codes, int]:
    """Codes of tuples (code, a value of each column), ordered by the code and then by the values.

    ``codes``, (n,) int64: from 0 to ``size - 1``. Returns dense codes, and how many there are.
    """
    largest = max(_SMALL_TABLE, _ENTRIES_PER_ROW * len(codes))
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if len(codes) else (0, 0)
        width, value = high - low + 1, column
        if width == 1:
            continue
        if width * size > largest:  # before that, codes need not be dense
            codes, size = dense(codes, size)
        if width * size > largest or column.dtype == object:
            values, value = np.unique(column, return_inverse=True)
            low, width, value = 0, len(values), value.reshape(-1)
        codes, size = codes * width + (value.astype(np.int64, copy=False) - low), size * width
        if size > largest:
            codes, size = dense(codes, size)
    return dense(codes, size)


def first_of_each(codes: Codes, size: int) -> Codes:
    """The first position of each of the dense codes: (size,) int64."""
    first = np.empty(size, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several assignments the last one stays
    return first


def bit_rows(bits: NDArray[np.uint8]) -> tuple[Codes, int]:
    """Codes of equal rows of zeros and ones, in the rows' order: (n,) int64, and how many there are."""
    codes, size = np.zeros(len(bits), dtype=np.int64), min(1, len(bits))
    if not bits.shape[1]:
        return codes, size
    packed = np.packbits(bits, axis=1)
    if packed.shape[1] <= 2:
        for byte in packed.T:
            codes, size = dense((codes << 8) | byte, size << 8)
        return codes, size
    words = np.zeros((len(bits), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    for word in words.view(">u8").T:  # as numbers, big-endian words have the order of their bits
        values, value = np.unique(word.astype(np.uint64), return_inverse=True)
        codes, size = dense(codes * len(values) + value.reshape(-1), size * len(values))
    return codes, size


Frozen = TypeVar("Frozen", bound="NDArray[Any]")
LARGEST_SPLIT_TABLE = 2**30  # entries (bytes) of Splits.left
_CHUNK = 2**24  # entries of Splits.left that are copied at a time
_CELLS_AT_A_TIME = 20_000  # of columns that are sorted together


@dataclass(frozen=True, eq=False)
class Points:
    """Rows with equal feature vectors, merged."""

    X: Floats
    """(P, F) float64: distinct feature vectors, in order of first appearance."""
    index: Ints
    """(n,) int64: the point of each row."""
    weights: Ints
    """(P, K) int64: weight of each class at each point, in weight units."""

    @property
    def n_points(self) -> int:
        """Number of distinct feature vectors."""
        return len(self.X)

    @cached_property
    def are_bits(self) -> bool:
        """Whether all values are 0 or 1."""
        return bool(((self.X == 0) | (self.X == 1)).all())

    @cached_property
    def least_errors(self) -> int:
        """Weight, in weight units, of the rows that are not of the heaviest class of their point."""
        return int(self.weights.sum() - self.weights.max(axis=1).sum())

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """The points and classes that have weight: (C,) points, (C,) classes, (C,) weights."""
        point, label = np.nonzero(self.weights)
        return point, label, self.weights[point, label]


def merge_points(X: Floats, y: Ints, weights: Ints, n_classes: int) -> Points:
    """Merge equal rows of `X`; class weights are summed exactly.

    ``X``, (n, F) float64: finite and without -0.0, so that equal values have equal bits.
    """
    index, first = group_rows(X)
    if len(first) == len(X):  # no copies of a large table
        index, distinct = row_numbers(len(X)), X
        if n_classes == 1:
            return Points(X, index, _frozen(weights.reshape(-1, 1)))
    else:
        distinct = _frozen(X[first])
    # Sums of weights are below 2**53, so that bincount's doubles are exact.
    merged = np.bincount(index * n_classes + y, weights, minlength=len(first) * n_classes)
    merged = merged.astype(np.int64).reshape(len(first), n_classes)
    return Points(distinct, _frozen(index), _frozen(merged))


def group_rows(X: Floats) -> tuple[Ints, Ints]:
    """Number groups of equal rows in order of first appearance: (group of row, first row of group).

    ``X``, (n, F) float64: finite and without -0.0, so that equal values have equal bits.
    """
    from treeform import _core

    group, first = _core.group_rows(np.ascontiguousarray(X))
    return group, first


@dataclass(frozen=True, eq=False)
class Ranks:
    """Dense ranks of the original float64 values, feature by feature."""

    codes: NDArray[np.int32]
    """(n, F) int32: ``values[f][codes[i, f]] == X[i, f]``."""
    values: tuple[Floats, ...]
    """Sorted distinct float64 values."""
    _cache: dict[int, Floats] = field(default_factory=dict, repr=False)

    def thresholds(self, feature: int) -> Floats:
        """Thresholds between neighbouring values: (len(values) - 1,) float64 with ``lo <= t < hi``."""
        if feature not in self._cache:
            values = self.values[feature]
            made = midpoints(values[:-1], values[1:])
            assert bool(((values[:-1] <= made) & (made < values[1:])).all())
            self._cache[feature] = _frozen(made)
        return self._cache[feature]


def rank_values(X: Floats) -> Ranks:
    """Rank every column of `X`."""
    codes = np.empty(X.shape, dtype=np.int32)
    values = []
    for f in range(X.shape[1]):
        distinct, code = np.unique(X[:, f], return_inverse=True)
        codes[:, f] = code.reshape(-1)
        values.append(_frozen(distinct))
    return Ranks(_frozen(codes), tuple(values))


def count_tests(X: Floats, enough: int | None = None) -> int:
    """The number of distinct tests, over all columns, or more than ``enough`` of them.

    Hashing takes a part of the time of ranks. Columns of few rows are sorted, many at a time: there a call takes longer
    than the column.
    """
    n, columns = X.shape
    if n == 0:
        return 0
    block, total = max(1, _CELLS_AT_A_TIME // n), 0
    for first in range(0, columns, block):
        part = X[:, first : first + block]
        if block > 1:
            ordered = np.sort(part, axis=0)
            total += int((ordered[1:] != ordered[:-1]).sum())
        else:
            total += len(pd.unique(part[:, 0])) - 1
        if enough is not None and total > enough:
            break
    return total


@dataclass(frozen=True, eq=False)
class Splits:
    """Tests ``x[feature] <= threshold`` that send at least one point each way."""

    feature: NDArray[np.int32]
    """(T,) int32: encoded feature of each test, increasing."""
    threshold: Floats
    """(T,) float64: increasing within a feature."""
    left: Bools
    """(T, P) bool: whether the point goes left."""

    def __len__(self) -> int:
        return len(self.feature)

    def lighter(self, weights: Ints) -> Ints:
        """(T,) weight of the lighter side of each test, where the points have ``weights`` (P,)."""
        left = np.empty(len(self), dtype=np.int64)
        # In chunks, because a product of booleans and integers copies all of them as integers: eight bytes for one.
        for part in chunks(len(self.left), self.left.shape[1], _CHUNK):
            report_step(part.start, "tests weighed", len(self))
            left[part] = self.left[part] @ weights
        lighter: Ints = np.minimum(left, weights.sum() - left)
        return lighter


def separating_splits(
    points: Points, columns: tuple[Column, ...], dedupe: Literal["feature", "global"] | None
) -> Splits:
    """List the tests; see `Dataset.splits`."""
    ranks = rank_values(points.X)
    sizes = np.array([len(values) - 1 for values in ranks.values], dtype=np.int64)
    if int(sizes.sum()) * points.n_points > LARGEST_SPLIT_TABLE:
        raise DataError(
            f"{int(sizes.sum())} different tests on {points.n_points} different rows are too many to list",
            cause="this formulation has a variable for every distinct split",
            fix="round or bin columns with many values, use fewer rows, or a native engine (tf.ConTree())",
        )
    feature = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    rank = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes] or [np.zeros(0, np.int32)])
    threshold = np.concatenate([ranks.thresholds(f) for f in range(len(sizes))] or [np.zeros(0)])
    left = np.empty((len(feature), points.n_points), dtype=bool)
    for f, end in enumerate(
        np.cumsum(sizes).tolist()
    ):  # by column, since all codes side by side take four times as much
        report_step(end, "tests listed", len(feature))
        rows = slice(end - int(sizes[f]), end)
        np.less_equal(ranks.codes[:, f], rank[rows, None], out=left[rows])
    if dedupe is not None:
        kept = _first_of_each(left, [columns[f].source if dedupe == "feature" else "" for f in feature])
        if len(kept) < len(feature):
            feature, threshold, left = feature[kept], threshold[kept], left[kept]
    return Splits(_frozen(feature), _frozen(threshold), _frozen(left))


def chunks(rows: int, width: int, entries: int = 2**18) -> Iterator[slice]:
    """The rows of a large table, some at a time: what is made of them, so wide, takes more memory than they do."""
    step = max(1, entries // max(1, width))
    return (slice(start, start + step) for start in range(0, rows, step))


def _first_of_each(left: Bools, group: list[str]) -> list[int]:
    """Positions of the first test of every partition in its group; swapped sides are the same partition."""
    seen: set[tuple[str, bytes]] = set()
    kept = []
    for part in chunks(len(left), left.shape[1], _CHUNK):
        report_step(part.start, "tests compared", len(left))
        packed = np.packbits(left[part] ^ left[part, :1], axis=1)
        for position, row in enumerate(packed, start=part.start):
            key = (group[position], row.tobytes())
            if key not in seen:
                seen.add(key)
                kept.append(position)
    return kept


def unit_interval(X: Floats) -> Floats:
    """Scale every column to [0, 1]; constant columns become 0. Neighbouring values may fall together."""
    low, high = X.min(axis=0), X.max(axis=0)
    span = high / 2 - low / 2  # halved: the range of huge values overflows
    scaled = np.divide(X / 2 - low / 2, span, out=np.zeros_like(X), where=span > 0)
    return np.asarray(np.clip(scaled, 0.0, 1.0))


def _frozen(array: Frozen) -> Frozen:
    array.setflags(write=False)
    return array
