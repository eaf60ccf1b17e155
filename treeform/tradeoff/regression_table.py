"""The size table of a regression problem: one solve for each bound on the number of tests, the largest first.

An optimum with fewer tests than it may have is that of all bounds between, so these are not asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.losses import without_tests
from treeform.language.question import Question
from treeform.requirements import MaxNodes
from treeform.solve import schedule
from treeform.solve.budget import Budget, interruptible
from treeform.solve.driver import solve
from treeform.solve.faults import BREAKDOWNS, broke_down, is_breakdown, limit_of
from treeform.solve.options import SolveOptions
from treeform.solve.result import Limit, Number, Progress, SolveResult, Status, as_number
from treeform.solve.verification import judge_candidate
from treeform.tradeoff.size_table import SizeRow, SizeTable
from treeform.utils.text import count_of


def regression_table(
    question: Question,
    options: SolveOptions,
    smaller: SizeTable | None = None,
    start: object = None,
    prices: object = None,
) -> SizeTable:
    """The least loss with at most m tests, for m = 0, 1, 2, ...; see `treeform.Problem.size_table`.

    Parameters
    ----------
    question : Question
    options : SolveOptions
        The time limit is for the whole table; each open row gets an equal share of what is left, and what others leave.
    smaller : SizeTable, optional
        The table of a smaller depth, whose models are models of this one.
    start, prices
        What only tables of errors have.

    Raises
    ------
    SpecError
        If the latter are given.
    """
    _refuse(start, prices)
    search = _Search(question.with_(objective=without_tests(question.objective)), options)
    with interruptible(search.budget):
        for row in () if smaller is None else smaller.rows:
            if row.graph is not None:
                search.enter(row.graph)
        search.run()
    return search.table()


def _refuse(start: object, prices: object) -> None:
    for name, value in (("start", start), ("prices or alphas", prices)):
        if value is not None:
            raise SpecError(
                f"a size table of a regression problem has no {name}",
                cause="it is one solve for each number of tests",
                fix=f"leave out {name}; table.at(price) reads every price off the whole table",
            )


class _Search:
    def __init__(self, question: Question, options: SolveOptions) -> None:
        self.question, self.options = question, options
        self.budget = Budget(options.time_limit)
        self.most = sum(question.shape.widths)
        self.lower: list[Fraction | None] = [Fraction(0)] * (self.most + 1)
        self.by = [""] * (self.most + 1)
        self.given: dict[int, float | None] = {}
        self.known: list[tuple[int, Fraction, DecisionGraph]] = []
        self.limit: Limit | None = None
        self.notes: list[str] = []

    def enter(self, graph: DecisionGraph) -> None:
        """Note a model, if it is admissible."""
        graph, judged = judge_candidate(self.question, graph)
        if judged.ok:
            self.known.append((graph.n_nodes, self.question.to_units(judged.value), graph))

    def best(self, tests: int) -> tuple[Fraction, DecisionGraph] | None:
        """The best known model with at most so many tests."""
        fitting = [found for found in self.known if found[0] <= tests]
        if not fitting:
            return None
        _, value, graph = min(fitting, key=lambda found: (found[1], found[0]))
        return value, graph

    def run(self) -> None:
        """Ask for each row, and again for those that stay open, as long as they get more time than before."""
        while self._round():
            pass
        self.limit = self.budget.reason or self.limit

    def _round(self) -> bool:
        """Ask for the open rows, the largest first; whether one was asked."""
        asked = False
        for tests in range(self.most, -1, -1):
            if not self._is_open(tests):
                continue  # a bound for more tests holds for fewer
            if self.budget.stop():
                return False
            share = schedule.equal_part(self.budget.remaining, sum(map(self._is_open, range(tests + 1))))
            if not self._is_more(share, tests):
                continue
            asked = True
            try:
                self._take(tests, self._ask(tests, share))
            except BREAKDOWNS as error:
                if not (self.known and is_breakdown(error)):
                    raise
                self.limit = self.limit or limit_of(error)
                self.notes.append(f"at most {count_of(tests, 'test')}: {broke_down(error)}")
        return asked

    def _is_open(self, tests: int) -> bool:
        best, bound = self.best(tests), self.lower[tests]
        return bound is not None and (best is None or best[0] > bound)

    def _is_more(self, share: float | None, tests: int) -> bool:
        """Whether a row would get half as much again as it had; a row without a limit is asked once."""
        had = self.given.get(tests, 0.0)
        return had is not None and (share is None or share > 1.5 * had)

    def _ask(self, tests: int, share: float | None) -> SolveResult:
        self.given[tests] = share
        bounded = self.question.with_(requirements=(*self.question.requirements, MaxNodes(tests)))
        return solve(bounded, replace(self.options, time_limit=share, on_progress=self._told(tests)))

    def _told(self, tests: int) -> Callable[[Progress], None] | None:
        report = self.options.on_progress
        if report is None:
            return None
        place = (self.most - tests, self.most + 1)
        return lambda p: report(self.budget.progress_of(p, f"at most {tests} tests", place))

    def _take(self, tests: int, result: SolveResult) -> None:
        self.limit = self.limit or result.limit
        if result.graph is not None:
            self.enter(result.graph)
        if result.status is Status.INFEASIBLE:
            lower = None
        elif result.bound is None:
            return
        else:
            lower = Fraction(result.bound)
        for m in range(tests + 1):
            known = self.lower[m]
            if known is not None and (lower is None or lower > known):
                self.lower[m], self.by[m] = lower, result.solver

    def table(self) -> SizeTable:
        """All rows."""
        rows = []
        for m, (lower, by) in enumerate(zip(self.lower, self.by, strict=True)):
            best = self.best(m)
            upper = None if best is None else as_number(best[0])
            bound: Number | None = None if lower is None else as_number(lower)
            rows.append(SizeRow(m, bound, upper, None if best is None else best[1], by))
        proved = all(row.proved for row in rows)
        limit = None if proved else self.limit
        return SizeTable(self.question, tuple(rows), self.budget.seconds, limit, tuple(self.notes))
