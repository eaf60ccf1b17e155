"""How a frontier is found: from the loosest bound, each answer's own measure gives the next bound.

The best model at a bound has a measure v, and stays the best for every bound down to v. The next bound is the loosest
that excludes v (`Bounded.beyond`), so that no model's measure falls between two bounds that are asked. What is proved
at a bound holds for all tighter ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.errors import ContradictionError, SpecError
from treeform.graph.evaluate import errors
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.question import Question
from treeform.plural import count_of
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.choice import refuse_restriction
from treeform.solve.options import USUAL, SolveOptions
from treeform.solve.result import Claim, Number, Progress, Status, as_number
from treeform.solve.verification import verify
from treeform.tradeoff.axis import with_axis
from treeform.tradeoff.frontier import Frontier, FrontierPoint


@dataclass(frozen=True)
class _Step:
    """The answer at one bound, and the measure of its model."""

    bound: Value | None
    result: CertifiedResult
    value: Value


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
        The time limit is for the whole frontier; each bound gets at most a share of what is left.
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
    loosest, tightest = _range(axis, between)
    bound: Value | None = loosest
    end: CertifiedResult | None = None
    limit, complete = None, False
    budget = Budget(options.time_limit)
    steps: list[_Step] = []
    with interruptible(budget):
        while not budget.stop():
            stated = question if bound is None else with_axis(question, axis, bound)
            part = schedule.FRONTIER_STEP.of(budget)
            on_progress = _watched(options.on_progress, axis, bound, budget, len(steps))
            left = part.remaining
            seconds = None if left is None else max(left, 1e-3)
            result = solve_certified(stated, replace(options, time_limit=seconds, on_progress=on_progress))
            limit = limit or result.limit
            if result.graph is None:
                complete = result.status is Status.INFEASIBLE
                end = result if complete else None
                break
            value = axis.measured(result.graph, question.data)
            steps.append(_Step(bound, result, value))
            following = _next(axis, value, tightest, question)
            if following is None:
                complete = True
                break
            bound = following
    points = _points(steps, axis)
    stopped = None if complete and all(point.proved for point in points) else budget.reason or limit
    return Frontier(question, axis, (loosest, tightest), points, complete, end, budget.seconds, stopped)


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


def _points(steps: list[_Step], axis: Bounded) -> tuple[FrontierPoint, ...]:
    """The steps that no other one beats, each with what is proved for all of its bounds."""
    kept: list[int] = []
    for index, step in enumerate(steps):
        while kept and _objective(steps[kept[-1]]) >= _objective(step):
            kept.pop()
        kept.append(index)
    points: list[FrontierPoint] = []
    for before, index in zip([-1, *kept], kept, strict=False):
        # The loosest bounds of this point were asked about right after the looser point; later bounds are tighter.
        lower = max((s.result.bound for s in steps[: before + 2] if s.result.bound is not None), default=None)
        first, last = steps[before + 1], steps[index]
        if lower is not None and lower > _objective(last):
            raise ContradictionError(
                "two bounds of the frontier contradict each other, so no answer is given",
                cause=f"none below {lower} at a looser bound, yet a model of value {_objective(last)} at a tighter one",
                fix="report this with the data: a solver or a requirement is wrong",
            )
        points.append(
            FrontierPoint(
                value=last.value,
                until=steps[before].value if before >= 0 else None,
                objective=_objective(last),
                lower=lower,
                result=_at_loosest(first, last),
            )
        )
    return tuple(points)


def _objective(step: _Step) -> Number:
    assert step.result.objective is not None
    return step.result.objective


def _at_loosest(first: _Step, last: _Step) -> CertifiedResult:
    """The answer to the loosest bound with the model of a tighter one, which is as good and satisfies it as well."""
    result, graph = first.result, last.result.graph
    if first is last:
        return result
    assert result.question is not None and graph is not None
    question = result.question
    judged = verify(question, graph)
    units = question.to_units(judged.value)
    others = [claim for claim in result.claims if claim.kind != "upper"]
    model = Claim("upper", units, "a tighter bound", result.seconds)
    proved = result.bound is not None and result.bound >= as_number(units)
    return replace(
        result,
        graph=graph,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        objective=as_number(units),
        errors=None if graph.is_regression else int(errors(graph, question.data)),
        violations={label: as_number(value) for label, value in judged.violations.items()},
        claims=(*others, model),
    )
