"""The range of the objective that needs no search to be known."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from treeform.language.costs import SampleCost
from treeform.language.objective import Error, Nodes
from treeform.language.question import Question, allowed_errors
from treeform.utils.text import count_of

PROVER = "identical rows"
PROVER_OF_CLASSES = "few terminals"


def floor_bound(question: Question) -> int:
    """A scaled lower bound: rows that agree on every feature share one prediction.

    Each distinct feature vector pays at least for its cheapest class; other terms are at least 0.
    """
    data = question.data
    total = Fraction(0)
    for weight, term in question.objective.terms:
        if isinstance(term, Error):
            at_point = data.points.weights
            cheapest = at_point.sum(axis=1) - at_point.max(axis=1)
        elif isinstance(term, SampleCost):  # its costs of all samples together stay below 2**60
            cheapest = _at_points(question, term).min(axis=1)
            total += weight * term.unit(data) * term.constant(data)
        else:
            continue
        total += weight * term.unit(data) * int(cheapest.sum())
    return math.ceil(total * question.scale)


def _at_points(question: Question, term: SampleCost) -> np.ndarray:
    """(P, K) int64: what the samples of each distinct feature vector cost together when predicted each class."""
    data = question.data
    out = np.zeros((data.points.n_points, data.n_classes), dtype=np.int64)
    np.add.at(out, data.points.index, term.per_sample(data) * data.weights[:, None])
    return out


def classes_bound(question: Question) -> int:
    """A scaled lower bound: a model of m tests ends in at most m + 1 classes, and all others are errors.

    The arcs of m tests in a tree or a diagram, but those into m - 1 tests, lead to at most m + 1 terminals. Of the
    objective, errors and the number of tests count; other terms are at least 0.
    """
    # With as many ends as classes nothing is missing, and further tests only cost.
    if not any(isinstance(term, Error) for _, term in question.objective.terms):
        return floor_bound(question)  # nothing is missing
    last, identical = min(most_tests(question), question.data.n_classes - 1), floor_bound(question)
    return min(_bound_with(question, m, identical) for m in range(last + 1))


def bound_with(question: Question, tests: int) -> int:
    """The scaled lower bound of `classes_bound` for models of exactly so many tests, identical rows included."""
    return _bound_with(question, tests, floor_bound(question))


def _bound_with(question: Question, tests: int, floor: int) -> int:
    lightest = np.sort(question.data.class_weights)[: max(0, question.data.n_classes - tests - 1)]
    identical, missing = Fraction(floor, question.scale), Fraction(0)
    price = Fraction(0)
    for weight, term in question.objective.terms:
        if isinstance(term, Error):
            missing += weight * term.unit(question.data) * int(lightest.sum())
        elif isinstance(term, Nodes):
            price += weight
    return math.ceil((max(identical, missing) + price * tests) * question.scale)


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


def ceiling(question: Question) -> int | Fraction:
    """No admissible model has a scaled value above this: a lower bound beyond it proves infeasibility."""
    total = question.objective.largest(question.data, question.shape)
    allowed = allowed_errors(question)
    if allowed is not None:
        total = min(total, question.objective.terms[0][0] * question.data.weight_unit * allowed)
    return math.floor(total * question.scale) if question.objective.is_whole else total * question.scale
