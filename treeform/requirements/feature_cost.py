"""What features cost: a price for each column that is measured, for the whole model or on each path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Value
from treeform.language.numbers import LARGEST, as_fraction, not_negative, whole_number
from treeform.language.objective_text import bare, items_in, quoted, stated
from treeform.language.paths import ColumnRule, PathRule
from treeform.language.ports import Ports
from treeform.model import Expr, Model
from treeform.requirements.columns import (
    check_columns,
    column_groups,
    features_of,
    on_paths,
    paths_taken,
    reads,
    tests_on,
)
from treeform.requirements.counted import AtMostNumber
from treeform.shape import Shape
from treeform.utils.rows import worded
from treeform.utils.text import decimal_text

MOST_PRICED = 12
"""Priced columns up to which the sets that can be paid are listed for native engines."""


class FeatureCost(AtMostNumber):
    """The tested columns cost at most a budget: in the whole model, or on each path.

    A column costs once, however often it is tested: its value is measured once. Columns without a price are free.

    Parameters
    ----------
    costs : mapping of str to number, or str
        The price of each column, at least 0; as text ``"age=1,income=5"``.
    at_most : number, optional
        The budget, in the units of the prices. ``0`` with `soft` makes the cost a term of the objective.
    per_path : bool
        Whether the budget is for each path, that is, for each decision; else for the model. A path is what a row of
        the training data takes; in a tree these are all paths.

    Raises
    ------
    SpecError
        If a price or the budget is negative or no number.
    DataError
        When bound to data: a column that is not there.

    Notes
    -----
    Turney, Cost-sensitive classification: empirical evaluation of a hybrid genetic decision tree induction algorithm,
    JAIR 2, 1995: a test that was made before on the path costs nothing.
    """

    name: ClassVar[str] = "feature_cost"
    samples: ClassVar[tuple[str, ...]] = (
        'feature_cost:"age=1,owner=0.5",at_most=1',
        'feature_cost:"age=1,owner=0.5",at_most=1,per_path=true',
    )
    demands_tests: ClassVar[bool] = False
    needs = frozenset({"feature"})

    def __init__(self, costs: Any, at_most: Fraction | float | str = 0, per_path: bool = False) -> None:
        self.costs = _prices(costs)
        refused, fix = "a budget of {} is not possible", f"use for example {_example()}"
        what = "the budget of feature_cost"
        self.at_most: Fraction = not_negative(at_most, what, refused, "prices are not negative", fix)
        self.per_path = per_path
        if per_path:
            self.needs = frozenset({"feature", "reaches"})

    def bind(self, data: Dataset, **context: Any) -> FeatureCost:
        check_columns(data, [name for name, _ in self.costs], self)
        if self.per_path:
            self._whole()  # refuses prices too fine for exact rows
        return self

    @property
    def _names(self) -> list[str]:
        return [name for name, _ in self.costs]

    def _unit(self) -> Fraction:
        """All sums of prices are multiples of it, as is the budget."""
        return Fraction(1, math.lcm(self.at_most.denominator, *(c.denominator for _, c in self.costs)))

    def _whole(self) -> tuple[np.ndarray, int]:
        """Prices and budget in that unit; SpecError if all prices together leave exact arithmetic."""
        unit = self._unit()
        if sum(cost for _, cost in self.costs) / unit > LARGEST:
            raise SpecError(
                "the prices and the budget of feature_cost have too many digits",
                cause=f"they are whole multiples of {decimal_text(unit)} only, and sums leave exact arithmetic",
                fix="round them to fewer digits",
            )
        prices = np.array([int(c / unit) for _, c in self.costs], dtype=np.int64)
        return prices, min(int(self.at_most / unit), int(prices.sum()))  # nothing costs more than all

    def _paid(self, model: Model, ports: Ports) -> Expr:
        """What the model costs, (1,); or what each path does, (P,)."""
        prices, _ = self._whole()
        tests = tests_on(model, ports, self._names, str(self))
        if self.per_path:
            return (on_paths(model, ports, tests, str(self)) * prices).sum(axis=1)
        # tests[v, c] => used[c],   sum_c price_c used[c] <= budget
        used = model.bool("column is tested", len(self.costs))
        model.add(tests <= used[None, :], f"{self}: tested columns")
        return (used * prices).sum().reshape(1)

    def build(self, model: Model, ports: Ports) -> None:
        model.add(self._paid(model, ports) <= self._whole()[1], str(self))

    def slack_unit(self, data: Dataset) -> Fraction:
        return self._unit()

    def largest_slack(self, data: Dataset, shape: Shape) -> int:
        prices, budget = self._whole()
        return max(0, int(prices.sum()) - budget)

    def slack(self, model: Model, ports: Ports) -> Expr:
        """What the model, or its dearest path, costs beyond the budget."""
        amount = whole_number(model, f"{self}: beyond", self.largest_slack(ports.data, ports.shape))
        model.add(amount >= self._paid(model, ports) - self._whole()[1], f"{self}: cost beyond")
        return amount

    def allowed_features(self, data: Dataset) -> list[frozenset[int]] | None:
        """The largest sets that can be paid together; None for paths, and for too many columns."""
        dear = [(name, cost) for name, cost in self.costs if cost]
        if self.per_path or len(dear) > MOST_PRICED:
            return None
        every = frozenset(range(data.n_features))
        sets: list[frozenset[str]] = []
        for size in range(len(dear), -1, -1):
            for chosen in combinations(dear, size):
                names = frozenset(name for name, _ in chosen)
                if sum(c for _, c in chosen) <= self.at_most and not any(names < one for one in sets):
                    sets.append(names)
        unpaid = [[name for name, _ in dear if name not in names] for names in sets]
        return [every - {int(f) for name in out for f in features_of(data, name)} for out in unpaid]

    def path_rule(self, data: Dataset) -> PathRule | None:
        """Where the budget is for each path."""
        return _Paid(self, data) if self.per_path else None

    # -- the bound ----------------------------------------------------------------------------------

    @property
    def bound_name(self) -> str:
        return "cost of a path" if self.per_path else "cost"

    def with_bound(self, bound: Value) -> FeatureCost:
        return FeatureCost(dict(self.costs), Fraction(bound), self.per_path)

    def measured(self, graph: DecisionGraph, data: Dataset) -> Fraction:
        prices = [cost for _, cost in self.costs]
        read = reads(graph, data, self._names)
        if self.per_path:
            on = (paths_taken(graph, data).astype(int) @ read.astype(int)) > 0
        else:
            on = read.any(axis=0, keepdims=True)
        return max(
            (
                sum((c for c, o in zip(prices, row, strict=True) if o), Fraction(0))
                for row in np.unique(on, axis=0)
            ),
            default=Fraction(0),
        )

    def beyond(self, value: Value, data: Dataset) -> Fraction | None:
        unit = Fraction(1, math.lcm(*(c.denominator for _, c in self.costs)))
        return Fraction(value) - unit if value else None

    # -- text and files -----------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        costs = {name: decimal_text(cost) for name, cost in self.costs}
        entry = {"costs": costs, "at_most": decimal_text(self.at_most), "per_path": self.per_path}
        return {"name": self.name, "parameters": entry}

    def __str__(self) -> str:
        costs = ",".join(f"{quoted(name)}={decimal_text(cost)}" for name, cost in self.costs)
        path = "true" if self.per_path else None
        return stated(self.name, costs, at_most=self.at_most, per_path=path)

    def in_words(self) -> str:
        prices = ", ".join(f"{name} {decimal_text(price)}" for name, price in self.costs)
        where = "on each path" if self.per_path else "in the model"
        return f"the columns tested {where} cost at most {decimal_text(self.at_most)} together ({prices})"


class _Paid(ColumnRule):
    """The columns of a path are within the budget together."""

    def __init__(self, of: FeatureCost, data: Dataset) -> None:
        super().__init__(column_groups(data, ([name] for name in of._names)))
        self.prices, self.budget = of._whole()

    def may_follow(self, tested: frozenset[int], group: int) -> bool:
        return int(self.prices[[*(tested | {group})]].sum()) <= self.budget


def _example() -> str:
    return worded("FeatureCost({'age': 1, 'income': 5}, at_most=4)", "feature_cost:'age=1,income=5',at_most=4")


def _prices(given: Any) -> tuple[tuple[str, Fraction], ...]:
    pairs = given
    if isinstance(given, str):
        pairs = {bare(name): price for name, price in (item.rsplit("=", 1) for item in items_in(given) if "=" in item)}
    if not isinstance(pairs, Mapping) or not pairs:
        raise SpecError(
            f"the prices {given!r} are not possible",
            cause="there is a price for each column that costs something",
            fix=f"write for example {_example()}",
        )
    prices = tuple(
        (str(name).strip(), as_fraction(cost, f"the price of {name}")) for name, cost in pairs.items()
    )
    if min(cost for _, cost in prices) < 0:
        raise SpecError("a price is negative", cause="prices are at least 0", fix="leave out what is free")
    return prices
