"""The tests to choose from: ordered thresholds between values, and where points stand among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from treeform.language.shared import Shared

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.model import Expr

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tests(Shared):
    """The tests to choose from, sorted by feature and threshold, and where points stand between them.

    Attributes
    ----------
    feature : (T,) int64
    threshold : (T,) float64
    left : (T, P) bool
        Whether a point goes left.
    """

    publisher: ClassVar[str] = "UnivariateSplits"
    feature: Ints
    threshold: NDArray[np.float64]
    left: NDArray[np.bool_]
    by_feature: bool
    """Whether equal partitions by different features are different tests."""

    @classmethod
    def of(cls, data: Dataset, wanted: frozenset[str], least: int) -> Tests:
        """Tests that separate something; equal partitions once, unless features are read.

        A test whose lighter side has less weight than ``least``, a minimum support, can be at no node at all.
        """
        by_feature = "feature" in wanted
        splits = data.splits(None if by_feature else "global")
        kept = splits.lighter(data.points.weights.sum(axis=1)) >= max(least, 1)
        feature = splits.feature[kept].astype(np.int64)
        return cls(feature, splits.threshold[kept], splits.left[kept], by_feature)

    @property
    def n_tests(self) -> int:
        """T, the number of tests."""
        return len(self.feature)

    @cached_property
    def first(self) -> Ints:
        """Position of the first test of every feature that has one."""
        new = np.ones(self.n_tests, dtype=bool)
        new[1:] = self.feature[1:] != self.feature[:-1]
        return np.flatnonzero(new)

    @cached_property
    def group(self) -> Ints:
        """(T,) which of the features that have tests a test belongs to."""
        return np.repeat(np.arange(len(self.first)), np.diff([*self.first, self.n_tests]))

    @cached_property
    def _numbers(self) -> dict[tuple[int, bytes], int]:
        return {
            _key(self, int(f), side): k
            for k, (f, side) in enumerate(zip(self.feature, self.left, strict=True))
        }

    def find(self, X: NDArray[np.float64], feature: int, threshold: float) -> tuple[int, bool] | None:
        """The test that parts the points ``X`` (P, F) as ``x[feature] <= threshold`` does: (number, sides swapped)."""
        side = X[:, feature] <= threshold
        number = self._numbers.get(_key(self, feature, side))
        return None if number is None else (number, bool(self.left[number, 0] != side[0]))

    @cached_property
    def later(self) -> Ints:
        """Position of every test that is not the first of its feature."""
        return np.setdiff1d(np.arange(self.n_tests), self.first)

    def choices(self, literals: Expr) -> Expr:
        """(..., T) cumulative literals at the first test of every feature: whether the feature is tested."""
        return literals[:, self.first] if self.n_tests else literals

    def read(self, on_left: Expr, on_right: Expr, all_left: Expr, all_right: Expr) -> list[tuple[Ints, Expr]]:
        """The value of cumulative literals at every point, in as few terms as possible.

        A node that makes a test at threshold k or a later one of its feature has ``on_left[u, k] = 1`` when its
        left side has some property (such as "leads to class c"), and ``on_right[u, k] = 1`` when its right side
        has. A point with ``k`` as its first threshold >= x_p then meets the property iff

            sum over features of  on_left[k] + (on_right[first] - on_right[k]).

        With the totals ``all_left = sum on_left[first]`` and ``all_right`` alike, this is

            all_right + sum over features with such a k of (on_left - on_right)[k], or
            all_left - sum over features of (on_left - on_right)[first] - (on_left - on_right)[k].

        Of the two forms each point takes the one with fewer terms.

        Parameters
        ----------
        on_left, on_right : Expr (V, T)
        all_left, all_right : Expr (V,)

        Returns
        -------
        list of (points, Expr (points, V))
        """
        matrix, turned = self._forms
        gain = matrix @ (on_left - on_right).T
        plain, other = np.flatnonzero(~turned), np.flatnonzero(turned)
        parts = [(plain, all_right + gain[plain]), (other, all_left - gain[other])]
        return [(points, expr) for points, expr in parts if len(points)]

    @cached_property
    def _forms(self) -> tuple[Any, NDArray[np.bool_]]:
        """Coefficients (P, T) of the two forms of `read`, and which points take the second."""
        points = self.left.shape[1]
        if self.n_tests == 0:
            return sparse.csr_array((points, 0)), np.zeros(points, dtype=bool)
        size = np.diff([*self.first, self.n_tests])
        # (features, P): number of thresholds below the point's value
        below = np.add.reduceat(~self.left, self.first, axis=0, dtype=np.int64)
        may_left, may_right = below < size[:, None], below > 0
        turned = may_right.sum(axis=0) + (may_right & may_left).sum(axis=0) < may_left.sum(axis=0)
        at = np.minimum(self.first[:, None] + below, self.n_tests - 1)
        start = np.broadcast_to(self.first[:, None], below.shape)
        point = np.broadcast_to(np.arange(points), below.shape)
        plain = may_left & ~turned
        opens, closes = may_right & turned, may_right & may_left & turned
        rows = np.concatenate([point[plain], point[opens], point[closes]])
        cols = np.concatenate([at[plain], start[opens], at[closes]])
        vals = np.repeat([1.0, 1.0, -1.0], [plain.sum(), opens.sum(), closes.sum()])
        return sparse.csr_array((vals, (rows, cols)), shape=(points, self.n_tests)), turned


def _key(tests: Tests, feature: int, side: NDArray[np.bool_]) -> tuple[int, bytes]:
    return (feature if tests.by_feature else -1, np.packbits(side ^ side[0]).tobytes())
