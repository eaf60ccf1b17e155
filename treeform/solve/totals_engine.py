"""Which native engine for trees: the plain one for the data, or one of the two for constraints over sums, and why."""

from __future__ import annotations

from treeform.engines import (
    DL85,
    ContinuousTotals,
    ConTree,
    Engine,
    TotalsSearch,
    TreeTask,
    continuous_totals,
    totals,
)
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve.relaxation import relax

FEW_FOR_TOTALS = 500
"""Distinct tests up to which the search over tests is chosen: its work grows with their square and more. The search
over intervals of thresholds does more for each test that it looks at, and looks at few of them."""


def plain_engine(question: Question) -> Engine:
    """The engine for trees without constraints over sums; on columns of zeros and ones DL85 is the faster one."""
    X = question.data.X
    return DL85() if ((X == 0) | (X == 1)).all() else ConTree()


def totals_engine(question: Question) -> Engine | None:
    """The search for totals that suits the table, when it supports more than the plain engine does."""
    plain = relax(question, plain_engine(question))
    if plain is None or plain.exact:
        return None
    few = not question.data.has_more_tests_than(FEW_FOR_TOTALS)
    for engine in [TotalsSearch(), ContinuousTotals()] if few else [ContinuousTotals()]:
        relaxation = relax(question, engine)
        if relaxation is None or len(relaxation.dropped) >= len(plain.dropped):
            continue
        if _reason_against(engine, question, relaxation.task) is None:
            return engine
    return None


def why_chosen(question: Question, engine: Engine) -> list[str]:
    """Why this of the two searches for totals was chosen."""
    if isinstance(engine, TotalsSearch):
        how = f"it takes tables of few tests ({question.data.n_tests} here)"
    elif isinstance(engine, ContinuousTotals):
        how = f"it searches intervals of all thresholds, {question.data.n_tests} here"
    else:
        return []
    return [f"{engine.name} proves optima under linear constraints over sums; {how}"]


def why_not(question: Question) -> list[str]:
    """That the search over tests would support all of the problem and was left out for the size of the table."""
    if not isinstance(question.shape, Tree) or not question.data.has_more_tests_than(FEW_FOR_TOTALS):
        return []
    relaxation = relax(question, TotalsSearch())
    if (
        relaxation is None
        or not relaxation.exact
        or _reason_against(TotalsSearch(), question, relaxation.task) is not None
    ):
        return []
    return [
        f"{TotalsSearch.name} supports all of the problem, but has only a part of the time: the table has "
        f"{question.data.n_tests} tests, more than {FEW_FOR_TOTALS}; solver=tf.TotalsSearch() gives it all"
    ]


def _reason_against(engine: Engine, question: Question, task: TreeTask) -> str | None:
    if isinstance(engine, TotalsSearch):
        return totals.reason_against(question.data, task)
    return continuous_totals.reason_against(question.data, task)
