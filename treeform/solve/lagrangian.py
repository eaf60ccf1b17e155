r"""Bounds for side constraints from the unconstrained engine: Lagrangian relaxation.

A requirement such as statistical parity is a few linear rows over predictions,
:math:`\sum_i a_r[i, \hat y_i] \le b_r`. Pricing them into the objective gives, for every multiplier
:math:`\lambda \ge 0`, a lower bound on the constrained optimum,

.. math:: L(\lambda) = \min_T \; \mathrm{cost}(T) + \sum_r \lambda_r \Big(\sum_i a_r[i, \hat y_i(T)] - b_r\Big),

and the minimisation is a plain tree problem whose misclassification costs depend on the sample's class
*and* on its coefficients: the engine solves it with one artificial class per kind of sample. A search for trees of two
classes is given costs in coarse units, which it takes for weights: it proves nothing with them. Trees found on
the way that satisfy the requirements are incumbents, often optimal ones. Multipliers are rationals, so the
bound is exact. L is concave and piecewise linear; along one row the maximum is found by intersecting the
two lines that bracket it, which ends after finitely many trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.engines.contree import MOVES, NARROW_SUM
from treeform.engines.diagram_rows import cheapest_within
from treeform.engines.relaxation import Relaxation, relax
from treeform.engines.task import OnIncumbent
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.solve.engines import submit_repaired
from treeform.solve.ledger import Ledger
from treeform.utils.budget import Budget

MAX_TREES = 60
LARGEST_COST = 2**58
"""Priced costs of all samples together stay below this; a larger multiplier is not tried."""
DENOMINATOR = 4_096
"""Multipliers are rounded to fractions with this denominator (relative to the row's largest coefficient)."""

LEAST_STEPS = 16
"""Costs of a sample that a search for trees tells apart at least: with fewer its trees are those of other prices."""


@dataclass(frozen=True)
class Row:
    """One linear row over predictions: ``sum_i weight_i * coef[i, predicted_i] <= rhs``."""

    label: str
    coef: np.ndarray
    """(n, K) int64, per unit of weight."""
    rhs: int

    def slack(self, graph: DecisionGraph, data: Dataset) -> int:
        """``sum - rhs`` on a model: positive when the row is violated."""
        guess = graph.predict_codes(data.X)
        terms = self.coef[np.arange(data.n_samples), guess]
        return int((terms.astype(object) * data.weights).sum()) - self.rhs


def rows_of(question: Question, dropped: tuple[str, ...]) -> list[Row]:
    """The rows of those requirements that the engine does not support, where they have that form."""
    rows = []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        if label in dropped:
            for coef, rhs in requirement.prediction_rows(question.data):
                step = math.gcd(int(rhs), *(int(v) for v in np.unique(coef)))
                rows.append(Row(label, coef // max(step, 1), rhs // max(step, 1)))
    return rows


class Lagrangian:
    """L(lambda) for one question and engine, evaluated exactly.

    ``relaxation``: the engine's task without the rows; its price per error and per test are kept.
    """

    def __init__(self, question: Question, engine: Engine, relaxation: Relaxation, rows: list[Row]) -> None:
        self.question = question
        self.engine = engine
        self.relaxation = relaxation
        self.rows = rows
        priced = {row.label for row in rows}
        self.ignored = tuple(name for name in relaxation.dropped if name not in priced)
        data, task = question.data, relaxation.task
        own = data.y[:, None] if task.sample_cost is None else task.sample_cost
        kinds, first, kind_of = np.unique(
            np.column_stack([own, *(row.coef for row in rows)]), axis=0, return_index=True, return_inverse=True
        )
        self.n_kinds = len(kinds)
        """Kinds of samples, by their class, or what each prediction of them costs, and by what they add to the rows."""
        self._cost = task.cost_of_samples(data, first)
        self.dearest = int(self._cost.max())
        """The most that a unit of weight costs, in units of the task."""
        self._blocks = np.split(kinds[:, own.shape[1] :], len(rows), axis=1) if rows else []
        self._kind_of = kind_of.reshape(-1)
        self._kind_weight = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(self._kind_weight, self._kind_of, data.weights)

    def without(self, features: frozenset[int]) -> Lagrangian:
        """The same for trees without tests of some features: L is then no bound of the whole."""
        task = self.relaxation.task
        sets = task.features or (frozenset(range(self.question.data.n_features)),)
        narrowed = tuple(dict.fromkeys(one - features for one in sets))
        made = copy(self)
        made.relaxation = replace(self.relaxation, task=replace(task, features=narrowed))
        return made

    def solve(
        self, multipliers: tuple[Fraction, ...], budget: Budget
    ) -> tuple[Fraction, DecisionGraph | None, bool]:
        """(lower bound in the question's scaled units, minimising tree, proved)."""
        outcome, base, step = self._answer(self.engine, multipliers, budget, None)
        value = Fraction(outcome.lower + base, step) - sum(
            (m * row.rhs for m, row in zip(multipliers, self.rows, strict=True)), Fraction(0)
        )
        bound = self.relaxation.factor * value + self.relaxation.offset
        graph = None if outcome.graph is None else outcome.graph.reclassified(self.question.data)
        return bound, graph, outcome.proved

    def tree(
        self,
        engine: Engine,
        multipliers: tuple[Fraction, ...],
        budget: Budget,
        on_tree: Callable[[DecisionGraph], None] | None,
        some: np.ndarray | None = None,
    ) -> tuple[DecisionGraph | None, int]:
        """The best tree that a search finds at these multipliers, and its moves.

        ``on_tree`` is called with the tree and those before it; None: those before it are not looked at. The search
        reads the samples ``some``; None: all.
        """
        last: list[DecisionGraph] = []

        def take(graph: DecisionGraph | None) -> None:
            if graph is not None:
                last[:] = [graph.reclassified(self.question.data)]
                if on_tree is not None:
                    on_tree(last[0])

        def on_incumbent(seconds: float, upper: int, lower: int, graph: DecisionGraph | None) -> None:
            take(graph)

        told = None if on_tree is None else on_incumbent
        most = self._largest_step() if self.question.data.n_classes == 2 else None
        outcome, _, _ = self._answer(engine, multipliers, budget, told, some, most)
        if outcome.graph is not None and [outcome.graph.reclassified(self.question.data)] != last:
            take(outcome.graph)
        return last[0] if last else None, outcome.counters.get(MOVES, 0)

    def _answer(
        self,
        engine: Engine,
        multipliers: tuple[Fraction, ...],
        budget: Budget,
        on_incumbent: OnIncumbent | None,
        some: np.ndarray | None = None,
        most: int | None = None,
    ) -> tuple[EngineOutcome, int, int]:
        """The engine's answer with the rows priced; and the constant and the scale of its costs.

        ``most``: to what they are rounded; None: they are exact.
        """
        price, merged, base, step = self._price(multipliers)
        task = self.relaxation.task
        penalty, unit = task.node_penalty * step, 1
        if most is not None and len(price) > 2:
            unit = max(1, -(-int(price.max()) // most))
            price, penalty = _rounded(price, unit), round(penalty / unit)
        task = replace(task, cost=price, sample_cost=None, node_penalty=penalty)
        data = self.question.data.relabelled(merged[self._kind_of], len(price))
        data = data if some is None else data.taken(some)
        return engine.answer(data, task, EngineRun(budget, on_incumbent=on_incumbent)), base, step

    def _largest_step(self) -> int | None:
        """The largest cost of a sample at which a search for trees keeps its sums at 16 bits; None: it is too small."""
        data = self.question.data
        most = NARROW_SUM // (data.n_samples * int(data.weights.max()))
        return most if most >= LEAST_STEPS else None

    def _whole(self, multipliers: tuple[Fraction, ...]) -> tuple[np.ndarray, int, int]:
        step = math.lcm(*(m.denominator for m in multipliers))
        cost = self._cost.astype(object) * step
        for block, multiplier in zip(self._blocks, multipliers, strict=True):
            cost = cost + block.astype(object) * int(multiplier * step)
        floor = cost.min(axis=1)
        base = int((floor * self._kind_weight.astype(object)).sum())
        cost = cost - floor[:, None]
        return cost, base, step

    def within_range(self, multipliers: list[Fraction]) -> bool:
        """Whether the priced costs stay in the engine's 64-bit arithmetic."""
        cost, _, _ = self._whole(tuple(multipliers))
        return (int(cost.max()) + 1) * int(self._kind_weight.sum()) < LARGEST_COST

    def priced_diagrams(
        self, multipliers: list[Fraction]
    ) -> Callable[..., tuple[int | None, DecisionGraph | None, bool]] | None:
        """The search for the cheapest diagram below a true cost, at multipliers; None beyond 64-bit arithmetic."""
        if not self.within_range(multipliers):
            return None
        reduced, base, step = self._whole(tuple(multipliers))
        data = self.question.data
        weights = data.relabelled(self._kind_of, self.n_kinds).points.weights
        priced = sum(int(m * step) * row.rhs for m, row in zip(multipliers, self.rows, strict=True))
        return partial(
            cheapest_within,
            data,
            self.question.shape.widths,
            self.relaxation.task.max_nodes,
            reduced=weights @ reduced.astype(np.int64),
            truth=weights @ self._cost,
            taken=np.stack([weights @ block for block in self._blocks]),
            rhs=tuple(row.rhs for row in self.rows),
            rate=step,
            base=priced - base,
        )

    def _price(self, multipliers: tuple[Fraction, ...]) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Costs by kind of sample and prediction, whole and not negative: (matrix, row of each kind, constant, scale).

        Kinds of the same costs are one: without prices there are as many as classes, and a search takes less time.
        """
        cost, base, step = self._whole(multipliers)
        different, merged = np.unique(cost.astype(np.int64), axis=0, return_inverse=True)
        kinds, classes = different.shape
        size = max(kinds, classes)  # a class that no sample has may be predicted all the same
        square = np.full((size, size), int(different.max()) + 1, dtype=np.int64)
        square[:kinds, :classes] = different
        return square, merged.reshape(-1), base, step


def _rounded(cost: np.ndarray, unit: int) -> np.ndarray:
    """Costs in larger units; what costs anything costs one at least."""
    return np.where(cost > 0, np.maximum(1, np.rint(cost / unit).astype(np.int64)), 0)


def dual_of(question: Question, engine: Engine, labels: list[str]) -> Lagrangian | None:
    """What the engine minimises once rows of these labels have a price; None where it leaves out others of them."""
    relaxation = relax(question, engine)
    if relaxation is None:
        return None
    rows = rows_of(question, tuple(label for label in relaxation.dropped if label in labels))
    return Lagrangian(question, engine, relaxation, rows) if [row.label for row in rows] == labels else None


def tighten(
    question: Question,
    engine: Engine,
    relaxation: Relaxation,
    plain: EngineOutcome,
    ledger: Ledger,
    budget: Budget,
) -> tuple[Lagrangian, list[Fraction]] | None:
    """Raise the lower bound, and find models that satisfy the requirements, one row after the other.

    ``plain``: the engine's proved optimum without the rows: L(0). Returns the multipliers of the best bound with what
    they price; None where there is none.
    """
    rows = rows_of(question, relaxation.dropped)
    if not rows or not plain.proved or plain.graph is None or not relaxation.takes_costs:
        return None
    if relaxation.task.sample_cost is not None:  # the kinds of samples here stand for classes
        return None
    by = f"Lagrangian bound: {engine.name}"
    ledger.set_phase(by)
    dual = Lagrangian(question, engine, relaxation, rows)
    point = [Fraction(0)] * len(rows)
    slack = [row.slack(plain.graph, question.data) for row in rows]
    start = Fraction(relaxation.factor * plain.lower + relaxation.offset)
    for index in sorted(range(len(rows)), key=lambda i: -slack[i]):
        if slack[index] > 0 and not ledger.stop():
            line = Line(Fraction(0), start, slack[index])
            ledger.set_phase(f"{by}, {rows[index].label}")
            best = _ascend(dual, point, index, line, ledger, budget)
            point[index], start = best.multiplier, best.bound
    return dual, point


@dataclass(frozen=True)
class Line:
    """L and one of its supporting lines, along one multiplier: the slope is ``factor * slack``."""

    multiplier: Fraction
    bound: Fraction
    slack: int


def _ascend(
    dual: Lagrangian, fixed: list[Fraction], index: int, low: Line, ledger: Ledger, budget: Budget
) -> Line:
    """Maximise L along one multiplier; ``low`` is the line where the row is violated."""
    row, data = dual.rows[index], dual.question.data
    unit = Fraction(1, max(1, int(np.abs(row.coef).max())) * DENOMINATOR)
    best, high = low, None
    value = low.multiplier + unit * (DENOMINATOR // 8)
    for _ in range(MAX_TREES):
        point = [*fixed[:index], value, *fixed[index + 1 :]]
        if not dual.within_range(point):
            break
        bound, graph, proved = dual.solve(tuple(point), budget)
        if graph is not None:
            submit_repaired(ledger, graph, f"{dual.engine.name}, Lagrangian", budget)
        if graph is None or not proved:
            break
        if bound > ceiling(dual.question):  # L is unbounded: no model satisfies the row
            ledger.prove_infeasible(f"{dual.engine.name}, Lagrangian", dual.ignored, _recheck(dual, point))
            break
        line = Line(value, bound, row.slack(graph, data))
        if line.bound > best.bound:
            best = line
            ledger.prove_lower(
                math.ceil(bound), f"{dual.engine.name}, Lagrangian", dual.ignored, _recheck(dual, point)
            )
        low, high = (line, high) if line.slack > 0 else (low, line)
        if ledger.stop() or budget.stop():
            break
        if high is None:
            value = low.multiplier + 4 * (value - fixed[index])
            continue
        value = _meet(low, high, dual.relaxation.factor, unit)
        if not low.multiplier < value < high.multiplier:
            break
    return best


def ceiling(question: Question) -> Fraction:
    """A scaled value that no model of the shape exceeds, whatever its labels."""
    return question.objective.largest(question.data, question.shape) * question.scale


def _meet(low: Line, high: Line, factor: Fraction, unit: Fraction) -> Fraction:
    """Where two supporting lines intersect, rounded to the grid of multipliers."""
    rise, fall = factor * low.slack, factor * high.slack
    meet = (high.bound - low.bound + rise * low.multiplier - fall * high.multiplier) / (rise - fall)
    return round(meet / unit) * unit


def _recheck(dual: Lagrangian, point: list[Fraction]) -> dict[str, Any]:
    """The witness of the bound: the multiplier of each row."""
    pairs = zip(dual.rows, point, strict=True)
    return {
        "kind": "lagrangian",
        "engine": dual.engine.name,
        "multipliers": [{"requirement": row.label, "value": str(value)} for row, value in pairs],
    }
