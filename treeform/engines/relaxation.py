"""The part of a question that a native engine solves outright.

What the engine cannot support is left out and named: its optimum is then a valid lower bound (errors, losses, node
penalties and costs are never negative), and its model a candidate. Classes and values at leaves are lowered alike;
only the objective differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from treeform.engines.regression_task import BOUND_UNIT, RegressionTask
from treeform.engines.task import Engine, TreeTask
from treeform.graph import DecisionGraph
from treeform.language.costs import LARGEST_COST, ClassCost, SampleCost
from treeform.language.losses import LeafLoss, leaf_loss
from treeform.language.meetings import MOST_MARKS, Meetings, all_meetings
from treeform.language.objective import Error, Objective, Term
from treeform.language.paths import PathRule
from treeform.language.question import Question, allowed_errors
from treeform.language.requirement import Requirement
from treeform.language.size_terms import Leaves, Nodes
from treeform.language.stated_sums import stated_sums
from treeform.language.totals import Totals, joined
from treeform.shape import UNIVARIATE, Limits, Tree

OF_UNROLLED_TREES = frozenset({"max_features"})
"""Limits that hold for the tree that a diagram unrolls to, whose tests are more and whose leaves are lighter."""


@dataclass(frozen=True)
class Relaxation:
    """A tree task, and how its value maps to the question's."""

    task: TreeTask
    factor: Fraction
    offset: Fraction
    """``scaled value >= factor * engine value + offset``, with equality when ``dropped`` is empty."""
    dropped: tuple[str, ...]
    """What the engine does not see."""
    part: Question
    """The rest as a question of its own: its optimum is a lower bound of the whole."""
    rows: tuple[tuple[str, str], ...] = ()
    """The requirement that each row of the engine comes from, and what the row compares; the sum constraints first,
    then that on the number of tests."""
    scale: int = 1
    """That of the question."""
    takes_costs: bool = False
    """Whether the engine takes any costs of classes, so that rows can be priced into them."""
    counts_tests: bool = False
    """Whether it takes a bound on the number of tests."""
    narrowed: tuple[str, ...] = ()
    """Requirements that the task supports by a smaller depth or fewer features: nothing but the task knows them."""
    on_paths: tuple[str, ...] = ()
    """Requirements that the task has as rules on paths."""
    on_columns: tuple[str, ...] = ()
    """Requirements that it has as a budget of columns."""

    def without_narrowing(self) -> Relaxation:
        """The same for a search that takes depth and features from the question: these requirements are left out."""
        return replace(self, dropped=(*self.dropped, *self.narrowed), narrowed=()) if self.narrowed else self

    def taking_part(self, active: Sequence[int]) -> list[tuple[str, str]]:
        """The rows that a proof used, out of the flags of all; none where these do not fit."""
        if len(active) != len(self.rows):
            return []
        return [row for row, used in zip(self.rows, active, strict=True) if used]

    def idle(self, active: Sequence[int]) -> tuple[str, ...]:
        """The requirements of which no row was used: what is proved holds without them."""
        if len(active) != len(self.rows):
            return ()
        used = {label for label, _ in self.taking_part(active)}
        return tuple(dict.fromkeys(label for label, _ in self.rows if label not in used))

    @property
    def exact(self) -> bool:
        """Whether the engine's optimum is the question's."""
        return not self.dropped

    def leaves_out_only(self, labels: Sequence[str]) -> bool:
        """Whether what is left out are such requirements, and nothing of the shape and the objective."""
        return set(self.dropped) <= set(labels)

    def named(self, engine: str) -> str:
        """An engine, with the requirements without which its bound holds, too."""
        return engine if self.exact else f"{engine} (even without {', '.join(self.dropped)})"

    @property
    def loss_task(self) -> RegressionTask:
        """The task, where leaves hold values."""
        assert isinstance(self.task, RegressionTask)
        return self.task

    def lower(self, engine_value: int) -> int:
        """A proved lower bound in the question's scaled units."""
        return math.ceil(self.factor * engine_value + self.offset)

    def claim(self, engine_value: int) -> int | Fraction:
        """The same, rounded only where all values are whole."""
        if self.part.objective.is_whole:
            return self.lower(engine_value)
        return self.factor * engine_value + self.offset

    def value(self, graph: DecisionGraph) -> Fraction:
        """What a model costs without what is dropped, in the question's scaled units."""
        return self.part.objective.evaluate(graph, self.part.data) * self.scale

    def at_least(self, scaled: int) -> int:
        """The engine value below which no model of scaled value ``scaled`` or more can be, if nothing is dropped."""
        return math.ceil((scaled - self.offset) / self.factor)

    def upper(self, scaled: int) -> int:
        """The largest engine value that a model of scaled value ``scaled`` can have."""
        return math.floor((scaled - self.offset) / self.factor)


def relax(question: Question, engine: Engine, depth: int | None = None) -> Relaxation | None:
    """What of ``question`` the engine can solve; None when even a relaxation has no use.

    A layered diagram unrolls to a tree of the same depth, so the tree's optimum bounds the diagram's where the
    engine knows trees only. The choice of an engine, its run and what follows ask for the same, so it is kept with
    the question.
    """
    known: dict[Any, Relaxation | None] = vars(question).setdefault("_relaxations", {})
    key = (engine.understands, depth)
    if key not in known:
        known[key] = _relaxed(question, engine, depth)
    return known[key]


def predicts_alike(question: Question, engine: Engine) -> bool:
    """Whether the engine's leaves predict what the objective asks for: classes, or values."""
    return (leaf_loss(question.objective) is not None) is ("loss" in engine.understands)


def _relaxed(question: Question, engine: Engine, depth: int | None) -> Relaxation | None:
    if not predicts_alike(question, engine):
        return None  # classes and values have nothing in common
    loss = leaf_loss(question.objective)
    if question.shape.splits != UNIVARIATE:
        return None  # the optimum over single features does not bound that over hyperplanes
    dropped: list[str] = []
    limits = Limits()
    totals: list[Totals] = []
    over_totals: list[tuple[str, str]] = []
    on_tests: list[str] = []
    meetings: list[Meetings] = []
    paths: list[PathRule] = []
    on_paths: list[str] = []
    on_columns: list[str] = []
    features: list[frozenset[int]] | None = None
    narrowed: list[str] = []
    is_tree = isinstance(question.shape, Tree)
    # The branches of two layers share no test; two leaves of one class are one terminal, and leaves of values are not.
    unshared = is_tree or (loss is not None and question.shape.depth <= 2)
    fits = unshared or "widths" in engine.understands
    on_weights = engine.understands if fits else engine.understands & OF_UNROLLED_TREES
    supported: list[Requirement] = []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        stated_limits = requirement.limits(question.data)
        if (
            stated_limits is not None
            and stated_limits.names == {"max_errors"}
            and allowed_errors(question) is not None
        ):
            supported.append(requirement)
            continue  # a bound on the objective itself: an optimum above it is a proof of infeasibility
        if stated_limits is not None and stated_limits.names == {"max_depth"}:
            limits = limits.tighten(stated_limits)  # a diagram unrolls to a tree of its depth
            narrowed.append(label)
        elif stated_limits is not None and stated_limits.names <= on_weights:
            limits = limits.tighten(stated_limits)
            on_tests += [label] if stated_limits.names == {"max_nodes"} else []
            on_columns += [label] if "max_features" in stated_limits.names else []
        elif (allowed := _features(requirement, question, engine, features)) is not None:
            features = allowed
            narrowed.append(label)
        elif (rows := _totals(requirement, question, engine, fits)) is not None:
            totals.append(rows)
            over_totals += [(label, rows.row_text(row)) for row in rows.rows]
        # A diagram that has no clash unrolls to a tree that has none: fewer samples reach each copy of a test.
        elif (
            "meetings" in engine.understands
            and (marks := requirement.meetings(question.data)) is not None
            and marks.n_marks + sum(part.n_marks for part in meetings) <= MOST_MARKS
        ):
            meetings.append(marks)
        elif "paths" in engine.understands and (rule := requirement.path_rule(question.data)) is not None:
            paths.append(rule)
            on_paths.append(label)
        elif (rows := _stated(label, requirement, question, engine, fits)) is not None:
            totals.append(rows)
            over_totals += [(label, rows.row_text(row)) for row in rows.rows]
        else:
            dropped.append(label)
            continue
        supported.append(requirement)
    holds_all_trees = all(width >= 2**layer for layer, width in enumerate(question.shape.widths))
    if "widths" not in engine.understands and not (unshared and holds_all_trees):
        dropped.append(f"the widths of {question.shape}")
    if question.restriction is not None:
        dropped.append(str(question.restriction))
    left_out: list[Term] = []
    priced = (
        _price(question, engine, left_out, fits)
        if loss is None
        else _price_of_loss(question, *loss, left_out, fits)
    )
    if priced is None:
        return None
    dropped += [f"the objective term {term}" for term in left_out]
    kind, prices, factor, offset = priced
    levels = min(depth or question.shape.depth, limits.max_depth or question.shape.depth)
    sets = (
        {"columns": _columns(question, features)}
        if loss is not None
        else {"features": features and tuple(features)}
    )
    task = kind(
        depth=levels,
        min_support=limits.min_support,
        max_nodes=limits.max_nodes if (limits.max_nodes or 0) < sum(question.shape.widths) else None,
        widths=question.shape.widths[:levels] if "widths" in engine.understands and not is_tree else None,
        min_flow=limits.min_flow,
        max_features=limits.max_features,
        totals=joined(totals) if totals else None,
        meetings=all_meetings(meetings) if meetings else None,
        paths=tuple(paths),
        **prices,
        **sets,
    )
    if task.max_features == 0 or task.max_nodes is not None:
        over_totals.append((on_tests[0] if len(on_tests) == 1 else "limits on tests", "number of tests"))
    kept = Objective((weight, term) for weight, term in question.objective.terms if term not in left_out)
    part = question.with_(
        shape=Tree(question.shape.depth) if loss is not None else question.shape,
        objective=kept,
        requirements=tuple(supported),
    )
    return Relaxation(
        task,
        factor,
        offset,
        tuple(dropped),
        part,
        tuple(over_totals),
        question.scale,
        takes_costs="cost" in engine.understands,
        counts_tests="max_nodes" in engine.understands,
        narrowed=tuple(narrowed),
        on_paths=tuple(on_paths),
        on_columns=tuple(on_columns),
    )


def _columns(question: Question, features: list[frozenset[int]] | None) -> np.ndarray:
    """The encoded features that tests may read, where only one set of them is allowed."""
    allowed = range(question.data.n_features) if features is None else sorted(*features)
    return np.array(allowed, dtype=np.int64)


def _totals(requirement: Requirement, question: Question, engine: Engine, fits: bool) -> Totals | None:
    """The requirement as linear constraints over sums, where the engine supports these.

    A diagram's predictions are those of the tree that it unrolls to, its tests are fewer.
    """
    if not engine.understands & {"totals", "totals_of_samples"}:
        return None
    return _supported(requirement.totals(question.data), engine, fits)


def _stated(
    label: str, requirement: Requirement, question: Question, engine: Engine, fits: bool
) -> Totals | None:
    """The same for what a requirement declares in no other way than by its `build`; kept with the question."""
    if "stated_sums" not in engine.understands:
        return None
    known: dict[str, Totals | None] = vars(question).setdefault("_stated_sums", {})
    if label not in known:
        known[label] = stated_sums(requirement, question.data, question.shape)
    return _supported(known[label], engine, fits)


def _supported(declared: Totals | None, engine: Engine, fits: bool) -> Totals | None:
    of_nodes = fits and "totals" in engine.understands
    return declared if declared is not None and (of_nodes or not declared.of_nodes) else None


def _features(
    requirement: Requirement, question: Question, engine: Engine, others: list[frozenset[int]] | None
) -> list[frozenset[int]] | None:
    """The sets of features that this requirement and the others allow; None where it is no such requirement.

    A set that another one includes needs no search of its own.
    """
    sets = requirement.allowed_features(question.data) if "features" in engine.understands else None
    if sets is None:
        return None
    both = {a & b for a in sets for b in others} if others is not None else set(sets)
    largest = [one for one in both if not any(one < other for other in both)]
    return sorted(largest, key=sorted) if len(largest) <= engine.most_sets else None


Price = tuple[type[TreeTask], dict[str, Any], Fraction, Fraction]


def _price_of_loss(
    question: Question, weight: Fraction, loss: LeafLoss, left_out: list[Term], fits: bool
) -> Price:
    """The objective as a loss and a price per test in its units."""
    data, price, offset = question.data, Fraction(0), Fraction(0)
    for each, term in question.objective.terms:
        if isinstance(term, Nodes) and not fits:
            left_out.append(term)  # the tree that a diagram unrolls to may have more tests
        elif isinstance(term, Nodes | Leaves):
            price += each
            offset += each if isinstance(term, Leaves) else 0
    unit = weight * loss.per_unit(data)
    prices = {
        "loss": loss.kind,
        "price": price / unit,
        "best_value": lambda rows: loss.best_value(data, rows),
        "best_loss": lambda rows: loss.of_best(data, rows),
    }
    return RegressionTask, prices, BOUND_UNIT * unit * question.scale, offset * question.scale


def _price(question: Question, engine: Engine, left_out: list[Term], fits: bool) -> Price | None:
    """The objective as costs of classes or samples and a penalty per test, in the engine's integers."""
    data = question.data
    classes = data.n_classes
    each_error = penalty = offset = Fraction(0)
    costs: list[tuple[Fraction, ClassCost]] = []
    each: list[tuple[Fraction, SampleCost]] = []
    for weight, term in question.objective.terms:
        if isinstance(term, Error):
            each_error += weight * data.weight_unit
        elif isinstance(term, ClassCost):
            costs.append((weight * data.weight_unit, term))
        elif isinstance(term, SampleCost) and "sample_cost" in engine.understands:
            each.append((weight, term))
            offset += weight * term.unit(data) * term.constant(data)
        elif isinstance(term, Nodes) and fits and "node_penalty" in engine.understands:
            penalty += weight
        elif (
            isinstance(term, Leaves)
            and isinstance(question.shape, Tree)
            and "node_penalty" in engine.understands
        ):
            penalty += weight
            offset += weight
        elif weight >= 0:
            left_out.append(term)
        else:
            return None
    if each:
        each += [(weight / data.weight_unit, term) for weight, term in costs]
        return _of_samples(question, each_error, each, penalty, offset)
    unit = each_error if classes > 1 else Fraction(1)
    if not costs and unit > 0 and (penalty / unit).denominator == 1:
        prices: dict[str, Any] = {"node_penalty": int(penalty / unit)}
        return TreeTask, prices, unit * question.scale, offset * question.scale
    if "cost" not in engine.understands or each_error < 0 or penalty < 0:
        return None
    priced = _whole_costs(question, each_error, costs, penalty.denominator)
    if priced is None:
        return None
    whole, step = priced
    if int(whole.max()) * data.total_weight + penalty * step >= LARGEST_COST:
        return None
    prices = {"cost": whole, "node_penalty": int(penalty * step)}
    return TreeTask, prices, Fraction(question.scale, step), offset * question.scale


def _of_samples(
    question: Question,
    each_error: Fraction,
    costs: list[tuple[Fraction, SampleCost]],
    penalty: Fraction,
    offset: Fraction,
) -> Price | None:
    """As `_price`, where costs depend on the sample and not on its class alone."""
    data = question.data
    factors = [weight * term.unit(data) for weight, term in costs]
    step = math.lcm(penalty.denominator, each_error.denominator, *(f.denominator for f in factors))
    whole = (1 - np.eye(data.n_classes, dtype=np.int64))[data.y].astype(object) * int(each_error * step)
    for factor, (_, term) in zip(factors, costs, strict=True):
        whole = whole + term.per_sample(data).astype(object) * int(factor * step)
    if int(whole.max()) * data.total_weight + penalty * step >= LARGEST_COST:
        return None
    prices = {"sample_cost": whole.astype(np.int64), "node_penalty": int(penalty * step)}
    return TreeTask, prices, Fraction(question.scale, step), offset * question.scale


def _whole_costs(
    question: Question, each_error: Fraction, costs: list[tuple[Fraction, ClassCost]], denominator: int
) -> tuple[np.ndarray, int] | None:
    """``cost[true, predicted]`` times ``step`` as whole numbers, and ``step``; None beyond the engines' integers.

    Errors cost the same for all pairs of classes: only `Cost` needs a number for each pair.
    """
    classes = range(question.data.n_classes)
    if not costs:
        step = math.lcm(denominator, each_error.denominator)
        if each_error * step >= LARGEST_COST:
            return None
        return int(each_error * step) * (1 - np.eye(len(classes), dtype=np.int64)), step
    tables = [(weight, term.entries(question.data)) for weight, term in costs]
    matrix = [
        [each_error * (truth != guess) + sum(w * cost[truth][guess] for w, cost in tables) for guess in classes]
        for truth in classes
    ]
    step = math.lcm(denominator, *(entry.denominator for row in matrix for entry in row))
    entries = [[int(entry * step) for entry in row] for row in matrix]
    if min(map(min, entries)) < 0 or max(map(max, entries)) >= LARGEST_COST:
        return None
    return np.array(entries, dtype=np.int64), step
