"""Deep trees under requirements beyond those of the search for deep trees: sums over rows, and all others.

ConTree searches for deep trees itself, by turns with its proof. For engines that take more requirements, the search
runs before and after the proof; after it alone on tables of few tests, before it alone at depth two and three, where
the table is so large that the proof has no good tree soon. Where no engine supports all requirements it runs before the
solver:

* rows over predictions are priced into the costs of classes, or of the kinds of samples that an objective tells apart
  (`treeform.Soft`), as for the Lagrangian bound (`treeform.solve.lagrangian`).
  A price at which the search's trees satisfy a row is found by doubling and halving, on some samples of a large table;
  each tree is a candidate, its leaves relabelled if need be;
* in the last part of a limited run the search goes on for longer and longer at these prices, and small subtrees of the
  best model are solved again by the engine itself, with what the rest of the tree leaves of each total;
* labels that clash at tests (`treeform.Meetings`, as of `Monotone`) are part of the search's task;
* where a tree violates a requirement over tests that the search does not know, it is a candidate without the tests at
  fault (`treeform.language.columns_at_fault`); every second search from then on has no tests of the columns at fault,
  which small subtrees may still test;
* with a minimum support, or a requirement that the search does not support, trees of less depth are searched for, too:
  half way to depth four, and so on down to it, the least one first, each search with prices and a best model of its
  own. That has most of the time while its tree is the best one, half of it while it is close, and else a fifth.

Whether a tree satisfies all requirements is judged exactly, as for every model; nothing here proves a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import ClassVar

import numpy as np

from treeform.engines import DeepTreeSearch, Engine
from treeform.engines.relaxation import Relaxation, relax
from treeform.graph import DecisionGraph
from treeform.language.columns_at_fault import columns_at_fault, without_tests_at_fault
from treeform.language.meetings import MOST_MARKS, all_meetings
from treeform.language.question import Question
from treeform.objectives.soft import prices
from treeform.solve import schedule
from treeform.solve.engines import submit_repaired
from treeform.solve.lagrangian import Lagrangian, rows_of
from treeform.solve.ledger import Ledger
from treeform.solve.neighbourhoods import improve_low_subtrees
from treeform.solve.node import Node, Worker
from treeform.solve.part_ledger import InnerLedger
from treeform.utils.budget import Budget

MOST_KINDS = 64
"""Kinds of samples, by class and what they add to the rows, which the search takes for classes."""
HALVINGS = 5
DEAREST = 64
"""Up to so many times what a sample costs a price is tried: rows that are never to be wrong need more than one."""
FIRST_WORK = 10**9
"""Of the first longer search, which takes some tenths of a second.

Later ones have twice that after each round of `AROUND`, and without prices four times that of the one before.
"""
DOUBLINGS = 2
"""Of that work after a search that had no time for more than its first trees."""
AROUND = (Fraction(1), Fraction(4, 5), Fraction(5, 4))
"""Multiples of the prices that were found."""
LARGEST_WORK = 2**50
SIMPLE = 64
"""Parts of what a sample costs of which what is paid is a multiple."""
LITTLE = Fraction(1, 100)
"""Of what a tree costs: prices save at most what is paid without them."""
SAMPLES = 3_000
"""Of a table of eight times as many and more, on which prices are found: a search of all takes tenths of a second."""
SHARES = ((Fraction(1), 1 / 3), (Fraction(102, 100), 1.0))
"""How many times the seconds of the search for less depth a search has, while that one's best tree costs at most so
many times what the best one does; see `DEEPER`."""
DEEPER = 4.0
"""The same while it is worse."""


class DeepTrees:
    """Trees of one question at prices of its rows."""

    def __init__(self, question: Question, ledger: Ledger, relaxation: Relaxation | None = None) -> None:
        relaxation = relaxation or relaxed(question)
        assert relaxation is not None
        relaxation = _with_meetings(question, relaxation)
        self.question, self.relaxation, self.ledger = question, relaxation, ledger
        self.dual = Lagrangian(question, DeepTreeSearch(), relaxation, rows_of(question, relaxation.dropped))
        if self.dual.n_kinds > MOST_KINDS:
            self.dual = Lagrangian(question, DeepTreeSearch(), relaxation, [])
        self.whole = self.dual
        """Of all columns."""
        self._left_out: frozenset[int] = frozenset()
        """Features of columns at fault."""
        self._paid = prices(ledger.asked.question)
        """What may be lacking of what is demanded here; see `treeform.solve.stage.steps.paid_for`."""
        self.prices = [Fraction(0)] * len(self.dual.rows)
        self._some = self._samples()
        """Those that searches for prices read; None: all."""
        self._first = self._first_trees()
        self.moves = 0
        """Of all searches."""
        self._turns = 0
        self._more = 0
        """Doublings of the work of searches, as those before were over with their first trees."""
        self._seconds = 0.0
        """Of its searches and what follows them, without those for less depth."""
        self._until = 0.0
        """Of these, those until small subtrees were solved last."""
        self._tried: set[int] = set()
        """Small subtrees that were solved."""
        self._most: dict[int, Fraction] = {}
        """What a row is lacking costs at most so much where that is paid for."""
        self._less = self._of_less_depth()

    def _samples(self) -> np.ndarray | None:
        data, task = self.question.data, self.relaxation.task
        counts_samples = task.min_support > 1 or task.min_flow > 1 or task.meetings is not None
        if data.n_samples < 8 * SAMPLES or not self.prices or counts_samples:
            return None
        return np.sort(np.random.default_rng(0).permutation(data.n_samples)[:SAMPLES])

    def _of_less_depth(self) -> DeepTrees | None:
        shape = self.question.shape
        is_as_good = self.relaxation.task.min_support <= 1 and not self.dual.ignored
        if shape.depth <= schedule.LEAST_DEPTH or is_as_good:
            return None
        question = self.question.with_(shape=shape.at_depth((shape.depth + schedule.LEAST_DEPTH) // 2))
        relaxation = relaxed(question)
        return None if relaxation is None else DeepTrees(question, InnerLedger(question, self.ledger), relaxation)

    def first(self, part: Budget, budget: Budget | None = None) -> None:
        """A tree without prices, and prices for the rows that it violates, the worst one first; once.

        Those of less depth come before, as they take less time; prices come after the first tree of each depth, as
        trees at prices take several times as long. What this part of the time is too short for is done next time. A
        tree that was begun in it has all of ``budget``, if that is given: one that is broken off says nothing of its
        prices.
        """
        searches = list(reversed(list(self._by_depth())))
        for search in searches:
            if search is self or not part.stop():
                search._begin(part, budget or part, 1)
        for search in searches:
            if not part.stop():
                search._begin(part, budget or part)

    def _by_depth(self) -> Iterator[DeepTrees]:
        """This search, and those for less depth."""
        search: DeepTrees | None = self
        while search is not None:
            yield search
            search = search._less

    def _begin(self, part: Budget, budget: Budget, steps: int | None = None) -> None:
        began = part.seconds
        self._budget = budget
        for _ in islice(self._first, steps):
            if part.stop() or self.ledger.closed:
                break
        self._seconds += part.seconds - began

    def _first_trees(self) -> Iterator[None]:
        """The same, tree by tree."""
        for search in self._by_depth():
            self._leave_out(search._left_out)
        work = 1 if self.question.shape.depth > 2 else FIRST_WORK  # the first tree of depth two is a greedy one
        graph = self._searched(self.prices, work, 0, self._budget)
        slack = [] if graph is None or self._pays_little(graph) else self._slack(graph)
        for index in sorted(range(len(slack)), key=lambda i: -slack[i]):
            if slack[index] > 0:
                yield from self._find_price(index, graph)
        if self._some is not None:
            self._some = None
            for factor in (Fraction(1, 2), Fraction(0), Fraction(1)):
                yield
                self._searched([price * factor for price in self.prices], work, 0, self._budget)

    def improve(self, engine: Engine, budget: Budget) -> None:
        """Longer and longer searches, until the time is over."""
        while not budget.stop() and not self.ledger.closed:
            self._step(engine, budget)

    def _step(self, engine: Engine, budget: Budget) -> None:
        """Trees of less depth, a longer search at these prices, and small subtrees by the engine."""
        self.first(schedule.PRICES_OF_DEEP_TREES.of(budget), budget)
        self._less_depth(engine, budget)
        best = self.ledger.graph
        is_last = bool(self._paid) and self._is_priced_as_paid()  # nothing is to be found by other prices
        # Then they are as deep as this search's trees; or the search takes all of the time that is left.
        if best is not None and (is_last or best.depth < self.question.shape.depth):
            self._low_subtrees(engine, budget)
        began = budget.seconds
        is_plain = self.dual is self.whole and not any(self.prices)  # nothing varies from turn to turn but the seed
        doublings = 2 * self._turns if is_plain else self._turns // len(AROUND)
        work = min(FIRST_WORK << doublings + self._more, LARGEST_WORK)
        if is_last:
            work = LARGEST_WORK
        before = self.moves
        factor = AROUND[self._turns % len(AROUND)]
        self._searched(self._around(factor), work, self._turns, budget)
        self._turns += 1
        self._more += DOUBLINGS if self.moves == before and not budget.stop() else 0
        self._seconds += budget.seconds - began
        if self.dual is not self.whole or self._turns % len(AROUND) == 0:  # subtrees may test columns that are left out
            self._low_subtrees(engine, budget)

    def _low_subtrees(self, engine: Engine, budget: Budget) -> None:
        """Of the best tree, a third as long as the searches since the last time, and again while it becomes better."""
        exact, began, before = relax(self.question, engine), budget.seconds, None
        self.ledger.set_phase(f"subtrees: {engine.name}")
        while exact is not None and self._has_the_best() and self.ledger.upper != before and not budget.stop():
            before = self.ledger.upper
            part = budget.share((self._seconds - self._until) / len(AROUND))
            improve_low_subtrees(engine, exact, self.ledger, part, self._tried)
        self._seconds += budget.seconds - began
        self._until = self._seconds

    def _less_depth(self, engine: Engine, budget: Budget) -> None:
        """Trees of less depth, as long as their search has had less than its share."""
        less = self._less
        while less is not None and not budget.stop() and not self.ledger.closed:
            if self._share_of(less) * less._with_less_depth() >= self._seconds:
                break
            less._step(engine, self._part_of(less, budget))

    def _with_less_depth(self) -> float:
        """Its seconds, and those of searches for less depth."""
        return sum(one._seconds for one in self._by_depth())

    def _share_of(self, less: DeepTrees) -> float:
        """How many times the seconds of the search for less depth this one has."""
        own, best = less.ledger.upper, self.ledger.upper
        if own is None or best is None:
            return DEEPER
        return next((share for factor, share in SHARES if own <= best * factor), DEEPER)

    def _part_of(self, less: DeepTrees, budget: Budget) -> Budget:
        """What it lacks of its share, or half as long as this search had: its prices may take longer.

        Any model is waited for.
        """
        lacking = self._seconds / self._share_of(less) - less._with_less_depth()
        part = budget.share(max(self._seconds / 2, lacking))
        return budget.until(lambda: part.stop() and (less.ledger.graph is not None or bool(self._paid)))

    def _find_price(self, index: int, violating: DecisionGraph | None) -> Iterator[None]:
        """The least price found at which the search's tree satisfies a row; prices of the other rows stay.

        ``violating``: a tree that does not satisfy it.
        """
        largest = Fraction(max(1, self.dual.dearest), max(1, int(np.abs(self.dual.rows[index].coef).max())))
        low, high = Fraction(0), None
        price = largest / 8
        most = self._price_paid(index, violating)
        if most is not None:
            unit = largest / SIMPLE  # a price of many digits makes costs so large that searches take ten times as long
            self._most[index] = most = max(1, round(most / unit)) * unit
            price = min(price, most)
        for _ in range(HALVINGS + 3):
            if not self.dual.within_range([*self.prices[:index], price, *self.prices[index + 1 :]]):
                break
            self.prices[index] = price
            yield
            slack = self._slack(self._searched(self.prices, 1, 0, self._budget))
            if not slack:
                break
            low, high = (price, high) if slack[index] > 0 else (low, price)
            if high is None and price >= (DEAREST * largest if most is None else most):
                break
            price = (2 if price < largest else 4) * price if high is None else (low + high) / 2
            price = price if most is None else min(price, most)
        self.prices[index] = low if high is None else high

    def _price_paid(self, index: int, graph: DecisionGraph | None) -> Fraction | None:
        """What a unit of a row costs where lacking it is paid for, in the search's units; None: it is demanded."""
        row, of = self.dual.rows[index], dict(zip(self.question.labels, self.question.requirements, strict=True))
        price = next((price for price, rule in self._paid if rule is of[row.label]), None)
        if price is None or graph is None:
            return None
        lacking = price * of[row.label].lacking(graph, self.question.data) * self.question.scale
        return lacking / (self.relaxation.factor * row.slack(graph, self.question.data))

    def _pays_little(self, graph: DecisionGraph) -> bool:
        """Whether a tree pays so little for what it lacks that prices, which make searches slow, are not worth it."""
        paid = sum(price * rule.lacking(graph, self.question.data) for price, rule in self._paid)
        return bool(self._paid) and paid < LITTLE * self.question.objective.evaluate(graph, self.question.data)

    def _around(self, factor: Fraction) -> list[Fraction]:
        """Prices near those that were found, none above what is paid; that one stays."""
        most = [(price, self._most.get(i)) for i, price in enumerate(self.prices)]
        return [p if p == m else p * factor if m is None else min(p * factor, m) for p, m in most]

    def _is_priced_as_paid(self) -> bool:
        """Whether what the search minimises is what is asked, as far as it knows the requirements."""
        return self.dual is self.whole and all(p in (0, self._most.get(i)) for i, p in enumerate(self.prices))

    def _has_the_best(self) -> bool:
        """Whether the best model of what is asked satisfies all that is demanded here."""
        return not self._paid or self.ledger.graph == self.ledger.asked.graph

    def _slack(self, graph: DecisionGraph | None) -> list[int]:
        return [] if graph is None else [row.slack(graph, self.question.data) for row in self.dual.rows]

    def _searched(self, prices: list[Fraction], work: int, seed: int, part: Budget) -> DecisionGraph | None:
        """The best tree of one search; those that it meets on the way are candidates, too."""
        engine = DeepTreeSearch(work_limit=work, seed=seed)
        self.ledger.set_phase(engine.name)
        if engine.name not in self.ledger.runners:
            self.ledger.runners.append(engine.name)

        def submit(graph: DecisionGraph) -> None:
            self.ledger.count(trees=1)
            own = part if self.ledger.has_model else self.ledger.budget  # any model is better than none
            submit_repaired(self.ledger, graph, engine.name, own)

        def searched(dual: Lagrangian) -> DecisionGraph | None:
            some = self._some
            on_tree = submit if some is None else None  # to judge one takes longer than such a search
            graph, moves = dual.tree(engine, tuple(prices), part, on_tree, some)
            if some is not None and graph is not None:
                submit(graph)
            self.moves += moves
            self.ledger.count(searches=1, moves=moves)
            return graph

        if self.dual is not self.whole and seed % 2:
            graph = searched(self.whole)
            if graph is not None:
                self._submit_without_tests(graph)
            return graph
        graph = searched(self.dual)
        while graph is not None and self._narrowed(graph) and not part.stop():
            graph = searched(self.dual)
        return graph

    def _submit_without_tests(self, graph: DecisionGraph) -> None:
        budget = schedule.FAULTS.of(self.ledger.budget)
        fewer = without_tests_at_fault(self.question, graph, self.dual.ignored, budget)
        if fewer is not None:
            submit_repaired(self.ledger, fewer, DeepTreeSearch.name, self.ledger.budget)

    def _narrowed(self, graph: DecisionGraph) -> bool:
        """Whether a tree shows columns that are better left out: then they are, in every second search."""
        self._submit_without_tests(graph)
        budget = schedule.FAULTS.of(self.ledger.budget)
        found = columns_at_fault(self.question, graph, self.dual.ignored, budget)
        if found is None:
            return False
        features, without = found
        submit_repaired(self.ledger, without, DeepTreeSearch.name, self.ledger.budget)
        if self._left_out and (used := without.features_used()):  # of many columns others would be at fault each time
            features = frozenset(range(self.question.data.n_features)) - used
        self._leave_out(features)
        return True

    def _leave_out(self, features: frozenset[int]) -> None:
        """Tests of these features, in every second search."""
        if features - self._left_out:
            self.dual, self._left_out = self.dual.without(features), self._left_out | features


class _OfSamples(DeepTreeSearch):
    """Costs of each sample are costs of classes, where there are few kinds of samples."""

    understands: ClassVar[frozenset[str]] = DeepTreeSearch.understands | {"sample_cost"}


def relaxed(question: Question) -> Relaxation | None:
    """What the search supports of a question; None: nothing of use."""
    found = relax(question, _OfSamples())
    each = None if found is None else found.task.sample_cost
    is_few = found is not None and (each is None or len(np.unique(each, axis=0)) <= MOST_KINDS)
    return found if is_few else relax(question, DeepTreeSearch())


def _with_meetings(question: Question, relaxation: Relaxation) -> Relaxation:
    """With the clashes of labels in the task, which the search takes into account as far as classes decide them."""
    data = question.data
    found = (
        one.meetings(data)
        for label, one in zip(question.labels, question.requirements, strict=True)
        if label in relaxation.dropped
    )
    parts = [one for one in found if one is not None]
    if sum(one.n_marks for one in parts) > MOST_MARKS:
        return relaxation
    return replace(relaxation, task=replace(relaxation.task, meetings=all_meetings(parts)))


def first_deep_trees(node: Node, budget: Budget) -> None:
    """Trees at several prices of what is required, before the proof."""
    _search_of(node).first(budget, node.budget)


def longer_search(node: Node, budget: Budget) -> None:
    """What the proof left of a limited run, or before a solver: longer and longer searches, and small subtrees by the
    engine."""
    engine = node.plan.searcher
    assert engine is not None
    _search_of(node).improve(engine, budget)


def by_deep_trees(node: Node) -> Worker | None:
    """Who searches for deep trees."""
    relaxation = relaxed(node.question)
    return None if relaxation is None else (DeepTreeSearch.name, relaxation.dropped)


def _search_of(node: Node) -> DeepTrees:
    if node.deep is None:
        node.deep = DeepTrees(node.question, node.ledger)
    search: DeepTrees = node.deep
    return search
