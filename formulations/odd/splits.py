"""Univariate splits: which test a node makes, (15)-(16), and that points obey it, in place of (13)-(14)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from treeform.model import concatenate
from treeform.ports import Component

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.model import Expr, Model
    from treeform.ports import Ports

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tests:
    """The tests to choose from, sorted by feature and threshold, and where points stand between them.

    Attributes
    ----------
    feature : (T,) int64
    threshold : (T,) float64
    left : (T, P) bool
        Whether a point goes left.
    """

    feature: Ints
    threshold: NDArray[np.float64]
    left: NDArray[np.bool_]
    by_feature: bool
    """Whether equal partitions by different features are different tests."""

    @classmethod
    def of(cls, data: Dataset, wanted: frozenset[str], facts: dict[str, int]) -> Tests:
        """Tests that separate something; equal partitions once, unless somebody asks for features.

        A test whose lighter side has less weight than a minimum support can be at no node at all.
        """
        by_feature = "feature" in wanted
        splits = data.splits(None if by_feature else "global")
        weight = data.points.weights.sum(axis=1)
        lighter = splits.left @ weight
        lighter = np.minimum(lighter, data.total_weight - lighter)
        kept = lighter >= facts.get("min_support", 1)
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

    def left_matrix(self) -> tuple[Any, NDArray[np.bool_]]:
        """Rows that say which side points take, over the cumulative literals: (matrix (P, T), row says right).

        With g_k = "the node tests this feature, at threshold k or a later one", point p goes left iff g_k holds
        for its first threshold k >= x_p, or right iff the feature is tested and that does not hold. Of the two
        forms each point takes the one with fewer terms.
        """
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


class UnivariateSplits(Component):
    """Each used node makes one test ``x[feature] <= threshold`` out of those that separate points.

    Notes
    -----
    The paper states splits by a vector a and an offset b with an epsilon and big-M rows (13)-(14), of which
    (15)-(16) leave one entry of a. Between the ordered values of a feature only finitely many thresholds
    differ, so here binary literals choose among them, exactly and on any scale. The literals are cumulative,
    ``g[u, k]`` = "u tests this feature, at its k-th threshold or a later one": a point goes left iff g holds at
    its own place in the order, one term per feature, and branching on g halves a range of thresholds.

    Publishes ``left`` (P, V), "point p would go left at u" (0 where u is not used), and ``feature``.
    """

    needs = frozenset({"d", "w"})
    offers = frozenset({"feature", "left", "g"})

    def build(self, m: Model, t: Ports) -> None:
        tests = Tests.of(t.data, t.wanted, t.facts)
        t.state["tests"] = tests
        nodes = t.d.shape[0]
        g = m.bool("g", (nodes, tests.n_tests))
        chosen = g[:, tests.first] if tests.n_tests else g
        # (15) sum_j e_vj = d_v, where e_vj = g at the first threshold of feature j
        m.add(chosen.sum(axis=1) == t.d, "(15) one feature at a used node")
        later = np.setdiff1d(np.arange(tests.n_tests), tests.first)
        if len(later):
            # (16) thresholds of the chosen feature only, in order
            m.add(g[:, later] <= g[:, later - 1], "(16) thresholds in order")
        left = m.bool("left", (t.points.n_points, nodes), relax=True)
        matrix, turned = tests.left_matrix()
        reading = matrix @ g.T
        plain, other = np.flatnonzero(~turned), np.flatnonzero(turned)
        if len(plain):
            m.add(left[plain] == reading[plain], "side of points, by tests that send them left")
        if len(other):
            m.add(t.d - left[other] == reading[other], "side of points, by tests that send them right")
        # (13) w-_iu = 1 only if x_i goes left at u     (14) w+_iu = 1 only if it goes right
        m.add(t.w[:, :, 0] <= left, "(13) left only where the test says so")
        m.add(t.w[:, :, 1] <= t.d - left, "(14) right only where the test says so")
        t.publish("left", left)
        t.publish("g", g)
        if "feature" in t.wanted:
            t.publish("feature", _by_feature(chosen, tests.feature[tests.first], t.n_features))


def _by_feature(chosen: Expr, feature: Ints, n_features: int) -> Expr:
    """(V, F) from the features that have tests."""
    column = np.full(n_features, chosen.shape[1])
    column[feature] = np.arange(len(feature))
    return concatenate([chosen, np.zeros((chosen.shape[0], 1))], axis=1)[:, column]
