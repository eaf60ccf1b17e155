"""Small tables on which rows go wrong easily, requirements on their exact boundary, and models of a shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

import treeform as tf
from treeform.data import Dataset
from treeform.data.roles import TableOptions
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded
from treeform.language.requirement import Requirement, registered
from treeform.shape import Diagram, Shape, Tree
from treeform.testing import all_models
from treeform.testing.samples import samples_of

Rng = np.random.Generator
DECIMALS = ["0", "0.1", "0.2", "0.25", "0.3", "1/3", "0.5", "0.6", "2/3", "0.7", "0.75", "0.9", "1"]
SHAPES: tuple[Shape, ...] = (Tree(1), Tree(2), Tree(2), Tree(2), Diagram(1, 2))
MOST_MODELS = 40_000


@dataclass(frozen=True)
class Drawn:
    """A table with features ``age``, ``owner`` and one of ``job`` and ``score``, and groups that are no feature."""

    frame: pd.DataFrame
    labels: list[Any]
    weights: list[Any] | None
    shape: Shape
    data: Dataset

    def code(self, requirement: object) -> str:
        """What was drawn, for the message of a failure."""
        return (
            f"{requirement!r}\nX = pd.DataFrame({self.frame.to_dict('list')!r})\ny = {self.labels!r}\n"
            f"weights = {self.weights!r}, {self.shape}"
        )


def drawn(rng: Rng, of_values: bool = False, abstain: bool = False) -> Drawn:
    """Ties, missing values, categories, two to four groups, weights that are whole, decimal, tiny, large or 0."""
    while True:
        try:
            return _drawn(rng, of_values, abstain)
        except tf.errors.DataError:
            continue  # the only row of a class has no weight


def _drawn(rng: Rng, of_values: bool, abstain: bool) -> Drawn:
    n = int(rng.integers(4, 8))
    columns: dict[str, Any] = {
        "age": rng.choice([18.5, 30.25, 47.0], n).tolist(),
        "owner": rng.choice([False, True], n).tolist(),
    }
    third = int(rng.integers(3))
    if third == 0:
        columns["job"] = rng.choice(["a", "b", "c"], n).tolist()
    elif third == 1:
        columns["score"] = rng.choice([0.1, 0.2, np.nan], n).tolist()
    labels = np.concatenate([[0, 1], rng.integers(0, int(rng.integers(2, 4)), n - 2)])
    y: list[Any] = rng.permutation(labels).tolist()
    if of_values:
        scale = rng.choice([1.0, 0.5, 0.1])
        y = [round(v * scale, 6) for v in rng.integers(0, 4, n).tolist()]
        y[0], y[1] = 0.0, float(scale)
    groups = ["p", "q", "r", "s"][: int(rng.integers(2, 5))]
    columns["group"] = [*groups[:2], *rng.choice(groups, n - 2).tolist()]
    columns["part"] = ["u", "v", *rng.choice(["u", "v"], n - 2).tolist()]
    weights = _weights(rng, n)
    if weights is not None and rng.random() < 0.3:
        weights[int(rng.integers(2, n))] = 0  # perhaps the only row of its group
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    if third == 2 and not of_values and rng.random() < 0.3:
        shape = Tree(1, "multivariate")
    frame = pd.DataFrame(columns)
    data = Dataset.from_user(
        frame,
        y,
        weights,
        exclude=("group", "part"),
        allow_quantities=True,
        options=TableOptions(abstain="ask" if abstain else None),
    )
    if of_values:
        data = tf.AbsoluteError().reading(data)
    return Drawn(frame, y, weights, shape, data)


def _weights(rng: Rng, n: int) -> list[Any] | None:
    kind = int(rng.integers(6))
    if kind == 0:
        return None
    if kind == 1:
        return rng.integers(1, 4, n).tolist()
    if kind == 2:
        return (rng.integers(1, 8, n) / 4).tolist()
    if kind == 3:
        return rng.choice([0.1, 0.2, 0.3, 0.7], n).tolist()
    if kind == 4:  # small beside large ones
        return rng.choice([1e-6, 1.0, 2.5], n).tolist()
    return rng.choice([3, 999983, 1000003], n).tolist()


ABSTAINING = ("min_coverage", "abstain_cost")


def drawn_for(name: str, seed: int, of_values: bool = False) -> tuple[Rng, Drawn]:
    """The table of one case; every fifth one has leaves that may decide nothing."""
    rng = np.random.default_rng((seed, *map(ord, name)))
    return rng, drawn(rng, of_values, not of_values and (name in ABSTAINING or seed % 5 == 4))


def models_of(case: Drawn, rng: Rng, most: int) -> list[DecisionGraph]:
    """So many of all models of the shape, or all of them."""
    try:
        every = all_models(case.data, case.shape, limit=MOST_MODELS, rng=rng)
        out = [graph for graph, _ in zip(every, range(most), strict=False)]
    except tf.errors.SpecError:
        every = all_models(case.data, Tree(1), rng=rng)
        out = [graph for graph, _ in zip(every, range(most), strict=False)]
    return out


def telling(
    requirement: Requirement, case: Drawn, pool: list[DecisionGraph], most: int
) -> list[DecisionGraph]:
    """Those of many models on which a false statement is seen first: that just satisfy, or just miss, a requirement."""
    data = case.data
    judged = [(requirement.violation(graph, data), graph) for graph in pool]
    missed = [graph for lacking, graph in sorted(judged, key=lambda one: one[0]) if lacking]
    held = [graph for lacking, graph in judged if not lacking]
    if isinstance(requirement, Bounded):
        with suppress(TreeformError):
            held.sort(key=lambda graph: requirement.measured(graph, data), reverse=requirement.is_upper)
    return [graph for pair in zip_longest(held[:most], missed[:most]) for graph in pair if graph is not None][
        :most
    ]


Make = Callable[[Rng, Drawn], Requirement]


def _share(rng: Rng) -> Fraction:
    return Fraction(str(rng.choice(DECIMALS)))


FAR = 10**30
"""A bound beyond all that is counted; no float is that number."""


def _few(rng: Rng, low: int, high: int) -> int:
    """A small number; now and then one that bounds nothing."""
    return FAR if rng.random() < 0.1 else int(rng.integers(low, high))


def _amount(kind: Any) -> Make:
    def make(rng: Rng, case: Drawn) -> Requirement:
        if rng.random() < 0.1:
            return kind(count=FAR)
        if rng.random() < 0.5:
            return kind(count=int(rng.integers(0, 5)))
        return kind(fraction=_share(rng))

    return make


def _parity(kind: Any, **more: Any) -> Make:
    def make(rng: Rng, case: Drawn) -> Requirement:
        bound = _share(rng)
        which = {"difference": min(bound, Fraction(9, 10))}
        if rng.random() < 0.5:
            which = {"ratio": bound or Fraction(1, 2)}
        label = {} if kind is tf.AccuracyParity else {"positive": _label(rng, case)}
        groups = rng.choice(["group", "part", "group & part"])
        return kind(groups=str(groups), **which, **label, **more)

    return make


def _label(rng: Rng, case: Drawn) -> Any:
    classes = [c for c in case.data.classes.tolist() if c != "ask"]
    return classes[int(rng.integers(len(classes)))]


def _column(rng: Rng, case: Drawn) -> str:
    return str(rng.choice(list(dict.fromkeys(column.source for column in case.data.columns))))


def _columns(rng: Rng, case: Drawn, least: int = 1) -> list[str]:
    names = list(dict.fromkeys(column.source for column in case.data.columns))
    size = int(rng.integers(least, len(names) + 1)) if least < len(names) else least
    return [str(name) for name in rng.permutation(names)[:size]]


def _rate(kind: Any) -> Make:
    return lambda rng, case: kind(_share(rng), positive=_label(rng, case))


def _matrix(rng: Rng, case: Drawn) -> list[list[Fraction]]:
    size = case.data.n_classes - (case.data.abstain_code is not None)
    return [
        [
            Fraction(0) if t == g else Fraction(str(rng.choice(["0.1", "1/3", "1", "2.5", "7"])))
            for g in range(size)
        ]
        for t in range(size)
    ]


def _max_cost(rng: Rng, case: Drawn) -> Requirement:
    budget = Fraction(_few(rng, 0, 40), int(rng.choice([1, 3, 10])))
    kinds: list[Any] = [tf.Cost(_matrix(rng, case)), tf.BalancedError(), tf.Error()]
    if case.data.abstain_code is not None:
        kinds = [tf.AbstainCost(_share(rng)), tf.AbstainCost("0.3", _matrix(rng, case))]
    return tf.MaxCost(kinds[int(rng.integers(len(kinds)))], budget)


def _feature_cost(rng: Rng, case: Drawn) -> Requirement:
    prices = {name: Fraction(str(rng.choice(DECIMALS))) for name in _columns(rng, case)}
    return tf.FeatureCost(prices, Fraction(_few(rng, 0, 30), 20), per_path=bool(rng.random() < 0.5))


def _other_model(rng: Rng, case: Drawn) -> DecisionGraph:
    every = all_models(case.data, Tree(1) if rng.random() < 0.5 else Tree(2), limit=10**6, rng=rng)
    return next(graph for graph in every if not graph.passes.any())


def _below(rng: Rng, case: Drawn) -> Requirement:
    column, above = _columns(rng, case, 2)[:2]
    return tf.Below(column, above=above)


SUMS = ("max_errors", "min_recall", "min_precision", "max_cost", "statistical_parity", "conditional_parity",
        "accuracy_parity", "equalized_odds", "group_error_at_most", "must_classify_right", "stay_close_to",
        "monotone")  # fmt: skip


def _on_rows(rng: Rng, case: Drawn) -> Requirement:
    of = (MAKERS[str(rng.choice(SUMS))] if case.data.quantity is None else _about_values(rng))(rng, case)
    rows = str(rng.choice(["age < 40", "owner", "part == 'u' or not owner", "group in ['p', 'r']"]))
    return [of.on(rows), of.each("part"), of.on(rows).each("group")][int(rng.integers(3))]


def _about_values(rng: Rng) -> Make:
    return OF_VALUES["mean_parity" if rng.random() < 0.5 else "monotone"]


MAKERS: dict[str, Make] = {
    "max_nodes": lambda rng, case: tf.MaxNodes(_few(rng, 0, 4)),
    "max_leaves": lambda rng, case: tf.MaxLeaves(_few(rng, 1, 4)),
    "max_depth": lambda rng, case: tf.MaxDepth(_few(rng, 1, 3)),
    "min_support": _amount(tf.MinSupport),
    "stability": _amount(tf.Stability),
    "max_errors": _amount(tf.MaxErrors),
    "min_coverage": _amount(tf.MinCoverage),
    "statistical_parity": _parity(tf.StatisticalParity),
    "equal_opportunity": _parity(tf.EqualOpportunity),
    "predictive_equality": _parity(tf.PredictiveEquality),
    "equalized_odds": _parity(tf.EqualizedOdds),
    "conditional_parity": _parity(tf.ConditionalParity, given="part"),
    "accuracy_parity": _parity(tf.AccuracyParity),
    "group_error_at_most": lambda rng, case: tf.GroupErrorAtMost(
        str(rng.choice(["group", "part"])), _share(rng)
    ),
    "min_precision": _rate(tf.MinPrecision),
    "min_recall": _rate(tf.MinRecall),
    "min_specificity": _rate(tf.MinSpecificity),
    "max_false_positive_rate": _rate(tf.MaxFalsePositiveRate),
    "must_classify_right": lambda rng, case: tf.MustClassifyRight(
        rng.choice(len(case.labels), int(rng.integers(1, 4)), replace=False).tolist()
    ),
    "max_cost": _max_cost,
    "on_rows": _on_rows,
    "feature_budget": lambda rng, case: tf.FeatureBudget(_few(rng, 0, 3)),
    "no_test_on": lambda rng, case: tf.NoTestOn(_column(rng, case)),
    "monotone": lambda rng, case: tf.Monotone(
        str(rng.choice(["age", "owner"] + ["score"] * ("score" in case.frame))),
        str(rng.choice(["increasing", "decreasing"])),
        None if case.data.quantity is not None else _label(rng, case),
    ),
    "max_tests_per_path": lambda rng, case: tf.MaxTestsPerPath(_columns(rng, case), _few(rng, 0, 3)),
    "once_per_path": lambda rng, case: tf.OncePerPath(_columns(rng, case) if rng.random() < 0.7 else None),
    "max_thresholds": lambda rng, case: tf.MaxThresholds(_column(rng, case), _few(rng, 0, 3)),
    "feature_cost": _feature_cost,
    "uses": lambda rng, case: tf.Uses(_columns(rng, case)),
    "exclusive": lambda rng, case: tf.Exclusive(_columns(rng, case, 2)),
    "interaction": lambda rng, case: tf.Interaction(
        [_columns(rng, case) for _ in range(int(rng.integers(1, 3)))]
    ),
    "below": _below,
    "fix": lambda rng, case: tf.Fix(_other_model(rng, case)),
    "stay_close_to": lambda rng, case: tf.StayCloseTo(_other_model(rng, case), _share(rng)),
}
OF_VALUES: dict[str, Make] = {
    "mean_parity": lambda rng, case: tf.MeanParity(
        str(rng.choice(["group", "part"])), _share(rng), whole=bool(rng.random() < 0.5)
    ),
    **{
        name: MAKERS[name]
        for name in [
            "monotone",
            "on_rows",
            "max_nodes",
            "max_leaves",
            "max_depth",
            "min_support",
            "stability",
            "feature_budget",
            "no_test_on",
        ]
    },
}


def _sampled(kind: type[Requirement]) -> Make:
    """A requirement without a maker of its own: one of its samples, whose bound is moved if it has one."""
    some = samples_of(kind)
    return lambda rng, case: some[int(rng.integers(len(some)))]


MAKERS |= {
    name: _sampled(kind)
    for name, kind in registered().items()
    if kind.__module__.startswith("treeform.requirements") and samples_of(kind) and name not in {*MAKERS, *OF_VALUES}
}


def bound_requirements(
    name: str, rng: Rng, case: Drawn, graphs: list[DecisionGraph], makers: dict[str, Make] = MAKERS
) -> Iterator[Requirement]:
    """One as drawn; where a bound can be moved, with the very measure of some models, and the next tighter ones."""
    try:
        first = makers[name](rng, case).bind(case.data)
        if first.refusal(case.data, case.shape) is not None:
            return
    except TreeformError:
        return
    yield first
    if not isinstance(first, Bounded) or not graphs:
        return
    for _ in range(2):
        graph = graphs[int(rng.integers(len(graphs)))]
        try:
            measured = first.measured(graph, case.data)
            beyond = None if first.is_continuous else first.beyond(measured, case.data)
        except TreeformError:
            continue
        for bound in (measured, beyond):
            if bound is not None:
                with suppress(TreeformError):
                    yield first.with_bound(bound).bind(case.data)


def with_values(
    case: Drawn, graph: DecisionGraph, rng: Rng, requirement: Requirement
) -> Iterator[DecisionGraph]:
    """The same tests with fractions at the leaves; under mean parity on the boundary, and next to it on both sides."""
    quantity = case.data.quantity
    assert quantity is not None
    parts = int(rng.choice([1, 1, 2, 3, 7]))
    span = quantity.highest - quantity.lowest

    def made(units: list[Fraction]) -> DecisionGraph:
        leaves = np.flatnonzero(graph.feature < 0)
        label = np.full(len(graph.feature), -1)
        label[leaves] = np.arange(len(leaves))
        arrays = (graph.feature, graph.threshold, graph.left, graph.right, label)
        return DecisionGraph.from_arrays(
            *arrays, case.data, graph.forms, tuple(map(quantity.to_value, units))
        )

    n_leaves = int((graph.feature < 0).sum())
    units = [
        Fraction(quantity.lowest) + Fraction(int(k), parts)
        for k in rng.integers(0, span * parts + 1, n_leaves)
    ]
    yield made(units)
    if not isinstance(requirement, tf.MeanParity):
        return
    free = int(rng.integers(n_leaves))
    labels = list(requirement.means(made(units), case.data))
    for a in labels:
        for b in labels:
            if a == b:
                continue

            def gap(v: Fraction, a: Any = a, b: Any = b) -> Fraction:
                means = requirement.means(
                    made([v if k == free else u for k, u in enumerate(units)]), case.data
                )
                return means[a] - means[b]

            start = gap(Fraction(0))
            slope = gap(Fraction(1)) - start
            if slope:
                edge = (requirement.difference - start) / slope
                for v in (edge, edge + Fraction(1, 10**6), edge - Fraction(1, 10**6), Fraction(round(edge))):
                    yield made([v if k == free else u for k, u in enumerate(units)])
