"""Models and bounds before any search: those without a test, quick bounds by counting, and what the caller gives."""

from __future__ import annotations

import math

from treeform.engines.pruning import prunings
from treeform.graph import DecisionGraph
from treeform.language import losses
from treeform.language.question import Question
from treeform.solve.budget import Budget
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.repair import relabel
from treeform.solve.simple_bounds import PROVER, PROVER_OF_CLASSES, classes_bound, floor_bound, out_of_reach

BY = "the given warm start"


def constant_models(node: Node, budget: Budget) -> None:
    """The models without a test: of every shape, and often the only fair ones at first.

    They come before everything that can take time: no limit is too short for an admissible one.
    """
    constants(node.question, node.ledger)


def constants(question: Question, ledger: Ledger) -> None:
    """Submit the models without a test, until one is admissible and the time is over."""
    for graph in losses.constant_models(question.objective, question.data):
        ledger.submit(graph, "constant model")
        if ledger.graph is not None and ledger.budget.stop():
            return


def quick_bounds(node: Node, budget: Budget) -> None:
    """What counting proves: identical rows of different classes, and fewer leaves than classes."""
    node.ledger.prove_lower(floor_bound(node.question), PROVER)
    if node.title:  # a part may pay less than nothing for a class
        return
    node.ledger.prove_lower(classes_bound(node.question), PROVER_OF_CLASSES)
    if (note := out_of_reach(node.question)) is not None:
        node.ledger.notes.append(note)


def given(node: Node, budget: Budget) -> None:
    """The model to start from, and models and bounds that the caller knows from before."""
    question, ledger = node.question, node.ledger
    if node.plan.start is not None:
        submit_given(question, node.plan.start, ledger)
    for graph in node.options.models:
        ledger.submit(graph, "a model known before")
    for bound in node.options.bounds:
        whole = bound.value * question.scale
        ledger.prove_lower(math.ceil(whole) if question.objective.is_whole else whole, bound.by)


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
        not shape.own_leaves
        or not shape.reads_columns
        or not graph.is_tree
        or not graph.is_univariate
    ):
        return False
    for pruned in prunings(
        question, graph, shape.depth
    ):  # the largest first, each costs more than the one before
        if ledger.submit(pruned.graph, BY).ok:
            return True
        made = relabel(question, pruned.graph, ledger.budget)
        if made is not None:
            return ledger.submit(made, BY).ok
    return False
