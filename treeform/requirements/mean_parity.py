"""A bound on how far the mean predictions of groups are apart, for regression."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.data.quantity import Quantity
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import LARGEST, not_negative
from treeform.language.ports import Ports
from treeform.language.values import ValueRow, ValueRule
from treeform.model import Model
from treeform.requirements.by_groups import ByGroups
from treeform.requirements.groups import Groups, of_groups
from treeform.shape import Shape, Tree
from treeform.utils.rows import worded
from treeform.utils.text import decimal_text


class MeanParity(ByGroups, Bounded):
    """The mean predicted values of any two groups differ by at most this, in regression.

    Means are weighted. Values of leaves are any fractions, or whole: multiples of the target's unit (of the grid, where
    targets are rounded to one; a finer grid allows finer values) from the least to the greatest target. A model with
    other values misses the requirement then by the distance of the farthest one from such a number, besides the
    difference. A constant model with such a value satisfies it.

    Parameters
    ----------
    groups : str, array, Series, DataFrame or None
        See `StatisticalParity`.
    difference : float, str or Fraction
        At least 0, in the units of the target; taken as the decimal that it is written as.
    whole : bool, optional
        Whether values of leaves are whole. By default: under `AbsoluteError`, whose best values are whole without a
        bound, so that solvers can state it; not under `SquaredError`.

    Raises
    ------
    SpecError
        If the bound is not given or negative, there are no groups, or the target is a class.
    DataError
        When bound to data: as `StatisticalParity`.

    Notes
    -----
    The mean difference of Calders, Karim, Kamiran, Ali and Zhang, Controlling attribute effect in linear regression,
    ICDM 2013, as a bound. `RegressionSearch` proves it at depth one and two, and gives a bound and models beyond;
    formulations state it under `AbsoluteError`, with whole values.
    """

    name: ClassVar[str] = "mean_parity"
    samples: ClassVar[tuple[str, ...]] = (
        "mean_parity:groups=group,difference=0.3",
        "mean_parity:difference=0",
    )
    example: ClassVar[str] = "difference=1000"
    told: ClassVar[tuple[str, ...]] = ("difference",)
    demands_tests: ClassVar[bool] = False
    of_rows: ClassVar[bool] = True
    of_values: ClassVar[bool] = True
    needs = frozenset({"value"})
    moves: ClassVar[str] = "difference"

    def __init__(
        self,
        groups: Any = None,
        difference: Fraction | float | str | None = None,
        whole: bool | str | None = None,
    ) -> None:
        if difference is None:
            raise self._without_bound("the mean predictions of two groups differ by at most so much")
        self.groups = groups
        self.whole = _truth(whole)
        refused, what = f"{self.name} with difference={{}} is not possible", f"the bound of {self.name}"
        fix = "use difference=0 for equal means"
        self.difference = not_negative(difference, what, refused, "a difference is at least 0", fix)

    def in_words(self) -> str:
        bound = decimal_text(self.difference)
        return f"the mean predictions differ by at most {bound} between the groups{of_groups(self.groups)}"

    def bind(self, data: Dataset, **context: Any) -> MeanParity:
        if data.quantity is None:
            raise SpecError(
                f"{self} cannot be required of predicted classes",
                cause="it compares mean values, and the objective is that of a classifier",
                fix=worded(
                    "minimise tf.AbsoluteError() first, or use StatisticalParity for classes",
                    "add --minimize absolute_error, or use statistical_parity for classes",
                ),
            )
        kept, _ = self._resolved_groups(data, context)
        whole = context.get("whole_values", True) if self.whole is None else self.whole
        bound = self._copy(groups=kept, whole=whole)
        bound._rows(data, data.quantity)  # refuses weights too fine for exact rows
        return bound

    def refusal(self, data: Dataset, shape: Shape) -> SpecError | None:
        if self.whole is not False or isinstance(shape, Tree):
            return None
        return SpecError(
            f"{self} cannot be required of {shape} with any values",
            cause="the native search is over trees, and formulations have whole values at leaves",
            fix="use MeanParity(..., whole=True), or shape=tf.Tree(depth)",
        )

    # -- the symbolic face ------------------------------------------------------------------------

    def _rows(self, data: Dataset, quantity: Quantity) -> list[tuple[np.ndarray, Fraction]]:
        """Coefficients (n,) of deviations and the exact right-hand side, for each ordered pair of groups."""
        groups = Groups.of(self.groups, data)
        weight = groups.weights(data)
        most = self.difference / quantity.unit
        rows = []
        for a, b in permutations(np.flatnonzero(weight).tolist(), 2):  # a slice may have no row of a group
            # S_a / W_a - S_b / W_b <= p/q   <=>   q W_b S_a - q W_a S_b <= p W_a W_b,   S_g = sum_{i in g} w_i d_i
            on_a, on_b = most.denominator * weight[b], -most.denominator * weight[a]
            step = math.gcd(on_a, on_b)
            side = Fraction(
                most.numerator * weight[a] * weight[b], step
            )  # whole values alone would let it be rounded
            span = max(quantity.highest, -quantity.lowest, 1)
            if 2 * abs(on_a // step) * weight[a] * span > LARGEST:
                raise SpecError(
                    f"{self} cannot be stated exactly on these weights",
                    cause=f"whole coefficients reach {max(on_a, -on_b) // step:.3g} on values up to {span:.3g} units",
                    fix="round the sample weights (weight_grid=), the bound or the targets (grid=) to fewer digits",
                )
            of_group = np.zeros(len(weight), dtype=np.int64)
            of_group[a], of_group[b] = on_a // step, on_b // step
            rows.append((of_group[groups.codes] * data.weights, side))
        return rows

    def value_rule(self, data: Dataset) -> ValueRule | None:
        if data.quantity is None:
            return None
        rows = tuple(ValueRow(coef, side) for coef, side in self._rows(data, data.quantity))
        return ValueRule(rows, whole=self.whole is not False)

    def build(self, model: Model, ports: Ports) -> None:
        if self.whole is False:
            raise SpecError(
                f"{self} cannot be stated to a solver",
                cause="formulations have whole values at leaves, and whole=False allows all fractions",
                fix="leave out solver and formulation, or use MeanParity(..., whole=True)",
            )
        assert ports.data.quantity is not None
        for coef, side in self._rows(ports.data, ports.data.quantity):
            # Values are whole, so is the sum; no sum of theirs is above LARGEST.
            model.add((ports.value * coef).sum() <= min(math.floor(side), LARGEST), str(self))

    # -- the semantic face ------------------------------------------------------------------------

    def means(self, graph: DecisionGraph, data: Dataset) -> dict[Any, Fraction]:
        """The mean prediction of every group that has rows, exactly."""
        groups = Groups.of(self.groups, data)
        code = graph.predict_codes(data.X)
        weight = np.zeros((len(groups.labels), len(graph.values)), dtype=np.int64)
        np.add.at(weight, (groups.codes, code), data.weights)
        return {
            label: sum((w * v for w, v in zip(of, graph.values, strict=True)), Fraction(0)) / sum(of)
            for label, of in zip(groups.labels, weight.tolist(), strict=True)
            if sum(of)
        }

    def violation(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        assert data.quantity is not None
        beyond = max(Fraction(0), self.measured(graph, data) - self.difference)
        if self.whole is False:
            return beyond
        low, high = data.quantity.lowest, data.quantity.highest
        units = [data.quantity.in_units(value) for value in graph.values]
        off = max((abs(v - min(max(round(v), low), high)) for v in units), default=Fraction(0))
        return beyond + off * data.quantity.unit

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def is_continuous(self) -> bool:
        return self.whole is False

    @property
    def bound_name(self) -> str:
        return "difference of means"

    @property
    def measure(self) -> str:
        return "mean predictions differ by {}"

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        means = self.means(graph, data).values()
        return max(means) - min(means)

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        # Differences are multiples of unit / (W_a W_b).
        assert data.quantity is not None
        weight = [w for w in Groups.of(self.groups, data).weights(data) if w]
        steps = [a * b / data.quantity.unit for a, b in permutations(weight, 2)]
        return max((Fraction(math.ceil(value * step) - 1) / step for step in steps), default=None) if value else None


def _truth(value: Any) -> bool | None:
    """Whether values are whole, as texts of requirements have it too. Raises SpecError if it says neither."""
    known = {"true": True, "false": False, "none": None}
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if str(value).lower() in known:
        return known[str(value).lower()]
    raise SpecError(
        f"whole={value!r} of mean_parity is not understood",
        cause="values are whole or they are not",
        fix="use whole=True or whole=False, or leave it out",
    )
