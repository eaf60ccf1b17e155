"""From a solver's hyperplane to a test in the user's units: few digits, and the same sides exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from treeform.data import Dataset, midpoint
from treeform.formulations.odd.hulls import Hulls
from treeform.shape import MARGIN
from treeform.utils.arrays import Bools, Floats, Ints

#: Share of the margin that rows state, and below which sets of points count as inseparable. It is less than what the
#: exact evaluation requires (0.97) by more than the tolerance of solvers, so that no admissible model is cut off.
STATED = 0.96
#: Share of the margin that a rounded hyperplane has to keep: a little more than exact evaluation requires.
ENOUGH = 0.975
DIGITS = range(1, 16)
LARGEST = 1e300
LARGE = 200_000  # entries of the matrix of a linear program that is solved for a hyperplane of larger margin


@dataclass(frozen=True)
class Cube:
    """The points in the user's units and scaled to [0, 1], without constant features."""

    X: Floats
    """(P, F') float64: in the user's units."""
    unit: Floats
    """(P, F') float64: scaled to [0, 1]."""
    low: Floats
    span: Floats
    """(F',) float64: least value and range of each feature."""
    kept: Ints
    """(F',) int64: which encoded features these are."""

    @classmethod
    def of(cls, data: Dataset) -> Cube:
        X = data.points.X
        low, span = X.min(axis=0), np.ptp(X, axis=0)
        kept = np.flatnonzero(span > 0)
        X, low, span = X[:, kept], low[kept], span[kept]
        return cls(X, (X - low) / span, low, span, kept)

    def too_fine(self, epsilon: float) -> str | None:
        """Which feature has values that a margin of ``epsilon`` cannot separate, or None."""
        for j, feature in enumerate(self.kept.tolist()):
            gap = float(np.diff(np.unique(self.unit[:, j])).min())
            if gap < epsilon:
                return (
                    f"values of feature {feature} are {gap:.1e} of its range apart, and (13) tells apart "
                    f"{epsilon:.0e} only"
                )
        return None

    @staticmethod
    def refusal(data: Dataset) -> str | None:
        """Why a column has no place on a scale from 0 to 1: missing values, or its range; or None."""
        if data.columns_with_gaps:
            named = ", ".join(data.columns_with_gaps[:6])
            return (
                f"hyperplanes cannot read columns with missing values ({named}): fill in the values, exclude these "
                "columns, or use univariate splits"
            )
        X = data.points.X
        with np.errstate(over="ignore"):
            span = X.max(axis=0) - X.min(axis=0)
        for feature in np.flatnonzero((span > LARGEST) | ((span > 0) & (span < 1 / LARGEST))).tolist():
            name = data.columns[feature].name
            size = f"{span[feature]:.1e}" if np.isfinite(span[feature]) else "more than 1.8e308"
            return (
                f"the values of {name!r} range over {size}, and features are scaled to [0, 1], which "
                f"needs a range from {1 / LARGEST:.0e} to {LARGEST:.0e}; state the column in other units"
            )
        return None

    def test(
        self, points: Ints, left: Bools, slope: Floats, signs: tuple[Bools, Bools] | None = None
    ) -> dict[str, Any] | None:
        """A test that sends ``points[left]`` left and the others right: ``{"weights", "threshold"}``.

        None when no hyperplane parts the points by the margin. Solvers return hyperplanes that just reach it. On the
        same sides the one of largest margin is taken, rounded to as few digits as leave half of it; on large data,
        where that linear program takes too long, the solver's own, rounded to as few digits as keep the sides and the
        margin.

        ``slope``: (F',) weights over the scaled features. ``signs``: which weights may be below 0, and which above;
        others stay 0. By default all may be either.
        """
        least = ENOUGH * float(MARGIN)
        both = bool(left.any()) and not bool(left.all())
        if both and self.unit[points].size <= LARGE:
            best, margin = widest(self.unit[points], left, signs)
            if margin >= least:
                return self._rounded(points, left, best, max(least, margin / 2))
        return self._rounded(points, left, slope, least)

    def _rounded(self, points: Ints, left: Bools, slope: Floats, margin: float) -> dict[str, Any] | None:
        size = np.abs(slope).max(initial=0.0)
        if size == 0.0:
            return None
        exact = slope / size / self.span
        places = np.floor(np.log10(self.span)).astype(int)
        for digits in DIGITS:
            weights = np.array(
                [round(w, d) for w, d in zip(exact.tolist(), (places + digits).tolist(), strict=True)]
            )
            gap = margin * float(np.abs(weights * self.span).max())
            threshold = _between(self.X[points] @ weights, left, gap)
            if threshold is not None and gap > 0:
                by_feature = dict(zip(self.kept.tolist(), weights.tolist(), strict=True))
                return {"weights": by_feature, "threshold": threshold}
        return None


def _between(value: Floats, left: Bools, gap: float) -> float | None:
    """A threshold with the points of each side on their side of it, if they are so far apart."""
    if left.all():
        return float(value.max(initial=0.0))
    low = float(value[~left].min())
    if not left.any():
        return low - max(1.0, abs(low))
    high = float(value[left].max())
    return midpoint(high, low) if low > high and low - high >= gap else None


def widest(unit: Floats, left: Bools, signs: tuple[Bools, Bools] | None = None) -> tuple[Floats, float]:
    """The hyperplane of largest margin with weights in [-1, 1], and that margin (negative: inseparable).

    max s  subject to  a x + s <= b (left),  a x >= b (right),  -1 <= a <= 1, and 0 where ``signs`` rule it out.
    """
    if signs is None:
        return Hulls(unit, left).widest()
    n, d = unit.shape
    sign = np.where(left, 1.0, -1.0)
    rows = np.column_stack([sign[:, None] * unit, -sign, left.astype(float)])
    ranges = [(-float(low), float(high)) for low, high in zip(*signs, strict=True)]
    bounds = [*ranges, (None, None), (None, float(d))]
    cost = np.zeros(d + 2)
    cost[-1] = -1.0
    answer = linprog(cost, A_ub=rows, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if answer.x is None:
        return np.zeros(d), -np.inf
    return np.asarray(answer.x[:d]), float(answer.x[-1])
