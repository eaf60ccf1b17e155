"""Objectives and requirements as plain values: what they mean here, and how treeform is asked for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import treeform as tf
from treeform.testing.differential import own, rates
from treeform.testing.differential.reference import Outcome, Reference, Tracked, Watch
from treeform.testing.differential.table import Table
from treeform.testing.differential.terms import RateTerm

Spec = Mapping[str, Any]


# -- requirements --------------------------------------------------------------------------------------------


def tracked(table: Table, requirements: Sequence[Spec], depth: bool) -> Tracked:
    """What the reference has to follow for these requirements."""
    kinds = {spec["kind"] for spec in requirements}
    watches = tuple(dict.fromkeys(watch_of(table, s) for s in requirements if s["kind"] == "monotone"))
    return Tracked(
        depth=depth,
        side="min_support" in kinds,
        flow="stability" in kinds,
        columns=bool(kinds & {"feature_budget", "apart"}),
        watches=watches,
    )


def watch_of(table: Table, spec: Spec) -> Watch:
    """The direction that a requirement of kind "monotone" forbids tests to break."""
    column = list(table.columns).index(spec["column"])
    return Watch(column, _label(table, spec), spec["direction"] == "increasing")


def _label(table: Table, spec: Spec) -> int:
    positive = spec.get("positive")
    return len(table.classes) - 1 if positive is None else table.classes.index(positive)


def amount(table: Table, spec: Spec) -> Fraction:
    """A count of weight, or a share of all."""
    value = spec["amount"]
    return Fraction(value) if isinstance(value, int) else Fraction(value) * table.total


def test_of(spec: Spec, reference: Reference) -> Callable[[Outcome], bool]:
    """Whether a model with some outcome satisfies a requirement."""
    table, kind = reference.table, spec["kind"]
    if kind in rates.KINDS:
        return rates.rate_test(spec, table)
    if kind in ("max_nodes", "feature_budget", "at_least_tests"):
        return _of_count(kind, spec["k"])
    if kind in ("min_support", "stability", "max_errors", "few_positive"):
        return _of_amount(kind, amount(table, spec), spec, reference)
    if kind == "monotone":
        bit = 1 << reference.tracked.watches.index(watch_of(table, spec))
        return lambda outcome: not outcome.broken & bit
    if kind == "parity":
        known: dict[int, bool] = {}
        label = _label(table, spec)

        def fair(outcome: Outcome) -> bool:
            favoured = _mask_of(outcome, label, table)
            if favoured not in known:
                known[favoured] = _parity(spec, favoured, table)
            return known[favoured]

        return fair
    assert kind == "apart"
    names = list(table.columns)
    both = 1 << names.index(spec["columns"][0]) | 1 << names.index(spec["columns"][1])
    return lambda outcome: outcome.columns & both != both


def _of_count(kind: str, k: int) -> Callable[[Outcome], bool]:
    if kind == "max_nodes":
        return lambda outcome: outcome.tests <= k
    if kind == "at_least_tests":
        return lambda outcome: outcome.tests >= k
    return lambda outcome: outcome.columns.bit_count() <= k


def _of_amount(kind: str, least: Fraction, spec: Spec, reference: Reference) -> Callable[[Outcome], bool]:
    table = reference.table
    if kind == "min_support":
        return lambda outcome: outcome.side >= least
    if kind == "stability":
        return lambda outcome: outcome.flow >= least
    if kind == "max_errors":
        scale, tables = _cost_tables(table, _unit_matrix(table))
        most = least * scale
        return lambda outcome: _cost(outcome, tables, table) <= most
    label = _label(table, spec)
    return lambda outcome: table.weight_of[_mask_of(outcome, label, table)] <= least


def holds(spec: Spec, outcome: Outcome, reference: Reference) -> bool:
    """Whether a model with this outcome satisfies a requirement."""
    return test_of(spec, reference)(outcome)


def _parity(spec: Spec, favoured: int, table: Table) -> bool:
    truth = table.classes[_label(table, spec)]
    sets = {
        "statistical": [set(table.classes)],
        "opportunity": [{truth}],
        "predictive": [set(table.classes) - {truth}],
        "odds": [{label} for label in table.classes],
    }
    return all(_similar(spec, favoured, table, labels) for labels in sets[spec.get("rate", "statistical")])


def _similar(spec: Spec, favoured: int, table: Table, labels: set[Any]) -> bool:
    """Whether groups have similar rates among the rows of these labels."""
    values = table.groups if spec["groups"] == "array" else table.columns[spec["groups"]]
    assert values is not None
    weight: dict[Any, Fraction] = {}
    good: dict[Any, Fraction] = {}
    for i in table.kept:
        if table.labels[i] not in labels:
            continue
        weight[values[i]] = weight.get(values[i], Fraction(0)) + table.weight(i)
        good.setdefault(values[i], Fraction(0))
        if favoured >> table.point_of[i] & 1:
            good[values[i]] += table.weight(i)
    rate = {g: good[g] / weight[g] for g in weight}
    for a, b in permutations(rate, 2):
        if "ratio" in spec and rate[a] < Fraction(spec["ratio"]) * rate[b]:
            return False
        if "difference" in spec and rate[a] - rate[b] > Fraction(spec["difference"]):
            return False
    return True


def _mask_of(outcome: Outcome, label: int, table: Table) -> int:
    return outcome.predicted >> label * len(table.points) & table.everything


def make(spec: Spec, groups: Any) -> Any:
    """The requirement of treeform that a specification stands for; ``groups`` are those of the problem."""
    kind = spec["kind"]
    if kind in ("max_nodes", "feature_budget"):
        return {"max_nodes": tf.MaxNodes, "feature_budget": tf.FeatureBudget}[kind](spec["k"])
    if kind in ("min_support", "stability", "max_errors"):
        cls = {"min_support": tf.MinSupport, "stability": tf.Stability, "max_errors": tf.MaxErrors}[kind]
        value = spec["amount"]
        return cls(value) if isinstance(value, int) else cls(fraction=Fraction(value))
    if kind == "monotone":
        return tf.Monotone(spec["column"], spec["direction"], spec.get("positive"))
    if kind in ("min_precision", "min_recall"):
        return {"min_precision": tf.MinPrecision, "min_recall": tf.MinRecall}[kind](
            spec["rate"], spec["positive"]
        )
    if kind in ("parity", "accuracy_parity", "group_error"):
        named = {key: spec[key] for key in ("ratio", "difference", "positive", "rate") if key in spec}
        where = None if spec["groups"] == "array" else spec["groups"]
        if spec["groups"] == "array" and spec.get("given") == "directly":
            where = groups
        if kind == "group_error":
            return tf.GroupErrorAtMost(groups=where, at_most=spec["rate"])
        if kind == "accuracy_parity":
            return tf.AccuracyParity(groups=where, **named)
        named.pop("rate", None)
        classes: dict[str, Any] = {
            "statistical": tf.StatisticalParity,
            "opportunity": tf.EqualOpportunity,
            "predictive": tf.PredictiveEquality,
            "odds": tf.EqualizedOdds,
        }
        return classes[spec.get("rate", "statistical")](groups=where, **named)
    if kind == "at_least_tests":
        return own.AtLeastTests(spec["k"])
    if kind == "few_positive":
        return own.FewPositive(spec["amount"], spec.get("positive"))
    assert kind == "apart"
    return own.Apart(*spec["columns"])


# -- objectives ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """A weighted sum: a price for each true and predicted class, for a test, and for the depth."""

    error: str = "1"
    """Price of an error per unit of weight; "0" for none."""
    matrix: tuple[tuple[str, ...], ...] | None = None
    """Prices by true and predicted class per unit of weight; None without such a term."""
    nodes: str = "0"
    leaves: str = "0"
    depth: str = "0"
    """Prices of a test, of a leaf and of a level; "0" for none."""
    term: RateTerm | None = None
    """A rate that is added to these."""

    @property
    def text(self) -> str:
        """As treeform reads it."""
        parts = []
        for price, name in (
            (self.error, "error"),
            (self.nodes, "nodes"),
            (self.leaves, "leaves"),
            (self.depth, "depth"),
        ):
            if Fraction(price):
                parts.append(name if price == "1" else f"{price}*{name}")
        if self.matrix is not None:
            parts.insert(0, "cost[" + "; ".join(" ".join(row) for row in self.matrix) + "]")
        if self.term is not None:
            parts.insert(0, self.term.text)
        return " + ".join(parts)

    def value(self, outcome: Outcome, reference: Reference) -> Fraction:
        """The exact value of a model."""
        return self.valuer(reference)(outcome)

    def valuer(self, reference: Reference) -> Callable[[Outcome], Fraction]:
        """The exact value of any model; whole numbers until the end."""
        table = reference.table
        total = tuple(
            tuple(
                str(Fraction(self.error) * (a != b) + (Fraction(self.matrix[a][b]) if self.matrix else 0))
                for b in range(len(table.classes))
            )
            for a in range(len(table.classes))
        )
        costs, tables = _cost_tables(table, total)
        each, level = Fraction(self.nodes) + Fraction(self.leaves), Fraction(self.depth)
        fixed = Fraction(self.leaves)
        scale = math.lcm(costs, each.denominator, level.denominator, fixed.denominator)
        by_cost, by_test = scale // costs, int(each * scale)
        by_level, base = int(level * scale), int(fixed * scale)

        def value(outcome: Outcome) -> Fraction:
            whole = by_cost * _cost(outcome, tables, table) + by_test * outcome.tests
            return Fraction(whole + by_level * outcome.depth + base, scale)

        if self.term is None:
            return value
        rate = self.term.valuer(table)
        return lambda outcome: value(outcome) + rate(outcome)


def _unit_matrix(table: Table) -> tuple[tuple[str, ...], ...]:
    """Prices that count errors."""
    k = range(len(table.classes))
    return tuple(tuple(str(int(a != b)) for b in k) for a in k)


def _cost(outcome: Outcome, tables: list[list[int]], table: Table) -> int:
    """Price of the predictions of a model, in whole units of the tables."""
    n, everything, predicted = len(table.points), table.everything, outcome.predicted
    total = 0
    for by_mask in tables:
        total += by_mask[predicted & everything]
        predicted >>= n
    return total


def _cost_tables(table: Table, matrix: tuple[tuple[str, ...], ...]) -> tuple[int, list[list[int]]]:
    """Price of predicting each class on every mask of rows, times a whole number, which comes first."""
    memo: dict[Any, tuple[int, list[list[int]]]] = table.__dict__.setdefault("_costs", {})
    if matrix not in memo:
        each = [
            [
                sum((w * Fraction(matrix[truth][label]) for truth, w in enumerate(weights)), Fraction(0))
                for weights in table.class_weight
            ]
            for label in range(len(table.classes))
        ]
        scale = math.lcm(*(v.denominator for row in each for v in row))
        tables = []
        for row in each:
            whole = [int(v * scale) for v in row]
            by_mask = [0] * (table.everything + 1)
            for mask in range(1, table.everything + 1):
                by_mask[mask] = by_mask[mask & (mask - 1)] + whole[(mask & -mask).bit_length() - 1]
            tables.append(by_mask)
        memo[matrix] = scale, tables
    return memo[matrix]


@dataclass(frozen=True)
class Answer:
    """The truth about one question: the admissible outcomes that satisfy all requirements, by value."""

    ranked: tuple[tuple[Fraction, Outcome], ...]

    @property
    def optimum(self) -> Fraction | None:
        """The least value; None when no model satisfies all requirements."""
        return self.ranked[0][0] if self.ranked else None

    def least(
        self, most_tests: int, price: Fraction = Fraction(0), most_depth: int | None = None
    ) -> Fraction | None:
        """The least value with at most so many tests, each at a price."""
        values = [
            value + price * outcome.tests
            for value, outcome in self.ranked
            if outcome.tests <= most_tests and (most_depth is None or outcome.depth <= most_depth)
        ]
        return min(values, default=None)


def answer(reference: Reference, goal: Goal, requirements: Sequence[Spec]) -> Answer:
    """The truth by enumeration."""
    tests = [test_of(spec, reference) for spec in requirements]
    value = goal.valuer(reference)
    valued = [(value(o), o) for o in reference.outcomes if all(test(o) for test in tests)]
    return Answer(tuple(sorted(valued, key=lambda item: item[0])))
