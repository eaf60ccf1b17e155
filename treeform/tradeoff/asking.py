"""The solves of a trade-off: their time limits, their order, and what happens if one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from treeform.certify.answer import CertifiedResult, solve_certified
from treeform.errors import BREAKDOWNS, broke_down, is_breakdown
from treeform.graph import DecisionGraph
from treeform.graph.evaluate import counted_errors
from treeform.language.question import Question
from treeform.solve.result import Claim, Progress, SolveOptions, Status, as_number
from treeform.solve.verification import verify
from treeform.utils.budget import Budget, Limit, limit_of

K = TypeVar("K", bound=Hashable)


class Asking:
    """Questions of one search, asked again while time is left: of a budget, or else of the options.

    ``notes``: messages of solves that failed. ``limit``: what ended the last incomplete answer. ``goes_on``: whether
    the last question was left open and more time may decide it.
    """

    def __init__(self, options: SolveOptions, budget: Budget | None = None) -> None:
        self.options = options
        self.budget = budget or options.budget()
        self.notes: list[str] = []
        self.limit: Limit | None = None
        self.goes_on = True
        self._answered = False

    def rounds(
        self, left: Callable[[], Iterable[K]], step: Callable[[K, int], object], once: bool = False
    ) -> None:
        """Take steps while more time may decide what is open (``left``), those taken least first.

        A step is called with one of these, and their number, among which the time is shared. With ``once``, each has a
        turn also when no time is left.
        """
        tries: dict[K, int] = {}
        stuck: set[K] = set()
        while True:
            waiting = [one for one in left() if one not in stuck]
            begun = not once or all(one in tries for one in waiting)
            if not waiting or self.budget.interrupted or (self.budget.stop() and begun):
                return
            turn = min(waiting, key=lambda one: tries.get(one, 0))
            tries[turn] = tries.get(turn, 0) + 1
            step(turn, len(waiting))
            if not self.goes_on:
                stuck.add(turn)

    def ask(
        self,
        question: Question,
        seconds: float | None,
        on_progress: Callable[[Progress], None] | None,
        **known: Any,
    ) -> CertifiedResult | None:
        """The answer to a question within ``seconds``; None if its solve fails after another question had an answer.

        ``known``: ``models`` and ``bounds``, as in `SolveOptions`.
        """
        left = self.budget.share(seconds).remaining
        limit = None if left is None else max(left, 1e-3)
        try:
            result = solve_certified(
                question, replace(self.options, time_limit=limit, on_progress=on_progress, **known)
            )
        except BREAKDOWNS as error:
            if not (self._answered and is_breakdown(error)):
                raise
            under = ", ".join(question.labels) or "no requirement"
            self.notes.append(f"the solve under {under} {broke_down(error)}")
            self.limit, self.goes_on = self.limit or limit_of(error), False
            return None
        self._answered = True
        self.limit = result.limit or self.limit
        self.goes_on = result.limit in (None, Limit.TIME) and limit is not None
        return result

    def told(self, what: str) -> Callable[[Progress], None] | None:
        """The progress display of one solve, on the clock of the whole work."""
        return told(self.options.on_progress, self.budget, what)


def told(
    report: Callable[[Progress], None] | None, budget: Budget, what: str, parts: tuple[int, int] | None = None
) -> Callable[[Progress], None] | None:
    """What shows the progress of a part of the work: on the clock of the whole, with how many parts are done."""
    return None if report is None else lambda p: report(p.within(budget, what, parts))


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
