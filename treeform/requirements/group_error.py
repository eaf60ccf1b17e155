"""A bound on the error rate of every group."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.shortfall import Shortfall
from treeform.language.totals import TotalRow, Totals
from treeform.requirements.amount import decimal_text, percent_text
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.groups import Groups, groups_to_json, of_groups
from treeform.requirements.rate_cells import errors_by_group

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model


class GroupErrorAtMost(ByGroups, Bounded):
    """In every group at most this share of the weight is misclassified.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    rate : float, str or Fraction
        Within [0, 1]; taken as the decimal that it is written as.

    Raises
    ------
    SpecError
        If the rate is not given or not within [0, 1], or there are no groups.
    DataError
        When bound to data: as `StatisticalParity`.

    See Also
    --------
    treeform.MaxGroupError : minimises the largest of these rates.

    Notes
    -----
    Diana et al., Minimax group fairness: algorithms and experiments, AIES 2021, the constrained form.
    """

    name: ClassVar[str] = "group_error_at_most"
    example: ClassVar[str] = "rate=0.2"
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"correct"})

    def __init__(self, groups: Any = None, rate: Fraction | float | str | None = None) -> None:
        if rate is None:
            raise SpecError(
                "group_error_at_most has no rate",
                cause="every group's error rate is bounded by it",
                fix="write for example GroupErrorAtMost(groups='sex', rate=0.2)",
            )
        self.groups = groups
        self.rate = as_fraction(rate, f"the rate of {self.name}")
        if not 0 <= self.rate <= 1:
            raise SpecError(
                f"{self.name} with rate {self.rate} is not possible",
                cause="a rate is within [0, 1]",
                fix="use 0.2",
            )

    def bind(self, data: Dataset, **context: Any) -> GroupErrorAtMost:
        kept, _ = self._resolved_groups(data, context)
        return self._copy(groups=kept)

    def _most(self, data: Dataset) -> list[int]:
        """The largest whole weight of errors that each group may have."""
        return [math.floor(self.rate * weight) for weight in self._of(data).weights(data)]

    def _of(self, data: Dataset) -> Groups:
        return Groups.of(self.groups, data)

    def build(self, model: Model, ports: Ports) -> None:
        groups, wrong = self._of(ports.data), 1 - ports.correct
        for g, most in enumerate(self._most(ports.data)):
            model.add(
                (wrong * (ports.weights * (groups.codes == g))).sum() <= most, f"{self}, {groups.labels[g]}"
            )

    def totals(self, data: Dataset) -> Totals:
        """One total for each group: the weight misclassified."""
        groups = self._of(data)
        kind, added = errors_by_group(groups, data)
        unit = np.eye(len(groups.labels), dtype=int).tolist()
        rows = tuple(TotalRow(tuple(unit[g]), hi=most) for g, most in enumerate(self._most(data)))
        return Totals(tuple(f"errors of group {label}" for label in groups.labels), added, rows, kind=kind)

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        per_sample = self.totals(data).per_sample
        return [(per_sample[:, :, g], most) for g, most in enumerate(self._most(data))]

    def shortfall(self, data: Dataset) -> Shortfall:
        """`violation`: by how much the largest of the rates is above the bound."""
        totals, groups = self.totals(data), self._of(data)
        p, q = self.rate.numerator, self.rate.denominator
        rows, units = [], []
        for row, weight in zip(totals.rows, groups.weights(data), strict=True):
            # e_g / W_g - p/q = (q e_g - p W_g) / (q W_g)
            rows.append(TotalRow(tuple(q * c for c in row.coef), hi=p * weight))
            units.append(Fraction(1, q * weight))
        return Shortfall(replace(totals, rows=tuple(rows)), tuple(units))

    def rates(self, graph: DecisionGraph, data: Dataset) -> list[Fraction]:
        """The error rate of every group, exactly."""
        groups = self._of(data)
        errors = np.zeros(len(groups.labels), dtype=np.int64)
        wrong = graph.predict_codes(data.X) != data.y
        np.add.at(errors, groups.codes[wrong], data.weights[wrong])
        return [Fraction(int(e), w) for e, w in zip(errors, groups.weights(data), strict=True)]

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return max(Fraction(0), self.measured(graph, data) - self.rate)

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def bound(self) -> Fraction:
        return self.rate

    @property
    def bound_name(self) -> str:
        return "largest group error"

    @property
    def measure(self) -> str:
        return "the largest error rate of a group is {}"

    def with_bound(self, bound: Value) -> GroupErrorAtMost:
        return GroupErrorAtMost(self.groups, bound)

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        return max(self.rates(graph, data))

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        # Rates are multiples of 1 / W_g.
        steps = self._of(data).weights(data)
        return max(Fraction(math.ceil(value * step) - 1, step) for step in steps) if value else None

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "parameters": {"groups": groups_to_json(self.groups), "rate": decimal_text(self.rate)},
        }

    def __str__(self) -> str:
        return f"{self.name}:{','.join([*self._groups_part(), f'rate={decimal_text(self.rate)}'])}"

    def in_words(self) -> str:
        return f"in every group{of_groups(self.groups)} at most {percent_text(self.rate)} of the rows are misclassified"
