"""The solves of which a trade-off is made: their time, and what is done when one of them breaks down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.errors import BREAKDOWNS, broke_down, is_breakdown
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import counted_errors
from treeform.language.question import Question
from treeform.solve.result import Claim, Progress, SolveOptions, Status, as_number
from treeform.solve.verification import verify
from treeform.utils.budget import Budget, Limit, limit_of


class Solves:
    """Answers to several questions: once one has an answer, another that breaks down is a note.

    Attributes
    ----------
    notes : list of str
    limit : Limit or None
        What the first breakdown is.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.limit: Limit | None = None
        self._answered = False

    def answer(self, question: Question, options: SolveOptions) -> CertifiedResult | None:
        """The answer to a question; None where its solve broke down."""
        try:
            result = solve_certified(question, options)
        except BREAKDOWNS as error:
            if not (self._answered and is_breakdown(error)):
                raise
            under = ", ".join(question.labels) or "no requirement"
            self.notes.append(f"the solve under {under} {broke_down(error)}")
            self.limit = self.limit or limit_of(error)
            return None
        self._answered = True
        return result


def part_of(
    options: SolveOptions,
    budget: Budget,
    seconds: float | None,
    on_progress: Callable[[Progress], None] | None,
) -> SolveOptions:
    """The options of one solve, which has so many seconds of what is left; None for all of it."""
    left = budget.share(seconds).remaining
    return replace(options, time_limit=None if left is None else max(left, 1e-3), on_progress=on_progress)


def with_model(result: CertifiedResult, graph: DecisionGraph) -> CertifiedResult:
    """An answer with another model, which is at least as good and satisfies the requirements as well."""
    if result.graph == graph:
        return result
    assert result.question is not None
    question = result.question
    judged = verify(question, graph)
    units = question.to_units(judged.value)
    others = [claim for claim in result.claims if claim.kind != "upper"]
    model = Claim("upper", units, "another question of the same search", result.seconds)
    proved = result.bound is not None and result.bound >= as_number(units)
    return replace(
        result,
        graph=graph,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        objective=as_number(units),
        errors=counted_errors(graph, question.data),
        violations={label: as_number(value) for label, value in judged.violations.items()},
        claims=(*others, model),
    )
