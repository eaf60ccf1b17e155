"""Parities that hold for each attribute alone and not for the attributes crossed, and what joint parity would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from treeform.certify.answer import solve_certified
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.graph import DecisionGraph
from treeform.language.findings import apart
from treeform.language.question import Question
from treeform.report.curves import time_for
from treeform.report.figures import percent
from treeform.requirements.groups import CROSSED
from treeform.requirements.rates import GroupRate, RateParity
from treeform.solve import SolveOptions, SolveResult, Status, schedule
from treeform.solve.choice import choose
from treeform.solve.result import known_bound
from treeform.tradeoff.frontier import Frontier
from treeform.utils.budget import interruptible
from treeform.utils.text import value_text


@dataclass(frozen=True)
class Crossing:
    """Cells of crossed attributes whose rates differ by more than each attribute alone may."""

    attributes: str
    """Such as "sex & age_group"."""
    label: str
    """The requirement that would bound the cells as well, as a specification writes it."""
    sentence: str
    """What the cells have, and what is allowed of each attribute alone."""
    cost: str = ""
    """What the joint requirement would cost; empty where that was not computed."""


def crossings(graph: DecisionGraph, question: Question) -> tuple[Crossing, ...]:
    """The crossed parities that a model misses while it has each of them alone."""
    return tuple(_crossing(joint, graph, question.data) for joint in _missed(graph, question))


def price_crossings(
    result: SolveResult, time_limit: float | None = None, frontiers: Sequence[Frontier] = ()
) -> tuple[Crossing, ...]:
    """The same with the cost of each joint requirement, where a native engine answers the whole question.

    Parameters
    ----------
    result : SolveResult
        Of a solve that ended with a proof; others have no cost.
    time_limit : float, optional
        Seconds that the solve had; the cost has as much time as `treeform.report.trace_curves`.
    frontiers : sequence of Frontier, optional
        Curves of the same result, whose models the solves start from.
    """
    graph, question = result.graph, result.question
    if graph is None or question is None:
        return ()
    joints = _missed(graph, question)
    found = [_crossing(joint, graph, question.data) for joint in joints]
    if result.status is not Status.OPTIMAL:
        return tuple(found)
    budget = time_for(result, time_limit)
    models = tuple(point.graph for curve in frontiers for point in curve.points)
    with interruptible(budget):
        for index, joint in enumerate(joints):
            if not budget.stop():
                seconds = schedule.equal_part(budget.remaining, len(joints) - index)
                found[index] = replace(found[index], cost=_cost(result, joint, models, seconds))
    return tuple(found)


def _missed(graph: DecisionGraph, question: Question) -> list[RateParity]:
    """For each kind of parity that holds of several attributes alone: the same of them crossed, where it does not."""
    families: dict[Any, list[RateParity]] = {}
    for one in question.requirements:
        if isinstance(one, RateParity) and isinstance(one.groups, str) and one.bound is not None:
            others = {k: v for k, v in _parameters(one).items() if k not in ("groups", one.bound_name)}
            families.setdefault((type(one), one.bound_name, str(others)), []).append(one)
    missed = []
    for family in families.values():
        names = dict.fromkeys(name for one in family for name in str(one.groups).split(CROSSED))
        if len({one.groups for one in family}) < 2 or any(
            set(one.groups.split(CROSSED)) == set(names) for one in family
        ):
            continue
        loosest = family[0]
        for one in family[1:]:
            if loosest.is_tighter(loosest.bound, one.bound):  # type: ignore[arg-type]
                loosest = one
        try:
            if any(one.violation(graph, question.data) for one in family):
                continue  # the report says that first
            joint = type(loosest).from_parameters({**_parameters(loosest), "groups": CROSSED.join(names)})
            joint = joint.bind(question.data)
            if joint.violation(graph, question.data):
                missed.append(joint)
        except TreeformError:  # more cells than are listed, or rows without the columns
            continue
    return missed


def _parameters(requirement: RateParity) -> dict[str, Any]:
    return dict(requirement.to_json()["parameters"])


def _crossing(joint: RateParity, graph: DecisionGraph, data: Dataset) -> Crossing:
    ratio = joint.bound_name == "ratio"

    def badness(rows: Sequence[tuple[GroupRate, Fraction]]) -> Fraction:
        low, high = rows[0][1], rows[-1][1]
        return (-low / high if high else Fraction(-1)) if ratio else high - low

    sets = [
        sorted(((row, row.rate) for row in rows if row.rate is not None), key=lambda pair: pair[1])
        for rows in joint.reports(graph, data).values()
    ]
    worst = max((rows for rows in sets if rows), key=badness)
    assert joint.bound is not None
    found, bound = apart(joint.measured(graph, data), joint.bound)
    cells = ", ".join(
        f"{row.group} {percent(rate)} ({value_text(row.positive)} of {value_text(row.weight)})"
        for row, rate in (worst[-1], worst[0])
    )
    what = "the ratio of rates is" if ratio else "rates differ by"
    allowed = f"each attribute alone has {'at least' if ratio else 'at most'} {bound}"
    return Crossing(
        str(joint.groups), str(joint), f"Between the cells of {joint.groups} {what} {found}; {allowed}: {cells}."
    )


def _cost(
    result: SolveResult, joint: RateParity, models: tuple[DecisionGraph, ...], seconds: float | None
) -> str:
    question = result.question
    assert question is not None
    stated = question.with_(requirements=(*question.requirements, joint))
    # One more rule: what was proved without it holds, and the models found so far may satisfy it.
    known = () if result.bound is None else (known_bound(result.bound, "the problem without this rule"),)
    options = SolveOptions(warm_start=result.graph, models=models, bounds=known, time_limit=seconds)
    if choose(stated, options).engine is None:
        return ""
    answer = solve_certified(stated, options)
    if result.objective is None:
        return ""
    rule = f"If {joint.groups} had the same bound"
    if answer.status is Status.INFEASIBLE:
        return f"{rule}, no model of this shape would be left (proved)."
    before = Fraction(result.objective)
    what = "errors" if str(question.objective) == "error" else "of the objective"
    if answer.status is Status.OPTIMAL and answer.objective is not None:
        best = f"the best model would have {value_text(answer.objective)} {what}"
        more = value_text(Fraction(answer.objective) - before)
        return f"{rule}, {best}, {more} more (proved in {answer.seconds:.2f} s)."
    least = before if answer.bound is None else max(Fraction(answer.bound), before)
    most = "" if answer.objective is None else f" and at most {value_text(answer.objective)}"
    return f"{rule}, the best model would have at least {value_text(least)}{most} {what} (not proved in the time)."
