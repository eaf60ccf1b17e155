"""Objectives and requirements as plain values: what they mean here, and how treeform is asked for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import treeform as tf
from treeform.testing.differential import own
from treeform.testing.differential.reference import Outcome, Reference, Tracked, Watch
from treeform.testing.differential.table import Table

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
    favourable = spec.get("favourable")
    return len(table.classes) - 1 if favourable is None else table.classes.index(favourable)


def amount(table: Table, spec: Spec) -> Fraction:
    """A count of weight, or a share of all."""
    value = spec["amount"]
    return Fraction(value) if isinstance(value, int) else Fraction(value) * table.total


def holds(spec: Spec, outcome: Outcome, reference: Reference) -> bool:
    """Whether a model with this outcome satisfies a requirement."""
    table, kind = reference.table, spec["kind"]
    if kind == "max_nodes":
        return bool(outcome.tests <= spec["k"])
    if kind == "min_support":
        return outcome.side >= amount(table, spec)
    if kind == "stability":
        return outcome.flow >= amount(table, spec)
    if kind == "max_errors":
        return error_of(outcome, reference) <= amount(table, spec)
    if kind == "feature_budget":
        return bool(outcome.columns.bit_count() <= spec["k"])
    if kind == "monotone":
        watch = watch_of(table, spec)
        return not outcome.broken >> reference.tracked.watches.index(watch) & 1
    if kind == "parity":
        return _parity(spec, outcome, table)
    if kind == "at_least_tests":
        return bool(outcome.tests >= spec["k"])
    if kind == "few_favourable":
        favoured = _mask_of(outcome, _label(table, spec), table)
        return table.weight_of[favoured] <= amount(table, spec)
    assert kind == "apart"
    names = list(table.columns)
    both = 1 << names.index(spec["columns"][0]) | 1 << names.index(spec["columns"][1])
    return outcome.columns & both != both


def _parity(spec: Spec, outcome: Outcome, table: Table) -> bool:
    favoured = _mask_of(outcome, _label(table, spec), table)
    values = table.groups if spec["groups"] == "array" else table.columns[spec["groups"]]
    assert values is not None
    weight: dict[Any, Fraction] = {}
    good: dict[Any, Fraction] = {}
    for i in table.kept:
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


def make(spec: Spec, groups: Any) -> tf.Requirement:
    """The requirement of treeform that a specification stands for; ``groups`` are those of the problem."""
    kind = spec["kind"]
    if kind in ("max_nodes", "feature_budget"):
        return {"max_nodes": tf.MaxNodes, "feature_budget": tf.FeatureBudget}[kind](spec["k"])
    if kind in ("min_support", "stability", "max_errors"):
        cls = {"min_support": tf.MinSupport, "stability": tf.Stability, "max_errors": tf.MaxErrors}[kind]
        value = spec["amount"]
        return cls(value) if isinstance(value, int) else cls(fraction=Fraction(value))
    if kind == "monotone":
        return tf.Monotone(spec["column"], spec["direction"], spec.get("favourable"))
    if kind == "parity":
        named = {key: spec[key] for key in ("ratio", "difference", "favourable") if key in spec}
        where = None if spec["groups"] == "array" else spec["groups"]
        if spec["groups"] == "array" and spec.get("given") == "directly":
            where = groups
        return tf.StatisticalParity(groups=where, **named)
    if kind == "at_least_tests":
        return own.AtLeastTests(spec["k"])
    if kind == "few_favourable":
        return own.FewFavourable(spec["amount"], spec.get("favourable"))
    assert kind == "apart"
    return own.Apart(*spec["columns"])


# -- objectives ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """A weighted sum: a price for each true and predicted class, for a test, and for the depth.

    Attributes
    ----------
    matrix : tuple of tuple of str, or None
        Prices by true and predicted class per unit of weight; None without such a term.
    error : str
        Price of an error per unit of weight; "0" for none.
    nodes, leaves, depth : str
        Prices of a test, of a leaf and of a level; "0" for none.
    """

    error: str = "1"
    matrix: tuple[tuple[str, ...], ...] | None = None
    nodes: str = "0"
    leaves: str = "0"
    depth: str = "0"

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
        return " + ".join(parts)

    def value(self, outcome: Outcome, reference: Reference) -> Fraction:
        """The exact value of a model."""
        out = Fraction(self.nodes) * outcome.tests + Fraction(self.depth) * outcome.depth
        out += Fraction(self.leaves) * (outcome.tests + 1)
        if Fraction(self.error):
            out += Fraction(self.error) * error_of(outcome, reference)
        if self.matrix is not None:
            out += cost_of(outcome, reference, self.matrix)
        return out


def error_of(outcome: Outcome, reference: Reference) -> Fraction:
    """Weight of the rows that are predicted another class than theirs."""
    k = range(len(reference.table.classes))
    return cost_of(outcome, reference, tuple(tuple(str(int(a != b)) for b in k) for a in k))


def cost_of(outcome: Outcome, reference: Reference, matrix: tuple[tuple[str, ...], ...]) -> Fraction:
    """Weight of the rows times the price of their prediction."""
    tables = _cost_tables(reference.table, matrix)
    out = Fraction(0)
    for label, by_mask in enumerate(tables):
        out += by_mask[_mask_of(outcome, label, reference.table)]
    return out


def _cost_tables(table: Table, matrix: tuple[tuple[str, ...], ...]) -> list[list[Fraction]]:
    """Price of predicting a class on every mask of rows."""
    memo: dict[Any, list[list[Fraction]]] = table.__dict__.setdefault("_costs", {})
    if matrix not in memo:
        tables = []
        for label in range(len(table.classes)):
            each = [
                sum((w * Fraction(matrix[truth][label]) for truth, w in enumerate(weights)), Fraction(0))
                for weights in table.class_weight
            ]
            by_mask = [Fraction(0)] * (table.everything + 1)
            for mask in range(1, table.everything + 1):
                by_mask[mask] = by_mask[mask & (mask - 1)] + each[(mask & -mask).bit_length() - 1]
            tables.append(by_mask)
        memo[matrix] = tables
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
    valued = [
        (goal.value(outcome, reference), outcome)
        for outcome in reference.outcomes
        if all(holds(spec, outcome, reference) for spec in requirements)
    ]
    return Answer(tuple(sorted(valued, key=lambda item: item[0])))
