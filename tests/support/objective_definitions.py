"""What objectives mean, written again from their descriptions: plain Python over the rows that were drawn."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from derivation_cases import MAKERS, Drawn, Rng, _label, _matrix, _share

import treeform as tf
from treeform.graph import DecisionGraph
from treeform.language.costs import ClassCost
from treeform.language.objective import Objective, Term
from treeform.utils.extensions import OBJECTIVES as REGISTERED
from treeform.utils.extensions import extensions

ZERO = Fraction(0)
Row = tuple[Fraction, Any, Any, int]
"""Weight, true label or target, predicted one, and the position in the table."""


def rows_of(case: Drawn, graph: DecisionGraph) -> list[Row]:
    """The rows that have a weight, with exact numbers."""
    outcome = graph.values if graph.is_regression else case.data.classes.tolist()
    predicted = [outcome[k] for k in graph.predict_codes(case.data.X)]
    weights = [Fraction(str(w)) for w in case.weights or [1] * len(case.labels)]
    kept = [i for i, w in enumerate(weights) if w]
    truth = [Fraction(str(v)) for v in case.labels] if graph.is_regression else case.labels
    return [(weights[i], truth[i], guess, i) for i, guess in zip(kept, predicted, strict=True)]


def weigh(part: list[Row]) -> Fraction:
    return sum((w for w, *_ in part), ZERO)


def share(part: list[Row], among: list[Row]) -> Fraction:
    total = weigh(among)
    return weigh(part) / total if total else ZERO


def value_of(term: Term, case: Drawn, graph: DecisionGraph) -> Fraction:
    """The value of a term."""
    rows = rows_of(case, graph)
    wrong = [row for row in rows if row[1] != row[2]]
    if isinstance(term, tf.Nodes | tf.Leaves):
        return Fraction(len(list(graph.tests())) + isinstance(term, tf.Leaves))
    if isinstance(term, tf.Depth):
        passed = graph.route(case.data.X)[:, graph.feature >= 0].sum(axis=1)
        return Fraction(int(passed.max()))
    if isinstance(term, tf.Error):
        return weigh(wrong)
    if isinstance(term, tf.SquaredError):
        return sum((w * (y - v) ** 2 for w, y, v, _ in rows), ZERO)
    if isinstance(term, tf.AbsoluteError):
        return sum((w * abs(y - v) for w, y, v, _ in rows), ZERO)
    classes = [c for c in case.data.classes.tolist() if c != "ask"]
    if isinstance(term, tf.Cost):
        return sum((w * term.matrix[classes.index(y)][classes.index(g)] for w, y, g, _ in rows), ZERO)
    if isinstance(term, tf.AbstainCost):
        decided = [row for row in wrong if row[2] != "ask"]
        price = term.price * weigh([row for row in rows if row[2] == "ask"])
        if term.cost is None:
            return price + weigh(decided)
        return price + sum(
            (w * term.cost.matrix[classes.index(y)][classes.index(g)] for w, y, g, _ in rows if g != "ask"),
            ZERO,
        )
    if isinstance(term, tf.BalancedError):
        own = [[row for row in rows if row[1] == c] for c in classes]
        return sum((share([r for r in part if r[2] != r[1]], part) for part in own), ZERO) / len(classes)
    if isinstance(term, tf.GroupError | tf.MaxGroupError):
        return _of_groups(term, case, rows)
    if isinstance(term, tf.F1Loss | tf.MatthewsLoss):
        return _of_class(term, rows)
    if isinstance(term, tf.Soft):
        return Fraction(term.requirement.lacking(graph, case.data))
    if isinstance(term, ClassCost):  # its entries are the definition
        labels = case.data.classes.tolist()
        return sum((w * term.entry(case.data, labels.index(y), labels.index(g)) for w, y, g, _ in rows), ZERO)
    raise AssertionError(f"there is no definition of {term!r} here")


def _of_groups(term: tf.GroupError | tf.MaxGroupError, case: Drawn, rows: list[Row]) -> Fraction:
    groups = case.frame[term.groups].tolist()
    names = sorted({groups[i] for *_, i in rows})
    own = [[row for row in rows if groups[row[3]] == name] for name in names]
    rates = [share([r for r in part if r[1] != r[2]], part) for part in own]
    if isinstance(term, tf.MaxGroupError):
        return max(rates)
    if term.weights is None:
        return sum(rates, ZERO) / len(rates)
    weights = dict(term.weights)
    return sum((weights.get(name, ZERO) * rate for name, rate in zip(names, rates, strict=True)), ZERO)


def _of_class(term: tf.F1Loss | tf.MatthewsLoss, rows: list[Row]) -> Fraction:
    counted = {(a, b): ZERO for a in (True, False) for b in (True, False)}
    for w, y, g, _ in rows:
        counted[y == term.positive, g == term.positive] += w
    tp, fn, fp, tn = (counted[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    if isinstance(term, tf.F1Loss):
        return (fp + fn) / (2 * tp + fp + fn)
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    above = tp * tn - fp * fn
    return 1 - above * abs(above) / below if below else Fraction(1)


SOFT = [name for name in MAKERS if name not in ("no_test_on", "below", "uses", "fix", "min_coverage")]


def _soft(rng: Rng, case: Drawn) -> Any:
    requirement = MAKERS[str(rng.choice(SOFT))](rng, case)
    return requirement.soft(Fraction(int(rng.integers(1, 5)), int(rng.choice([1, 3, 10]))))


def _group_error(rng: Rng, case: Drawn) -> Any:
    column = str(rng.choice(["group", "part"]))
    if rng.random() < 0.5:
        return tf.GroupError(column)
    kept = case.frame[column][np.asarray(case.data.kept_rows)]
    return tf.GroupError(column, {name: _share(rng) for name in sorted(set(kept))})


OBJECTIVES: dict[str, Any] = {
    "error": lambda rng, case: tf.Error(),
    "nodes": lambda rng, case: tf.Error() + tf.Nodes(),
    "leaves": lambda rng, case: tf.Error() + tf.Leaves(),
    "depth": lambda rng, case: tf.Depth(),
    "cost": lambda rng, case: tf.Cost(_matrix(rng, case)),
    "balanced_error": lambda rng, case: tf.BalancedError(),
    "group_error": _group_error,
    "max_group_error": lambda rng, case: tf.MaxGroupError(str(rng.choice(["group", "part"]))),
    "f1_loss": lambda rng, case: tf.F1Loss(_label(rng, case)),
    "matthews_loss": lambda rng, case: tf.MatthewsLoss(_label(rng, case)),
    "soft": _soft,
    "abstain_cost": lambda rng, case: tf.AbstainCost(
        _share(rng), None if rng.random() < 0.5 else _matrix(rng, case)
    ),
    "squared_error": lambda rng, case: tf.SquaredError(),
    "absolute_error": lambda rng, case: tf.AbsoluteError(),
}
OBJECTIVES |= {
    one.name: lambda rng, case, kind=kind: kind()
    for one in extensions(REGISTERED)
    if one.name not in OBJECTIVES and issubclass(kind := one.load(), ClassCost)
}
OF_VALUES = ("squared_error", "absolute_error")
ALONE = ("depth", "f1_loss", "matthews_loss")


def drawn_objective(name: str, rng: Rng, case: Drawn) -> Objective:
    """A term with a coefficient, and perhaps a price of tests and errors beside it."""
    goal = Objective.of(OBJECTIVES[name](rng, case)) * Fraction(
        int(rng.integers(1, 4)), int(rng.choice([1, 2, 7]))
    )
    if name not in ALONE and rng.random() < 0.5:
        goal = goal + Fraction(int(rng.integers(1, 4)), int(rng.choice([1, 3, 5]))) * tf.Nodes()
    if name not in (*ALONE, *OF_VALUES) and rng.random() < 0.3:
        goal = goal + tf.Error()
    return goal.bind(case.data)
