"""Regression under requirements on values: first models, prices of rows, and the search at depth one and two."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from treeform.engines import EngineRun, RegressionSearch
from treeform.engines.regression import BOUND_UNIT
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.language.values import ValueRule
from treeform.shape import Tree
from treeform.solve import schedule
from treeform.solve.budget import Budget
from treeform.solve.leaf_values.costs import Floats
from treeform.solve.leaf_values.fit import LeafFits
from treeform.solve.leaf_values.moved import Moved, moved_targets
from treeform.solve.leaf_values.search import DepthTwo, Found, costs_of
from treeform.solve.ledger import Ledger
from treeform.solve.regression_part import RegressionPart, loss_of, part_of

DEEPEST = 2
"""Depth up to which the search proves optima."""
ROUNDS = 6
"""Most prices of rows that are tried before the search."""
DIGITS = 30
"""Binary digits of the greatest price of a row in a certificate."""


def value_part(question: Question) -> tuple[RegressionPart, ValueRule] | None:
    """What the native search supports with the values required, or None where nothing is required of values.

    The part's ``dropped`` are the requirements that neither of them supports.
    """
    part = part_of(question)
    if not part.dropped or not isinstance(question.shape, Tree):
        return None
    rules, unmet = [], []
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        if label in part.dropped:
            rule = requirement.value_rule(question.data)
            if rule is None:
                unmet.append(label)
            else:
                rules.append(rule)
    if not rules:
        return None
    return replace(part, dropped=tuple(unmet)), ValueRule.all_of(rules)


class ValueRun:
    """One run on a question with requirements on values.

    Parameters
    ----------
    question : Question
    engine : RegressionSearch
    ledger : Ledger
    budget : Budget
    """

    def __init__(
        self,
        question: Question,
        part: RegressionPart,
        rule: ValueRule,
        engine: RegressionSearch,
        ledger: Ledger,
        budget: Budget,
    ) -> None:
        self.question, self.part, self.rule = question, part, rule
        self.engine, self.name, self.ledger, self.budget = engine, engine.name, ledger, budget
        self.fits = LeafFits(question, rule)
        weight, loss = loss_of(question.objective)
        self.worth = weight * loss.per_unit(question.data) * question.scale
        leaves = sum((w for w, term in question.objective.terms if term.name == "leaves"), Fraction(0))
        self.constant = leaves * question.scale
        self.prices: Floats = np.zeros(len(rule.rows))

    def repaired(self, graph: DecisionGraph) -> None:
        """Submit a tree with the best values that satisfy the requirements."""
        found = self.fits.with_best_values(graph)
        if found is not None:
            self.ledger.submit(found[0], f"{self.name}, values fitted")
            self.prices = np.array([float(u) for u in found[1].multipliers])

    def search(self, recheck: dict[str, object]) -> None:
        """Search the trees of depth one or two, and enter what is proved; deeper trees begin with these."""
        if self._stop():
            return
        depth = min(self.part.task.depth, DEEPEST)
        shallow = replace(
            self.part,
            question=self.part.question.with_(shape=Tree(depth)),
            task=replace(self.part.task, depth=depth),
        )
        self.ledger.set_phase(f"{self.name}, values")
        prices = self._best_prices(shallow)
        self.fits.open = None
        search = DepthTwo(shallow, self.fits, costs_of(shallow, self.rule, prices), self._known(), self._stop)
        found = search.run()
        self._submit(found)
        if depth == self.part.task.depth:
            self._claim(found, search.costs.slack, prices, recheck)
            return
        if found.fit is not None and any(found.fit.multipliers):
            self.prices = np.array([float(u) for u in found.fit.multipliers])
        self._without_ordered()
        self._bound_deeper(recheck)
        self.ledger.notes.append(
            f"{self.name} proves optima under requirements on values up to depth {DEEPEST}; beyond, it gives bound "
            "and models"
        )

    def _without_ordered(self) -> None:
        """The best tree that tests no ordered column satisfies all orders."""
        ordered = frozenset().union(*(order.features for order in self.rule.orders))
        columns = self.part.task.columns
        assert columns is not None
        if not ordered or self._stop():
            return
        task = replace(self.part.task, columns=columns[~np.isin(columns, list(ordered))])
        run = EngineRun(time_limit=schedule.WITHOUT_VALUES.of(self.budget).remaining, stop=self._stop)
        outcome = self.engine.run(self.question.data, task, run)
        if outcome.graph is not None:
            self.repaired(outcome.graph)

    def _bound_deeper(self, recheck: dict[str, object]) -> None:
        """Bounds and trees of the whole depth at prices of rows: those of the best tree, times a factor.

        The bound is concave in the factor, and rises with it as long as the tree found misses the rows: it is doubled
        until none is missed, and halved between then.
        """
        if self.part.task.loss != "squared":
            return
        prices, factor = self.prices, 1.0
        low, high = 0.0, np.inf
        for _ in range(ROUNDS):
            moved = None if self._stop() else moved_targets(self.part.question, self.rule, factor * prices)
            if moved is None:
                return
            self.ledger.set_phase(f"{self.name}, prices of rows")
            graph = self._at(moved, recheck)
            if graph is None:
                return
            if float(prices @ self._beyond(graph, moved)) > 0:
                low = factor
            else:
                high = factor
            factor = 2 * factor if np.isinf(high) else (low + high) / 2

    def _at(self, moved: Moved, recheck: dict[str, object]) -> DecisionGraph | None:
        """The best tree for moved targets; it is given values, and its bound claimed."""
        part = part_of(moved.question)
        run = EngineRun(time_limit=self.budget.remaining, stop=self._stop)
        outcome = self.engine.run(moved.question.data, part.task, run)
        lower = outcome.lower * BOUND_UNIT / self._finer(moved) + moved.constant
        if outcome.graph is not None:
            if outcome.proved:
                value = moved.question.objective.evaluate(outcome.graph, moved.question.data)
                lower = (value * self.question.scale - self.constant) / self.worth + moved.constant
            self.repaired(outcome.graph)
        lower = lower * self.worth + self.constant
        self.ledger.prove_lower(lower, self.name, self.part.dropped, recheck, outcome.counters)
        return outcome.graph

    def _beyond(self, graph: DecisionGraph, moved: Moved) -> Floats:
        """(R,) by how much the tree for moved targets misses each row."""
        data = moved.question.data
        assert self.question.data.quantity is not None
        unit = self.question.data.quantity.unit
        predicted = np.array([float(value / unit) for value in graph.values])[graph.predict_codes(data.X)]
        return np.array([float(row.coef @ predicted) - row.side for row in self.rule.rows])

    def _finer(self, moved: Moved) -> Fraction:
        """How many units of the moved targets' loss one unit of the loss has."""
        ours, theirs = self.question.data.quantity, moved.question.data.quantity
        assert ours is not None and theirs is not None
        return (ours.unit / theirs.unit) ** 2

    def _stop(self) -> bool:
        return self.budget.stop() or self.ledger.closed

    def _known(self) -> Fraction | None:
        """The value of the best tree, in units of the loss."""
        upper = self.ledger.upper
        return None if upper is None else (Fraction(upper) - self.constant) / self.worth

    def _submit(self, found: Found) -> None:
        if found.graph is not None:
            self.ledger.submit(found.graph, f"{self.name}, values")

    def _best_prices(self, part: RegressionPart) -> Floats:
        """Prices of rows with a high bound: those at which rows are met in the best trees."""
        tried: list[tuple[float, Floats]] = []
        prices = self.prices
        for _ in range(ROUNDS if len(self.rule.rows) else 0):
            if self._stop() or any(np.allclose(prices, one, rtol=1e-6, atol=0.0) for _, one in tried):
                break
            costs = costs_of(part, self.rule, prices)
            search = DepthTwo(part, self.fits, costs, self._known(), self._stop)
            bound = search.priced()
            if bound is None:
                break
            self._submit(Found(search.graph, search.best, search.best_fit, bound, False, search.trees))
            tried.append((bound, prices))
            if search.best_fit is not None and any(search.best_fit.multipliers):
                prices = np.array([float(u) for u in search.best_fit.multipliers])
        return max(tried, key=lambda one: one[0])[1] if tried else self.prices

    def _claim(self, found: Found, slack: float, prices: Floats, recheck: dict[str, object]) -> None:
        if len(prices):
            recheck = recheck | {"witness": _written(prices)}
        lower: Fraction | None = None
        if found.complete:
            lower = found.value
        elif np.isfinite(found.lower):
            lower = Fraction(found.lower) - Fraction(slack)
            lower = lower if found.value is None else min(lower, found.value)
        if self.fits.open is not None:
            lower = self.fits.open if lower is None else min(lower, self.fits.open)
        counters = {"trees": found.trees}
        if lower is None:
            if found.complete:
                self.ledger.prove_infeasible(self.name, self.part.dropped, recheck)
            return
        self.ledger.prove_lower(
            lower * self.worth + self.constant, self.name, self.part.dropped, recheck, counters
        )


def _written(prices: Floats) -> dict[str, object]:
    """Prices of rows as whole multiples of one part: any prices give a bound, so they are rounded."""
    unit = 2 ** max(0, DIGITS - math.floor(math.log2(prices.max()))) if prices.any() else 1
    return {"multipliers": [round(float(price) * unit) for price in prices], "unit": unit}
