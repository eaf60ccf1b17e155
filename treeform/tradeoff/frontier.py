"""The frontier of a requirement: the best objective for every bound, with its proof.

The best objective is a step function of the bound. It changes where the bound passes the measure of a best model, so
it is given by finitely many points. From the loosest bound, each answer's own measure gives the next one. What is
proved at a bound holds for all tighter ones. A model that is not proved to be the best may be replaced later on; then
the bounds between its measure and that of the better one are asked as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd

from treeform.certify.answer import CertifiedResult
from treeform.certify.certificate import number_in_file
from treeform.certify.family import Family, Known, Place
from treeform.errors import ContradictionError, SpecError
from treeform.graph import DecisionGraph
from treeform.graph.svg import Drawing
from treeform.language.bounded import Bounded, Value
from treeform.language.numbers import as_fraction, not_negative
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, Number, SolveOptions, SolveResult, Status, as_number
from treeform.tradeoff.asking import with_model
from treeform.tradeoff.nested import Answers
from treeform.tradeoff.plots import bound_words, objective_words, step_plot
from treeform.tradeoff.view import View, known_from
from treeform.utils.budget import interruptible
from treeform.utils.text import value_text


@dataclass(frozen=True)
class FrontierPoint:
    """The best model for all bounds from its own measure up to the next looser point."""

    value: Value
    """The tightest bound that the model satisfies, exactly."""
    until: Value | None
    """The measure of the next looser point: from there on that one is better. None for the loosest point."""
    objective: Number
    lower: Number | None
    """No model has a smaller objective at any of these bounds."""
    result: CertifiedResult
    """The model and its claims, at the loosest of these bounds."""

    @property
    def graph(self) -> DecisionGraph:
        """The model."""
        assert self.result.graph is not None
        return self.result.graph

    @property
    def proved(self) -> bool:
        """Whether no model is better at any of these bounds."""
        return self.lower is not None and self.lower >= self.objective

    def certificate(self) -> dict[str, Any]:
        """The certificate at the loosest of these bounds; see `treeform.Result.certificate`."""
        return self.result.certificate()


@dataclass(frozen=True)
class SoftOptimum:
    """The best compromise when what the requirement lacks is paid for."""

    point: FrontierPoint
    """The model."""
    lack: Value
    """By how much its measure misses the bound; 0 where it satisfies it."""
    value: Number
    """Its objective plus the price of what it lacks."""
    lower: Number | None
    """No model has a smaller value, at any measure within the frontier's range; None when nothing is proved."""

    @property
    def proved(self) -> bool:
        """Whether no compromise is better."""
        return self.lower is not None and self.lower >= self.value


@dataclass(frozen=True, repr=False, kw_only=True)
class Frontier(View):
    """The trade-off between the objective and one requirement, from its loosest bound to its tightest.

    Attributes
    ----------
    points : tuple of FrontierPoint
        The loosest first. No point is beaten by another in objective and measure.
    complete : bool
        Whether the search came to the tightest bound. Otherwise bounds tighter than the last point are open.
    end : CertifiedResult or None
        The proof that no model has a tighter measure than the last point, where that took one.
    asked : tuple of (Place, CertifiedResult)
        The answer at each bound that was asked.
    """

    points: tuple[FrontierPoint, ...]
    complete: bool
    end: CertifiedResult | None
    asked: tuple[tuple[Place, CertifiedResult], ...] = ()

    @property
    def axis(self) -> Bounded:
        """The requirement that is moved, which ``question`` is without; its number is ignored."""
        assert self.family.axis is not None
        return self.family.axis

    @property
    def between(self) -> tuple[Value | None, Value | None]:
        """The requested range of bounds, (loosest, tightest); None: no limit."""
        return self.family.between

    def answers(self) -> Iterable[tuple[Place, SolveResult]]:
        return self.asked

    @property
    def proved(self) -> bool:
        """Whether the curve is complete and every point on it proved."""
        return self.complete and all(point.proved for point in self.points)

    def at(self, bound: Any) -> FrontierPoint | None:
        """The best model found under a bound; None when none was found.

        Parameters
        ----------
        bound : float, str or Fraction
            Such as 0.05, which counts as 1/20.

        Raises
        ------
        SpecError
            If it is no number, or outside the requested range.
        """
        asked = as_fraction(bound, f"a bound of {self.axis.bound_name}")
        loosest, tightest = self.between
        too_loose = loosest is not None and self.axis.is_tighter(loosest, asked)
        if too_loose or (tightest is not None and self.axis.is_tighter(asked, tightest)):
            raise SpecError(
                f"the frontier says nothing of the bound {asked}",
                cause=f"it goes from {_bound_text(loosest)} to {_bound_text(tightest)}",
                fix="ask for a frontier with a wider range",
            )
        return next((p for p in self.points if not self.axis.is_tighter(asked, p.value)), None)

    def soft(self, bound: Any, price: Any) -> SoftOptimum | None:
        """The best model under a soft bound: the least objective + price * excess of the measure over the bound.

        Parameters
        ----------
        bound : float, str or Fraction
            What is asked for, such as a difference of 0.05.
        price : float, str or Fraction
            For a unit of the measure that is lacking, in units of the objective; not negative. With a price of 1000 a
            difference that is too large by 0.01 costs 10.

        Returns
        -------
        SoftOptimum or None
            None when no model was found at all.

        Raises
        ------
        SpecError
            If the price is negative, or something is no number.

        Notes
        -----
        A model whose measure is between those of two points has at least the objective of the tighter one, and lacks at
        least as much. The best compromise is therefore a point.
        """
        asked = as_fraction(bound, f"a bound of {self.axis.bound_name}")
        each = not_negative(
            price,
            "the price of what is lacking",
            "a price of {} is not possible",
            cause="what a model lacks is never rewarded",
            fix="use a price of 0 or more",
        )
        if not self.points:
            return None

        def paid(point: FrontierPoint) -> Fraction:
            return each * abs(Fraction(point.value) - asked) if self._lacks(point, asked) else Fraction(0)

        best = min(self.points, key=lambda point: point.objective + paid(point))
        lack = abs(Fraction(best.value) - asked) if self._lacks(best, asked) else Fraction(0)
        return SoftOptimum(
            best, as_number(lack), as_number(Fraction(best.objective) + paid(best)), self._soft_lower(paid)
        )

    def _lacks(self, point: FrontierPoint, bound: Fraction) -> bool:
        return self.axis.is_tighter(bound, point.value)

    def _soft_lower(self, paid: Callable[[FrontierPoint], Fraction]) -> Number | None:
        """The least that any compromise costs."""
        lowers: list[Number | None] = [
            None if point.lower is None else point.lower + paid(point) for point in self.points
        ]
        if not self.complete or self.between[1] is not None:
            # There may be models tighter than the last point. They may lack nothing, and its bound holds for them.
            lowers.append(self.points[-1].lower)
        known = [value for value in lowers if value is not None]
        return as_number(Fraction(min(known))) if len(known) == len(lowers) else None

    def to_frame(self) -> pd.DataFrame:
        """One row for each point: measure, objective, proved bound, errors, tests, depth, and whether it is proved."""
        rows = [
            {
                self.axis.bound_name: float(point.value),
                "objective": float(point.objective),
                "lower": None if point.lower is None else float(point.lower),
                "errors": point.result.errors,
                "tests": point.graph.n_nodes,
                "depth": point.graph.depth,
                "proved": point.proved,
            }
            for point in self.points
        ]
        names = [self.axis.bound_name, "objective", "lower", "errors", "tests", "depth", "proved"]
        return pd.DataFrame(rows, columns=names)

    def plot(self) -> Drawing:
        """The curve as a drawing for notebooks; ``plot().save("frontier.svg")`` writes it."""
        steps = [(float(point.value), float(point.objective), point.proved) for point in self.points]
        across = bound_words(self.axis.is_upper, self.axis.bound_name)
        up = objective_words(str(self.question.objective))
        return Drawing(step_plot(steps, across, up, title=f"The best model under {self.axis}"))

    def certificates(self) -> list[dict[str, Any]]:
        """The certificates of all points, and that of the end where it took a proof."""
        ends = [] if self.end is None else [self.end.certificate()]
        return [*(point.certificate() for point in self.points), *ends]

    def to_json(self) -> dict[str, Any]:
        """The curve with its models and certificates as plain values; numbers exact, as text."""
        return {
            "over": str(self.axis),
            "measure": self.axis.bound_name,
            **self._facts(),
            "complete": self.complete,
            "points": [
                {
                    "value": str(Fraction(point.value)),
                    "until": number_in_file(point.until),
                    "objective": str(Fraction(point.objective)),
                    "lower": number_in_file(point.lower),
                    "proved": point.proved,
                    "model": point.graph.to_json(),
                    "certificate": point.certificate(),
                }
                for point in self.points
            ],
            "end": None if self.end is None else self.end.certificate(),
        }

    def __str__(self) -> str:
        name, objective = self.axis.bound_name, str(self.question.objective) or "objective"
        width = max(len(objective), 10)
        counted = any(p.result.errors is not None for p in self.points)
        lines = [f"{name:>12}  {objective:>{width}}  {'errors  ' if counted else '':>10}{'tests':>5}"]
        for p in self.points:
            mark = "" if p.proved else f"  (open, at least {value_text(p.lower)})"
            lines.append(
                f"{float(p.value):>12.6g}  {float(p.objective):>{width}.6g}  "
                f"{f'{p.result.errors}  ' if counted else '':>10}{p.graph.n_nodes:>5}{mark}"
            )
        if not self.complete:
            lines.append(f"stopped ({self.limit}): tighter bounds are open")
        elif self.end is not None:
            word = "smaller" if self.axis.is_upper else "greater"
            lines.append(
                f"no model has a {word} {name}" if self.points else "no model satisfies the requirements"
            )
        return "\n".join(lines)


def _bound_text(bound: Value | None) -> str:
    return "no bound" if bound is None else str(bound)


def trace_frontier(
    question: Question,
    axis: Bounded,
    options: SolveOptions = USUAL,
    *,
    between: tuple[Any, Any] = (None, None),
    start: Any = None,
) -> Frontier:
    """All points of a frontier; see `treeform.Problem.frontier`.

    ``question`` is without the requirement that is moved: ``axis``, bound to the data. The time limit is for the whole
    frontier; each bound gets at most a share of what is left. Bounds that are open in the end are asked again, with
    what is left by then. ``between`` the loosest and the tightest; None: no limit on that side. ``start``: an earlier
    frontier, or its certificate, of this question over this requirement; its answers are entered first.
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
    """The curve, with what is found and proved so far."""
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
