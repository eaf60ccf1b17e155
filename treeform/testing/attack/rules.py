"""Requirements as plain values: what a model lacks of each, by its definition, and how treeform is asked for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import treeform as tf
from treeform.testing.attack import counts, given, slices
from treeform.testing.attack.models import Facts
from treeform.testing.attack.plain import Plain

Spec = Mapping[str, Any]
Lack = Callable[[Spec, Facts, Plain], Fraction | int]


def lacking(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    """How much a model lacks of a requirement; 0 where it is satisfied."""
    kind = spec["kind"]
    if slices.way(spec):
        return max(lacking(slices.whole(spec), m, part) for part in slices.slices(spec, plain))
    if kind in ("min_support", "stability") and not m.nodes:
        return Fraction(0)  # it speaks of tests
    if kind in MEASURES:
        measure, lower = MEASURES[kind]
        value = measure(spec, m, plain)
        if value is None:
            return Fraction(0)
        bound = bound_of(spec, plain)
        return max(Fraction(0), bound - value if lower else value - bound)
    return Fraction(LACKS[kind](spec, m, plain))


def bound_of(spec: Spec, plain: Plain) -> Fraction:
    """The number that a measure is held against; a share of all weight where it is one."""
    value = spec[BOUNDS.get(spec["kind"], "amount")]
    return Fraction(value) * plain.total if spec.get("share") else Fraction(value)


def measured(spec: Spec, m: Facts, plain: Plain) -> Fraction | None:
    """What is bounded, on the scale of the bound that is written; None where there is no such number."""
    kind = spec["kind"]
    if slices.way(spec):
        each = [measured(slices.whole(spec), m, part) for part in slices.slices(spec, plain)]
        known = [value for value in each if value is not None]
        return (min(known) if is_lower(spec) else max(known)) if known else None
    if kind in PARITIES:
        rates = [r for r in _rates(spec, m, plain) if r]
        if "ratio" in spec:
            return min((min(r) / max(r) if max(r) else Fraction(1) for r in rates), default=Fraction(1))
        return max((max(r) - min(r) for r in rates), default=Fraction(0))
    value = MEASURES[kind][0](spec, m, plain)
    return value / plain.total if value is not None and spec.get("share") else value


def is_lower(spec: Spec) -> bool:
    """Whether the bound is one from below."""
    return "ratio" in spec if spec["kind"] in PARITIES else MEASURES[spec["kind"]][1]


# -- rates between groups -------------------------------------------------------------------------------------

PARITIES = (
    "statistical_parity", "equal_opportunity", "predictive_equality", "equalized_odds", "conditional_parity",
    "accuracy_parity",
)  # fmt: skip


def _rates(spec: Spec, m: Facts, plain: Plain) -> list[list[Fraction]]:
    """The rates of the groups, for each set of rows within which they are compared."""
    kind, groups = spec["kind"], plain.values_of(spec["groups"])
    rows, label = plain.kept, spec.get("positive")
    sets = [list(rows)]
    if kind == "equal_opportunity":
        sets = [[i for i in rows if plain.target[i] == label]]
    elif kind == "predictive_equality":
        sets = [[i for i in rows if plain.target[i] != label]]
    elif kind == "equalized_odds":
        sets = [[i for i in rows if plain.target[i] == one] for one in plain.classes]
    elif kind == "conditional_parity":
        strata = plain.values_of(spec["given"])
        sets = [[i for i in rows if strata[i] == one] for one in dict.fromkeys(strata[i] for i in rows)]

    def counted(i: int) -> bool:
        return bool(counts.guess(m, plain, i) == (plain.target[i] if kind == "accuracy_parity" else label))

    return [counts.shares(groups, some, counted, plain) for some in sets]


def _parity(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    worst = Fraction(0)
    for rates in _rates(spec, m, plain):
        if rates and "ratio" in spec:
            worst = max(worst, Fraction(spec["ratio"]) * max(rates) - min(rates))
        elif rates:
            worst = max(worst, max(rates) - min(rates) - Fraction(spec["difference"]))
    return worst


# -- measures with a bound: (what is measured, whether the bound is one from below) ------------------------------


def _largest_group_error(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    groups = plain.values_of(spec["groups"])
    return max(
        counts.shares(groups, plain.kept, lambda i: counts.guess(m, plain, i) != plain.target[i], plain)
    )


def _rate(spec: Spec, m: Facts, plain: Plain) -> Fraction | None:
    tp, fp, fn, tn = counts.confusion(m, plain, spec["positive"])
    part, whole = {
        "min_precision": (tp, tp + fp),
        "min_recall": (tp, tp + fn),
        "min_specificity": (tn, tn + fp),
        "max_false_positive_rate": (fp, fp + tn),
    }[spec["kind"]]
    return part / whole if whole else None


def _path_tests(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    return Fraction(max(sum(counts.reads(n, plain) in spec["columns"] for n in path) for path in m.paths))


def _feature_cost(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    if not spec["per_path"]:
        return counts.prices_of_path({*m.columns(plain)}, spec["costs"])
    return max(
        counts.prices_of_path({counts.reads(n, plain) for n in path}, spec["costs"]) for path in m.paths
    )


def _max_cost(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    if spec["cost"] != "balanced_error":
        return counts.cost(m, plain, spec["cost"])
    return balanced(m, plain)


def balanced(m: Facts, plain: Plain) -> Fraction:
    """The mean over classes of the share of their weight that is misclassified."""
    rates = counts.shares(
        plain.target, plain.kept, lambda i: counts.guess(m, plain, i) != plain.target[i], plain
    )
    return sum(rates, Fraction(0)) / len(rates)


def _changed(spec: Spec, m: Facts, plain: Plain) -> Fraction:
    before = given.predictions(spec["graph"], plain)
    other = [i for i in plain.kept if counts.guess(m, plain, i) != before[plain.point_of[i]]]
    return sum((plain.weight(i) for i in other), Fraction(0)) / plain.total


Measure = Callable[[Spec, Facts, Plain], Fraction | None]

MEASURES: dict[str, tuple[Measure, bool]] = {
    "min_support": (lambda s, m, t: counts.smallest_side(m, t), True),
    "stability": (lambda s, m, t: counts.smallest_flow(m, t), True),
    "max_errors": (lambda s, m, t: counts.wrong(m, t), False),
    "min_coverage": (
        lambda s, m, t: sum((t.weight(i) for i in t.kept if counts.guess(m, t, i) is not None), Fraction(0)),
        True,
    ),
    "max_nodes": (lambda s, m, t: Fraction(m.tests), False),
    "max_leaves": (lambda s, m, t: Fraction(m.tests + 1), False),
    "max_depth": (lambda s, m, t: Fraction(max(1, m.depth)), False),
    "max_tests_per_path": (_path_tests, False),
    "max_thresholds": (lambda s, m, t: Fraction(counts.thresholds(m, t, s["column"])), False),
    "feature_budget": (lambda s, m, t: Fraction(len(m.columns(t))), False),
    "feature_cost": (_feature_cost, False),
    "group_error_at_most": (_largest_group_error, False),
    "min_precision": (_rate, True),
    "min_recall": (_rate, True),
    "min_specificity": (_rate, True),
    "max_false_positive_rate": (_rate, False),
    "max_cost": (_max_cost, False),
    "stay_close_to": (_changed, False),
}
BOUNDS = {
    "max_nodes": "k", "max_leaves": "k", "max_depth": "k", "max_tests_per_path": "k", "max_thresholds": "k",
    "feature_budget": "k", "feature_cost": "at_most", "group_error_at_most": "rate", "min_precision": "rate",
    "min_recall": "rate", "min_specificity": "rate", "max_false_positive_rate": "rate", "max_cost": "at_most",
    "stay_close_to": "changed",
}  # fmt: skip
"""The parameter that is the bound; ``amount`` of the others."""


# -- what is counted otherwise ---------------------------------------------------------------------------------


def _not_right(spec: Spec, m: Facts, plain: Plain) -> int:
    return sum(counts.guess(m, plain, i) != plain.target[i] for i in plain.kept if i in spec["rows"])


def _monotone(spec: Spec, m: Facts, plain: Plain) -> int:
    label = plain.classes.index(spec["positive"])
    rising = spec["direction"] == "increasing"
    return counts.broken_order(m, plain, spec["column"], rising, lambda p: m.predicted[p] == label)


def _again(spec: Spec, m: Facts, plain: Plain) -> int:
    names = plain.tested if spec["columns"] is None else spec["columns"]
    return sum(
        max(0, sum(counts.reads(n, plain) == name for n in path) - 1)
        for path in counts.different_paths(m)
        for name in names
    )


def _strangers(spec: Spec, m: Facts, plain: Plain) -> int:
    named = {name for one in spec["sets"] for name in one}
    sets = [*map(set, spec["sets"]), set(plain.tested) - named]
    on = [{counts.reads(n, plain) for n in path} - {None} for path in counts.different_paths(m)]
    return sum(not any(path <= one for one in sets) for path in on)


def _without_other(spec: Spec, m: Facts, plain: Plain) -> int:
    bad = set()
    for path in m.paths:
        for i, node in enumerate(path):
            before = {counts.reads(n, plain) for n in path[:i]}
            if counts.reads(node, plain) == spec["column"] and spec["above"] not in before:
                bad.add(node)
    return len(bad)


def _not_there(spec: Spec, m: Facts, plain: Plain) -> int:
    there = {(counts.reads(n, plain), n.reached, n.right) for n in m.nodes}
    return sum(test not in there for test in given.parts(spec["graph"], plain))


LACKS: dict[str, Lack] = {
    **dict.fromkeys(PARITIES, _parity),
    "must_classify_right": _not_right,
    "monotone": _monotone,
    "no_test_on": lambda s, m, t: sum(counts.reads(n, t) == s["column"] for n in m.nodes),
    "once_per_path": _again,
    "uses": lambda s, m, t: len(set(s["columns"]) - m.columns(t)),
    "exclusive": lambda s, m, t: max(0, len(set(s["columns"]) & m.columns(t)) - 1),
    "interaction": _strangers,
    "below": _without_other,
    "fix": _not_there,
}

KINDS = (*LACKS, *MEASURES)
CLASSES = {
    "group_error_at_most": tf.GroupErrorAtMost, "min_precision": tf.MinPrecision, "min_recall": tf.MinRecall,
    "min_specificity": tf.MinSpecificity, "max_false_positive_rate": tf.MaxFalsePositiveRate,
    "statistical_parity": tf.StatisticalParity, "equal_opportunity": tf.EqualOpportunity,
    "predictive_equality": tf.PredictiveEquality, "equalized_odds": tf.EqualizedOdds,
    "conditional_parity": tf.ConditionalParity, "accuracy_parity": tf.AccuracyParity,
    "must_classify_right": tf.MustClassifyRight, "monotone": tf.Monotone, "no_test_on": tf.NoTestOn,
    "once_per_path": tf.OncePerPath, "uses": tf.Uses, "exclusive": tf.Exclusive, "interaction": tf.Interaction,
    "below": tf.Below, "fix": tf.Fix, "min_support": tf.MinSupport, "stability": tf.Stability,
    "max_errors": tf.MaxErrors, "min_coverage": tf.MinCoverage, "max_nodes": tf.MaxNodes,
    "max_leaves": tf.MaxLeaves, "max_depth": tf.MaxDepth, "max_tests_per_path": tf.MaxTestsPerPath,
    "max_thresholds": tf.MaxThresholds, "feature_budget": tf.FeatureBudget, "feature_cost": tf.FeatureCost,
    "max_cost": tf.MaxCost, "stay_close_to": tf.StayCloseTo, "mean_parity": tf.MeanParity,
}  # fmt: skip


def make(spec: Spec, data: Any, groups: Any, mask: Any = None) -> Any:
    """The requirement of treeform that a specification stands for; the arrays beside the table are given again."""
    settings = {k: v for k, v in spec.items() if k not in ("kind", "share", "hand", "on", "each")}
    if spec.get("groups") == "array":
        settings["groups"] = groups if spec.get("hand") == "directly" else None
    if "graph" in settings:
        settings["graph"] = given.graph_of(settings["graph"], data)
    name = BOUNDS.get(spec["kind"], "amount")
    if name in settings:
        value = settings.pop(name)
        if name == "amount" and spec.get("share"):
            settings["fraction"] = Fraction(value)
        else:
            settings["at_least" if MEASURES[spec["kind"]][1] else "at_most"] = value
    if spec["kind"] == "max_cost":
        cost = spec["cost"]
        settings["cost"] = cost if isinstance(cost, str) else [[Fraction(c) for c in row] for row in cost]
    if spec["kind"] == "feature_cost":
        settings["costs"] = {name: Fraction(price) for name, price in spec["costs"].items()}
    return slices.asked(CLASSES[spec["kind"]](**settings), spec, mask)


def with_bound(spec: Spec, bound: Fraction) -> Spec:
    """The same requirement with another bound, on the scale of `measured`."""
    if spec["kind"] in PARITIES:
        return {**spec, "ratio" if "ratio" in spec else "difference": str(bound)}
    name = BOUNDS.get(spec["kind"], "amount")
    return {**spec, name: int(bound) if name == "k" else bound}
