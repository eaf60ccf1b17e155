"""Stages that answer a question through other questions, each of which goes through the stages itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from treeform.engines import ConTree, Engine
from treeform.engines.relaxation import relax
from treeform.errors import BREAKDOWNS, broke_down, is_breakdown
from treeform.language.composed import cases_of
from treeform.language.question import Question
from treeform.objectives.soft import demanded, unpaid
from treeform.shape import smaller_shapes
from treeform.solve import schedule
from treeform.solve.depth import DepthSearch
from treeform.solve.engines import usual_engine
from treeform.solve.in_parts import CaseByCase
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node, Worker
from treeform.solve.part_ledger import InnerLedger, PartLedger, Reduction, reduction_of
from treeform.solve.stage.deep_trees import LITTLE, first_deep_trees, longer_search, relaxed
from treeform.solve.stage.engine_search import has_many_tests, is_deep_among_many_tests, is_proved_beside
from treeform.utils.budget import Budget, Limit, Share

Search = Callable[[Node], None]
"""All stages, for a step."""
PROVED_AT_DEPTH_FOUR = 2_000
"""Tests up to which parts of depth four are often answered: with 1,600 tests of 1,000 rows in one to ten seconds."""


def in_parts(search: Search) -> Callable[[Node, Budget], Limit | None]:
    """Minimise an objective that is no sum, through questions whose objectives are sums."""

    def run(node: Node, budget: Budget) -> Limit | None:
        return budget.reason or _parts_of(node, search).run()

    return run


def first_parts(search: Search) -> Callable[[Node, Budget], Limit | None]:
    """Parts for as long as each is answered in a share of the time; what they show is kept."""

    def run(node: Node, budget: Budget) -> Limit | None:
        parts, share = _parts_of(node, search), _share_of_first_parts(node)
        assert isinstance(parts, CaseByCase)
        if share is schedule.PROOF_OF_FEW_TESTS:  # its bound may be all that is needed
            for way in _searches_in_place(node):
                if way.is_for_all:
                    way.try_out(search, share.of(node.budget))
                    parts.bounded_by(way.claims)
            if parts.is_nearly_proved(LITTLE):
                share = schedule.NEARLY_PROVED
        return parts.first_parts(share)

    return run


def _share_of_first_parts(node: Node) -> Share:
    if is_deep_among_many_tests(node):
        return schedule.FIRST_DEEP_PARTS
    is_late = node.question.data.has_more_tests_than(PROVED_AT_DEPTH_FOUR)
    return schedule.FIRST_PARTS if is_late else schedule.PROOF_OF_FEW_TESTS


def _parts_of(node: Node, search: Search) -> Reduction:
    """The parts of the objective, with the answers that there are."""

    def of_part(part: Question, claims: Ledger) -> Limit | None:
        assert isinstance(claims, PartLedger)
        engine = None if node.plan.engine is None else _able(node, node.plan.engine, part)
        plan = replace(node.plan, engine=engine, start=None, in_parts=False)
        step = node.step(claims, plan, claims.title, claims.brief)
        search(step)
        return claims.budget.reason or step.limit

    if node.parts is None:
        node.parts = reduction_of(node.question)(node.question, node.ledger, of_part)
    parts: Reduction = node.parts
    return parts


def begins_with_parts(node: Node) -> bool:
    """Whether parts are tried before what is paid for.

    At depth three the search for all of it demanded answers the part in which nothing is lacking.
    """
    return node.plan.in_parts and node.question.shape.depth >= schedule.LEAST_DEPTH and is_paid_for(node)


def _able(node: Node, engine: Engine, part: Question) -> Engine:
    """The usual engine of the part, if it supports all of it; one that was named stays where it can."""
    relaxation = relax(part, engine)
    is_kept = node.options.solver is not None or node.plan.distribution is not None
    other = None if relaxation is None or (relaxation.exact and is_kept) else usual_engine(part)
    supported = None if other is None else relax(part, other)
    return engine if other is None or supported is None or not supported.exact else other


def is_paid_for(node: Node) -> bool:
    """Whether something is paid for that deep models may lack, and engines search for them with it and without.

    Parts of a table of few tests are proved sooner than that helps, but for deep trees; a price on a count alone is
    searched for as such.
    """
    depth = node.question.shape.depth
    if depth < schedule.LEAST_DEPTH - 1:  # proved soon
        return False
    asked = demanded(node.question)
    if asked is None or not asked.objective.is_sum:
        return False
    if not node.plan.in_parts:
        return True
    if any(term.nested for _, term in cases_of(node.question.objective)):
        return False
    if depth >= schedule.LEAST_DEPTH:
        return depth > schedule.LEAST_DEPTH or has_many_tests(node)
    # Under totals the proof has no tree for long at depth three, too.
    trees = relax(asked, ConTree()) if has_many_tests(node) else None
    return trees is not None and not trees.exact


def paid_for(search: Search) -> Callable[[Node, Budget], None]:
    """Models that lack little or nothing of what they may pay for, and ones that lack what they like; no solver.

    The search for the former goes on for as long as its best model costs no more than that of the others' trials, then
    the best one of these. All of it is over once the best model known is proved to be the best.
    """

    def run(node: Node, whole: Budget) -> None:
        *others, all_of_it = _searches_in_place(node)
        budget = whole.until(lambda: node.ledger.closed or any(way.proves_the_best for way in others))
        for way in others:
            if not way.is_tried:
                way.try_out(search, budget)
        if not budget.stop():
            all_of_it.find_prices(budget)
            trial, least = schedule.TRIAL.of(budget), min((way.worth for way in others), default=math.inf)
            all_of_it.go_on(search, budget.until(lambda: trial.stop() and least < all_of_it.worth < math.inf))
        is_answer = all_of_it.claims.closed and node.plan.in_parts
        if is_answer:  # other parts may be answered as soon
            parts = _parts_of(node, search)
            assert isinstance(parts, CaseByCase)
            parts.take(all_of_it.claims)
        open_ones = [way for way in others if not way.claims.closed]
        if open_ones and not is_answer and not budget.stop():
            min(open_ones, key=lambda way: way.worth).go_on(search, budget)
        for way in (*others, all_of_it):
            way.claims.pass_notes_on()
            if way.is_for_all and node.plan.in_parts:
                parts = _parts_of(node, search)
                assert isinstance(parts, CaseByCase)
                parts.bounded_by(way.claims)

    return run


def share_of_paid_for(node: Node) -> Share | None:
    """All of it where parts or a solver seldom prove anything: no first part was answered, or tests are many."""
    parts: CaseByCase | None = node.parts
    is_late = node.plan.in_parts or has_many_tests(node) if parts is None else not parts.has_answers
    return None if is_late else schedule.PAID_FOR


def _in_place(question: Question) -> Iterator[tuple[Question, str]]:
    """The question without what is paid for; with what the search for deep trees supports of it; and with all."""
    without, whole = unpaid(question), demanded(question)
    assert whole is not None
    part = relaxed(whole)
    supported = () if part is None else part.part.requirements
    kept = (*supported, *question.requirements)
    some = whole.with_(requirements=tuple(one for one in whole.requirements if one in kept))
    if without is not None:
        yield without, "unpaid"
    if len(question.requirements) < len(some.requirements) < len(whole.requirements):
        yield some, "some of it demanded"
    yield whole, "all of it demanded"


def _searches_in_place(node: Node) -> list[_InPlace]:
    """Those for these questions, all of it demanded last."""
    if node.in_place is None:
        node.in_place = [_InPlace(node, asked, title) for asked, title in _in_place(node.question)]
    ways: list[_InPlace] = node.in_place
    return ways


class _InPlace:
    """The search for one question in place of another one with the same models, by turns."""

    def __init__(self, node: Node, asked: Question, title: str) -> None:
        self.node, self.claims = node, InnerLedger(asked, node.ledger)
        engine, able = _worker(node, asked)
        plan = replace(
            node.plan,
            engine=engine if able else None,
            backend=None,
            formulation=None,
            warm_engine=None if able else engine,
            start=None,
            in_parts=False,
        )
        self.step = node.step(self.claims, plan, title, node.brief)
        # A proof for this question is none for the other one; on a table of few tests it has the best model soon.
        is_late = has_many_tests(node) or (node.plan.in_parts and asked.shape.depth > schedule.LEAST_DEPTH)
        self._by_deep_trees = is_late and is_proved_beside(self.step)
        self.is_tried = False

    @property
    def worth(self) -> Fraction | float:
        """What its best model costs in that one."""
        return math.inf if self.claims.worth is None else Fraction(self.claims.worth)

    @property
    def is_for_all(self) -> bool:
        """Whether it is for the same models without what is paid: none of them costs more there."""
        return self.claims.question.requirements == self.node.question.requirements

    @property
    def proves_the_best(self) -> bool:
        """Whether this search proves that no model is better."""
        return self.is_for_all and self._reaches_the_best(self.claims.lower)

    def _reaches_the_best(self, value: int | Fraction | None, but_for: Fraction = Fraction(0)) -> bool:
        """Whether the best model known of that question costs no more than so much in this one, but for a part."""
        best = self.node.ledger.upper
        if best is None or value is None:
            return False
        return self.claims.question.to_units(value) >= self.node.question.to_units(best) * (1 - but_for)

    def find_prices(self, budget: Budget) -> None:
        """What rows cost, where deep trees are searched for by that: it takes some trees, the first ones bad."""
        self.claims.budget = budget
        if self._by_deep_trees:
            first_deep_trees(self.step, schedule.PRICES_OF_DEEP_TREES.of(budget))

    def try_out(self, search: Search, budget: Budget) -> None:
        """Search for a short time: for less where its first model is no better there than what was known, and for as
        long as its best one pays next to nothing there, since with all of it demanded none would be much better.
        """
        self.is_tried = True
        self._take_the_best()
        trial, before, known = schedule.TRIAL.of(budget), self.claims.upper, self.worth

        def is_over() -> bool:
            if self.claims.upper == before:
                return trial.stop()
            return self.worth >= known or (trial.stop() and not self._reaches_the_best(self.claims.upper, LITTLE))

        self._work(search, budget.until(is_over))

    def go_on(self, search: Search, budget: Budget) -> None:
        """Search for so long, from the best model that is known."""
        self._take_the_best()
        self._work(search, budget)

    def _take_the_best(self) -> None:
        best = self.claims.whole.graph
        if best is None or not self.claims.submit(best, "the best model so far").ok:
            self.claims.worth = None  # a first tree says little

    def _work(self, search: Search, budget: Budget) -> None:
        self.claims.budget = budget
        if self._by_deep_trees:
            longer_search(self.step, budget)
        else:
            search(self.step)


def _worker(node: Node, asked: Question) -> tuple[Engine, bool]:
    """Who searches for a question in place of the node's, and whether it supports all of it."""
    searcher = node.plan.searcher
    assert searcher is not None
    engine = _able(node, searcher, asked)
    part = relax(asked, engine)
    return engine, part is not None and part.exact


def by_demanded(node: Node) -> Worker | None:
    """Who searches for them."""
    names = [_worker(node, asked)[0].name for asked, _ in _in_place(node.question)]
    return ", then ".join(dict.fromkeys(names)), ()


def depths(node: Node, budget: Budget) -> Limit | None:
    """The least depth: a question for each depth."""
    limit = DepthSearch(node, budget).run()
    return budget.reason or limit


def by_parts(node: Node) -> Worker | None:
    """Who answers the questions in between."""
    plan = node.plan
    names = [one.name for one in (plan.engine, plan.warm_engine, plan.backend) if one is not None]
    return ", then ".join(names), ()


def takes_smaller_shapes(node: Node) -> bool:
    """Under requirements and a time limit, where no engine supports all: such an engine tries smaller depths itself.

    Without a limit the solver goes on to the optimum, which no smaller shape beats. A restriction has other rows for
    another shape.
    """
    return (
        not node.brief
        and node.plan.engine is None
        and bool(node.question.requirements)
        and node.budget.remaining is not None
        and node.question.restriction is None
    )


def smaller(search: Search) -> Callable[[Node, Budget], None]:
    """The best models of the shapes of fewer layers, each from the one before."""

    def run(node: Node, budget: Budget) -> None:
        ledger = node.ledger
        best = ledger.graph
        for shape in smaller_shapes(node.question.shape):
            ledger.set_phase(f"{shape} first")
            claims = Ledger(node.question.with_(shape=shape), schedule.SMALLER_SHAPE.of(budget))
            claims.outer = ledger
            if best is not None:
                claims.submit(best, "the best model so far")
            try:
                search(node.step(claims, replace(node.plan, start=None), str(shape), brief=True))
            except BREAKDOWNS as error:
                if not is_breakdown(error):
                    raise
                ledger.note(f"the search of {shape} {broke_down(error)}")
            if claims.graph is not None:
                best = claims.graph
                ledger.submit(best, f"the best model of {shape}")
            if ledger.stop():
                return

    return run
