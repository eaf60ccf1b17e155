"""The price of a rule as a curve: the best objective against the bound of each requirement that has one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.language.bounded import Bounded
from treeform.language.question import Question
from treeform.solve import SolveOptions, SolveResult, Status, schedule, solve
from treeform.solve.choice import choose
from treeform.solve.result import Claim, Number, known_bound
from treeform.tradeoff.axis import find_axis
from treeform.tradeoff.frontier import Frontier, FrontierPoint, trace_frontier
from treeform.tradeoff.plots import bound_words, objective_words, step_plot
from treeform.utils.budget import Budget, interruptible
from treeform.utils.text import count_of, rounded_text


@dataclass(frozen=True)
class Curve:
    """One curve of a report."""

    requirement: str
    svg: str
    """The drawing; the bound asked for is marked in it."""
    sentence: str
    """What it says at its ends and at the bound asked for."""
    certificate: Mapping[str, Any] | None = None
    """That of the whole curve, for `treeform.check`; None where it is too long for a page."""


LONGEST_CERTIFICATE = 300_000
"""Characters of a certificate that a page carries."""


def time_for(result: SolveResult, time_limit: float | None) -> Budget:
    """The time of one part of a report that needs further solves: as much as the solve had, or its share of a limit."""
    return Budget(schedule.REPORT.seconds(10 * result.seconds if time_limit is None else time_limit))


def trace_curves(result: SolveResult, time_limit: float | None = None) -> tuple[Frontier, ...]:
    """The frontier of every requirement with a numeric bound, where a native engine supports the whole problem.

    Each point is a proved solve. A curve that is not complete when the time ends says so.

    Parameters
    ----------
    result : SolveResult
        Of a solve that ended with a proof; others have no curves.
    time_limit : float, optional
        Seconds that the solve had; all curves together take a tenth of it, at least one second and at most ten. Left
        out, they take as long as the solve took, within the same two bounds.
    """
    question = result.question
    if (
        question is None
        or question.objective.is_regression
        or result.status is not Status.OPTIMAL
        or choose(question, SolveOptions()).engine is None
    ):
        return ()
    axes = [
        label
        for label, one in zip(question.labels, question.requirements, strict=True)
        if isinstance(one, Bounded) and one.bound is not None
    ]
    budget = time_for(result, time_limit)
    curves: list[Frontier] = []
    with interruptible(budget):
        bounds = _without_requirements(question, schedule.equal_part(budget.remaining, len(axes) + 1))
        for index, label in enumerate(axes):
            if budget.stop():
                break
            seconds = schedule.equal_part(budget.remaining, len(axes) - index)
            without, axis = find_axis(question, label)
            # The model of the report is admissible at its own bound and at looser ones: no point there is worse.
            models = tuple(point.graph for curve in curves for point in curve.points)
            options = SolveOptions(warm_start=result.graph, models=models, bounds=bounds, time_limit=seconds)
            curves.append(trace_frontier(without, axis, options))
    return tuple(frontier for frontier in curves if frontier.points)


def _without_requirements(question: Question, seconds: float | None) -> tuple[Claim, ...]:
    """The best objective of the same shape without any rule, which is quickly found: a lower bound of every curve."""
    stated, options = question.with_(requirements=()), SolveOptions(time_limit=seconds)
    if choose(stated, options).engine is None:
        return ()
    answer = solve(stated, options)
    return () if answer.bound is None else (known_bound(answer.bound, "the problem without requirements"),)


def curves(frontiers: Sequence[Frontier], result: SolveResult) -> tuple[Curve, ...]:
    """The frontiers of the result's problem as a report shows them."""
    assert result.question is not None
    best = result.objective if result.status is Status.OPTIMAL else None
    return tuple(_curve(frontier, result.question, best) for frontier in frontiers)


def _curve(frontier: Frontier, question: Question, best: Number | None) -> Curve:
    asked = _asked(frontier, question)
    steps = [(float(p.value), float(p.objective), p.proved) for p in frontier.points]
    objective = objective_words(str(question.objective))
    across = bound_words(frontier.axis.is_upper, frontier.axis.bound_name)
    mark = None if asked is None else float(asked)
    title = (frontier.axis if asked is None else frontier.axis.with_bound(asked)).in_words()
    svg = step_plot(steps, across, objective, mark)
    certificate = frontier.certificate()
    short = len(json.dumps(certificate)) <= LONGEST_CERTIFICATE
    return Curve(title, svg, _sentence(frontier, asked, best), certificate if short else None)


def _asked(frontier: Frontier, question: Question) -> Fraction | None:
    """The bound of the problem itself; None when the requirement is not one of it."""
    for requirement in question.requirements:
        if isinstance(requirement, Bounded) and requirement.bound is not None:
            bound = Fraction(requirement.bound)
            if type(requirement) is type(frontier.axis) and requirement == frontier.axis.with_bound(bound):
                return bound
    return None


def _sentence(frontier: Frontier, asked: Fraction | None, best: Number | None) -> str:
    name, loosest, tightest = frontier.axis.bound_name, frontier.points[0], frontier.points[-1]
    sentences = [f"without this rule {_best(loosest)}, at a {name} of {_text(loosest.value)}"]
    asked_point = None if asked is None else frontier.at(asked)
    if asked is not None and asked_point is not None:
        at_asked = _best(asked_point) if best is None else _text(best)
        sentences.append(f"at the bound asked for ({_text(asked)}) {at_asked}")
    sentences.append(f"at the tightest one reached ({_text(tightest.value)}) {_best(tightest)}")
    n_open = sum(not point.proved for point in frontier.points)
    proved = f"{n_open} of them not proved" if n_open else "every point is proved"
    ended = "" if frontier.complete else "; the time ran out before tighter bounds were tried"
    return f"The best objective: {'; '.join(sentences)}. {count_of(len(frontier.points), 'point')}, {proved}{ended}."


def _best(point: FrontierPoint) -> str:
    if point.proved:
        return _text(point.objective)
    if point.lower is None:
        return f"at most {_text(point.objective)}"
    return f"between {_text(point.lower)} and {_text(point.objective)}"


def _text(value: Number) -> str:
    exact = Fraction(value)
    return str(exact.numerator) if exact.denominator == 1 else rounded_text(float(exact), 4)
