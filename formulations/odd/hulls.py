"""Two sets of points and their convex hulls: what no hyperplane separates by the margin, and the widest that does.

A hyperplane with weights in [-1, 1] separates two sets by at most the L1 distance of their convex hulls, and one
separates them by exactly that: the two linear programs are each other's dual. The one over mixtures of points, solved
here, has as many rows as features, however many points there are, and is solved again from its last basis
when points are left out or get other costs.
"""

from __future__ import annotations

import numpy as np

from treeform.backends.linear_programs import LinearProgram
from treeform.utils.arrays import Bools, Floats, Ints

TINY = 1e-9  # shares of a mixture below this are noise of the solver


class Hulls:
    """The linear program of two mixtures, one of the points on each side.

    min  cost @ share + sum(up + down)  subject to  right mixture - left mixture = up - down,  the shares of
    each side sum to 1,  all at least 0.

    Points (n, d) are scaled to [0, 1]; both sides have one.
    """

    def __init__(self, unit: Floats, left: Bools) -> None:
        self.unit, self.left = unit, left
        self.n, self.d = unit.shape
        d = self.d
        signed = np.where(self.left[:, None], -self.unit, self.unit)
        mixture = np.column_stack([signed, self.left, ~self.left]).astype(float).T
        gaps = np.vstack([np.hstack([-np.eye(d), np.eye(d)]), np.zeros((2, 2 * d))])
        sums = np.concatenate([np.zeros(d), np.ones(2)])
        self._lp = LinearProgram(np.hstack([mixture, gaps]), sums, sums)

    def meet(self, alive: Bools, cost: Floats, margin: float) -> Ints | None:
        """A set of living points that no hyperplane separates by ``margin``, where the two hulls meet; else None.

        The mixtures are those of least cost; at most d + 2 points have a share. None does not mean that a hyperplane
        keeps the margin: see `nearest`.
        """
        return self._conflict(self.mixture(alive, cost), margin)

    def mixture(self, alive: Bools, cost: Floats) -> Floats | None:
        """Shares of least cost with which the two mixtures are one point; None where there are none."""
        return self._solve(alive, cost, 0.0)[0]

    def nearest(self, alive: Bools, margin: float) -> Ints | None:
        """A set of living points that no hyperplane separates by ``margin``, where the hulls are nearest; else None."""
        return self._conflict(self._solve(alive, np.zeros(self.n), np.inf)[0], margin)

    def _conflict(self, share: Floats | None, margin: float) -> Ints | None:
        if share is None or not self.distance(share) < margin:
            return None
        return np.flatnonzero(share > 0)

    def distance(self, share: Floats) -> float:
        """The L1 distance of the mixtures with these shares, each side's scaled to sum to 1: no margin is wider.

        That holds whatever a solver says of the shares. Rounding moves the value by less than 1e-10, so that
        a distance below 0.96 of a margin of 1e-4 proves that 0.97 of it is out of reach.
        """
        ours, theirs = share * self.left, share * ~self.left
        if not ours.sum() > 0 or not theirs.sum() > 0:
            return np.inf
        return float(np.abs(ours @ self.unit / ours.sum() - theirs @ self.unit / theirs.sum()).sum())

    def widest(self) -> tuple[Floats, float]:
        """The hyperplane of largest margin with weights in [-1, 1], and the margin that it has (negative: none)."""
        slope = self._solve(np.ones(self.n, dtype=bool), np.zeros(self.n), np.inf)[1]
        slope = slope / max(1.0, float(np.abs(slope).max(initial=0.0)))
        value = self.unit @ slope
        return slope, float(value[~self.left].min() - value[self.left].max())

    def _solve(self, alive: Bools, cost: Floats, gap: float) -> tuple[Floats | None, Floats]:
        """Shares of the points, None without a solution; and the prices of the features: a hyperplane."""
        gaps = 2 * self.d
        found = self._lp.solve(
            np.concatenate([cost, np.ones(gaps)]),
            np.zeros(self.n + gaps),
            np.concatenate([np.where(alive, np.inf, 0.0), np.full(gaps, gap)]),
        )
        if found is None:
            return None, np.zeros(self.d)
        share = found.x[: self.n]
        share = np.where(alive & (share > TINY), share, 0.0)
        return share, -found.prices[: self.d]
