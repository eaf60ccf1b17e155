"""All ways in which hyperplanes part a few points, for the brute force over multivariate shapes.

Whether a hyperplane parts two sets of points by the margin is a linear program. It is solved in floating point, and
the answer is proved in rational arithmetic: "yes" by the hyperplane itself, "no" by the multipliers of the dual. What
neither proves, since the largest margin is within a few per cent of the margin asked for, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from treeform.data import Dataset, midpoint
from treeform.errors import SpecError
from treeform.graph import LinearForm
from treeform.shape import MARGIN

Signs = tuple[int, ...]
ENOUGH = Fraction(97, 100)
"""Share of the margin below which a test is not admissible; exact evaluation has the same."""


@dataclass(frozen=True)
class Cut:
    """A hyperplane: what it compares, and which points it sends left and right (bit masks over points)."""

    form: LinearForm
    threshold: float
    left: int
    right: int


class Dichotomies:
    """The hyperplanes over the distinct points of a data set, one for each way to part some of the points.

    Parameters
    ----------
    data : Dataset
        A dozen points, two or three features that are not constant.
    by_sign : bool
        Give hyperplanes for all signs of the weights, which requirements on columns may read, and both orders of
        the sides. Otherwise there is one hyperplane for each unordered pair of sides.

    Notes
    -----
    With ``by_sign`` every hyperplane has, among those that are given, one with the same sides whose weights have the
    same signs or are 0: requirements that a column less never breaks need no more.
    """

    def __init__(self, data: Dataset, by_sign: bool = False) -> None:
        self.data = data
        self.by_sign = by_sign
        self._cuts: dict[int, list[Cut]] = {}
        self._parted: dict[tuple[int, int, Signs | None], Cut | None] = {}

    @cached_property
    def _features(self) -> list[int]:
        X = self.data.points.X
        return [int(f) for f in np.flatnonzero(np.ptp(X, axis=0) > 0)]

    @cached_property
    def _unit(self) -> list[list[Fraction]]:
        """The points scaled to [0, 1], exactly; features that are constant are left out."""
        X = self.data.points.X
        columns = []
        for f in self._features:
            values = [Fraction(float(v)) for v in X[:, f]]
            low, high = min(values), max(values)
            columns.append([(v - low) / (high - low) for v in values])
        return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in X]

    def cuts(self, points: int) -> list[Cut]:
        """Hyperplanes that part the points of a mask into two sides that are not empty."""
        if points not in self._cuts:
            self._cuts[points] = list(self._enumerate(points))
        return self._cuts[points]

    def _enumerate(self, points: int) -> Iterator[Cut]:
        members = [i for i in range(self.data.points.n_points) if points >> i & 1]
        if len(members) < 2:
            return
        # The first point is on the left; a point more is tried on both sides of what could be parted so far.
        parted = [(1 << members[0], 0)]
        for i in members[1:]:
            wider = [
                pair for left, right in parted for pair in ((left | 1 << i, right), (left, right | 1 << i))
            ]
            parted = [pair for pair in wider if 0 in pair or self._part(*pair) is not None]
        for left, right in parted:
            if not right:
                continue
            if not self.by_sign:
                cut = self._part(left, right)
                assert cut is not None
                yield cut
                continue
            for sides in ((left, right), (right, left)):
                dichotomies = (
                    self._part(*sides, signs) for signs in product((-1, 0, 1), repeat=len(self._features))
                )
                yield from {_signs(cut.form): cut for cut in dichotomies if cut is not None}.values()

    def _part(self, left: int, right: int, signs: Signs | None = None) -> Cut | None:
        """A hyperplane of largest margin with these sides; `signs` bounds its weights to [-1, 0], 0 or [0, 1]."""
        key = (left, right, signs)
        if key not in self._parted:
            self._parted[key] = self._solve(left, right, signs)
        return self._parted[key]

    def _solve(self, left: int, right: int, signs: Signs | None) -> Cut | None:
        lows, highs = _members(left), _members(right)
        bounds = [
            (-1, 1) if s is None else (min(s, 0), max(s, 0)) for s in signs or [None] * len(self._features)
        ]
        if not any(bound != (0, 0) for bound in bounds):
            return None
        slope, of_lows, of_highs = _widest(self._unit, lows, highs, bounds)
        if any(slope):
            cut = self._cut(slope, left, right)
            if cut is not None:
                return cut
        if _most(self._unit, _shares(of_lows, lows), _shares(of_highs, highs), bounds) < ENOUGH * MARGIN:
            return None
        raise SpecError(
            "the points are too close to the margin for an exact answer",
            cause=f"a hyperplane parts them by nearly {float(MARGIN):g} of the range of its features",
            fix="use values further apart",
        )

    def _cut(self, slope: Sequence[float], left: int, right: int) -> Cut | None:
        """The hyperplane in the user's units; None when it does not keep the whole margin."""
        X = self.data.points.X
        span = np.ptp(X, axis=0)
        form = LinearForm.of({f: a / float(span[f]) for f, a in zip(self._features, slope, strict=True)})
        values = [form.exact(row) for row in X.tolist()]
        low, high = max(values[i] for i in _members(left)), min(values[i] for i in _members(right))
        size = max(
            abs(Fraction(w)) * _range(X[:, f]) for f, w in zip(form.features, form.weights, strict=True)
        )
        if high - low < MARGIN * size:
            return None
        return Cut(form, midpoint(float(low), float(high)), left, right)


def _widest(
    unit: list[list[Fraction]], lows: list[int], highs: list[int], bounds: list[tuple[int, int]]
) -> tuple[list[float], dict[int, float], dict[int, float]]:
    """The hyperplane of largest margin, and the multipliers of the points of its two sides.

    max s  subject to  a x + s <= b (left),  a x >= b (right),  a within its bounds.
    """
    points = np.array([[float(v) for v in unit[i]] for i in (*lows, *highs)])
    sign = np.where(np.arange(len(points)) < len(lows), 1.0, -1.0)
    rows = np.column_stack([sign[:, None] * points, -sign, (sign > 0).astype(float)])
    free = [*bounds, (None, None), (None, None)]
    cost = np.zeros(len(bounds) + 2)
    cost[-1] = -1.0
    answer = linprog(cost, A_ub=rows, b_ub=np.zeros(len(points)), bounds=free, method="highs-ds")
    if answer.x is None:
        raise AssertionError(f"a linear program that always has a solution has none: {answer.message}")
    dual = np.maximum(-answer.ineqlin.marginals, 0.0).tolist()
    tidy = [a if abs(a) > 1e-9 else 0.0 for a in answer.x[: len(bounds)].tolist()]
    return tidy, dict(zip(lows, dual, strict=False)), dict(zip(highs, dual[len(lows) :], strict=True))


def _shares(weights: dict[int, float], members: list[int]) -> dict[int, Fraction]:
    """Multipliers as exact shares that sum to 1."""
    exact = {i: Fraction(weights[i]) for i in members}
    total = sum(exact.values())
    if not total:
        return {i: Fraction(1, len(members)) for i in members}
    return {i: value / total for i, value in exact.items()}


def _most(
    unit: list[list[Fraction]], lows: dict[int, Fraction], highs: dict[int, Fraction], bounds: Any
) -> Fraction:
    """An upper bound on every margin: no slope parts two mixtures of points by more than their distance.

    With ``d`` the right mixture less the left one, the margin of ``a`` is at most ``a d``, hence at most the sum over
    features of the larger of ``low * d_j`` and ``high * d_j``.
    """
    total = Fraction(0)
    for j, (low, high) in enumerate(bounds):
        d = sum((share * unit[i][j] for i, share in highs.items()), Fraction(0))
        d -= sum((share * unit[i][j] for i, share in lows.items()), Fraction(0))
        total += max(low * d, high * d)
    return total


def _signs(form: LinearForm) -> tuple[tuple[int, bool], ...]:
    return tuple((f, w > 0) for f, w in zip(form.features, form.weights, strict=True))


def _range(column: Any) -> Fraction:
    return Fraction(float(column.max())) - Fraction(float(column.min()))


def _members(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]
