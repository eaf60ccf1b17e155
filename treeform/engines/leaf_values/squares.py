"""Least squares under linear rows, in fractions: the best values of leaves with given weights and means.

Minimise  sum_l n_l (v_l - m_l)^2  subject to  A v <= b.  With v = m - H^-1 A' u, H = diag(2 n), the dual is

    max  r' u - 1/2 u' G u,  u >= 0,     r = A m - b,  G = A H^-1 A',

and is solved by active sets (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23; Goldfarb and Idnani,
Mathematical Programming 27, 1983, for rows that depend on active ones). It ends: each step increases the dual.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from treeform.engines.leaf_values.problem import BestValues, Stop, never, product, solved
from treeform.language.values import ValueRow
from treeform.utils.out_of_reach import Stopped

NOTHING = Fraction(0)


def least_squares(
    weights: Sequence[int], means: Sequence[Fraction], rows: Sequence[ValueRow], stop: Stop = never
) -> BestValues | None:
    """The values nearest to the means that satisfy all rows; None where none do.

    The cost is what they cost beyond the means.
    """
    return _Dual(weights, means, rows).solve(stop)


class _Dual:
    def __init__(self, weights: Sequence[int], means: Sequence[Fraction], rows: Sequence[ValueRow]) -> None:
        self.weights, self.means, self.rows = weights, means, rows
        self.share = [Fraction(1, 2 * n) for n in weights]
        self.u: dict[int, Fraction] = {}
        """Multipliers of the active rows, which are independent of each other."""

    def solve(self, stop: Stop) -> BestValues | None:
        while True:
            if stop():
                raise Stopped
            values = [
                m - h * sum((u * self.rows[i].coef[leaf] for i, u in self.u.items()), NOTHING)
                for leaf, (m, h) in enumerate(zip(self.means, self.share, strict=True))
            ]
            beyond = {
                j: excess
                for j, row in enumerate(self.rows)
                if j not in self.u and (excess := product(row.coef, values) - row.side) > 0
            }
            if not beyond:
                each = zip(self.weights, values, self.means, strict=True)
                cost = sum((n * (v - m) ** 2 for n, v, m in each), NOTHING)
                return BestValues(tuple(values), cost, dict(self.u))
            if not self._enter(max(beyond, key=lambda j: beyond[j])):
                return None

    def _inner(self, i: int, j: int) -> Fraction:
        pairs = zip(self.rows[i].coef, self.rows[j].coef, self.share, strict=True)
        return sum((a * b * h for a, b, h in pairs if a and b), NOTHING)

    def _enter(self, entering: int) -> bool:
        """Bring a violated row into the active ones; whether that is possible."""
        active = list(self.u)
        onto = solved(
            [[self._inner(i, j) for j in active] for i in active], [self._inner(i, entering) for i in active]
        )
        assert onto is not None
        shares = dict(zip(active, onto, strict=True))
        along = sum((c * self._inner(i, entering) for i, c in shares.items()), NOTHING)
        self.u[entering] = NOTHING
        if self._inner(entering, entering) == along:
            # The row is a combination of active ones: no value moves, and one of them leaves.
            ratios = [(self.u[i] / c, i) for i, c in shares.items() if c > 0]
            if not ratios:
                return False
            step, leaving = min(ratios)
            for i, c in shares.items():
                self.u[i] -= step * c
            self.u[entering] = step
            del self.u[leaving]
        self._settle()
        return True

    def _settle(self) -> None:
        """Move to the point at which all active rows hold with equality; rows whose multiplier falls to 0 leave."""
        while True:
            active = list(self.u)
            target = solved(
                [[self._inner(i, j) for j in active] for i in active],
                [product(self.rows[i].coef, self.means) - self.rows[i].side for i in active],
            )
            assert target is not None
            aims = dict(zip(active, target, strict=True))
            if all(z > 0 for z in target):
                self.u = aims
                return
            step = min(self.u[i] / (self.u[i] - z) for i, z in aims.items() if z <= 0)
            moved = {i: self.u[i] + step * (z - self.u[i]) for i, z in aims.items()}
            self.u = {i: u for i, u in moved.items() if u > 0}
