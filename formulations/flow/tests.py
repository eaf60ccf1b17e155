"""The binary features of the paper: the distinct tests of a table, and the side that points take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from treeform.language.ports import Shared

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.model import Expr

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class BinaryTests(Shared, publisher="Branching"):
    """One binary feature f for each test: x_if = 0 where point i goes left."""

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
    def of(cls, data: Dataset, by_feature: bool, least: int) -> BinaryTests:
        """The tests whose lighter side has at least the weight ``least``, a minimum support."""
        splits = data.splits(None if by_feature else "global")
        kept = splits.lighter(data.points.weights.sum(axis=1)) >= max(least, 1)
        return cls(
            splits.feature[kept].astype(np.int64),
            splits.threshold[kept],
            splits.left[kept],
            by_feature,
            data.n_features,
        )

    @property
    def n_tests(self) -> int:
        """T."""
        return len(self.feature)

    @property
    def of_feature(self) -> NDArray[np.float64]:
        """(T, F) 1 where a test reads a feature."""
        return np.asarray(self.feature[:, None] == np.arange(self.n_features), dtype=np.float64)

    @property
    def several(self) -> Ints:
        """The features with more than one test."""
        return np.flatnonzero(self.of_feature.sum(axis=0) > 1)

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

    def sides(self, b: Expr, chosen: Expr) -> list[tuple[Ints, Expr, Expr]]:
        """The sums over the tests that send a point left, and right, in as few terms as possible.

        ``sum over f with x_if = 0 of b_nf`` and the same for ``x_if = 1`` add up to the sum over all tests, which is
        ``chosen``. The sum with fewer terms is written out; the other one is what it leaves of ``chosen``.

        Parameters
        ----------
        b : Expr (V, T)
        chosen : Expr (V,)

        Returns
        -------
        list of (points (m,) int64, left Expr (m, V), right Expr (m, V))
            Two groups of points, which together are all.
        """
        few_left = 2 * self.left.sum(axis=0) <= self.n_tests
        out = []
        for points, stated in (
            (np.flatnonzero(few_left), self.left),
            (np.flatnonzero(~few_left), ~self.left),
        ):
            if not len(points):
                continue
            terms = sparse.csr_array(stated[:, points].T.astype(float)) @ b.T
            rest = chosen - terms
            out.append((points, terms, rest) if stated is self.left else (points, rest, terms))
        return out
