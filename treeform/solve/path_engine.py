"""Whether the search under rules on paths supports more of a question than the other engines for trees."""

from __future__ import annotations

from treeform.engines import Engine, PathSearch
from treeform.engines.paths.engine import reason_against
from treeform.language.question import Question
from treeform.solve.relaxation import relax

FEW_FOR_PATHS = 500
"""Distinct tests up to which the search is chosen: its work grows with their square and more."""


def path_engine(question: Question, other: Engine) -> Engine | None:
    """The search under rules on paths, when it supports more of the question than ``other`` and takes its table."""
    if question.data.has_more_tests_than(FEW_FOR_PATHS):
        return None
    rival, relaxation = relax(question, other), relax(question, PathSearch())
    if relaxation is None or not relaxation.task.paths:
        return None
    if rival is not None and len(rival.dropped) <= len(relaxation.dropped):
        return None
    return PathSearch() if reason_against(question.data, relaxation.task) is None else None
