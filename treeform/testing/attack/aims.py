"""Objectives as plain values: what a model costs, by the definition of each term, and how treeform is asked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.testing.attack import counts, rules, slices
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain

Term = Mapping[str, Any]


@dataclass(frozen=True)
class Aim:
    """A weighted sum of terms; each is ``{"term": name, "price": text, ...}``."""

    terms: tuple[Term, ...]

    @property
    def name(self) -> str:
        """What the tables of coverage call it."""
        return " + ".join(
            f"soft[{t['of']['kind']}]" if t["term"] == "soft" else str(t["term"]) for t in self.terms
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Each of its terms."""
        return tuple(str(t["term"]) for t in self.terms)

    @property
    def of_values(self) -> bool:
        """Whether leaves predict values."""
        return any(t["term"] in ("squared_error", "absolute_error") for t in self.terms)

    def value(self, m: Facts, plain: Plain) -> Fraction:
        """What a model costs, exactly."""
        return sum((Fraction(t["price"]) * _value(t, m, plain) for t in self.terms), Fraction(0))

    def without(self, *names: str) -> Aim:
        """The same without some terms."""
        return Aim(tuple(t for t in self.terms if t["term"] not in names))


def _value(t: Term, m: Facts, plain: Plain) -> Fraction:
    name = t["term"]
    if name in ("nodes", "leaves", "depth"):
        return Fraction({"nodes": m.tests, "leaves": m.tests + 1, "depth": m.depth}[name])
    if name == "error":
        return counts.wrong(m, plain)
    if name == "cost":
        return counts.cost(m, plain, t["matrix"])
    if name == "abstain_cost":
        k = range(len(plain.classes))
        matrix = t["matrix"] or [[str(int(a != b)) for b in k] for a in k]
        return counts.cost(m, plain, matrix, t["open"])
    if name == "soft":
        return paid_for(t["of"], m, plain)
    if name == "balanced_error":
        return rules.balanced(m, plain)
    if name in ("group_error", "max_group_error"):
        groups = plain.values_of(t["groups"])
        rates = counts.shares(
            groups, plain.kept, lambda i: counts.guess(m, plain, i) != plain.target[i], plain
        )
        return max(rates) if name == "max_group_error" else sum(rates, Fraction(0)) / len(rates)
    tp, fp, fn, tn = counts.confusion(m, plain, t["positive"])
    if name == "f1_loss":
        return 1 - 2 * tp / (2 * tp + fp + fn)
    assert name == "matthews_loss"
    root, above = (tp + fn) * (fp + tn) * (tp + fp) * (tn + fn), tp * tn - fp * fn
    return Fraction(1) if not root else 1 - above * abs(above) / root


def paid_for(spec: rules.Spec, m: Facts, plain: Plain) -> Fraction:
    """What is paid for: of precision the weight that lacks, of rows their weight, of all others what lacks."""
    if slices.way(spec):
        return max(paid_for(slices.whole(spec), m, part) for part in slices.slices(spec, plain))
    if spec["kind"] == "min_precision":
        tp, fp, _, _ = counts.confusion(m, plain, spec["positive"])
        return max(Fraction(0), Fraction(spec["rate"]) * (tp + fp) - tp)
    if spec["kind"] == "must_classify_right":
        rows = [i for i in plain.kept if i in spec["rows"]]
        missed = [i for i in rows if counts.guess(m, plain, i) != plain.target[i]]
        return sum((plain.weight(i) for i in missed), Fraction(0))
    if spec["kind"] in ("max_errors", "min_coverage", "min_support", "stability") and spec["share"]:
        # What lacks is counted in units of the weights, to the next sum that they can have.
        unit = counts.unit_of_weights(plain)
        bound = rules.bound_of(spec, plain) / unit
        whole = math.floor(bound) if spec["kind"] == "max_errors" else math.ceil(bound)
        return rules.lacking({**spec, "share": False, "amount": whole * unit}, m, plain)
    return rules.lacking(spec, m, plain)


CLASSES = {
    "error": tf.Error, "nodes": tf.Nodes, "leaves": tf.Leaves, "depth": tf.Depth,
    "balanced_error": tf.BalancedError, "squared_error": tf.SquaredError, "absolute_error": tf.AbsoluteError,
}  # fmt: skip


def make(aim: Aim, data: Any, groups: Any) -> Any:
    """The objective of treeform; ``groups`` stands for the array beside the table."""
    return sum(Fraction(t["price"]) * _make(t, data, groups) for t in aim.terms)


def _make(t: Term, data: Any, groups: Any) -> Any:
    name = t["term"]
    if name in CLASSES:
        return CLASSES[name]()
    if name == "cost":
        return tf.Cost([[Fraction(c) for c in row] for row in t["matrix"]])
    if name == "abstain_cost":
        matrix = t["matrix"] and [[Fraction(c) for c in row] for row in t["matrix"]]
        return tf.AbstainCost(Fraction(t["open"]), matrix)
    if name == "soft":
        return tf.Soft(rules.make(t["of"], data, groups))
    if name in ("f1_loss", "matthews_loss"):
        return {"f1_loss": tf.F1Loss, "matthews_loss": tf.MatthewsLoss}[name](t["positive"])
    cls = {"group_error": tf.GroupError, "max_group_error": tf.MaxGroupError}[name]
    return cls(None if t["groups"] == "array" else t["groups"])
