"""Requirements on who is right: error rates of groups, precision and recall, by their definitions in fractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

from treeform.testing.differential.reference import Outcome
from treeform.testing.differential.table import Table

KINDS = ("accuracy_parity", "group_error", "min_precision", "min_recall")


def rate_test(spec: Mapping[str, Any], table: Table) -> Callable[[Outcome], bool]:
    """Whether a model with some outcome satisfies a requirement of one of these kinds."""
    kind = spec["kind"]
    if kind in ("accuracy_parity", "group_error"):
        return lambda outcome: _of_groups(spec, _errors(spec, outcome, table))
    positive, rate = table.classes.index(spec["positive"]), Fraction(spec["rate"])

    def holds(outcome: Outcome) -> bool:
        """TP >= rate * (TP + FP), or TP >= rate * (TP + FN)."""
        both = predicted = actual = Fraction(0)
        for point, weights in enumerate(table.class_weight):
            own, every = Fraction(weights[positive]), Fraction(sum(weights))
            chosen = outcome.predicted >> (positive * len(table.points) + point) & 1
            actual += own
            predicted += every * chosen
            both += own * chosen
        return both >= rate * (predicted if kind == "min_precision" else actual)

    return holds


def _errors(spec: Mapping[str, Any], outcome: Outcome, table: Table) -> dict[Any, tuple[Fraction, Fraction]]:
    """Per group the weight that is misclassified, and all of it."""
    values = table.groups if spec["groups"] == "array" else table.columns[spec["groups"]]
    assert values is not None
    found: dict[Any, tuple[Fraction, Fraction]] = {}
    for i in table.kept:
        label = table.classes.index(table.labels[i])
        right = outcome.predicted >> (label * len(table.points) + table.point_of[i]) & 1
        wrong, every = found.get(values[i], (Fraction(0), Fraction(0)))
        found[values[i]] = wrong + table.weight(i) * (1 - right), every + table.weight(i)
    return found


def _of_groups(spec: Mapping[str, Any], errors: dict[Any, tuple[Fraction, Fraction]]) -> bool:
    rate = {group: wrong / every for group, (wrong, every) in errors.items()}
    if spec["kind"] == "group_error":
        return all(value <= Fraction(spec["rate"]) for value in rate.values())
    for a, b in permutations(rate, 2):
        right, other = 1 - rate[a], 1 - rate[b]
        if "ratio" in spec and right < Fraction(spec["ratio"]) * other:
            return False
        if "difference" in spec and right - other > Fraction(spec["difference"]):
            return False
    return True
