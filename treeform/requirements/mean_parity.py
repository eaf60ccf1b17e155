"""A bound on how far the mean predictions of groups are apart, for regression."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.errors import SpecError
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.objective import LARGEST
from treeform.requirements.amount import decimal_text
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.groups import Groups, groups_to_json, of_groups

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.data.quantity import Quantity
    from treeform.graph import DecisionGraph
    from treeform.language.ports import Ports
    from treeform.model import Model


class MeanParity(ByGroups, Bounded):
    """The mean predicted values of any two groups differ by at most this, in regression.

    Means are weighted. Values of leaves are whole multiples of the target's unit (of the grid, where targets are
    rounded to one; a finer grid allows finer values): a model with other values misses the requirement by the distance
    of the farthest one from a multiple, besides the difference. A constant model with such a value satisfies it.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    difference : float, str or Fraction
        At least 0, in the units of the target; taken as the decimal that it is written as.

    Raises
    ------
    SpecError
        If the bound is not given or negative, there are no groups, or the target is a class.
    DataError
        When bound to data: as `StatisticalParity`.

    Notes
    -----
    The mean difference of Calders, Karim, Kamiran, Ali and Zhang, Controlling attribute effect in linear regression,
    ICDM 2013, as a bound. Formulations state it under `AbsoluteError`; `RegressionSearch` gives a bound and models.
    """

    name: ClassVar[str] = "mean_parity"
    example: ClassVar[str] = "difference=1000"
    demands_tests: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    needs = frozenset({"value"})

    def __init__(self, groups: Any = None, difference: Fraction | float | str | None = None) -> None:
        if difference is None:
            raise SpecError(
                "mean_parity has no bound",
                cause="the mean predictions of two groups differ by at most so much",
                fix="write for example MeanParity(groups='sex', difference=1000)",
            )
        self.groups = groups
        self.difference = as_fraction(difference, f"the bound of {self.name}")
        if self.difference < 0:
            raise SpecError(
                f"{self.name} with difference={difference} is not possible",
                cause="a difference is at least 0",
                fix="use difference=0 for equal means",
            )

    def in_words(self) -> str:
        bound = decimal_text(self.difference)
        return f"the mean predictions differ by at most {bound} between the groups{of_groups(self.groups)}"

    def bind(self, data: Dataset, **context: Any) -> MeanParity:
        if data.quantity is None:
            raise SpecError(
                f"{self} cannot be required of predicted classes",
                cause="it compares mean values, and the objective is that of a classifier",
                fix="minimise tf.AbsoluteError() first, or use StatisticalParity for classes",
            )
        kept, _ = self._resolved_groups(data, context)
        bound = self._copy(groups=kept)
        bound._rows(data, data.quantity)  # refuses weights too fine for exact rows
        return bound

    # -- the symbolic face ------------------------------------------------------------------------

    def _rows(self, data: Dataset, quantity: Quantity) -> list[tuple[np.ndarray, int]]:
        """Coefficients (n,) of deviations and a right-hand side, for each ordered pair of groups."""
        groups = Groups.of(self.groups, data)
        weight = groups.weights(data)
        most = self.difference / quantity.unit
        rows = []
        for a, b in permutations(range(len(weight)), 2):
            # S_a / W_a - S_b / W_b <= p/q   <=>   q W_b S_a - q W_a S_b <= p W_a W_b,   S_g = sum_{i in g} w_i d_i
            on_a, on_b = most.denominator * weight[b], -most.denominator * weight[a]
            step = math.gcd(on_a, on_b)  # the left-hand side is a multiple of it
            side = most.numerator * weight[a] * weight[b] // step
            span = max(quantity.highest, -quantity.lowest, 1)
            if 2 * abs(on_a // step) * weight[a] * span > LARGEST:
                raise SpecError(
                    f"{self} cannot be stated exactly on these weights",
                    cause=f"whole coefficients reach {max(on_a, -on_b) // step:.3g} on values up to {span:.3g} units",
                    fix="round the sample weights, the bound or the targets (grid=) to fewer digits",
                )
            of_group = np.zeros(len(weight), dtype=np.int64)
            of_group[a], of_group[b] = on_a // step, on_b // step
            rows.append((of_group[groups.codes] * data.weights, side))
        return rows

    def build(self, model: Model, ports: Ports) -> None:
        assert ports.data.quantity is not None
        for coef, side in self._rows(ports.data, ports.data.quantity):
            model.add((ports.value * coef).sum() <= side, str(self))

    # -- the semantic face ------------------------------------------------------------------------

    def means(self, graph: DecisionGraph, data: Dataset) -> dict[Any, Fraction]:
        """The mean prediction of every group, exactly."""
        groups = Groups.of(self.groups, data)
        code = graph.predict_codes(data.X)
        weight = np.zeros((len(groups.labels), len(graph.values)), dtype=np.int64)
        np.add.at(weight, (groups.codes, code), data.weights)
        return {
            label: sum((w * v for w, v in zip(of, graph.values, strict=True)), Fraction(0)) / sum(of)
            for label, of in zip(groups.labels, weight.tolist(), strict=True)
        }

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        assert data.quantity is not None
        units = [value / data.quantity.unit for value in graph.values]
        off = max((abs(value - round(value)) for value in units), default=Fraction(0))
        return max(Fraction(0), self.measured(graph, data) - self.difference) + off * data.quantity.unit

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def bound(self) -> Fraction:
        return self.difference

    @property
    def bound_name(self) -> str:
        return "difference of means"

    def with_bound(self, bound: Value) -> MeanParity:
        return MeanParity(self.groups, bound)

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        means = self.means(graph, data).values()
        return max(means) - min(means)

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        # Differences are multiples of unit / (W_a W_b).
        assert data.quantity is not None
        weight = Groups.of(self.groups, data).weights(data)
        steps = [a * b / data.quantity.unit for a, b in permutations(weight, 2)]
        return max(Fraction(math.ceil(value * step) - 1) / step for step in steps) if value else None

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "parameters": {
                "groups": groups_to_json(self.groups),
                "difference": decimal_text(self.difference),
            },
        }

    def __str__(self) -> str:
        return (
            f"{self.name}:{','.join([*self._groups_part(), f'difference={decimal_text(self.difference)}'])}"
        )
