"""The problems of a size table, Pareto curve or frontier as a report shows them: a drawing, and a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from treeform.certify.family import IMPOSSIBLE, Family, Known, Place
from treeform.solve.result import SolveResult, Status, as_number
from treeform.tradeoff.plots import Step, bound_words, objective_words, step_plot
from treeform.utils.text import count_of, value_text

MOST_ROWS = 200
"""Problems that a page lists."""

Answers = Sequence[tuple[Place, SolveResult]]


@dataclass(frozen=True)
class NestedRow:
    """One problem: its best model, the proved bound, and what follows."""

    problem: str
    objective: str
    bound: str
    status: str
    model: str
    answer: int | None
    """Which answer of the certificate has this model."""
    by: str
    """Who proved the bound."""


@dataclass(frozen=True)
class Nested:
    """All problems of a certificate."""

    sentence: str
    rows: tuple[NestedRow, ...]
    answers: tuple[str, ...]
    """Those of the certificate: problem, objective and status."""
    row: int
    """Which of them the rest of the report is about, from 1."""
    svg: tuple[str, ...]
    """The best objective against what is bounded; of a Pareto curve, one drawing for each depth."""


def nested_facts(family: Family, answers: Answers, row: int) -> Nested:
    """What a report shows of a family, which has the models and bounds of a certificate's answers, in their order.

    ``row``: which of them the rest of the report is about, from 1.
    """
    problems = list(family.problems())
    number_of = {id(result.graph): number for number, (_, result) in enumerate(answers, 1)}
    rows = tuple(_row(family, place, known, number_of) for place, known in problems[:MOST_ROWS])
    still_open = sum(family.is_open(place) for place, _ in problems)
    state = f"{still_open} of them open" if still_open else "all of them proved"
    left_out = "" if len(problems) <= MOST_ROWS else f" The first {MOST_ROWS} are listed."
    moved = "" if family.axis is None else f"The bound of {family.axis} is moved. "
    sentence = (
        f"{moved}{count_of(len(problems), 'problem')}, {state}: what follows from "
        f"{count_of(len(answers), 'answer')} of the certificate.{left_out}"
    )
    listed = tuple(
        f"{family.name(place)}: objective {result.objective}, {result.status}" for place, result in answers
    )
    return Nested(sentence, rows, listed, row, _drawings(family, problems))


def _row(family: Family, place: Place, known: Known | None, number_of: dict[int, int]) -> NestedRow:
    proof = family.lower(place)
    none = proof is not None and proof.lower == IMPOSSIBLE
    if known is None:
        status = Status.INFEASIBLE if none else Status.UNKNOWN
    else:
        status = Status.FEASIBLE if family.is_open(place) else Status.OPTIMAL
    return NestedRow(
        problem=family.name(place),
        objective=value_text(None if known is None else known.value),
        bound="no model" if none else value_text(None if proof is None else as_number(Fraction(proof.lower))),
        status=str(status),
        model="" if known is None else f"{count_of(known.graph.n_nodes, 'test')}, depth {known.graph.depth}",
        answer=None if known is None else number_of.get(id(known.graph)),
        by="" if proof is None else proof.by.removesuffix(" (from a certificate)"),  # all of them are
    )


def _drawings(family: Family, problems: Sequence[tuple[Place, Known | None]]) -> tuple[str, ...]:
    up = objective_words(str(family.question.objective))
    if family.axis is not None:
        steps = [
            (float(known.needs.bound or 0), float(known.value), not family.is_open(place))
            for place, known in problems
            if known is not None
        ]
        across = bound_words(family.axis.is_upper, family.axis.bound_name)
        return (step_plot(steps, across, up),)
    return tuple(
        step_plot(_by_tests(family, list(of_depth)), "most tests allowed", up, title=title)
        for title, of_depth in groupby(problems, lambda one: _depth_text(family, one[0]))
    )


def _depth_text(family: Family, place: Place) -> str:
    depth = family.question.shape.depth if place.depth is None else place.depth
    return f"The best model of depth {depth} or less"


def _by_tests(family: Family, problems: Sequence[tuple[Place, Known | None]]) -> list[Step]:
    """A step for each best model; where it is proved for the most tests it is for fewer, down to its own."""
    steps: dict[int, Step] = {}
    for place, known in problems:
        if known is not None and id(known) not in steps:
            steps[id(known)] = (float(known.graph.n_nodes), float(known.value), not family.is_open(place))
    return list(steps.values())
