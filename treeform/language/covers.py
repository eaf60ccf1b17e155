"""Sets of points, eight to a byte: those that reach the nodes of a graph, of which there may be a million."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2**24
"""Bytes of what is unpacked at a time."""


@dataclass(frozen=True, eq=False)
class Covers:
    """N sets of points, as packed bits."""

    bits: NDArray[np.uint8]
    """(N, B) uint8: point p is bit p % 8, from the least one on, of byte p // 8; bits beyond the last
    point are zero."""
    n_points: int

    def __len__(self) -> int:
        return len(self.bits)

    def __getitem__(self, which: Any) -> NDArray[np.bool_]:
        """Some of the sets, as truth values of points along the last axis."""
        unpacked = np.unpackbits(self.bits[which], axis=-1, count=self.n_points, bitorder="little")
        return unpacked.view(np.bool_)

    def times(self, values: NDArray[Any]) -> NDArray[Any]:
        """(N, ...) the sum of ``values`` (P, ...) over the points of each set."""
        out = np.zeros((len(self), *values.shape[1:]), dtype=values.dtype)
        for part in self._parts(values.itemsize):
            out[part] = self[part].astype(values.dtype) @ values
        return out

    def added(self, values: NDArray[Any]) -> NDArray[Any]:
        """(P, ...) for each point the sum of ``values`` (N, ...) over the sets that it is in."""
        out = np.zeros((self.n_points, *values.shape[1:]), dtype=values.dtype)
        for part in self._parts(values.itemsize):
            out += self[part].T.astype(values.dtype) @ values[part]
        return out

    def _parts(self, itemsize: int) -> Iterator[slice]:
        size = max(1, AT_ONCE // (itemsize * max(1, self.n_points)))
        for start in range(0, len(self), size):
            yield slice(start, start + size)
