"""The binary features of the paper: the distinct tests of a table, and the side that points take."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from treeform.language.ports import OfferedTests, Shared
from treeform.model import Expr
from treeform.utils.arrays import Floats, Ints


class BinaryTests(OfferedTests, Shared, publisher="Branching"):
    """One binary feature f for each test: x_if = 0 where point i goes left."""

    @property
    def of_feature(self) -> Floats:
        """(T, F) 1 where a test reads a feature."""
        return np.asarray(self.feature[:, None] == np.arange(self.n_features), dtype=np.float64)

    @property
    def several(self) -> Ints:
        """The features with more than one test."""
        return np.flatnonzero(self.of_feature.sum(axis=0) > 1)

    def sides(self, b: Expr, chosen: Expr) -> list[tuple[Ints, Expr, Expr]]:
        """The sums over the tests that send a point left, and right, in as few terms as possible, with the points (m,).

        ``sum over f with x_if = 0 of b_nf`` and the same for ``x_if = 1`` add up to the sum over all tests, which is
        ``chosen`` (V,). The sum with fewer terms is written out; the other one is what it leaves of ``chosen``. There
        are two groups of points, which together are all.
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
