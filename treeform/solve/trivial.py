"""The range of the objective that needs no search to be known."""

from __future__ import annotations

import math
from fractions import Fraction

from treeform.objective import Cost, Depth, Error, Leaves
from treeform.solve.question import Question

PROVER = "identical rows"


def floor_bound(question: Question) -> int:
    """A scaled lower bound: rows that agree on every feature share one prediction.

    Each distinct feature vector pays at least for its cheapest class; other terms are at least 0.
    """
    data = question.data
    at_point = data.points.weights
    total = Fraction(0)
    for weight, term in question.objective.terms:
        if isinstance(term, Error):
            cheapest = at_point.sum(axis=1) - at_point.max(axis=1)
        elif isinstance(term, Cost):  # its whole costs of all samples together stay below 2**60
            cheapest = (at_point @ term.whole(data)).min(axis=1)
        else:
            continue
        total += weight * term.unit(data) * int(cheapest.sum())
    return math.ceil(total * question.scale)


def ceiling(question: Question) -> int:
    """No admissible model has a scaled value above this: a lower bound beyond it proves infeasibility."""
    data, shape = question.data, question.shape
    tests = sum(shape.widths)
    total = Fraction(0)
    for weight, term in question.objective.terms:
        if isinstance(term, Error | Cost):
            classes = range(data.n_classes)
            worst = max(_price(term, question, k, g) for k in classes for g in classes)
            total += weight * data.weight_unit * data.total_weight * worst
        elif isinstance(term, Depth):
            total += weight * shape.depth
        else:
            total += weight * (tests + isinstance(term, Leaves))
    allowed = allowed_errors(question)
    if allowed is not None:
        total = min(total, question.objective.terms[0][0] * data.weight_unit * allowed)
    return math.floor(total * question.scale)


def allowed_errors(question: Question) -> int | None:
    """The least bound on errors (in weight units) among the requirements, when errors are the objective."""
    terms = question.objective.terms
    if len(terms) != 1 or not isinstance(terms[0][1], Error):
        return None
    bounds = [(r.native(question.data) or {}).get("max_errors") for r in question.requirements]
    return min((bound for bound in bounds if bound is not None), default=None)


def _price(term: Error | Cost, question: Question, truth: int, guess: int) -> Fraction:
    return (
        Fraction(int(truth != guess)) if isinstance(term, Error) else term.entry(question.data, truth, guess)
    )
