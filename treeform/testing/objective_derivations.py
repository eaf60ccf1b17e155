"""Every way in which an objective is stated, held against `Objective.evaluate` on single models.

Solvers minimise expressions over ports; engines whole costs of predictions and a price of a test; what is no sum is
minimised in parts; the reference search of certificates has numbers of its own. Each of them has to be the exact value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from treeform.backends import Backend
from treeform.certify.reference import plain_part
from treeform.data import Dataset
from treeform.engines import DL85, ConTree, DiagramSearch, Engine, RegressionSearch, TotalsSearch
from treeform.engines.regression_task import BOUND_UNIT
from treeform.engines.relaxation import relax
from treeform.errors import ModelError, RouteError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.composed import LargestTerm, RatioTerm, SteppedTerm, UnstatedTerm
from treeform.language.losses import leaf_loss, loss_of
from treeform.language.objective import Objective
from treeform.language.question import Question
from treeform.language.size_terms import Depth
from treeform.objectives.regression import AbsoluteError
from treeform.shape import Shape, Tree
from treeform.solve.in_parts import parts_of
from treeform.testing.fixed_ports import FixedPorts, is_whole

Check = Callable[[DecisionGraph, Fraction], str | None]
"""What is wrong with a model whose value is given; None where nothing is."""
PORTS, COSTS, PARTS, REFERENCE, LOSS = (
    "over ports",
    "engines",
    "parts",
    "reference search",
    "regression search",
)


class ObjectiveDerivations:
    """The statements of one objective on one data set and shape.

    Parameters
    ----------
    objective : Objective
        Bound to the data.
    backend : Backend
        For columns that an expression over ports has beside them.
    """

    def __init__(self, objective: Objective, data: Dataset, shape: Shape, backend: Backend) -> None:
        self.objective, self.data, self.shape, self.backend = objective, data, shape, backend
        self.question = Question(data, shape, objective)
        self._fixed: list[FixedPorts] = []
        makers = (
            (PORTS, self._ports),
            (COSTS, self._costs),
            (PARTS, self._parts),
            (REFERENCE, self._reference),
        )
        self.stated: dict[str, Check] = {}
        for name, make in (*makers, (LOSS, self._loss)):
            check = make()
            if check is not None:
                self.stated[name] = check

    def disagreements(self, graph: DecisionGraph) -> Iterator[str]:
        """The statements that do not agree with `evaluate` on a model."""
        value = self.objective.evaluate(graph, self.data)
        scaled = value * self.question.scale
        if self.objective.is_whole and leaf_loss(self.objective) is None and scaled.denominator != 1:
            yield f"{value} is not whole on the scale {self.question.scale}"
        if leaf_loss(self.objective) is None and value > self.objective.largest(self.data, self.shape):
            yield f"{value} is above the largest value, {self.objective.largest(self.data, self.shape)}"
        for name, check in self.stated.items():
            wrong = check(graph, value)
            if wrong is not None:
                yield f"{name}: {wrong}, and evaluate() is {value}"

    def close(self) -> None:
        """Free the solvers."""
        for one in self._fixed:
            one.close()

    def _ports(self) -> Check | None:
        terms = [term for _, term in self.objective.terms]
        if any(isinstance(term, UnstatedTerm | Depth) for term in terms) or self.objective.is_squared:
            return None
        try:
            fixed = FixedPorts(
                self.data,
                self.shape,
                self.objective.needs,
                self.objective.build,
                self.backend,
            )
        except (ModelError, SpecError):
            return None  # numbers that no float64 holds: solvers are not given them
        self._fixed.append(fixed)

        def check(graph: DecisionGraph, value: Fraction) -> str | None:
            if not is_whole(graph, self.data):
                return None
            try:
                least = fixed.least(graph, value * self.question.scale)
            except RouteError:
                return None
            return None if least == value * self.question.scale else f"{least} over ports"

        return check

    def _costs(self) -> Check | None:
        """What engines count: costs by class or by sample, and a price of each test; of a relaxation, a lower bound."""
        tasks = []
        for engine in (TotalsSearch(), ConTree(), DL85(), DiagramSearch()):
            relaxation = relax(self.question, engine)
            if relaxation is not None:
                tasks.append((engine, relaxation))

        def check(graph: DecisionGraph, value: Fraction) -> str | None:
            codes = graph.predict_codes(self.data.X)
            for engine, relaxation in tasks:
                counted = engine_value(relaxation.task, codes, graph.n_nodes, self.data)
                theirs = relaxation.factor * counted + relaxation.offset
                ours = value * self.question.scale
                if theirs != ours if relaxation.exact else theirs > ours:
                    return f"{theirs / self.question.scale} as {_name(engine)} counts"
            return None

        return check if tasks else None

    def _parts(self) -> Check | None:
        """The least of the parts whose requirement a model satisfies is its value; costs of a ratio have its sign."""
        terms = self.objective.terms
        if any(isinstance(term, LargestTerm | SteppedTerm) for _, term in terms):
            parts = parts_of(self.question, None)

            def of_parts(graph: DecisionGraph, value: Fraction) -> str | None:
                values = [
                    part.question.objective.evaluate(graph, self.data) + part.plus
                    for part in parts
                    if all(r.violation(graph, self.data) == 0 for r in part.question.requirements)
                ]
                return None if values and min(values) == value else f"{min(values, default=None)} in parts"

            return of_parts
        weight, term = terms[0] if terms else (Fraction(1), None)
        if not isinstance(term, RatioTerm):
            return None

        def of_ratio(graph: DecisionGraph, value: Fraction) -> str | None:
            for ratio in {Fraction(0), Fraction(1, 3), value / weight, Fraction(1)}:
                cost, least = term.at(self.data, ratio)
                missing = cost.evaluate(graph, self.data) - least
                if (missing > 0) != (value / weight > ratio) or (missing < 0) != (value / weight < ratio):
                    return f"at the ratio {ratio} costs miss the bound by {missing}"
            return None

        return of_ratio

    def _reference(self) -> Check | None:
        plain = plain_part(self.question)
        if plain is None:
            return None

        def check(graph: DecisionGraph, value: Fraction) -> str | None:
            codes = graph.predict_codes(self.data.X)
            cost = sum(
                int(w) * int(plain.cost[y, k])
                for w, y, k in zip(self.data.weights, self.data.y, codes, strict=True)
            )
            theirs = (
                plain.worth * cost
                + plain.price * graph.n_nodes
                + plain.constant
                + plain.per_level * graph.depth
            )
            return None if theirs == value else f"{theirs} there"

        return check

    def _loss(self) -> Check | None:
        if leaf_loss(self.objective) is None or not isinstance(self.shape, Tree):
            return None
        part = relax(self.question, RegressionSearch())
        assert part is not None
        task, unit, constant = part.loss_task, part.factor / BOUND_UNIT, part.offset
        _, loss = loss_of(self.objective)
        quantity = self.data.quantity
        assert quantity is not None

        def check(graph: DecisionGraph, value: Fraction) -> str | None:
            units = [quantity.in_units(v) for v in graph.values]
            counted = task.price * graph.n_nodes
            power = 1 if isinstance(loss, AbsoluteError) else 2
            for d, w, k in zip(
                quantity.deviations.tolist(),
                self.data.weights.tolist(),
                graph.predict_codes(self.data.X),
                strict=True,
            ):
                counted += w * abs(d - units[k]) ** power
            theirs = (unit * counted + constant) / self.question.scale
            return None if theirs == value else f"{theirs} there"

        return check


def engine_value(task: object, codes: np.ndarray, n_tests: int, data: Dataset) -> int:
    """What a model costs by a task, in the engine's whole numbers."""
    cost, each, penalty = (getattr(task, name) for name in ("cost", "sample_cost", "node_penalty"))
    if cost is None and each is None:
        cost = 1 - np.eye(data.n_classes, dtype=np.int64)
    counted = penalty * n_tests
    for i, (w, y, k) in enumerate(zip(data.weights.tolist(), data.y.tolist(), codes.tolist(), strict=True)):
        counted += w * int(cost[y, k] if each is None else each[i, k])
    return int(counted)


def _name(engine: Engine) -> str:
    return engine.name


def objective_disagreements(
    objective: Objective,
    data: Dataset,
    shape: Shape,
    graphs: Sequence[DecisionGraph],
    backend: Backend,
) -> Iterator[tuple[DecisionGraph, str]]:
    """The models on which some statement of a bound objective does not agree with its value."""
    stated = ObjectiveDerivations(objective, data, shape, backend)
    try:
        for graph in graphs:
            for text in stated.disagreements(graph):
                yield graph, text
    finally:
        stated.close()
