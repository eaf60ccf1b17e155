"""What requirements say, written again for the check: from their definitions, by code that no search calls.

The check's own provers (counting, the search by prices, the reference searches) read nothing that a requirement states
of itself but its parameters and `violation`; where that is the excess of inequalities, these are read one by one. What
has no statement here is judged on models, or left out of a bound, which stays a bound. `treeform.testing.derivations`
holds these statements against `violation`, model by model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from treeform import requirements as known
from treeform.certify.restated_paths import PATHS
from treeform.certify.restated_sums import Table, as_written, is_judged_as_written, one_row
from treeform.certify.restated_values import MARKS, VALUES
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.classes import class_code
from treeform.language.costs import Cost
from treeform.language.meetings import Meetings
from treeform.language.objective import Error
from treeform.language.paths import PathRule
from treeform.language.ports import Ports
from treeform.language.question import Question
from treeform.language.rational import least_at_least
from treeform.language.requirement import Requirement
from treeform.language.totals import Totals, joined
from treeform.language.values import ValueRule
from treeform.model import Model
from treeform.objectives.abstain import AbstainCost
from treeform.objectives.balanced import BalancedError
from treeform.objectives.group_error import WorstGroup
from treeform.requirements.amount import Amount
from treeform.requirements.groups import Groups
from treeform.requirements.on_rows import BoundedOnRows
from treeform.shape import Limits
from treeform.utils.arrays import Mask


def restated(question: Question) -> Question:
    """The same question, whose requirements state only what is written here."""
    return question.with_(requirements=tuple(Restated.of(one) for one in question.requirements))


class Restated(Requirement, listed=False):
    """A requirement, bound to the data, with the check's statements in place of its own; it still judges models."""

    name: ClassVar[str] = "restated"

    def __init__(self, of: Requirement) -> None:
        self.needs, self.demands_tests = of.needs, of.demands_tests  # type: ignore[misc]
        self.judge, self.kind = of, type(of)

    @classmethod
    def of(cls, requirement: Requirement) -> Restated:
        """The requirement restated, once."""
        return requirement if isinstance(requirement, Restated) else cls(requirement)

    def build(self, model: Model, ports: Ports) -> None:
        """Rows for the clauses that a proof is about, where limits or rows over predictions state the requirement.

        Raises SpecError where nothing of the kind does.
        """
        limits = self.limits(ports.data) or Limits()
        if limits.names == {"max_nodes"}:
            if limits.max_nodes < sum(ports.shape.widths):  # type: ignore[operator]
                model.add(ports.active.sum() <= limits.max_nodes, str(self))
            return
        if limits.names == {"max_errors"}:
            model.add(((1 - ports.correct) * ports.weights).sum() <= limits.max_errors, str(self))
            return
        rows = self.prediction_rows(ports.data)
        if not rows or "predicted" not in self.needs:
            raise SpecError(f"the check has no rows over ports for {self}")
        for coef, side in rows:
            model.add((ports.predicted * (coef * ports.weights[:, None])).sum() <= side, str(self))

    def violation(self, graph: DecisionGraph, data: Dataset) -> int | Fraction:
        return self.judge.violation(graph, data)

    def adapted(self, graph: DecisionGraph, data: Dataset) -> DecisionGraph:
        return self.judge.adapted(graph, data)

    def limits(self, data: Dataset) -> Limits | None:
        state = LIMITS.get(self.kind)
        return None if state is None else state(self.judge, data)

    def totals(self, data: Dataset) -> Totals | None:
        state = ROWS.get(self.kind) or (as_written if is_judged_as_written(self.judge) else None)
        return None if state is None or data.quantity is not None else state(self.judge, data)

    def prediction_rows(self, data: Dataset) -> list[tuple[np.ndarray, int]]:
        totals = self.totals(data)
        rows: list[tuple[np.ndarray, int]] = []
        for row in () if totals is None or totals.of_nodes else totals.rows:
            each = totals.weighted(np.array(row.coef, dtype=np.int64))  # type: ignore[union-attr]
            rows += [] if row.hi is None else [(each, row.hi)]
            rows += [] if row.lo is None else [(-each, -row.lo)]
        return rows

    def meetings(self, data: Dataset) -> Meetings | None:
        state = MARKS.get(self.kind)
        return None if state is None or data.quantity is not None else state(self.judge, data)

    def allowed_features(self, data: Dataset) -> list[frozenset[int]] | None:
        state = FEATURES.get(self.kind)
        return None if state is None else [state(self.judge, data)]

    def path_rule(self, data: Dataset) -> PathRule | None:
        state = PATHS.get(self.kind)
        return None if state is None else state(self.judge, data)

    def value_rule(self, data: Dataset) -> ValueRule | None:
        state = VALUES.get(self.kind)
        return None if state is None or data.quantity is None else state(self.judge, data)

    def __str__(self) -> str:
        return str(self.judge)


# -- limits --------------------------------------------------------------------------------------------------


def _units(amount: Amount, data: Dataset) -> Fraction:
    """An amount of samples, in units of weight; it need not be whole."""
    if amount.count is not None:
        return Fraction(amount.count) / data.weight_unit
    return Fraction(amount.fraction or 0) * int(data.weights.sum())


def _least(amount: Amount, data: Dataset) -> int:
    return -(-_units(amount, data) // 1)  # weights are whole units, so that a part of one is a whole one


def _for_tests(amount: Amount, data: Dataset, name: str) -> Limits:
    """A weight that tests need: they need it, and a model without one does not."""
    least = _least(amount, data)
    return Limits(**{name: least}) if least <= int(data.weights.sum()) else Limits(max_nodes=0)


def _most(amount: Amount, data: Dataset) -> int:
    return min(_units(amount, data) // 1, int(data.weights.sum()))


LIMITS: dict[type, Callable[[Any, Dataset], Limits]] = {
    known.MaxNodes: lambda one, data: Limits(max_nodes=one.at_most),
    known.MaxLeaves: lambda one, data: Limits(
        max_nodes=one.at_most - 1
    ),  # a tree has one leaf more than tests
    known.MaxDepth: lambda one, data: Limits(max_depth=one.at_most),
    known.FeatureBudget: lambda one, data: Limits(max_features=one.at_most),
    known.MinSupport: lambda one, data: _for_tests(one.amount, data, "min_support"),
    known.Stability: lambda one, data: _for_tests(one.amount, data, "min_flow"),
    known.MaxErrors: lambda one, data: Limits(max_errors=_most(one.amount, data)),
}


# -- rows over predictions -----------------------------------------------------------------------------------


def _errors(one: known.MaxErrors, data: Dataset) -> Totals:
    table = Table(data)
    return one_row(table, ~table.right, _units(one.amount, data))


def _right_rows(one: known.MustClassifyRight, data: Dataset) -> Totals:
    named = np.array([row in one.rows for row in np.asarray(data.kept_rows).tolist()])
    table = Table(data)
    return one_row(table, ~table.right & named[:, None], 0)


def _decided(one: known.MinCoverage, data: Dataset) -> Totals:
    assert data.abstain_code is not None
    table = Table(data)
    return one_row(table, table.predicted(data.abstain_code), sum(table.weights) - _units(one.amount, data))


def _close(one: known.StayCloseTo, data: Dataset) -> Totals:
    table = Table(data)
    before = one.decided_before(data)
    changed = before[:, None] != np.arange(data.n_classes)
    return one_row(table, changed, one.at_most * sum(table.weights))


def _group_errors(one: known.GroupErrorAtMost, data: Dataset) -> Totals:
    groups, table = Groups.of(one.groups, data), Table(data)
    for g in range(len(groups.labels)):
        own = groups.codes == g
        table.row({table.total(~table.right & own[:, None]): 1}, one.at_most * table.weight(own))
    return table.totals()


def _worst_group(one: WorstGroup, data: Dataset) -> Totals:
    # e_o / W_o <= e_g / W_g
    table, labels = Table(data), one.groups.labels
    errors = [table.total(~table.right & (one.groups.codes == g)[:, None]) for g in range(len(labels))]
    weight = [table.weight(one.groups.codes == g) for g in range(len(labels))]
    for other in range(len(labels)):
        if other != one.group:
            table.row({errors[other]: weight[one.group], errors[one.group]: -weight[other]}, 0)
    return table.totals()


Within = Callable[[Any, Dataset], "list[Mask]"]


def _rates(one: Any, data: Dataset, within: Within) -> Totals:
    """Of each set of samples and group: the weight that is predicted the positive class, over the weight of all."""
    table = Table(data)
    return _compared(one, data, table, table.predicted(class_code(one.positive, data)), within(one, data))


def _accuracies(one: known.AccuracyParity, data: Dataset) -> Totals:
    """Of each group: the weight that is predicted right, over the weight of all."""
    table = Table(data)
    return _compared(one, data, table, table.right, _all_samples(one, data))


def _compared(one: Any, data: Dataset, table: Table, event: Mask, sets: list[Mask]) -> Totals:
    groups = Groups.of(one.groups, data)
    for among in sets:
        weight, counted = [], []
        for g in range(len(groups.labels)):
            own = among & (groups.codes == g)
            weight.append(table.weight(own))
            counted.append(table.total(event & own[:, None]))
        present = [g for g, w in enumerate(weight) if w]  # a group without such a sample has no rate
        if one.ratio is None:
            for a, b in combinations(present, 2):
                # |S_a / W_a - S_b / W_b| <= p/q
                p, q = one.difference.as_integer_ratio()
                side = p * weight[a] * weight[b]
                table.row({counted[a]: q * weight[b], counted[b]: -q * weight[a]}, side, -side)
        else:
            for a, b in (pair for two in combinations(present, 2) for pair in (two, two[::-1])):
                # S_a / S_b >= ratio W_a / W_b, and S_b is at most W_b
                least = least_at_least(one.ratio * weight[a] / weight[b], weight[b])
                table.row({counted[b]: least.numerator, counted[a]: -least.denominator}, 0)
    return table.totals()


def _all_samples(_: Any, data: Dataset) -> list[Mask]:
    return [np.ones(data.n_samples, dtype=bool)]


def _positives(one: Any, data: Dataset) -> list[Mask]:
    return [np.asarray(data.y) == class_code(one.positive, data)]


def _negatives(one: Any, data: Dataset) -> list[Mask]:
    return [~positive for positive in _positives(one, data)]


def _each_class(_: Any, data: Dataset) -> list[Mask]:
    return [np.asarray(data.y) == code for code in range(data.n_classes)]


def _strata(one: known.ConditionalParity, data: Dataset) -> list[Mask]:
    strata = Groups.of(one.given, data)
    return [strata.codes == s for s in range(len(strata.labels))]


def _precision(one: known.MinPrecision, data: Dataset) -> Totals:
    table, positive, predicted = _confusion(one, data)
    return _share(table, positive & predicted, predicted, one.rate)


def _recall(one: known.MinRecall, data: Dataset) -> Totals:
    table, positive, predicted = _confusion(one, data)
    return _share(table, positive & predicted, positive, one.rate)


def _specificity(one: known.MinSpecificity, data: Dataset) -> Totals:
    table, positive, predicted = _confusion(one, data)
    return _share(table, ~positive & ~predicted, ~positive, one.rate)


def _false_positives(one: known.MaxFalsePositiveRate, data: Dataset) -> Totals:
    """The share of negatives that are not predicted positive is one less this rate."""
    table, positive, predicted = _confusion(one, data)
    return _share(table, ~positive & ~predicted, ~positive, 1 - one.rate)


def _confusion(one: Any, data: Dataset) -> tuple[Table, Mask, Mask]:
    table, code = Table(data), class_code(one.positive, data, "positive")
    return table, (table.truth == code)[:, None], table.predicted(code)


def _share(table: Table, good: Mask, among: Mask, rate: Fraction) -> Totals:
    """Shares of nothing satisfy every bound; a share has a denominator of at most the whole weight."""
    p, q = least_at_least(rate, sum(table.weights)).as_integer_ratio()
    short = p * np.broadcast_to(among, table.right.shape).astype(np.int64) - q * good.astype(np.int64)
    return one_row(table, short, 0)


def _abstain_price(term: AbstainCost, data: Dataset) -> Price:
    def price(t: int, g: int) -> Fraction:
        if g == data.abstain_code:
            return term.price if t != g else Fraction(0)
        if term.cost is None:
            return Fraction(int(t != g))
        return term.cost.matrix[t][g] if t != data.abstain_code else Fraction(0)

    return price


def _balanced_price(term: BalancedError, data: Dataset) -> Price:
    own = [sum(int(w) for w, y in zip(data.weights, data.y, strict=True) if y == k) for k in range(data.n_classes)]
    heavy = [w * data.weight_unit * sum(w > 0 for w in own) for w in own]
    return lambda t, g: Fraction(int(t != g)) / heavy[t] if heavy[t] else Fraction(0)


Price = Callable[[int, int], Fraction]
PRICES: dict[type, Callable[[Any, Dataset], Price]] = {
    Error: lambda term, data: lambda t, g: Fraction(int(t != g)),
    Cost: lambda term, data: lambda t, g: term.matrix[t][g],
    AbstainCost: _abstain_price,
    BalancedError: _balanced_price,
}
"""What a sample of one class costs for which another is predicted."""


def _costs(one: known.MaxCost, data: Dataset) -> Totals | None:
    classes = range(data.n_classes)
    entries = [[Fraction(0)] * data.n_classes for _ in classes]
    for coefficient, term in one.cost.terms:
        prices_of = PRICES.get(type(term))
        if prices_of is None:
            return None
        price = prices_of(term, data)
        for t in classes:
            for g in classes:
                entries[t][g] += coefficient * data.weight_unit * price(t, g)
    scale = math.lcm(*(v.denominator for row in entries for v in row))
    whole = np.array([[int(v * scale) for v in row] for row in entries], dtype=np.int64)
    return one_row(Table(data), whole[np.asarray(data.y)], one.at_most * scale)


def _on_rows(one: known.OnRows, data: Dataset) -> Totals | None:
    """What the requirement says of a table with the rows of a slice only; other rows add nothing to its totals."""
    stated = []
    for part in one.parts(data):
        totals = Restated(part.requirement).totals(part.data)
        if totals is None:
            return None
        added = np.zeros((data.n_samples, *totals.per_sample.shape[1:]), dtype=np.int64)
        added[part.positions] = totals.per_sample
        stated.append(Totals(totals.names, added, totals.rows))
    return joined(stated)


ROWS: dict[type, Callable[[Any, Dataset], Totals | None]] = {
    known.MaxErrors: _errors,
    known.MustClassifyRight: _right_rows,
    known.MinCoverage: _decided,
    known.StayCloseTo: _close,
    known.GroupErrorAtMost: _group_errors,
    known.MaxCost: _costs,
    WorstGroup: _worst_group,
    known.OnRows: _on_rows,
    BoundedOnRows: _on_rows,
    known.StatisticalParity: partial(_rates, within=_all_samples),
    known.EqualOpportunity: partial(_rates, within=_positives),
    known.PredictiveEquality: partial(_rates, within=_negatives),
    known.EqualizedOdds: partial(_rates, within=_each_class),
    known.ConditionalParity: partial(_rates, within=_strata),
    known.AccuracyParity: _accuracies,
    known.MinPrecision: _precision,
    known.MinRecall: _recall,
    known.MinSpecificity: _specificity,
    known.MaxFalsePositiveRate: _false_positives,
}


def _other_columns(one: known.NoTestOn, data: Dataset) -> frozenset[int]:
    return frozenset(f for f, column in enumerate(data.columns) if column.source != one.column)


FEATURES: dict[type, Callable[[Any, Dataset], frozenset[int]]] = {known.NoTestOn: _other_columns}
