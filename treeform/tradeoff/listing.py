"""How near-optimal models are found: the optimum, then all trees up to the threshold, then columns one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from treeform.certify.answer import CertifiedResult
from treeform.engines import TotalsSearch
from treeform.engines.and_or_graph import reason_against_search
from treeform.engines.enumeration import Enumeration
from treeform.engines.relaxation import Relaxation, relax
from treeform.engines.totals import OfCounts
from treeform.engines.tree_lists import TreeList
from treeform.engines.tree_sets import TreeSet
from treeform.errors import SpecError
from treeform.language.numbers import not_negative
from treeform.language.question import Question
from treeform.requirements.excluded import NoTestOn
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, Progress, SolveOptions, Status
from treeform.tradeoff.asking import Asking, with_model
from treeform.tradeoff.near_optimal import Indispensable, NearOptimal
from treeform.tradeoff.near_trees import Judge, NearModel, NearTrees
from treeform.utils.arguments import whole_number
from treeform.utils.budget import Budget, Pace, Step, interruptible, observe_steps, report_step
from treeform.utils.out_of_reach import OutOfReach, Stopped
from treeform.utils.rows import setting_text

MOST_TREES = 1_000_000
"""Trees that are held at once; beyond that the count goes up to a smaller objective."""
PARTS = tuple(Fraction(part, 16) for part in (0, 1, 2, 3, 4, 6, 8, 12, 16))
"""Of the range between optimum and threshold, counted one after the other where all of it is too much at once. The
number of models mostly multiplies with each unit of the objective, so that all parts take little longer than the last
one."""


def list_near_optimal(
    question: Question,
    options: SolveOptions = USUAL,
    within: Any = "0.01",
    max_models: int = 1000,
    sensitive: Any = None,
) -> NearOptimal:
    """The near-optimal models of a question; see `treeform.Problem.near_optimal`. ``sensitive``: groups for
    requirements that name none.
    """
    refuse_restriction(question, options, "a list of near-optimal models")
    share = _checked(within, max_models)
    relaxation = _countable(question)
    uncounted = reason_against_search(question.data, relaxation.task)
    search = _Search(question, relaxation, options, share, max_models)
    search.uncounted = uncounted
    with interruptible(search.budget):
        search.run()
    return replace(search.found(), sensitive=sensitive)


class _Search(Asking):
    """The optimum, the models near to it, and the columns that they need; what is open is asked again in the end."""

    best: CertifiedResult
    uncounted: str | None

    def __init__(
        self, question: Question, relaxation: Relaxation, options: SolveOptions, share: Fraction, limit: int
    ) -> None:
        super().__init__(options)
        self.question, self.relaxation = question, relaxation
        self.share, self.most = share, limit
        self.listed = _Listed()
        self.without: dict[str, CertifiedResult] = {}
        """The best answer where no test may read a column."""

    @property
    def threshold(self) -> Fraction:
        return (
            Fraction(0) if self.best.objective is None else Fraction(self.best.objective) * (1 + self.share)
        )

    @property
    def proved(self) -> bool:
        """Whether it is settled what the optimum is: by the solver, or since all models up to it were counted."""
        return self.best.status in (Status.OPTIMAL, Status.INFEASIBLE) or self.listed.counted_to is not None

    def run(self) -> None:
        """Find the optimum, count, and ask about columns; then go on with what is open."""
        first = self.answer(None, schedule.NEAR_OPTIMUM.seconds(self.budget.remaining))
        assert first is not None  # a first solve that breaks down raises
        self.best = first
        if self.best.objective is not None and not self.budget.interrupted:
            self.count_models()
        self.rounds(self.open_questions, self.take)

    def open_questions(self) -> list[str | None]:
        """None: is there a better model? A column: can a near-optimal model do without it?"""
        questions: list[str | None] = [] if self.proved else [None]
        decided = {one.column for one in self.indispensable() if one.proved is not None}
        return [*questions, *(name for name in self.candidates() if name not in decided)]

    def candidates(self) -> list[str]:
        """The columns that all models in hand test; no other one can be indispensable."""
        if self.best.graph is None or self.best.objective is None:
            return []
        best, listed = NearModel(self.best.objective, self.best.graph).columns(), self.listed.columns
        return sorted(best if listed is None else best & listed)

    def indispensable(self) -> tuple[Indispensable, ...]:
        """The answers for these columns: by a solve without each, or from the count if all models test it."""
        known = self.listed.counted_to
        counted = self.listed.shows_columns and known is not None and known >= self.threshold
        asked = [
            Indispensable(name, self.without.get(name), self.threshold)
            for name in self.candidates()
            if counted or name in self.without
        ]
        return tuple(replace(one, without=None) if counted and one.proved is None else one for one in asked)

    def answer(self, column: str | None, seconds: float | None) -> CertifiedResult | None:
        """Solve for the optimum, or for that without a column."""
        question, what, known = self.question, "the optimum", getattr(self, "best", None)
        if column is not None:
            without = NoTestOn(column).bind(question.data)
            question = question.with_(requirements=(*question.requirements, without))
            what, known = f"without {column}", self.without.get(column)
        models = {} if known is None or known.graph is None else {"models": (known.graph,)}
        return self.ask(question, seconds, self.told(what), **models)

    def take(self, column: str | None, turns: int) -> None:
        """Ask, and enter the answer; the threshold follows a better model."""
        result = self.answer(column, schedule.equal_part(self.budget.remaining, turns))
        if result is None:
            return
        if column is not None:
            self.without[column] = result
            return
        known, self.best = self.best, result
        if result.objective is not None and (known.objective is None or result.objective < known.objective):
            self.count_models()

    def count_models(self) -> None:
        """Count and list the models up to the threshold."""
        assert self.best.graph is not None and self.best.objective is not None
        if self.uncounted is not None:
            self.listed = _Listed((NearModel(self.best.objective, self.best.graph),))
            return
        with observe_steps(_counting(self.options, self.budget, self.best)):
            try:
                search = _Listing(self.question, self.relaxation, self.budget, self.most)
            except Stopped:
                self.listed = _Listed()
                return
            listed = search.up_to(Fraction(self.best.objective), self.threshold)
            least = listed.models[0] if listed.models else None
            if least is not None and least.objective < self.best.objective:
                # The enumeration found a better optimum: the threshold follows it.
                self.best = with_model(self.best, least.graph)
                listed = search.up_to(Fraction(least.objective), self.threshold)
        self.listed = listed

    def found(self) -> NearOptimal:
        """The models and bounds found."""
        is_open = self.best.objective is None or self.open_questions()
        limit = self.budget.reason or (
            self.limit if is_open and self.best.status is not Status.INFEASIBLE else None
        )
        return NearOptimal(
            self.question,
            self.best,
            self.threshold,
            self.listed.models,
            self.listed.count,
            self.listed.counted_to,
            self.indispensable(),
            self.budget.seconds,
            limit,
            self.uncounted or self.listed.stopped_by,
            tuple(self.notes),
            self.listed.trees,
        )


def _counting(options: SolveOptions, budget: Budget, best: CertifiedResult) -> Callable[[Step], None]:
    """What shows the enumeration, at its beginning and once a second."""
    pace = Pace()

    def report() -> None:
        if options.on_progress is not None:
            state = Progress(0.0, best.objective, best.bound, "", step=pace.step, rate=pace.rate)
            options.on_progress(state.within(budget, "counting models"))

    def on_step(step: Step) -> None:
        if pace.advance(step, budget.seconds):
            report()

    report()
    return on_step


def _checked(within: Any, max_models: Any) -> Fraction:
    share = not_negative(
        within,
        "a share of the optimum",
        "models within {} of the optimum are not possible",
        cause="no model is better than the optimum",
        fix=f"use for example {setting_text('within', 0.01)}",
    )
    if (whole_number(max_models) or 0) < 1:
        raise SpecError(
            f"max_models={max_models!r} is no number of models",
            cause="it is a whole number of at least 1",
            fix="use for example max_models=1000",
        )
    return share


def _countable(question: Question) -> Relaxation:
    """The question as costs, totals and limits; what is more than that is judged model by model.

    Raises SpecError if the models of this shape, objective or table cannot be listed.
    """
    fix = "use a tree, tf.Error() or tf.Cost(...) with tf.Nodes(), and few tests; round or bin columns"
    relaxation = relax(question, OfCounts())  # knows no sets of features: requirements on these are judged
    if relaxation is None or not relaxation.leaves_out_only(question.labels):
        raise SpecError(
            f"near-optimal models of {question.shape} under the objective {question.objective} cannot be listed",
            cause="models are enumerated for trees with tests of one column, and a sum over samples and tests",
            fix=fix,
        )
    reason = TotalsSearch().beyond_numbers(question.data, relaxation.task)
    if reason is not None:
        raise SpecError("near-optimal models cannot be listed on this table", cause=reason, fix=fix)
    return relaxation


@dataclass(frozen=True)
class _Listed:
    """Trees, how many there are, the objective up to which that is all, and what there was too much of beyond."""

    models: tuple[NearModel, ...] = ()
    count: int = 0
    counted_to: Fraction | None = None
    trees: NearTrees | None = None
    stopped_by: str | None = None

    @cached_property
    def columns(self) -> set[str] | None:
        """The columns that all of them test; None where there are none."""
        if not self.models:
            return None
        common = set.intersection(*(model.columns() for model in self.models))
        trees = self.trees
        if trees is None or trees.size == len(self.models):
            return common
        return {name for name in common if trees.using(name) == trees.size}

    @property
    def shows_columns(self) -> bool:
        """Whether every model up to ``counted_to`` tests the columns that these test, in normal form or not."""
        return self.trees is not None and self.trees.judge.keeps_normal_forms


class _Listing:
    """Enumeration in growing parts, and the models that come of it.

    Raises Stopped if the budget ends before it begins.
    """

    def __init__(self, question: Question, relaxation: Relaxation, budget: Budget, limit: int) -> None:
        self.question, self.relaxation, self.budget, self.limit = question, relaxation, budget, limit
        seconds = schedule.NEAR_OPTIMUM.of(budget).remaining
        self.enumeration = Enumeration(question.data, relaxation.task, MOST_TREES, seconds, budget.stop)
        self.judge = Judge(question, relaxation, self.enumeration.graph_of)

    def up_to(self, best: Fraction, threshold: Fraction) -> _Listed:
        """The models up to a threshold, as far as they can be found."""
        listed, before = _Listed(), None
        seconds = schedule.WHOLE_GRAPH.seconds(self.budget.remaining)
        why = self.enumeration.prepare(self._cost(threshold), seconds)
        if why is None and not self.judge.is_needed:
            try:
                return self._set(threshold)
            except OutOfReach as error:
                why = str(error)
            except Stopped:
                return listed
        parts = [best + (threshold - best) * part for part in PARTS]
        in_turn = False
        for place, reach in enumerate(parts):
            cost = self._cost(reach)
            if cost == before:
                listed = replace(listed, counted_to=reach)
                continue
            before = cost
            try:
                listed = self._set(reach)
            except OutOfReach as error:
                listed = replace(listed, stopped_by=str(error))
                seconds = schedule.WHOLE_GRAPH.seconds(self.budget.remaining)
                whole = self._in_numbers([threshold], listed, seconds)
                return whole if whole.counted_to == threshold else self._in_numbers(parts[place:], listed)
            except Stopped:
                break
            if why is not None and not in_turn and listed.count >= self.limit and reach < threshold:
                # More would not be listed.
                in_turn = True
                seconds = schedule.WHOLE_GRAPH.seconds(self.budget.remaining)
                whole = self._in_numbers([threshold], replace(listed, stopped_by=why), seconds)
                if whole.counted_to == threshold:
                    return whole
        return listed

    def _set(self, reach: Fraction) -> _Listed:
        """All models up to an objective: a list of them, or numbers where that would be too long."""
        cost = self._cost(reach)
        try:
            return self._listed(self._judged(self.enumeration.trees(cost)), reach)
        except OutOfReach:
            counts = None if self.judge.is_needed else self.enumeration.counts(cost)
            if counts is None:
                raise
            return self._listed(counts, reach)

    def _in_numbers(self, parts: list[Fraction], listed: _Listed, seconds: float | None = None) -> _Listed:
        """How many models there are up to the last of these objectives that can be counted, beside the best of them."""
        for reach in parts:
            try:
                number = None if self.judge.is_needed else self.enumeration.count(self._cost(reach), seconds)
            except Stopped:
                break
            if number is None:
                break
            listed = _Listed(listed.models, number, reach, None, listed.stopped_by)
        return listed

    def _cost(self, objective: Fraction) -> int:
        """The largest cost in the engine's units of a model with at most this objective."""
        return self.relaxation.upper(math.floor(objective * self.question.scale))

    def _listed(self, trees: TreeSet, reach: Fraction) -> _Listed:
        near = NearTrees(self.judge, trees)
        models: list[NearModel] = []
        for index in range(min(self.limit, near.size)):
            if index % 64 == 0:
                report_step(index, "models judged")
                if models and self.budget.stop():  # they are counted; fewer are listed
                    break
            models.append(near.model(index))
        return _Listed(tuple(models), near.size, reach, near)

    def _judged(self, trees: TreeList) -> TreeList:
        """Those that satisfy what the enumeration does not count by itself."""
        if not self.judge.is_needed:
            return trees
        kept: list[int] = []
        for index in range(trees.size):
            if index % 64 == 0:
                report_step(len(kept), "models judged")
                if self.budget.stop():
                    raise Stopped
            if self.judge.model(trees.tree(index), trees.cost(index)) is not None:
                kept.append(index)
        return trees.only(np.array(kept, dtype=np.int64))
