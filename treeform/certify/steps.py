"""Whether a bound of a frontier was passed over, by statements of requirements that no search reads.

A frontier goes from the measure v of a model to the next bound b (`Bounded.beyond`): no model's measure may lie
strictly between. Counts are whole numbers, and rates of a confusion matrix are fractions whose denominators are at most
the whole weight. Of other shares, two different measures are at least ``1 / D**2`` apart, where D is the largest
denominator of one; there it is enough that the rows of the requirement at b are those at a bound next to v, within that
distance.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treeform import requirements as known
from treeform.certify.restated import Restated
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.language.bounded import Bounded, Value

COUNTS = (known.MaxNodes, known.MaxLeaves, known.MaxDepth, known.FeatureBudget)
RATES = (known.MinPrecision, known.MinRecall, known.MinSpecificity, known.MaxFalsePositiveRate)
AMOUNTS = (known.MinSupport, known.Stability, known.MaxErrors, known.MinCoverage)
SHARES = (
    known.StatisticalParity,
    known.EqualOpportunity,
    known.PredictiveEquality,
    known.EqualizedOdds,
    known.AccuracyParity,
    known.ConditionalParity,
    known.GroupErrorAtMost,
)
"""Measures are shares of a weight, differences of two, or ratios of two: denominators are at most its square."""


def nothing_between(axis: Bounded, value: Value, following: Value | None, data: Dataset) -> bool:
    """Whether no model has a measure that is tighter than ``value`` and looser than ``following`` (None: any bound)."""
    of: Any = axis.of if isinstance(axis, known.OnRows) else axis
    kind, weight = type(of), int(data.total_weight)
    if kind in COUNTS:
        return value <= 1 if following is None else following == value - 1
    counted = kind in AMOUNTS and of.amount.count is not None
    if following is None:
        most = weight * data.weight_unit if counted else 1
        return kind in (*RATES, *AMOUNTS, *SHARES) and value == (0 if axis.is_upper else most)
    if counted:
        return abs(following - value) == data.weight_unit
    if kind in RATES:
        # Two neighbours among the fractions with denominators of at most W (Farey, 1816).
        (a, b), (c, d) = Fraction(value).as_integer_ratio(), Fraction(following).as_integer_ratio()
        return abs(b * c - a * d) == 1 and b + d > weight
    near = Fraction(1, 2 * weight**4)
    try:
        rows = [_rows(axis, bound, data) for bound in (following, value + (-near if axis.is_upper else near))]
    except TreeformError:  # the bound next to v is none of this requirement
        return False
    return kind in (*AMOUNTS, *SHARES) and rows[0] is not None and rows[0] == rows[1]


def _rows(axis: Bounded, bound: Value, data: Dataset) -> object:
    """What the check states of the requirement at a bound."""
    stated = Restated.of(axis.with_bound(bound).bind(data))
    limits, totals = stated.limits(data), stated.totals(data)
    if totals is None:
        return limits
    rows = tuple((row.coef, row.lo, row.hi) for row in (one.reduced() for one in totals.rows))
    return limits, rows, totals.per_sample.tobytes()
