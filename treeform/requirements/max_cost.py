"""A budget for what predictions cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.language.costs import LARGEST_COST, ClassCost, Cost, too_large
from treeform.language.forms import Rows, Sum
from treeform.language.numbers import not_negative
from treeform.language.objective import Error, Objective
from treeform.requirements.counted import SumsAtMost
from treeform.shape import Shape
from treeform.utils.text import decimal_text

EXAMPLE = "write for example MaxCost([[0, 5], [1, 0]], at_most=200) or MaxCost('balanced_error', at_most=0.3)"


class MaxCost(SumsAtMost):
    """The cost of the predictions is bounded, whatever the objective is.

    Parameters
    ----------
    cost : (K, K) array, objective or str
        Costs by true and predicted class, as of `Cost`; or a sum of terms by class: ``"cost[0 5; 1 0]"``,
        ``"balanced_error"``, ``"abstain_cost[price=0.2]"``, ``"error"``.
    at_most : number
        The budget, in the units of the costs; for `Error` and `Cost`, a unit of sample weight costs its entry.

    Raises
    ------
    SpecError
        If the costs are not by class or the budget is negative; when bound to data, if the matrix has another size.

    Notes
    -----
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.
    """

    name: ClassVar[str] = "max_cost"
    words: ClassVar[str] = "the predictions cost at most {at_most} together, counted as {cost}"
    samples: ClassVar[tuple[str, ...]] = ("max_cost:balanced_error,at_most=0.4",)

    def __init__(self, cost: Any, at_most: Fraction | float | str) -> None:
        known = isinstance(cost, str) or hasattr(cost, "terms")
        self.cost = Objective.of(cost if known else Cost(cost))
        refused, what = "a budget of {} is not possible", "the budget of max_cost"
        self.at_most = not_negative(at_most, what, refused, "costs are not negative", EXAMPLE)
        other = [term for _, term in self.cost.terms if not isinstance(term, ClassCost | Error)]
        if other or not self.cost.terms:
            raise SpecError(
                f"MaxCost cannot bound {self.cost}" if other else "MaxCost bounds nothing",
                cause="costs are by true and predicted class here",
                fix=EXAMPLE + "; error rates of groups are bounded by GroupErrorAtMost",
            )

    def bind(self, data: Dataset, **context: Any) -> MaxCost:
        return self._copy(cost=self.cost.bind(data, **context))

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        for _, term in self.cost.terms:
            if (refusal := term.refusal(data, shape)) is not None:
                return refusal
        dearest = Fraction(int(self._entries(data)[0].max()))
        return too_large(dearest, data) if dearest * data.total_weight >= LARGEST_COST else None

    def _entries(self, data: Dataset) -> tuple[np.ndarray, Fraction]:
        """(K, K) whole costs of a unit of weight, as Python integers, and what 1 of them is in the user's units."""
        classes = range(data.n_classes)
        exact = [[Fraction(0)] * data.n_classes for _ in classes]
        for weight, term in self.cost.terms:
            table = term.entries(data) if isinstance(term, ClassCost) else ~np.eye(data.n_classes, dtype=bool)
            for truth in classes:
                for guess in classes:
                    exact[truth][guess] += weight * data.weight_unit * table[truth][guess]
        unit = Fraction(1, math.lcm(*(v.denominator for row in exact for v in row)))
        return np.array([[int(v / unit) for v in row] for row in exact], dtype=object), unit

    def sums(self, rows: Rows) -> Iterator[Sum]:
        entries, unit = self._entries(rows.data)
        yield rows.cost(entries, name=str(self)) * (unit / rows.data.weight_unit)

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def bound_name(self) -> str:
        return "cost"

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        entry = {"cost": str(self.cost), "at_most": decimal_text(self.at_most)}
        return {"name": self.name, "parameters": entry}

    def __str__(self) -> str:
        return f'{self.name}:"{self.cost}",at_most={decimal_text(self.at_most)}'
