"""Make a candidate satisfy requirements that its maker did not know, by relabelling its leaves.

Fairness and similar requirements read predictions: with the tests kept, the best labels that satisfy
them are found by going through label assignments in order of their objective value.
"""

from __future__ import annotations

import numpy as np

from treeform.graph import DecisionGraph
from treeform.graph.evaluate import weighted_errors
from treeform.objective import Error
from treeform.solve.budget import Budget
from treeform.solve.question import Question
from treeform.solve.verify import verify

MAX_ASSIGNMENTS = 65_536
MAX_TRIALS = 1_000


def relabel(
    question: Question, graph: DecisionGraph, budget: Budget, better_than: DecisionGraph | None = None
) -> DecisionGraph | None:
    """The cheapest relabelling of ``graph``'s leaves that satisfies every requirement.

    Assignments are tried in order of training errors; where errors are the objective, no further than those of
    ``better_than``. None when none of the first thousand satisfies all, or when the requirements that fail do
    not depend on labels.
    """
    data = question.data
    leaves = np.flatnonzero(graph.feature < 0)
    classes = data.n_classes
    if classes ** len(leaves) > MAX_ASSIGNMENTS:
        return None
    at_leaf = graph.apply(data.X)
    weight = np.zeros((len(leaves), classes), dtype=np.int64)
    position = np.searchsorted(leaves, at_leaf)
    np.add.at(weight, (position, data.y), data.weights)
    wrong = weight.sum(axis=1, keepdims=True) - weight
    labels = np.indices((classes,) * len(leaves)).reshape(len(leaves), -1).T
    total = wrong[np.arange(len(leaves)), labels].sum(axis=1)
    plain = all(isinstance(term, Error) for _, term in question.objective.terms)
    limit = weighted_errors(better_than, data) if plain and better_than is not None else None
    for choice in np.argsort(total, kind="stable")[:MAX_TRIALS]:
        if budget.stop() or (limit is not None and total[choice] > limit):
            return None
        candidate = graph.with_labels(dict(zip(leaves.tolist(), labels[choice].tolist(), strict=True)))
        candidate = candidate.simplified(data)
        if verify(question, candidate).ok:
            return candidate
    return None
