"""The distinct tests of a table that a formulation offers, and the side that points take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from treeform.model import concatenate

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.model import Expr

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class OfferedTests:
    """The tests to choose from, sorted by feature and threshold."""

    feature: Ints
    """(T,) int64: encoded feature that the test reads."""
    threshold: NDArray[np.float64]
    """(T,) float64"""
    left: Bools
    """(T, P) bool: whether a point goes left."""
    by_feature: bool
    """Whether tests of different features that part the points alike are different tests."""
    n_features: int

    @classmethod
    def of(cls, data: Dataset, by_feature: bool, least: int) -> Self:
        """The tests whose lighter side has at least the weight ``least``, a minimum support; no node has another."""
        splits = data.splits(None if by_feature else "global")
        kept = splits.lighter(data.points.weights.sum(axis=1)) >= max(least, 1)
        feature = splits.feature[kept].astype(np.int64)
        return cls(feature, splits.threshold[kept], splits.left[kept], by_feature, data.n_features)

    @property
    def n_tests(self) -> int:
        """T."""
        return len(self.feature)

    @cached_property
    def _numbers(self) -> dict[tuple[int, bytes], int]:
        return {
            self._key(int(f), side): k
            for k, (f, side) in enumerate(zip(self.feature, self.left, strict=True))
        }

    def _key(self, feature: int, side: Bools) -> tuple[int, bytes]:
        return (feature if self.by_feature else -1, np.packbits(side ^ side[0]).tobytes())

    def find(self, side: Bools, feature: int) -> tuple[int, bool] | None:
        """The test of ``feature`` that sends the points ``side`` (P,) left: (number, sides swapped), or None."""
        number = self._numbers.get(self._key(feature, side))
        return None if number is None else (number, bool(self.left[number, 0] != side[0]))


def by_column(chosen: Expr, columns: Ints, n_columns: int) -> Expr:
    """(V, n_columns) with ``chosen`` (V, m) at these columns, the last of several at one, and 0 elsewhere."""
    place = np.full(n_columns, len(columns))
    place[columns] = np.arange(len(columns))
    return concatenate([chosen, np.zeros((chosen.shape[0], 1))], axis=1)[:, place]
