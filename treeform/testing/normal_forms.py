"""Near-optimal trees by exhaustive enumeration: each once, in its normal form."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import treeform as tf
from treeform.errors import SpecError
from treeform.testing.brute import all_models
from treeform.testing.cases import GROUP, draw_cases

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

NEAR_OPTIMAL_REQUIREMENTS: tuple[tuple[tf.Requirement, ...], ...] = (
    (),
    (tf.StatisticalParity(groups=GROUP, difference="0.3"),),
    (tf.StatisticalParity(groups=GROUP, ratio="0.6"), tf.MinSupport(2)),
    (tf.Stability(0.4), tf.MaxNodes(2)),
    (tf.FeatureBudget(1),),
    (tf.MaxErrors(0.45), tf.EqualOpportunity(groups=GROUP, difference="0.4")),
    (tf.NoTestOn("age"),),
    (tf.Monotone("owner"),),
)
"""Requirements on tables of `draw_near_optimal`."""


def normal_form(
    graph: DecisionGraph, data: Dataset, node: int = 0, rows: frozenset[int] | None = None
) -> object:
    """A tree as what it does: the column of each test, and the two sets of samples with what becomes of them.

    None for a tree that is in no normal form: some test separates nothing, or has two leaves of one class.
    """
    rows = frozenset(range(data.n_samples)) if rows is None else rows
    f = int(graph.feature[node])
    if f < 0:
        return int(graph.label[node])
    if f >= data.n_features:
        return None
    left = frozenset(i for i in rows if data.X[i, f] <= graph.threshold[node])
    sides = [(left, int(graph.left[node])), (rows - left, int(graph.right[node]))]
    if not all(side for side, _ in sides):
        return None
    below = [(side, normal_form(graph, data, child, side)) for side, child in sides]
    ends = [end for _, end in below]
    if None in ends or (isinstance(ends[0], int) and ends[0] == ends[1]):
        return None
    return data.columns[f].source, frozenset(below)


def near_optimal_forms(problem: tf.Problem, within: Fraction) -> dict[object, Fraction]:
    """The normal forms of all near-optimal trees of a tiny problem, with their values.

    Parameters
    ----------
    within : Fraction
        The share of the optimum by which a tree may be worse.
    """
    data = problem.data
    found: dict[object, Fraction] = {}
    for graph in all_models(data, problem.shape):
        form = normal_form(graph, data)
        if form is not None and not any(r.violation(graph, data) for r in problem.requirements):
            found[form] = Fraction(problem.objective.evaluate(graph, data))
    if not found:
        return {}
    most = min(found.values()) * (1 + within)
    return {form: value for form, value in found.items() if value <= most}


def draw_near_optimal(count: int, seed: int, requirements: tuple[tf.Requirement, ...]) -> Iterator[tf.Problem]:
    """Tiny problems of two classes under requirements; those that these refuse are left out."""
    for case in draw_cases(count, seed, (tf.Tree(2), tf.Tree(1))):
        if case.data.n_classes > 2:
            continue
        problem = tf.Problem(
            case.frame, case.labels, shape=case.shape, sample_weight=case.weights, exclude=[GROUP]
        ).minimize(case.objective)
        try:
            for requirement in requirements:
                problem += requirement
        except SpecError:
            continue
        yield problem
