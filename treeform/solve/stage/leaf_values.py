"""Values of leaves under what is required of them, after the search without these requirements."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from treeform.engines import Engine, EngineOutcome, EngineRun
from treeform.engines.leaf_values.fit import LeafFits
from treeform.engines.leaf_values.moved import moved_targets
from treeform.engines.leaf_values.problem import Stop, never
from treeform.engines.leaf_values.search import depth_two
from treeform.engines.regression_task import BOUND_UNIT, BestValue
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.losses import constant_models, loss_of
from treeform.language.question import Question
from treeform.language.size_terms import price_without_tests
from treeform.language.values import ValueRule
from treeform.shape import Tree
from treeform.solve import schedule
from treeform.solve.engines import recheck_of, value_part
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import levels_of, nodes_below, rows_of, spliced, task_of
from treeform.solve.node import Node, Worker
from treeform.utils.arrays import Floats
from treeform.utils.budget import Budget, Limit

LEAST_HEIGHT = 2
"""Of subtrees that are searched anew."""
DEEPEST = 2
"""Depth up to which the search proves optima."""
MOST_CELLS = 2**19
"""Values that the table of that search has at most: it holds some tens of numbers for each."""
ROUNDS = 6
"""Most prices of rows that are tried before the search."""
MOMENT = 0.1
"""Seconds for the values of a tree that a search has left when its time is over."""
DIGITS = 30
"""Binary digits of the greatest price of a row in a certificate."""


def value_run(question: Question, engine: Engine, ledger: Ledger, budget: Budget) -> ValueRun | None:
    """What is done about requirements on values after an engine's search without them, where there are any."""
    found = None if question.restriction is not None else value_part(question, engine)
    return None if found is None else ValueRun(question, *found, engine, ledger, budget)


class ValueRun:
    """One run on a question with requirements on values."""

    def __init__(
        self,
        question: Question,
        part: Relaxation,
        rule: ValueRule,
        engine: Engine,
        ledger: Ledger,
        budget: Budget,
    ) -> None:
        self.question, self.part, self.rule = question, part, rule
        self.task = part.loss_task
        self.engine, self.name, self.ledger, self.budget = engine, engine.name, ledger, budget
        self.fits = LeafFits(question, rule)
        weight, loss = loss_of(question.objective)
        self.worth = weight * loss.per_unit(question.data) * question.scale
        self.constant = price_without_tests(question.objective) * question.scale
        self.prices: Floats = np.zeros(len(rule.rows))

    def run(self, plain: EngineOutcome) -> None:
        """Fit the values of the trees that are known, and search on; ``plain`` is the answer without the rule."""
        for constant in constant_models(self.question.objective, self.question.data):
            self._repaired(constant, never)
        if plain.graph is not None:
            self.repaired(plain.graph)
        self.search(recheck_of(self.engine))

    def repaired(self, graph: DecisionGraph) -> None:
        """Submit a tree with the best values that satisfy the requirements; after the limit, if a moment is enough."""
        moment = Budget(MOMENT)
        self._repaired(graph, lambda: self._stop() and moment.stop())

    def _repaired(self, graph: DecisionGraph, stop: Stop) -> None:
        found = self.fits.with_best_values(graph, stop)
        if found is not None:
            self.ledger.submit(found[0], f"{self.name}, values fitted")
            self.prices = np.array([float(u) for u in found[1].multipliers])

    def search(self, recheck: dict[str, object]) -> None:
        """Search the trees of depth one or two, and enter what is proved; deeper trees begin with these."""
        columns = self.task.columns
        assert columns is not None
        if self.question.data.n_samples * len(columns) > MOST_CELLS:
            self._beyond_search(recheck, f"on tables of up to {MOST_CELLS} values")
        elif not self._stop():
            self._search(recheck)

    def _search(self, recheck: dict[str, object]) -> None:
        depth = min(self.task.depth, DEEPEST)
        shallow = replace(
            self.part, part=self.part.part.with_(shape=Tree(depth)), task=replace(self.task, depth=depth)
        )
        self.ledger.set_phase(f"{self.name}, values")
        prices = self._best_prices(shallow)
        self.fits.open = None
        search = depth_two(shallow, self.fits, prices, self._known(), self._stop)
        search.run()
        self._submit(search.graph)
        if depth == self.task.depth:
            if len(prices):
                recheck = recheck | {"witness": _written(prices)}
            lower = search.bound
            if lower is not None:
                value, counters = lower * self.worth + self.constant, {"trees": search.trees}
                self.ledger.prove_lower(value, self.name, self.part.dropped, recheck, counters)
            elif search.complete:
                self.ledger.prove_infeasible(self.name, self.part.dropped, recheck)
            return
        if search.best_fit is not None and any(search.best_fit.multipliers):
            self.prices = np.array([float(u) for u in search.best_fit.multipliers])
        self._beyond_search(recheck, f"up to depth {DEEPEST}")

    def _beyond_search(self, recheck: dict[str, object], proves: str) -> None:
        self._without_ordered()
        self._bound_deeper(recheck)
        self.ledger.notes.append(
            f"{self.name} proves optima under requirements on values {proves}; beyond, it gives bound and models, "
            "and ends with them, before the time limit, too"
        )
        self._improve()

    def _improve(self) -> None:
        """Other subtrees of the best tree, low ones first, as long as one makes it better.

        Each is the best tree of its rows without the requirements: one of all columns, and one of those that no order
        names. Then all leaves get the best values that satisfy the requirements.
        """
        if self.task.max_features is not None:  # the rest of the tree reads some of them
            return
        self.ledger.set_phase(f"{self.name}, subtrees")
        tried: dict[tuple[object, ...], bool] = {}
        while not self._stop():
            if not self._improve_once(tried):
                if not self._stop():
                    note = "searched subtrees of the best tree anew, until no other one made it better"
                    short = "" if all(tried.values()) else "; not all of them to the end"
                    self.ledger.notes.append(f"{self.name} {note}{short}")
                return

    def _improve_once(self, tried: dict[tuple[object, ...], bool]) -> bool:
        """Whether some subtree that was not ``tried`` before makes the best tree better.

        ``tried``: whether the search of each came to its end.
        """
        graph, data = self.ledger.graph, self.question.data
        if graph is None or not graph.is_plain_tree:
            return False
        leaf, level = graph.apply(data.X), levels_of(graph)
        low = [v for v in range(1, len(level)) if self.task.depth - level[v] >= LEAST_HEIGHT]
        for node in sorted(low, key=lambda v: -level[v]):
            inside = nodes_below(graph, node)
            here, depth = np.isin(leaf, list(inside)), self.task.depth - level[node]
            rows, reached = np.flatnonzero(here), np.packbits(here).tobytes()
            if len(rows) < 2:
                continue
            tests = sum(int(graph.feature[v] >= 0 and v not in inside) for v in range(len(level)))
            task = replace(
                task_of(self.task, here, depth, tests),
                best_value=partial(_of_some, self.task.best_value, rows),
                best_loss=partial(_of_some, self.task.best_loss, rows),
            )
            for columns in self._choices_of_columns():
                key = reached, len(columns), depth, task.max_nodes
                if self._stop() or key in tried:
                    continue
                run = EngineRun(schedule.LOW_SUBTREE.of(self.budget).until(self._stop))
                found = self.engine.run(rows_of(data, here), replace(task, columns=columns), run)
                tried[key], part = found.proved, found.graph
                if part is not None and self._is_better(spliced(graph, node, inside, part, data)):
                    return True
        return False

    def _choices_of_columns(self) -> list[NDArray[np.int64]]:
        """All columns, and those that no order names where there are orders."""
        columns = self.task.columns
        assert columns is not None
        others = columns[~np.isin(columns, list(self._ordered()))]
        return [columns] if len(others) in (0, len(columns)) else [others, columns]

    def _is_better(self, graph: DecisionGraph) -> bool:
        """Whether a tree is the best one, once it has the best values that satisfy the requirements."""
        before, known, found = self.ledger.graph, self._known(), self.fits.with_best_values(graph, self._stop)
        if found is not None and (
            known is None or found[1].loss + self.task.price * found[0].n_nodes < known
        ):
            self.ledger.submit(found[0], f"{self.name}, a subtree")
        return self.ledger.graph is not before

    def _ordered(self) -> frozenset[int]:
        return frozenset().union(*(order.features for order in self.rule.orders))

    def _without_ordered(self) -> None:
        """The best tree that tests no ordered column satisfies all orders."""
        choices = self._choices_of_columns()
        if len(choices) == 1 or self._stop():
            return
        task = replace(self.task, columns=choices[0])
        run = EngineRun(schedule.WITHOUT_VALUES.of(self.budget).until(self._stop))
        outcome = self.engine.run(self.question.data, task, run)
        if outcome.graph is not None:
            self.repaired(outcome.graph)

    def _bound_deeper(self, recheck: dict[str, object]) -> None:
        """Bounds and trees of the whole depth at prices of rows: those of the best tree, times a factor.

        The bound is concave in the factor, and rises with it as long as the tree found misses the rows: it is doubled
        until none is missed, and halved between then.
        """
        if self.task.loss != "squared":
            return
        prices, factor = self.prices, 1.0
        low, high = 0.0, np.inf
        for _ in range(ROUNDS):
            moved = None if self._stop() else moved_targets(self.part.part, self.rule, factor * prices)
            if moved is None:
                return
            self.ledger.set_phase(f"{self.name}, prices of rows")
            graph = self._at(*moved, recheck)
            if graph is None:
                return
            if float(prices @ self._beyond(graph, moved[0])) > 0:
                low = factor
            else:
                high = factor
            factor = 2 * factor if np.isinf(high) else (low + high) / 2

    def _at(self, moved: Question, constant: Fraction, recheck: dict[str, object]) -> DecisionGraph | None:
        """The best tree for moved targets; it is given values, and its bound claimed."""
        part = relax(moved, self.engine)
        assert part is not None
        run = EngineRun(self.budget.until(self._stop))
        outcome = self.engine.run(moved.data, part.task, run)
        lower = outcome.lower * BOUND_UNIT / self._finer(moved) + constant
        if outcome.graph is not None:
            if outcome.proved:
                value = moved.objective.evaluate(outcome.graph, moved.data)
                lower = (value * self.question.scale - self.constant) / self.worth + constant
            self.repaired(outcome.graph)
        lower = lower * self.worth + self.constant
        self.ledger.prove_lower(lower, self.name, self.part.dropped, recheck, outcome.counters)
        return outcome.graph

    def _beyond(self, graph: DecisionGraph, moved: Question) -> Floats:
        """(R,) by how much the tree for moved targets misses each row."""
        data = moved.data
        assert self.question.data.quantity is not None
        unit = self.question.data.quantity.unit
        predicted = np.array([float(value / unit) for value in graph.values])[graph.predict_codes(data.X)]
        return np.array([float(row.coef @ predicted) - row.side for row in self.rule.rows])

    def _finer(self, moved: Question) -> Fraction:
        """How many units of the moved targets' loss one unit of the loss has."""
        ours, theirs = self.question.data.quantity, moved.data.quantity
        assert ours is not None and theirs is not None
        return (ours.unit / theirs.unit) ** 2

    def _stop(self) -> bool:
        return self.budget.stop() or self.ledger.closed

    def _known(self) -> Fraction | None:
        """The value of the best tree, in units of the loss."""
        upper = self.ledger.upper
        return None if upper is None else (Fraction(upper) - self.constant) / self.worth

    def _submit(self, graph: DecisionGraph | None) -> None:
        if graph is not None:
            self.ledger.submit(graph, f"{self.name}, values")

    def _best_prices(self, part: Relaxation) -> Floats:
        """Prices of rows with a high bound: those at which rows are met in the best trees."""
        tried: list[tuple[float, Floats]] = []
        prices = self.prices
        for _ in range(ROUNDS if len(self.rule.rows) else 0):
            if self._stop() or any(np.allclose(prices, one, rtol=1e-6, atol=0.0) for _, one in tried):
                break
            search = depth_two(part, self.fits, prices, self._known(), self._stop)
            bound = search.priced()
            if bound is None:
                break
            self._submit(search.graph)
            tried.append((bound, prices))
            if search.best_fit is not None and any(search.best_fit.multipliers):
                prices = np.array([float(u) for u in search.best_fit.multipliers])
        return max(tried, key=lambda one: one[0])[1] if tried else self.prices


def _of_some(answer: BestValue, rows: NDArray[np.int64], part: NDArray[np.int64]) -> Fraction:
    """The answer for a part of some rows."""
    return answer(rows[part])


def _written(prices: Floats) -> dict[str, object]:
    """Prices of rows as whole multiples of one part: any prices give a bound, so they are rounded."""
    unit = 2 ** max(0, DIGITS - math.floor(math.log2(prices.max()))) if prices.any() else 1
    return {"multipliers": [round(float(price) * unit) for price in prices], "unit": unit}


def fitted_values(node: Node, budget: Budget) -> Limit | None:
    """Trees with the best values that satisfy the requirements, and bounds under these, in the rest of its time."""
    found = node.relaxed
    assert found is not None
    run = value_run(node.question, found.engine, node.ledger, found.budget)
    assert run is not None
    run.run(found.outcome)
    return found.budget.reason


def by_engine(node: Node) -> Worker | None:
    """The engine whose trees are given values."""
    engine = node.plan.engine or node.plan.warm_engine
    part = None if engine is None else value_part(node.question, engine)
    return None if engine is None or part is None else (engine.name, part[0].dropped)
