"""Every way in which a requirement is stated, held against its definition on single models.

The definition is `Requirement.violation`: fractions, of a finished model. Searches and proofs read other statements:
rows over ports, sum constraints and predictions, plain limits, allowed features, marks, rules on paths, rows over the
values of leaves. Each of them has to be satisfied exactly where `violation` is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeform.backends import Backend
from treeform.certify.restated import Restated
from treeform.data import Dataset
from treeform.engines.leaf_values.fit import LeafFits
from treeform.engines.leaf_values.problem import product
from treeform.errors import ModelError, RouteError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded
from treeform.language.paths import PathRule, PathTests
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.language.values import ValueRule
from treeform.objectives.regression import AbsoluteError
from treeform.objectives.soft import Soft
from treeform.requirements.counted import PayableAtMost
from treeform.shape import UNIVARIATE, Limits, Shape, Tree
from treeform.testing.fixed_ports import FixedPorts, State, is_whole

Verdict = Callable[[DecisionGraph], bool | None]
"""Whether a statement is satisfied by a model; None where it has nothing to say of it."""
PORTS, SLACK = "rows over ports", "paid, over ports"
TOTALS, PREDICTIONS, SHORTFALL = (
    "linear constraints over sums",
    "linear constraints over predictions",
    "shortfall",
)
LIMITS, FEATURES, MARKS, PATHS = "limits", "features", "marks", "paths"
VALUES, STEPS, BOUND = "leaf values", "steps", "bound"
MANY = 10**6
CHECK = "check"
"""Before the statements of `treeform.certify.restated`."""


class Derivations:
    """The statements of one requirement on one data set and shape.

    Parameters
    ----------
    requirement : Requirement
        Bound to the data.
    backend : Backend
        For rows over ports that have columns of their own.
    solves : int
        For so many models what is paid over ports is minimised by the backend.
    """

    def __init__(
        self, requirement: Requirement, data: Dataset, shape: Shape, backend: Backend, solves: int = MANY
    ) -> None:
        self.solves = solves
        self.requirement, self.data, self.shape, self.backend = requirement, data, shape, backend
        self._fixed: list[FixedPorts] = []
        makers = {
            TOTALS: self._totals,
            PREDICTIONS: self._predictions,
            LIMITS: self._limits,
            FEATURES: self._features,
            MARKS: self._marks,
            VALUES: self._values,
            PATHS: self._paths,
        }
        if not isinstance(requirement, Restated):
            makers |= {PORTS: self._ports, SLACK: self._slack, SHORTFALL: self._shortfall}
            makers |= {STEPS: self._steps, BOUND: self._bound}
        made = {name: make() for name, make in makers.items()}
        self.stated: dict[str, Verdict] = {
            name: verdict for name, verdict in made.items() if verdict is not None
        }
        if not isinstance(requirement, Restated):
            again = Derivations(Restated.of(requirement), data, shape, backend)
            self.stated |= {f"{CHECK}: {name}": verdict for name, verdict in again.stated.items()}

    def disagreements(self, graph: DecisionGraph) -> Iterator[str]:
        """The statements that do not agree with `violation` on a model."""
        lacking = Fraction(self.requirement.violation(graph, self.data))
        if lacking < 0:
            yield f"violation() is {lacking}"
        for name, verdict in self.stated.items():
            satisfied = verdict(graph)
            if satisfied is not None and satisfied != (lacking == 0):
                yield f"{name}: {'satisfied' if satisfied else 'missed'}, and violation() is {lacking}"

    def close(self) -> None:
        """Free the solvers."""
        for one in self._fixed:
            one.close()

    # -- over ports ---------------------------------------------------------------------------------

    def _over_ports(self, needs: frozenset[str], state: State) -> FixedPorts:
        fixed = FixedPorts(self.data, self.shape, needs, state, self.backend)
        self._fixed.append(fixed)
        return fixed

    def _ports(self) -> Verdict | None:
        requirement = self.requirement
        if (
            self.data.quantity is not None
            and "value" in requirement.needs
            and _any_values(requirement, self.data)
        ):
            return None
        fixed = self._over_ports(frozenset(requirement.needs), requirement.build)
        return lambda graph: fixed.least(graph) is not None if is_whole(graph, self.data) else None

    def _slack(self) -> Verdict | None:
        """What is paid is what is lacking, and that is nothing exactly where nothing is lacking."""
        if self.data.quantity is not None:
            return None
        try:
            soft = Soft(self.requirement).bind(self.data)
        except SpecError:
            return None
        try:
            fixed = self._over_ports(frozenset(soft.needs), soft.build)
        except ModelError:
            return None  # numbers that no float64 holds: solvers are not given them
        unit, left = soft.unit(self.data), iter(range(self.solves))

        def verdict(graph: DecisionGraph) -> bool | None:
            if next(left, None) is None:
                return None
            try:
                least = fixed.least(graph, self.requirement.lacking(graph, self.data) / unit)
            except RouteError:
                return None
            paid, lacking = soft.evaluate(graph, self.data), self.requirement.lacking(graph, self.data)
            if least is None or unit * least != paid or paid != lacking:
                raise AssertionError(
                    f"{SLACK}: {least} times {unit} over ports, {paid} evaluated, {lacking} lacking"
                )
            if paid > soft.largest(self.data, self.shape) or (paid / unit).denominator != 1:
                raise AssertionError(f"{SLACK}: {paid} is no multiple of {unit}, or beyond the largest")
            return paid == 0

        return verdict

    # -- over samples -------------------------------------------------------------------------------

    def _totals(self) -> Verdict | None:
        totals = None if self.data.quantity is not None else self.requirement.totals(self.data)
        if totals is None:
            return None
        short = replace(totals, rows=tuple(row.reduced() for row in totals.rows))  # as engines read them

        def verdict(graph: DecisionGraph) -> bool:
            satisfied = totals.excess(graph, self.data) == 0
            if satisfied != (short.excess(graph, self.data) == 0):
                raise AssertionError(
                    f"{TOTALS}: {'satisfied' if satisfied else 'missed'}, and reduced they are not so"
                )
            return satisfied

        return verdict

    def _predictions(self) -> Verdict | None:
        rows = [] if self.data.quantity is not None else self.requirement.prediction_rows(self.data)
        weights = self.data.weights.tolist()

        def verdict(graph: DecisionGraph) -> bool:
            codes = graph.predict_codes(self.data.X)
            each = [np.asarray(coef)[np.arange(len(codes)), codes].tolist() for coef, _ in rows]
            sums = [sum(w * c for w, c in zip(weights, coef, strict=True)) for coef in each]
            return all(reached <= side for reached, (_, side) in zip(sums, rows, strict=True))

        return verdict if rows else None

    def _shortfall(self) -> Verdict | None:
        rows = None if self.data.quantity is not None else self.requirement.shortfall(self.data)
        return None if rows is None else lambda graph: rows.excess(graph, self.data) == 0

    # -- on tests -----------------------------------------------------------------------------------

    def _limits(self) -> Verdict | None:
        limits = self.requirement.limits(self.data)
        return None if limits is None else lambda graph: within(limits, graph, self.data)

    def _features(self) -> Verdict | None:
        sets = self.requirement.allowed_features(self.data)
        return None if sets is None else lambda graph: any(graph.features_used() <= one for one in sets)

    def _marks(self) -> Verdict | None:
        marks = None if self.data.quantity is not None else self.requirement.meetings(self.data)
        return None if marks is None else lambda graph: marks.excess(graph, self.data) == 0

    def _paths(self) -> Verdict | None:
        rule = self.requirement.path_rule(self.data)
        if rule is None or not isinstance(self.shape, Tree) or self.shape.splits != UNIVARIATE:
            return None
        return lambda graph: None if graph.passes.any() else on_paths(rule, graph, self.data)

    # -- values -------------------------------------------------------------------------------------

    def _values(self) -> Verdict | None:
        rule = None if self.data.quantity is None else self.requirement.value_rule(self.data)
        if rule is None or not isinstance(self.shape, Tree):
            return None
        fits = LeafFits(Question(self.data, self.shape, AbsoluteError() * 1, (self.requirement,)), rule)
        return lambda graph: values_satisfy(fits, rule, graph)

    # -- bounds that move ---------------------------------------------------------------------------

    def _steps(self) -> Verdict | None:
        """The amount of the tightest bound that a model satisfies is what it lacks."""
        requirement = self.requirement
        if not isinstance(requirement, PayableAtMost):
            return None
        steps = requirement.steps(self.data, self.shape)

        def verdict(graph: DecisionGraph) -> bool:
            paid = min(amount for one, amount in steps if one is None or one.violation(graph, self.data) == 0)
            if paid != requirement.lacking(graph, self.data):
                raise AssertionError(
                    f"{STEPS}: {paid} is paid and {requirement.lacking(graph, self.data)} lacking"
                )
            return paid == 0

        return verdict

    def _bound(self) -> Verdict | None:
        """A model satisfies the bound that is its measure, and all looser ones; it misses the next tighter one."""
        requirement = self.requirement
        limit = requirement.bound if isinstance(requirement, Bounded) else None
        if not isinstance(requirement, Bounded) or limit is None:
            return None
        rule = None if self.data.quantity is None else self.requirement.value_rule(self.data)

        def verdict(graph: DecisionGraph) -> bool | None:
            if rule is not None and rule.whole and not is_whole(graph, self.data):
                return None  # what is measured is beside the point: no bound makes these values whole
            try:
                measured = requirement.measured(graph, self.data)
                beyond = None if requirement.is_continuous else requirement.beyond(measured, self.data)
            except SpecError:
                return None  # counts of weights that are no whole numbers
            for bound, satisfied in ((measured, True), (beyond, False)):
                moved = None if bound is None else _moved(requirement, bound, self.data)
                if moved is not None and (moved.violation(graph, self.data) == 0) != satisfied:
                    raise AssertionError(f"{BOUND}: a model of measure {measured} under the bound {bound}")
            return not requirement.is_tighter(limit, measured)

        return verdict


def _moved(requirement: Bounded, bound: int | Fraction, data: Dataset) -> Requirement | None:
    try:
        return requirement.with_bound(bound).bind(data)
    except SpecError:
        return None  # no such bound, as of 0 levels of a path


def _any_values(requirement: Requirement, data: Dataset) -> bool:
    rule = requirement.value_rule(data)
    return rule is not None and bool(rule.rows) and not rule.whole


def within(limits: Limits, graph: DecisionGraph, data: Dataset) -> bool:
    """Whether a model satisfies plain limits, counted test by test."""
    X, weights = data.X, [int(w) for w in data.weights]
    visits, left = graph.route(X), graph.goes_left(X)
    nodes = [test.node for test in graph.tests()]

    def weight(rows: np.ndarray) -> int:
        return sum(w for w, here in zip(weights, rows.tolist(), strict=True) if here)

    flows = [weight(visits[:, v]) for v in nodes]
    sides = [weight(visits[:, v] & (left[:, v] == low)) for v in nodes for low in (True, False)]
    columns = {data.columns[f].source for test in graph.tests() for f in test.columns}
    deepest = max((int(row) for row in visits[:, nodes].sum(axis=1)), default=0)
    errors = 0
    if limits.max_errors is not None:
        errors = weight(graph.predict_codes(X) != data.y)
    return (
        min(sides, default=limits.min_support) >= limits.min_support
        and min(flows, default=limits.min_flow) >= limits.min_flow
        and (limits.max_nodes is None or len(nodes) <= limits.max_nodes)
        and (limits.max_errors is None or errors <= limits.max_errors)
        and (limits.max_features is None or len(columns) <= limits.max_features)
        and (limits.max_depth is None or deepest <= limits.max_depth)
    )


def on_paths(rule: PathRule, graph: DecisionGraph, data: Dataset) -> bool:
    """Whether a tree satisfies a rule on its paths, walked from the root."""
    X, tests = data.points.X, list(graph.tests())
    left = graph.goes_left(X)
    read = np.array([test.columns[0] for test in tests], dtype=np.int64)
    right = np.array([~left[:, test.node] for test in tests], dtype=bool).reshape(len(tests), len(X)).T
    number = {test.node: t for t, test in enumerate(tests)}

    def below(node: int, state: object) -> bool:
        if node not in number:
            return rule.may_end(state)
        t = number[node]
        if not rule.allowed(state, PathTests(read, right))[t]:
            return False
        heads = (int(graph.left[node]), False), (int(graph.right[node]), True)
        return all(below(head, rule.after(state, int(read[t]), side)) for head, side in heads)

    return below(0, rule.start)


def values_satisfy(fits: LeafFits, rule: ValueRule, graph: DecisionGraph) -> bool:
    """Whether the values at a tree's leaves satisfy the rows that searches fit values under."""
    data = fits.data
    assert data.quantity is not None
    at = graph.apply(data.X)
    leaves = np.unique(at)
    values = [data.quantity.in_units(graph.values[graph.label[leaf]]) for leaf in leaves]
    rows = rule.over([np.flatnonzero(at == leaf) for leaf in leaves], fits.ordered(graph, leaves))
    low, high = data.quantity.lowest, data.quantity.highest
    whole = not rule.whole or all(v.denominator == 1 and low <= v <= high for v in values)
    return whole and all(product(row.coef, values) <= row.side for row in rows)


def disagreements(
    requirement: Requirement,
    data: Dataset,
    shape: Shape,
    graphs: Sequence[DecisionGraph],
    backend: Backend,
    solves: int = MANY,
) -> Iterator[tuple[DecisionGraph, str]]:
    """The models on which some statement of a bound requirement does not agree with its `violation`."""
    stated = Derivations(requirement, data, shape, backend, solves)
    try:
        for graph in graphs:
            try:
                for text in stated.disagreements(graph):
                    yield graph, text
            except AssertionError as error:
                yield graph, str(error)
    finally:
        stated.close()
