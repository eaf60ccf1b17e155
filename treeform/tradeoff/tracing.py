"""How a frontier is found: from the loosest bound, each answer's own measure gives the next bound.

The best model at a bound has a measure v, and stays the best for every bound down to v. The next bound is the loosest
that excludes v (`Bounded.beyond`), so that no model's measure falls between two bounds that are asked. What is proved
at a bound holds for all tighter ones. A model that is not proved to be the best may be replaced later on; then the
bounds between its measure and that of the better one are asked as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.errors import ContradictionError, SpecError
from treeform.graph import DecisionGraph
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.choice import refuse_restriction
from treeform.solve.options import USUAL, SolveOptions
from treeform.solve.result import Limit, Number, Progress, Status
from treeform.tradeoff.asking import Solves, part_of, with_model
from treeform.tradeoff.axis import with_axis
from treeform.tradeoff.frontier import Frontier, FrontierPoint
from treeform.utils.text import count_of


@dataclass(frozen=True)
class _Model:
    """A model, its measure, and its objective in the user's units."""

    value: Value
    objective: Number
    graph: DecisionGraph


def trace_frontier(
    question: Question,
    axis: Bounded,
    options: SolveOptions = USUAL,
    *,
    between: tuple[Any, Any] = (None, None),
) -> Frontier:
    """All points of a frontier; see `treeform.Problem.frontier`.

    Parameters
    ----------
    question : Question
        Without the requirement that is moved.
    axis : Bounded
        That requirement, bound to the data.
    options : SolveOptions
        The time limit is for the whole frontier; each bound gets at most a share of what is left. Bounds that are open
        in the end are asked again, with what is left by then.
    between : (loosest, tightest)
        None for no limit on a side.
    """
    refuse_restriction(question, options, "a frontier")
    if axis.is_continuous:
        raise SpecError(
            f"there is no frontier over {axis}",
            cause="its values are any fractions, so the best loss changes with every bound, however close",
            fix="solve at single bounds, for example with tf.sweep, or use whole=True",
        )
    budget = Budget(options.time_limit)
    trace = _Trace(question, axis, _range(axis, between), options, budget)
    with interruptible(budget):
        trace.run()
    return trace.frontier()


class _Trace:
    """The answers at bounds, and what follows from all of them together."""

    def __init__(
        self,
        question: Question,
        axis: Bounded,
        between: tuple[Fraction | None, Fraction | None],
        options: SolveOptions,
        budget: Budget,
    ) -> None:
        self.question, self.axis, self.between = question, axis, between
        self.options, self.budget = options, budget
        self.solves = Solves()
        self.answers: dict[Value | None, CertifiedResult] = {}
        """At each bound that was asked, the answer that proves the most."""
        self.spent: dict[Value | None, float] = {}
        """Seconds that a bound has had; infinite where more of them are of no use."""
        self.models: list[_Model] = []
        self.limit: Limit | None = None

    def run(self) -> None:
        """Ask bound after bound; then again where something is open, each time with more of the time."""
        while not self.budget.stop():
            new = [bound for bound, _ in self.segments() if bound not in self.spent]
            if new:
                self._ask(new[0], schedule.FRONTIER_STEP.of(self.budget).remaining)
                continue
            still_open = [bound for bound in self._open() if self.spent[bound] < math.inf]
            if not still_open:
                return
            bound = min(still_open, key=lambda one: self.spent[one])
            part = schedule.equal_part(self.budget.remaining, len(still_open))
            self._ask(bound, None if part is None else max(part, 2 * self.spent[bound]))

    def segments(self) -> Iterator[tuple[Value | None, _Model | None]]:
        """The bounds at which the best model known changes, the loosest first, each with that model."""
        bound: Value | None = self.between[0]
        while True:
            model = self._best(bound)
            yield bound, model
            following = (
                None if model is None else _next(self.axis, model.value, self.between[1], self.question)
            )
            if following is None:
                return
            bound = following

    def _best(self, bound: Value | None) -> _Model | None:
        """The best model known under a bound; of equal ones that with the tightest measure."""
        fitting = [m for m in self.models if bound is None or not self.axis.is_tighter(bound, m.value)]
        tight = 1 if self.axis.is_upper else -1
        return min(fitting, key=lambda m: (m.objective, tight * m.value), default=None)

    def _proofs(self, bound: Value | None) -> list[CertifiedResult]:
        """The answers that hold at a bound: those at the bound itself and at looser ones, the tightest last."""
        found = [
            (asked, result)
            for asked, result in self.answers.items()
            if asked is None or (bound is not None and not self.axis.is_tighter(asked, bound))
        ]
        tight = 1 if self.axis.is_upper else -1
        key = lambda one: (one[0] is not None, -tight * (one[0] or 0))  # noqa: E731
        return [result for _, result in sorted(found, key=key)]

    def _lower(self, bound: Value | None) -> Number | None:
        """What is proved of all models under a bound."""
        return max((r.bound for r in self._proofs(bound) if r.bound is not None), default=None)

    def _open(self) -> Iterator[Value | None]:
        """The bounds at which something is not proved."""
        for bound, model in self.segments():
            lower = self._lower(bound)
            if model is None:
                if not any(r.status is Status.INFEASIBLE for r in self._proofs(bound)):
                    yield bound
            elif lower is None or lower < model.objective:
                yield bound

    def _ask(self, bound: Value | None, seconds: float | None) -> None:
        """Solve at a bound, and enter model and proof."""
        stated = self.question if bound is None else with_axis(self.question, self.axis, bound)
        on_progress = _watched(self.options.on_progress, self.axis, bound, self.budget, len(self.answers))
        asked = part_of(self.options, self.budget, seconds, on_progress)
        known = self._best(bound)
        if known is not None:
            asked = replace(asked, models=(known.graph,))
        began = self.budget.seconds
        result = self.solves.answer(stated, asked)
        taken = self.budget.seconds - began
        by_time = result is not None and result.limit in (None, Limit.TIME) and asked.time_limit is not None
        self.spent[bound] = self.spent.get(bound, 0.0) + taken if by_time else math.inf
        if result is None:
            self.limit = self.limit or Limit.SOLVER
            return
        self.limit = result.limit or self.limit
        if result.graph is not None and result.objective is not None:
            value = self.axis.measured(result.graph, self.question.data)
            self.models.append(_Model(value, result.objective, result.graph))
        self.answers[bound] = _stronger(self.answers.get(bound), result)

    def frontier(self) -> Frontier:
        """The curve as far as it is found and proved."""
        points: list[FrontierPoint] = []
        complete, end = True, None
        for bound, model in self.segments():
            complete = complete and bound in self.answers
            proofs = self._proofs(bound)
            if model is None:
                end = next((r for r in reversed(proofs) if r.status is Status.INFEASIBLE), None)
                complete = end is not None
            elif proofs:
                points.append(self._point(bound, model, proofs[-1], points[-1].value if points else None))
        proved = complete and all(point.proved for point in points)
        return Frontier(
            self.question,
            self.axis,
            self.between,
            tuple(points),
            complete,
            end,
            self.budget.seconds,
            None if proved else self.budget.reason or self.limit,
            tuple(self.solves.notes),
        )

    def _point(
        self, bound: Value | None, model: _Model, at: CertifiedResult, until: Value | None
    ) -> FrontierPoint:
        lower = self._lower(bound)
        if lower is not None and lower > model.objective:
            raise ContradictionError(
                "two bounds of the frontier contradict each other, so no answer is given",
                cause=f"none below {lower} at a looser bound, yet a model of value {model.objective} at a tighter one",
                fix="report this with the data: a solver or a requirement is wrong",
            )
        return FrontierPoint(model.value, until, model.objective, lower, with_model(at, model.graph))


def _stronger(known: CertifiedResult | None, result: CertifiedResult) -> CertifiedResult:
    """Of two answers to one question, the one that proves more."""
    if known is None or known.bound is None or result.status is Status.INFEASIBLE:
        return result
    return result if result.bound is not None and result.bound >= known.bound else known


def _range(axis: Bounded, between: tuple[Any, Any]) -> tuple[Fraction | None, Fraction | None]:
    try:
        loosest, tightest = (
            None if side is None else as_fraction(side, f"a bound of {axis.bound_name}") for side in between
        )
    except (TypeError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(
            f"between={between!r} is no range of bounds",
            cause="it is a pair, the loosest bound and the tightest one, None for no limit",
            fix="use for example between=(0.2, 0.01)",
        ) from None
    if loosest is not None and tightest is not None and axis.is_tighter(loosest, tightest):
        raise SpecError(
            f"the frontier cannot begin at {loosest} and end at {tightest}",
            cause=f"{loosest} is the tighter bound of {axis}",
            fix=f"use between=({tightest}, {loosest})",
        )
    for side in (loosest, tightest):
        if side is not None:
            axis.with_bound(side)  # refuses what is out of range
    return loosest, tightest


def _next(axis: Bounded, value: Value, tightest: Value | None, question: Question) -> Value | None:
    """The next bound to ask for; None when nothing is left."""
    following = axis.beyond(value, question.data)
    if following is None or tightest is None:
        return following
    if not axis.is_tighter(tightest, value):
        return None
    return tightest if axis.is_tighter(following, tightest) else following


def _watched(
    report: Callable[[Progress], None] | None,
    axis: Bounded,
    bound: Value | None,
    budget: Budget,
    answered: int,
) -> Callable[[Progress], None] | None:
    """What shows the work on one bound, in the time of the whole frontier."""
    if report is None:
        return None
    where = "no bound" if bound is None else f"{axis.bound_name} {float(bound):.6g}"
    done = f"{count_of(answered, 'bound')} answered, {where}"
    return lambda p: report(budget.progress_of(p, done))
