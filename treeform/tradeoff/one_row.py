"""One row of a size table: the question with at most so many tests.

Where an engine supports all of it, or the graph of trees can be priced, it is solved like any other question
(`treeform.tradeoff.nested`). Else the formulation of the table states it to a solver, up to the bound that is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treeform.backends import Backend
from treeform.certify.family import Place
from treeform.errors import ContradictionError, SolverFailed, broke_down
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.requirements import MaxNodes
from treeform.shape import shrunk
from treeform.solve import schedule
from treeform.solve.columns_on_demand import is_usual
from treeform.solve.engines import lowered, usual_engine
from treeform.solve.ledger import Ledger
from treeform.solve.result import Progress, SolveOptions
from treeform.solve.search import searched
from treeform.tradeoff.nested import Answers
from treeform.tradeoff.size_table import SizeBounds
from treeform.utils.budget import Budget, Share, limit_of
from treeform.utils.text import count_of


@dataclass(frozen=True)
class RowEnd:
    """How the search for one row ended."""

    closed: bool
    """Whether the target is reached, or the optimum proved."""
    limit: Any = None
    """What ended the search, if it is not closed."""
    note: str | None = None
    """Why the row was given up."""
    last: bool = False
    """Whether the other rows would end in the same way."""


def solve_row(
    bounds: SizeBounds,
    m: int,
    target: int,
    formulation: Formulation,
    backend: Backend,
    budget: Budget,
    on_progress: Callable[[Progress], None] | None,
) -> RowEnd:
    """Solve for at most ``m`` tests with a formulation and a solver, and enter what is found."""
    question = question_of_row(bounds.question, m)
    ledger = Ledger(question, budget, on_progress)
    row = bounds.row(m)
    ledger.most = target - 1
    if row.graph is not None:
        ledger.submit(row.graph, "the size table")
    if (lower := bounds.scaled(row.lower)) is not None:
        ledger.prove_lower(lower, row.by)
    sized = formulation.for_size(question.shape, question.objective, question.requirements)
    stated = sized or formulation.tuned_for(backend.capabilities.forms)
    part = (schedule.ROW_OF_ONE if m == 1 else schedule.EACH_ROW).of(budget)
    ledger.budget = part
    try:
        search = searched(stated, backend, ledger, part)
    except ContradictionError as error:
        # Tolerances of big-M rows: this row is given up, and nothing is claimed.
        return RowEnd(False, note=f"{m} tests: {error.what} ({error.cause})")
    if ledger.graph is not None:
        bounds.submit(ledger.graph)
    if ledger.impossible:
        bounds.raise_lower(m, None, search.by)
    elif ledger.lower is not None:
        bounds.raise_lower(m, int(ledger.lower), search.by)
    if search.broken is not None:
        note = f"{search.by}, at most {count_of(m, 'test')}: {broke_down(search.broken)}"
        return RowEnd(False, limit_of(search.broken), note, last=not isinstance(search.broken, SolverFailed))
    return RowEnd(ledger.closed, None if ledger.closed else search.limit)


def is_answered(question: Question, options: SolveOptions, formulation: Formulation | None) -> bool:
    """Whether rows are solved like other questions: an engine supports them, or what states them has to be priced."""
    if options.formulation is not None:
        return formulation is not None and formulation.columns_on_demand
    return is_proved_by_engine(question, options) or is_usual(_largest_row(question))


def is_proved_by_engine(question: Question, options: SolveOptions) -> bool:
    """Whether everything was left open, and an engine supports rows."""
    if options.solver is not None or options.formulation is not None or options.warm_start != "auto":
        return False
    row = _largest_row(question)
    engine = usual_engine(row)
    part = None if engine is None else lowered(row, engine)
    return part is not None and part.exact


def _largest_row(question: Question) -> Question:
    """That with a bound on tests."""
    return question_of_row(question, max(0, sum(question.shape.widths) - 1))


class AnsweredRows(Answers):
    """Open rows as questions, the largest first, whose best model is often that of smaller ones."""

    def __init__(
        self,
        bounds: SizeBounds,
        options: SolveOptions,
        first: Share | None,
        budget: Budget,
        open_rows: Callable[[], list[int]],
        progress_of_row: Callable[[int], Callable[[Progress], None] | None],
    ) -> None:
        super().__init__(bounds.family, options, first, budget)
        self.bounds, self.open_rows, self.progress_of_row = bounds, open_rows, progress_of_row

    def open(self) -> list[Place]:
        places = [self.bounds.place(m) for m in reversed(self.open_rows())]
        return [place for place in places if self.first is None or place not in self._spent]

    def stated(self, place: Place) -> Question:
        return question_of_row(self.bounds.question, self._row(place))

    def progress(self, place: Place) -> Callable[[Progress], None] | None:
        return self.progress_of_row(self._row(place))

    def _row(self, place: Place) -> int:
        return self.bounds.most if place.tests is None else place.tests


def question_of_row(question: Question, m: int) -> Question:
    """The question with at most ``m`` tests, on the part of the skeleton that so few can use."""
    shape = shrunk(question.shape, m)
    requirements = question.requirements
    if m < sum(shape.widths):
        requirements = (*requirements, MaxNodes(m))
    return question.with_(shape=shape, requirements=requirements)
