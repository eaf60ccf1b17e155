"""The model that a caller gives to start from."""

from __future__ import annotations

from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import UNIVARIATE, Tree
from treeform.solve.ledger import Ledger
from treeform.solve.pruning import prunings
from treeform.solve.repair import relabel

BY = "the given warm start"


def submit_given(question: Question, graph: DecisionGraph, ledger: Ledger) -> None:
    """Submit the model; of one that is not admissible, what becomes of it by cutting, pruning and other labels.

    A tree from elsewhere may be deeper than the shape, or violate requirements.
    """
    if ledger.submit(graph, BY).ok:
        return
    repaired = _repaired(question, graph, ledger)
    ledger.notes.append(
        f"{BY} is not admissible; "
        + ("what was made of it is" if repaired else "nothing was made of it that is")
    )


def _repaired(question: Question, graph: DecisionGraph, ledger: Ledger) -> bool:
    shape = question.shape
    if (
        not isinstance(shape, Tree)
        or shape.splits != UNIVARIATE
        or not graph.is_tree
        or not graph.is_univariate
    ):
        return False
    for pruned in prunings(
        question, graph, shape.depth
    ):  # the largest first, each costs more than the one before
        if ledger.submit(pruned.graph, BY).ok:
            return True
        made = None if question.objective.is_regression else relabel(question, pruned.graph, ledger.budget)
        if made is not None:
            return ledger.submit(made, BY).ok
    return False
