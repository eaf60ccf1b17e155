"""What needs no search: bounds from the rows and the shape alone, constant models, and models that are given."""

from __future__ import annotations

import math
from fractions import Fraction

from treeform.engines.pruning import prunings
from treeform.graph import DecisionGraph
from treeform.language import losses
from treeform.language.question import Question
from treeform.solve.engines import submit_repaired
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.repair import relabel
from treeform.utils.budget import Budget
from treeform.utils.text import count_of

PROVER = "identical rows"
PROVER_OF_CLASSES = "few terminals"
MANY_VALUES = 10**6
"""Of a table whose equal rows take more than some milliseconds to find."""
VALUES_A_SECOND = 10**8
"""Of a table whose equal rows are found, about."""


def floor_bound(question: Question) -> int:
    """A scaled lower bound: rows that agree on every feature share one prediction.

    Each distinct feature vector pays at least for its cheapest class; other terms are at least 0.
    """
    return _bound_with(question, question.data.n_classes, 0)


def classes_bound(question: Question) -> int:
    """A scaled lower bound: a model of m tests ends in at most m + 1 classes, and all others are errors.

    The arcs of m tests in a tree or a diagram, but those into m - 1 tests, lead to at most m + 1 terminals. Of the
    objective, errors, costs and the number of tests count; other terms are at least 0.
    """
    # With as many ends as classes nothing is missing, and further tests only cost.
    last = max(0, min(most_tests(question), question.data.n_classes - 1))
    free = not any(term.per_test for _, term in question.objective.terms)
    return min(bound_with(question, tests) for tests in range(last if free else 0, last + 1))


def bound_with(question: Question, tests: int) -> int:
    """The scaled lower bound of `classes_bound` for models of exactly so many tests, identical rows included."""
    return _bound_with(question, tests + 1, tests)


def _bound_with(question: Question, classes: int, tests: int) -> int:
    terms, data = question.objective.terms, question.data
    total = sum((w * (term.least(data, classes) + term.per_test * tests) for w, term in terms), Fraction(0))
    return math.ceil(total * question.scale)


def most_tests(question: Question) -> int:
    """The largest number of tests that shape and requirements allow."""
    limit, most = question.limits.max_nodes, sum(question.shape.widths[: question.limits.max_depth])
    return most if limit is None else min(limit, most)


def out_of_reach(question: Question) -> str | None:
    """A note when the shape has fewer ends than there are classes, or None."""
    ends, classes = most_tests(question) + 1, int((question.data.class_weights > 0).sum())
    if ends >= classes:
        return None
    return f"{count_of(ends - 1, 'test', 'lead')} to at most {ends} of {classes} classes: the others are always errors"


BY = "the given warm start"


def constant_models(node: Node, budget: Budget) -> None:
    """The models without a test: of every shape, and often the only fair ones at first.

    They come before everything that can take time: no limit is too short for an admissible one.
    """
    constants(node.question, node.ledger)


def constants(question: Question, ledger: Ledger) -> None:
    """Submit the models without a test, until one is admissible and the time is over; before them models that
    requirements name, such as the given tests alone, whose leaves are relabelled where that is needed."""
    for one in question.requirements:
        known = one.known_model(question.data)
        if known is not None:
            submit_repaired(ledger, known, str(one), ledger.budget)
    for graph in losses.constant_models(question.objective, question.data):
        ledger.submit(graph, "constant model")
        if ledger.graph is not None and ledger.budget.stop():
            return


def quick_bounds(node: Node, budget: Budget) -> None:
    """What counting proves: identical rows of different classes, and fewer leaves than classes."""
    values, left = node.question.data.X.size, budget.remaining
    if left is not None and values > max(MANY_VALUES, VALUES_A_SECOND * left):
        return
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
        assert bound.value is not None
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
        f"{BY} is too deep or violates a requirement; "
        + ("pruned and relabelled it is admissible" if repaired else "nothing admissible came of it")
    )


def _repaired(question: Question, graph: DecisionGraph, ledger: Ledger) -> bool:
    if not graph.is_plain_tree:
        return False
    for pruned in prunings(
        question, graph, question.shape.depth
    ):  # the largest first, each costs more than the one before
        if ledger.submit(pruned.graph, BY).ok:
            return True
        made = relabel(question, pruned.graph, ledger.budget)
        if made is not None:
            return ledger.submit(made, BY).ok
    return False
