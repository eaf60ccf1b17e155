"""A formulation on the AND/OR graph of trees: the dynamic program prices, the solver decides.

The search for totals prices the graph (`treeform.engines.and_or_graph`), and the formulation states what trees below
a cost use, less what other multipliers exclude (`treeform.engines.graph_fixing`). Where the solver finds an admissible
model below it, its optimum is the answer; where it proves that there is none, the cost is a bound, and the next step
states more. No incumbent is needed; one that is there ends the last step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from treeform.backends import Backend
from treeform.backends.watch import build_beside
from treeform.engines.and_or_graph import (
    MOST_ALTERNATIVES,
    Apart,
    Priced,
    has_listed_thresholds,
    reason_against_search,
    takes_intervals,
)
from treeform.engines.few_thresholds import few_thresholds
from treeform.engines.graph_columns import graph_of
from treeform.engines.graph_fixing import fixed
from treeform.engines.graph_meetings import constant_sides
from treeform.engines.relaxation import Relaxation, relax
from treeform.engines.table_of_totals import Tests
from treeform.engines.totals import OfGraphs, OfIntervals
from treeform.engines.written_graphs import AT_FIRST
from treeform.language.alternatives import AndOrGraph
from treeform.language.compiled import Compiled
from treeform.language.formulation import Formulation
from treeform.language.question import Question, ceiling
from treeform.language.requirement import Requirement
from treeform.solve import schedule
from treeform.solve.ledger import Ledger
from treeform.solve.part_ledger import SomeModels
from treeform.solve.row_prices import RowPrices, rest_of
from treeform.solve.search import CompiledSearch, StatedPart
from treeform.utils.budget import Budget, Limit, Share

LISTED, LISTED_BELOW = 5000, 1000
"""Thresholds that are listed; the second of trees of depth three and more."""
FEW_TESTS_BELOW = 1000
"""0/1 columns up to which it is the usual choice at depth three and more: pairs of tests are counted for each part
of the table, which takes as long as a solver has for a question of more of them."""
FEW = 1000
"""Alternatives, before some are excluded, up to which a larger cost is taken at once: fewer cost a solver nothing."""
MANY = 3000
"""Alternatives to state beyond which a smaller cost is tried first: the larger the cost, the weaker is its model."""
OF_FEATURES = frozenset({"feature", "falling"})
"""Ports that tell tests of different features apart."""
BY_ROW = frozenset({"reaches", "branch", "leaf"})
"""Ports with an entry for each row and node."""
WHILE_FEW = 75_000
"""Alternatives that are written out while better models may be found over few thresholds: they make steps smaller."""
FIRST_PART = 1 / 64
"""Of the trees of a cost, those of the lowest prices, that are looked at first; of a unit of cost."""
FIRST_OF_COLUMN, MOST_OF_COLUMN = 8, 64
"""Thresholds of each column over which models are looked for, at first and at most."""
MOST_ENTRIES = 30_000_000
"""Of such a port."""
PRICES = "prices of the AND/OR graph"
PRICES_OF_ROWS = "prices of the rows over the AND/OR graph"
ALL_LEFT = Share(1.0)
ROUNDS = 6
"""Of such prices, each for what the one before leaves."""


def priced_part(question: Question) -> Relaxation | None:
    """The part of a question that prices know; None where nothing can be priced."""
    data, relaxation = question.data, relax(question, OfGraphs())
    if relaxation is not None and has_listed_thresholds(data, relaxation.task):
        most = LISTED if relaxation.task.depth <= 2 else LISTED_BELOW
        relaxation = relaxation if data.n_tests <= most else relax(question, OfIntervals())
    if relaxation is None or reason_against_search(data, relaxation.task) is not None:
        return None
    return relaxation


def is_usual(question: Question) -> bool:
    """Whether a solver is given this formulation where none is named: for trees over few tests."""
    relaxation = priced_part(question)
    if relaxation is None or not relaxation.leaves_out_only(question.labels):
        return False
    few = relaxation.task.depth <= 2 or question.data.n_tests <= FEW_TESTS_BELOW
    return few or takes_intervals(question.data, relaxation.task)


@dataclass(frozen=True)
class Stated:
    """What is stated in one step."""

    graph: AndOrGraph
    """The alternatives that admissible trees up to a cost may use."""
    counts: dict[str, Any]
    """What a claim says of the graph that the first multipliers leave, so that a check can count it again."""

    @property
    def counted(self) -> dict[str, Any]:
        """The part of a claim that names the graph; empty if a search by its multipliers finds another one."""
        return {} if self.graph.omits_excluded else {"graph": self.counts}

    @property
    def size(self) -> int:
        """Alternatives to state."""
        return self.graph.n_alternatives

    @property
    def up_to(self) -> int:
        """Everything of at most this cost is in it."""
        assert self.graph.up_to is not None
        return self.graph.up_to


class GraphSearch:
    """One formulation with columns on demand on one solver, entering claims in a ledger.

    ``formulation``: with `Formulation.columns_on_demand`. ``relaxation``: as `priced_part` gives it. ``tests``: some
    tests only (`treeform.engines.few_thresholds`): ``ledger`` is then that of models over them.
    """

    def __init__(
        self,
        formulation: Formulation,
        backend: Backend,
        ledger: Ledger,
        budget: Budget,
        relaxation: Relaxation,
        tests: Tests | None = None,
    ) -> None:
        assert formulation.columns_on_demand
        self.question = question = ledger.question
        self.formulation, self.backend = formulation, backend.for_flows()
        self.ledger, self.budget, self.relaxation = ledger, budget, relaxation
        self.limit: Limit | None = None
        # Components that were added to the formulation read ports as requirements do.
        added = [c for c in formulation.components if formulation.is_added(c)]
        needs = question.objective.needs.union(*(r.needs for r in (*question.requirements, *added)))
        apart: Apart = "feature" if OF_FEATURES & needs or relaxation.task.paths else "partition"
        self.apart, self.trees = apart, graph_of(question.data, relaxation.task, apart, tests)
        self.tests_of_column, self.most_at_once, self.each_step = 0, MANY, ALL_LEFT
        if tests is not None:  # a model is wanted soon, or not at all
            self.most_at_once, self.each_step = FEW, schedule.PART_OF_GRAPH
        elif takes_intervals(question.data, relaxation.task) or self._are_listed():
            self.tests_of_column = FIRST_OF_COLUMN
        self.dropped = self._dropped()
        priced = relaxation.part.objective.terms
        plain = not added and all(term in priced for term in question.objective.terms)
        self.sides = constant_sides(question, relaxation.task, self.dropped if plain else ())
        self.in_rows = () if self.sides.labels else self.dropped
        """The requirements that neither prices nor the graph state: rows do."""
        self.by_row = bool(BY_ROW & needs)
        self.many, self.written = MANY, AT_FIRST
        self.most = ceiling(question)
        self.ahead, self.reached = 1, -1
        sums_only = plain and relaxation.exact and not self.dropped
        self.graphs = self.trees.written(sums_only, self.budget, self._stop)
        self.row_prices = RowPrices(relaxation, self.trees.table.lo, self.trees.table.hi)

    def _dropped(self) -> tuple[str, ...]:
        """The requirements that prices do not know."""
        relaxation, dropped = self.relaxation, self.relaxation.dropped
        dropped += () if self.trees.keeps_columns else (*relaxation.narrowed, *relaxation.on_columns)
        return dropped if self.trees.keeps_paths else dropped + relaxation.on_paths

    @property
    def kept(self) -> frozenset[str]:
        """Labels of requirements that all trees of the graph satisfy, so that they need no rows."""
        relaxation, question = self.relaxation, self.question
        pairs = zip(question.labels, question.requirements, strict=True)
        alone = {
            label for label, one in pairs if label in relaxation.on_columns and _is_budget(one, question)
        }
        kept = frozenset((*relaxation.narrowed, *relaxation.on_paths, *alone)) - frozenset(self.dropped)
        return kept.union(self.sides.labels)

    def run(self) -> None:
        """Price the graph, and state more of it until the answer is proved or the budget spent."""
        self.ledger.set_phase(PRICES)
        self._try_few_thresholds()
        if self.tests_of_column:
            self.written = WHILE_FEW
        priced = self.price()
        if priced is None or not priced.complete:
            self.limit = self.budget.reason or Limit.MEMORY
        if priced is None:
            return
        if priced.infeasible:
            self.ledger.prove_infeasible(PRICES, self.dropped, self._recheck(priced))
            return
        self._prove(self.relaxation.lower(priced.lower), self._recheck(priced))
        self.reached = priced.lower - 1
        while priced.complete and not self.ledger.stop():
            step = self.enlarged(priced)
            if step is None and (self.written == MOST_ALTERNATIVES or self._stop()):
                self._end(self.reached + 1)
                return
            if step is None or step.size > self.most_at_once:
                if self.tests_of_column:
                    while self.tests_of_column and not self._try_few_thresholds() and not self._stop():
                        pass
                    continue
                if step is None and self.written < AT_FIRST:
                    self.written = AT_FIRST
                    continue
                if step is None or not self.in_rows:
                    self._try_parts(priced)
                if self.ledger.stop():
                    return
            if step is None:
                self.written = MOST_ALTERNATIVES
                continue
            wanted = self._cost_wanted()
            settled = self._settled(step, priced)
            if settled is None:
                return
            self.reached = settled
            if settled >= wanted and not self.ledger.closed:
                self.limit = Limit.SOLVER  # all was stated, and the proof stays within the tolerances
                return

    def price(self) -> Priced | None:
        """Multipliers of the linear constraints over sums, and their bound; None when it was stopped."""
        limits = self.budget.remaining, self._stop
        if self.tests_of_column and self._are_listed():
            # All pairs of tests are priced for each multiplier, so the multipliers come from a part of the tests.
            data, model = self.question.data, self.ledger.graph
            some = graph_of(
                data, self.relaxation.task, self.apart, few_thresholds(data, MOST_OF_COLUMN, model)
            )
            found = some.relax(self._cost_wanted(), *limits)
            if found is None or not found.infeasible:
                return found and self.trees.price(found.multipliers, found.unit, *limits)
        return self.trees.relax(self._cost_wanted(), *limits)

    def _are_listed(self) -> bool:
        return has_listed_thresholds(self.question.data, self.relaxation.task)

    def enlarged(self, priced: Priced) -> Stated | None:
        """What trees use that cost up to a step more than what is settled; None when it was stopped, or does not fit.

        The step is doubled while little is stated, and where that becomes too much, a cost between is looked for.
        """
        self.reached = max(self.reached, priced.lower - 1)
        wanted, beyond = self._cost_wanted(), None
        few: Stated | None = None
        many: Stated | None = None
        cost = self.reached + self.ahead
        while not self._stop():
            cost = min(cost, wanted)
            # To omit alternatives takes long: a whole graph in hand is searched before a larger one has fewer.
            made = self._made(cost, priced, fewer=few is None or not few.graph.is_whole)
            if made is None or made.size > self.many:
                many, beyond = made, cost
            elif cost >= wanted or (made.size and made.counts["alternatives"] >= FEW):
                return self._with_next_step(made)
            elif made.size:
                few = made
            else:
                self._exclude(made, priced)
            if beyond is None:
                self.ahead *= 2
                cost = self.reached + self.ahead
                continue
            low = self.reached if few is None else few.up_to
            if beyond - low <= max(1, (beyond - self.reached) // 4):
                chosen = few or many
                return None if chosen is None else self._with_next_step(chosen)
            cost = (low + beyond) // 2
        return None

    def _with_next_step(self, made: Stated) -> Stated:
        self.ahead = max(1, 2 * (made.up_to - self.reached))
        return made

    def _try_few_thresholds(self) -> bool:
        """Look for a better model over few thresholds of each column, and over more of them the next time."""
        question, ledger, before = self.question, self.ledger, self.ledger.upper
        if not self.tests_of_column:
            return False
        tests = few_thresholds(question.data, self.tests_of_column, ledger.graph)
        budget = schedule.FEW_THRESHOLDS.of(self.budget)
        some = SomeModels(ledger)
        GraphSearch(self.formulation, self.backend, some, budget, self.relaxation, tests).run()
        more = 2 * self.tests_of_column
        self.tests_of_column = more if more <= MOST_OF_COLUMN else 0
        return ledger.upper != before

    def _prove(self, below: int, recheck: dict[str, Any]) -> None:
        """A bound by the prices of the graph."""
        self.ledger.prove_lower(below, PRICES, self.in_rows if "graph" in recheck else self.dropped, recheck)

    def _try_parts(self, priced: Priced) -> None:
        """Look for a model of the least cost that is not settled, in growing parts of what trees of that cost use.

        A model of that cost is the optimum. Where many trees of that cost are near the bound, all that they use is far
        more than what one of them needs.
        """
        cost, part, before = self.reached + 1, FIRST_PART, 0
        below = self.relaxation.lower(cost + 1)
        while part < 1 and not self._stop() and not self.question.objective.is_squared:
            made = self._made(cost, priced, int((1 - part) * priced.unit))
            if made is None or made.size > MANY:
                return
            if made.size > before:
                part_of = StatedPart(below, self._recheck(priced), self.kept)
                self._search(made.graph, part_of, SomeModels(self.ledger), schedule.PART_OF_GRAPH)
            part, before = 2 * part, made.size

    def _search(self, graph: AndOrGraph, part: StatedPart, ledger: Ledger, share: Share) -> Limit | None:
        """Give a graph to the solver; why it did not end."""
        stated, budget = self.stated(graph), share.of(self.budget)
        search = CompiledSearch(stated, self.backend, ledger, budget, part=part)
        search.run()
        return search.limit

    def _made(self, cost: int, priced: Priced, short_by: int = 0, fewer: bool = True) -> Stated | None:
        graph = self.graphs.up_to(cost, self.written, short_by, fewer)
        if graph is None:
            return None
        counts = counts_of(graph, self.trees.path_levels, self.trees.n_sets)
        graph = self.sides.states(graph)
        made = Stated(fixed(self.trees, graph, priced, cost, self._stop), counts)
        return None if self.by_row and self._entries(made.graph) > MOST_ENTRIES else made

    def _entries(self, graph: AndOrGraph) -> int:
        """Of a port with an entry for each row and node."""
        rows = np.bincount(self.question.data.points.index, minlength=self.question.data.points.n_points)
        return int(graph.covers.times(rows.astype(np.float64))[graph.node].sum())

    def _exclude(self, made: Stated, priced: Priced) -> None:
        """Nothing of that cost is left: a bound."""
        self._prove(self.relaxation.lower(made.up_to + 1), self._recheck(priced) | made.counted)
        self.reached = made.up_to

    def stated(self, graph: AndOrGraph) -> Formulation:
        """The formulation of the trees of a graph."""
        return self.formulation.over(graph)

    def _stop(self) -> bool:
        return self.budget.stop() or self.ledger.closed

    def _cost_wanted(self) -> int:
        """The largest cost of a model that may still matter: less than the incumbent's."""
        better = self.ledger.better
        wanted = self.most if better is None else min(self.most, better)
        return self.relaxation.upper(int(wanted))

    def _settled(self, step: Stated, priced: Priced) -> int | None:
        """The cost up to which all models of the step were settled: the best one found, or refuted; or None."""
        if not step.size:
            self._exclude(step, priced)
            return step.up_to
        recheck = self._recheck(priced) | step.counted
        graph, most = self._needed(step)
        if (
            self.in_rows and graph.n_alternatives > FEW
        ):  # prices of rows leave much of it: the next step is smaller
            self.ahead = max(1, (step.up_to - self.reached) // 2)
        below = self.relaxation.lower(step.up_to + 1)
        self.many = max(self.many, (2 if 8 * graph.n_alternatives > step.size else 4) * step.size)
        if graph.n_alternatives:
            part = StatedPart(most + 1, recheck, self.kept)
            self.limit = self._search(graph, part, self.ledger, self.each_step)
        else:
            self.ledger.prove_lower(most + 1, PRICES_OF_ROWS, recheck=recheck)
        lower = self.ledger.lower
        shown = self.ledger.closed or (lower is not None and lower >= below)
        settled = self.limit is None and shown
        return step.up_to if settled else None

    def _needed(self, step: Stated) -> tuple[AndOrGraph, int]:
        """What better models use of a step, and the largest value of a model that it still states.

        Rows that the graph has no multipliers for get prices of their own.
        """
        graph, question = step.graph, self.question
        below = self.relaxation.lower(step.up_to + 1)
        if not self.in_rows or step.size < FEW or question.objective.is_squared:
            return graph, below - 1
        better = self.ledger.better
        most = below - 1 if better is None else min(below - 1, better)
        for _ in range(ROUNDS):
            compiled = build_beside(partial(self._rest, graph), self.budget.stop)
            if compiled is None or self._stop():
                break
            columns = self.formulation.columns_of(compiled)
            part = self.row_prices.needed(
                compiled, columns, graph, most, schedule.PRICES_OF_ROWS.of(self.budget).remaining
            )
            before, graph = graph.n_alternatives, graph if part is None else part
            if not FEW <= graph.n_alternatives <= 0.9 * before:
                break
        return graph, most

    def _rest(self, graph: AndOrGraph) -> Compiled:
        """What prices do not know, over a graph."""
        question, rest = self.question, rest_of(self.question, self.relaxation, self.dropped)
        return self.stated(graph).compile(question.data, question.shape, *rest)

    @staticmethod
    def _recheck(priced: Priced) -> dict[str, Any]:
        """What a check needs to prove the bound of the prices again, or to count the graph again."""
        return {"kind": "engine", "witness": {"multipliers": list(priced.multipliers), "unit": priced.unit}}

    def _end(self, cost: int) -> None:
        """The graph was not finished: for time, or since it would not fit."""
        if self.ledger.closed:
            return
        self.limit = self.budget.reason or Limit.MEMORY
        if self.limit is Limit.MEMORY:
            value = self.question.to_units(self.relaxation.lower(cost + 1))
            self.ledger.notes.append(
                f"{self.formulation.name}: the models below {value} use more of the graph than can be stated"
            )


def _is_budget(requirement: Requirement, question: Question) -> bool:
    """Whether a budget of columns is all that it states."""
    limits = requirement.limits(question.data)
    return limits is not None and limits.names == {"max_features"}


def counts_of(graph: AndOrGraph, path_levels: int = 0, column_sets: int = 0) -> dict[str, Any]:
    """What a claim says of the graph that was stated, so that a check can count it again."""
    extra = {"path_levels": path_levels, "column_sets": column_sets, "undominated": graph.undominated}
    return {name: number for name, number in extra.items() if number} | {
        "up_to": graph.up_to,
        "nodes": graph.n_nodes,
        "alternatives": graph.n_alternatives,
        "by_feature": graph.by_feature,
    }
