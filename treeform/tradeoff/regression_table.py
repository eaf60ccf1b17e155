"""The size table of a regression problem: one solve for each bound on the number of tests, the largest first.

An optimum with fewer tests than it may have is that of all bounds between, so these are not asked.
"""

from __future__ import annotations

from fractions import Fraction

from treeform.certify.family import IMPOSSIBLE, Family
from treeform.errors import SpecError
from treeform.language.losses import without_tests
from treeform.language.question import Question
from treeform.solve.budget import interruptible
from treeform.solve.options import SolveOptions
from treeform.solve.result import as_number
from treeform.solve.verification import judge_candidate
from treeform.tradeoff.nested import Answers
from treeform.tradeoff.size_table import SizeRow, SizeTable, Start, begun


def regression_table(
    question: Question,
    options: SolveOptions,
    smaller: SizeTable | None = None,
    start: Start = None,
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
    start : SizeTable or certificate, optional
        An earlier table of this question.
    prices
        What only tables of errors have.

    Raises
    ------
    SpecError
        If the latter are given, or the start is of another question.
    """
    if prices is not None:
        raise SpecError(
            "a size table of a regression problem has no prices or alphas",
            cause="it is one solve for each number of tests",
            fix="leave out prices and alphas; table.at(price) reads every price off the whole table",
        )
    question = question.with_(objective=without_tests(question.objective))
    family = Family(question, by_tests=True)
    family.prove(family.place(), Fraction(0), "counting")
    begun(start, family)
    search = Answers(family, options)
    with interruptible(search.budget):
        for graph in [] if smaller is None else [row.graph for row in smaller.rows]:
            judged = None if graph is None else judge_candidate(question, graph)
            if judged is not None and judged[1].ok:
                family.enter(judged[0], as_number(question.to_units(judged[1].value)))
        search.run()
    rows = tuple(_row(family, tests) for tests in range(family.most_tests + 1))
    limit = None if all(row.proved for row in rows) else search.budget.reason or search.limit
    return SizeTable(question, rows, search.budget.seconds, limit, tuple(search.solves.notes))


def _row(family: Family, tests: int) -> SizeRow:
    place = family.place(tests=tests)
    known, proof = family.best(place), family.lower(place)
    assert proof is not None
    lower = None if proof.lower == IMPOSSIBLE else as_number(Fraction(proof.lower))
    if known is None:
        return SizeRow(tests, lower, None, None, proof.by)
    return SizeRow(tests, lower, known.value, known.graph, proof.by)
