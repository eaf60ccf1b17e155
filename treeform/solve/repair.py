"""Relabel the leaves of a candidate so that it satisfies requirements that its engine does not support.

Fairness and similar requirements read predictions: with the tests kept, the best labels that satisfy
them are found by going through label assignments in order of what they cost.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.engines.pruning import class_costs
from treeform.graph import DecisionGraph, normalised
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.verification import judge_candidate
from treeform.utils.budget import Budget

SECONDS = 1.0
"""Of one program: the trees of a run are many, and most programs end within milliseconds."""
INFEASIBLE = 2
"""The status of such a program."""


class NoLabels(Exception):
    """No labels of a tree satisfy the rows, by what a program says: it is only not searched any longer."""


def cheapest_labels(
    question: Question,
    position: NDArray[np.int64],
    leaves: int,
    cost: NDArray[np.int64],
    slack: float,
    budget: Budget,
    clashes: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]] = (),
) -> NDArray[np.int64] | None:
    """(leaves,) labels of the least cost that satisfy all rows over predictions of the question, to be judged exactly;
    None where none are found. Raises NoLabels if the program says that there are none.

    ``position``, (n,): the leaf that each sample reaches. ``cost``, (leaves, K): of each leaf with each label.
    ``slack``: the part of the largest coefficient by which each row is tightened, as the program's arithmetic is
    inexact. ``clashes``: pairs of (leaves, K), labels of which either none of the first or none of the second are
    taken.
    """
    data, rows = question.data, _rows(question)
    if not rows and not clashes:
        return None
    # Imported here, since it takes part of a second, which other solves need not spend.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    size = cost.size + len(clashes)  # last, for each clash whether labels of the first array are allowed
    sides, blocks = [], []

    def at_most(block: NDArray[Any], most: float, which: int | None = None, allowed: int = 0) -> None:
        row = np.zeros(size)
        row[: cost.size] = block.reshape(-1)
        if which is not None:
            row[cost.size + which] = allowed
        blocks.append(csr_array(row[None]))  # of a deep tree there are thousands, with few entries each
        sides.append(most)

    for coef, most in rows:
        block = _by_leaf(data, position, leaves, coef)
        largest = max(1.0, float(np.abs(block).max()))
        at_most(block / largest, float(most) / largest - slack)
    for which, (lower, upper) in enumerate(clashes):
        for leaf in range(leaves):
            only = np.arange(leaves)[:, None] == leaf
            if lower[leaf].any():
                at_most(lower & only, 0, which, -1)
            if upper[leaf].any():
                at_most(upper & only, 1, which, 1)
    first = np.arange(0, cost.size + 1, data.n_classes)
    each = csr_array((np.ones(cost.size), np.arange(cost.size), first), shape=(leaves, size))
    found = milp(
        np.append(cost.reshape(-1).astype(float), np.zeros(len(clashes))),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(each, 1, 1),
            LinearConstraint(vstack(blocks, format="csr"), -np.inf, sides),
        ],
        options={"time_limit": budget.share(SECONDS).remaining},
    )
    if found.status == INFEASIBLE:
        raise NoLabels
    return None if found.x is None else np.asarray(found.x)[: cost.size].reshape(leaves, -1).argmax(axis=1)


def _clashes(
    question: Question, graph: DecisionGraph, leaves: np.ndarray, position: np.ndarray
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For each test at which marks may meet the labels of leaves that bring them to its lower and its upper side."""
    data = question.data
    meetings = [met for one in question.requirements if (met := one.meetings(data)) is not None]
    if not meetings or not graph.is_plain_tree:
        return []
    below = np.zeros((len(graph.feature), len(leaves)), dtype=bool)
    below[leaves, np.arange(len(leaves))] = True
    for node in np.flatnonzero(graph.feature >= 0)[::-1]:  # children have larger numbers than their parents
        below[node] = below[graph.left[node]] | below[graph.right[node]]
    found = []
    for met in meetings:
        marks = np.zeros((len(leaves), data.n_classes), dtype=np.int64)
        np.bitwise_or.at(marks, position, met.masks)
        for test, clash in itertools.product(graph.tests(), met.clashes):
            if (weight := test.weight(clash.feature)) == 0:
                continue
            children = graph.left[test.node], graph.right[test.node]
            sides = zip(children if weight > 0 else children[::-1], clash.masks, strict=True)
            lower, upper = (below[child][:, None] & (marks & mask != 0) for child, mask in sides)
            if lower.any() and upper.any():
                found.append((lower, upper))
    return found


def _by_leaf(
    data: Dataset, position: NDArray[np.int64], leaves: int, coef: NDArray[np.int64]
) -> NDArray[np.float64]:
    """(leaves, K): what each leaf adds to a row with each label."""
    weighted = coef.astype(float) * data.weights[:, None]
    return np.stack([np.bincount(position, weighted[:, k], leaves) for k in range(data.n_classes)], axis=1)


def _rows(question: Question) -> list[tuple[NDArray[np.int64], int]]:
    """The rows over predictions of all requirements that have that form."""
    return [row for requirement in question.requirements for row in requirement.prediction_rows(question.data)]


MAX_ASSIGNMENTS = 65_536
MOST_LISTED = 4_096
"""Assignments: of more an integer program takes less time, where the requirements are rows."""
MAX_TRIALS = 1_000
ROUNDING = 1e-9
"""Of sums in floating-point numbers, in parts of the largest one: labels that these rule out violate a row."""
SLACKS = (0.0, 1e-5)
"""Parts by which the rows of a program are tightened: the tolerance of its solver, and a little more."""


def relabel(
    question: Question, graph: DecisionGraph, budget: Budget, better_than: DecisionGraph | None = None
) -> DecisionGraph | None:
    """The cheapest relabelling of ``graph``'s leaves that satisfies every requirement.

    In a diagram, whose branches share the leaf of a class, every arc into a leaf gets its own label.

    Assignments are tried in order of what they cost under the objective, or in training errors where it is no sum
    over samples; where tests have no price, no further than what ``better_than`` costs. None when none of the first
    thousand that satisfy the rows over predictions satisfies all, or when the requirements that fail do not depend on
    labels; leaves of values have none. Where there are more than `MOST_LISTED`, or labels clash, an integer program
    chooses the labels if the requirements are rows over predictions or meetings; else, where there are too many to
    list, one label after another is changed.
    """
    data = question.data
    if graph.values:
        return None
    graph = normalised(graph, data, own_leaves=True)
    leaves = np.flatnonzero(graph.feature < 0)
    classes = data.n_classes
    at_leaf = graph.apply(data.X)
    position = np.searchsorted(leaves, at_leaf)
    each, is_objective = _costs(question)
    cost = np.zeros((len(leaves), classes), dtype=np.int64)
    np.add.at(cost, position, each)
    limit = None
    if is_objective and better_than is not None:
        limit = int(each[np.arange(data.n_samples), better_than.predict_codes(data.X)].sum())
        if int(cost.min(axis=1).sum()) > limit:
            return None
    clashes = _clashes(question, graph, leaves, position)
    if clashes or classes ** len(leaves) > MOST_LISTED:
        try:
            programmed = _by_program(question, graph, budget, leaves, position, cost, clashes)
        except NoLabels:
            return None
        if programmed is not None:
            return programmed
    if classes ** len(leaves) > MAX_ASSIGNMENTS:
        return _by_flips(question, graph, budget, dict(zip(leaves.tolist(), cost, strict=True)))
    labels = np.indices((classes,) * len(leaves)).reshape(len(leaves), -1).T
    total = cost[np.arange(len(leaves)), labels].sum(axis=1)
    # Whether these hold does not depend on the form of a candidate, so it is checked first.
    of_predictions = [r for r in question.requirements if frozenset(r.needs) <= {"predicted", "correct"}]
    choices = np.argsort(total, kind="stable")
    if limit is not None:
        choices = choices[: np.searchsorted(total[choices], limit, side="right")]
    if better_than is not None:  # else any model is better than none
        budget = schedule.RELABELLED.of(budget)
    for choice in choices[_may_satisfy(question, position, labels[choices])][:MAX_TRIALS]:
        if budget.stop():
            return None
        candidate = graph.with_labels(dict(zip(leaves.tolist(), labels[choice].tolist(), strict=True)))
        if any(requirement.violation(candidate, data) for requirement in of_predictions):
            continue
        # In a diagram, equal parts may become one.
        forms = (candidate,) if graph.is_tree else (candidate.simplified(data).canonical(), candidate)
        for form in forms:
            kept, judged = judge_candidate(question, form)
            if judged.ok:
                return kept
    return None


def _may_satisfy(
    question: Question, position: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which of several (A, leaves) labels satisfy the rows over predictions; some may violate one by a rounding."""
    data, leaves = question.data, labels.shape[1]
    satisfied = np.ones(len(labels), dtype=bool)
    for coef, most in _rows(question):
        total = _by_leaf(data, position, leaves, coef)[np.arange(leaves), labels].sum(axis=1)
        largest = float(np.abs(coef).max()) * float(data.weights.sum())
        satisfied &= total <= float(most) + ROUNDING * largest
    return satisfied


def _costs(question: Question) -> tuple[NDArray[np.int64], bool]:
    """(n, K) what each sample costs with each class; and whether that is all of the objective."""
    found, data = class_costs(question), question.data
    if found is None:
        return (np.arange(data.n_classes) != data.y[:, None]) * data.weights[:, None], False
    return found[0], not any(term.of_size for _, term in question.objective.terms)


def _by_program(
    question: Question,
    graph: DecisionGraph,
    budget: Budget,
    leaves: np.ndarray,
    position: np.ndarray,
    cost: np.ndarray,
    clashes: list[tuple[NDArray[np.bool_], NDArray[np.bool_]]],
) -> DecisionGraph | None:
    """By `cheapest_labels`; ``position`` is the leaf of each sample, ``cost`` that of each leaf by label."""
    for slack in SLACKS:
        if budget.stop():
            break
        labels = cheapest_labels(question, position, len(leaves), cost, slack, budget, clashes)
        if labels is None:
            break
        candidate = graph.with_labels(dict(zip(leaves.tolist(), labels.tolist(), strict=True)))
        kept, judged = judge_candidate(question, candidate)
        if judged.ok:
            return kept
    return None


def _by_flips(
    question: Question, graph: DecisionGraph, budget: Budget, cost: dict[int, np.ndarray]
) -> DecisionGraph | None:
    """One label after the other, each time the one that lowers the violations most for what it costs.

    ``cost`` holds that of each leaf by label. It finds no optimum, and needs no list of all assignments.
    """
    data = question.data
    readers = [r for r in question.requirements if frozenset(r.needs) <= {"predicted", "correct"}]

    def violation(candidate: DecisionGraph) -> Fraction:
        return sum((Fraction(r.violation(candidate, data)) for r in readers), Fraction(0))

    left = violation(graph)
    while left > 0:
        best: tuple[float, DecisionGraph, Fraction] | None = None
        for leaf, costs in cost.items():
            if budget.stop():
                return None
            now = int(graph.label[leaf])
            for label in range(data.n_classes):
                if label == now:
                    continue
                candidate = graph.with_labels({leaf: label})
                gain = left - (after := violation(candidate))
                if gain <= 0:
                    continue
                worth = float(gain) / max(1.0, float(costs[label] - costs[now]))
                if best is None or worth > best[0]:
                    best = worth, candidate, after
        if best is None:
            return None
        _, graph, left = best
    kept, judged = judge_candidate(question, graph)
    return kept if judged.ok else None


def narrowed(graph: DecisionGraph, question: Question) -> DecisionGraph:
    """A tree pruned to the widths of a diagram: in a layer of too many tests those go that save the least weight."""
    shape = question.shape
    if graph.values or not graph.is_plain_tree or graph.depth > shape.depth:
        return graph
    counts = np.asarray(graph.counts, dtype=float)
    wrong = counts.sum(axis=1) - counts.max(axis=1)
    below = wrong.copy()
    for u in np.flatnonzero(graph.feature >= 0)[::-1]:  # children have larger numbers than their parents
        below[u] = below[graph.left[u]] + below[graph.right[u]]
    arrays = {
        name: getattr(graph, name).copy() for name in ("feature", "threshold", "left", "right", "label")
    }
    layer = [0]
    for width in shape.widths:
        tests = sorted((u for u in layer if graph.feature[u] >= 0), key=lambda u: below[u] - wrong[u])
        for u in tests[width:]:
            arrays["feature"][u] = arrays["left"][u] = arrays["right"][u] = -1
            arrays["threshold"][u], arrays["label"][u] = np.nan, counts[u].argmax()
        layer = [int(v) for u in tests[:width] for v in (graph.left[u], graph.right[u])]
    if (arrays["feature"] == graph.feature).all():
        return graph
    return DecisionGraph.from_arrays(**arrays, data=question.data).simplified()
