"""How a frontier is found: from the loosest bound, each answer's own measure gives the next bound.

What is proved at a bound holds for all tighter ones. A model that is not proved to be the best may be replaced later
on; then the bounds between its measure and that of the better one are asked as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from treeform.certify.answer import CertifiedResult
from treeform.certify.family import Family, Known, Place
from treeform.errors import ContradictionError, SpecError
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, SolveOptions, Status, as_number
from treeform.tradeoff.asking import with_model
from treeform.tradeoff.frontier import Frontier, FrontierPoint
from treeform.tradeoff.nested import Answers
from treeform.tradeoff.view import known_from
from treeform.utils.budget import interruptible


def trace_frontier(
    question: Question,
    axis: Bounded,
    options: SolveOptions = USUAL,
    *,
    between: tuple[Any, Any] = (None, None),
    start: Any = None,
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
    start : Frontier or certificate, optional
        An earlier one of this question over this requirement; its answers are entered first.
    """
    refuse_restriction(question, options, "a frontier")
    if axis.is_continuous:
        raise SpecError(
            f"there is no frontier over {axis}",
            cause="its values are any fractions, so the best loss changes with every bound, however close",
            fix="solve at single bounds, for example with tf.sweep, or use whole=True",
        )
    search = Answers(
        Family(question, axis=axis, between=_range(axis, between)), options, schedule.FRONTIER_STEP
    )
    for place, answer in known_from(start, Frontier, search.family):
        search.enter(place, CertifiedResult.of(answer))
    with interruptible(search.budget):
        search.run()
    return _frontier(search)


def _frontier(search: Answers) -> Frontier:
    """The curve as far as it is found and proved."""
    family, points, end = search.family, list[FrontierPoint](), None
    complete = True
    for place, known in family.problems():
        answers = search.at(place)
        complete = complete and (place in search.by_place or not family.is_open(place))
        if known is None:
            end = next((r for r in reversed(answers) if r.status is Status.INFEASIBLE), None)
            complete = end is not None
        elif answers:
            points.append(_point(family, place, known, answers[-1], points[-1].value if points else None))
    proved = complete and all(point.proved for point in points)
    return Frontier(
        family=family,
        points=tuple(points),
        complete=complete,
        end=end,
        seconds=search.budget.seconds,
        limit=None if proved else search.budget.reason or search.limit,
        notes=tuple(search.notes),
        asked=tuple(search.by_place.items()),
    )


def _point(
    family: Family, place: Place, known: Known, at: CertifiedResult, until: Value | None
) -> FrontierPoint:
    proof, value = family.lower(place), known.needs.bound
    if proof is not None and proof.lower > known.value:
        raise ContradictionError(
            "two bounds of the frontier contradict each other, so no answer is given",
            cause=f"none below {proof.lower} at a looser bound, yet a model of value {known.value} at a tighter one",
            fix="report this with the data: a solver or a requirement is wrong",
        )
    assert value is not None
    lower = None if proof is None else as_number(Fraction(proof.lower))
    return FrontierPoint(value, until, known.value, lower, with_model(at, known.graph))


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
            fix=f"begin at {tightest} and end at {loosest}",
        )
    for side in (loosest, tightest):
        if side is not None:
            axis.with_bound(side)  # refuses what is out of range
    return loosest, tightest
