"""Codes of equal things: whole numbers that are made dense again without sorting, as several columns are joined."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_SMALL_TABLE = 2**18
_ENTRIES_PER_ROW = 16
"""A table of flags up to these sizes is cheaper than sorting."""


def dense(codes: Codes, size: int) -> tuple[Codes, int]:
    """Number the codes that occur from 0 on, in their order, as the inverse of ``np.unique`` does.

    Parameters
    ----------
    codes : (n,) int64
        From 0 to ``size - 1``.
    size : int

    Returns
    -------
    (n,) int64, int
        The new codes, and how many there are.
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

    Parameters
    ----------
    codes : (n,) int64
        From 0 to ``size - 1``.
    columns : iterable of (n,) integers

    Returns
    -------
    (n,) int64, int
        Dense codes, and how many there are.
    """
    largest = max(_SMALL_TABLE, _ENTRIES_PER_ROW * len(codes))
    for column in columns:
        low, high = (int(column.min()), int(column.max())) if len(codes) else (0, 0)
        width, value = high - low + 1, column
        if width == 1:
            continue
        if width * size > largest:  # before that, codes need not be dense
            codes, size = dense(codes, size)
        if width * size > largest:
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
