"""Exact judgement of a candidate model: shape, objective and every requirement.

Nothing here knows who found the candidate; a solver's own status and objective are never read.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.language.question import Question
from treeform.shape import MARGIN, UNIVARIATE, Shape, Tree

_ENOUGH = 0.97
"""Share of the margin that a model has to show: solvers state it within their tolerance of 1e-6."""


@dataclass(frozen=True)
class Verified:
    """The exact value of a model and what is left of each requirement."""

    value: int
    """Objective times ``question.scale``."""
    violations: dict[str, Fraction]
    misfit: str | None
    """Why the model does not have the shape asked for, or None."""

    @property
    def ok(self) -> bool:
        """Whether the model has the shape and satisfies every requirement exactly."""
        return self.misfit is None and not any(self.violations.values())


def verify(question: Question, graph: DecisionGraph) -> Verified:
    """Judge ``graph`` by exact evaluation on the question's data."""
    value = Fraction(question.objective.evaluate(graph, question.data)) * question.scale
    if value.denominator != 1:
        raise AssertionError(f"objective scale {question.scale} leaves {value}: Objective.scale is wrong")
    violations = {
        label: Fraction(requirement.violation(graph, question.data))
        for label, requirement in zip(question.labels, question.requirements, strict=True)
    }
    return Verified(value.numerator, violations, misfit(graph, question.shape, question.data))


def misfit(graph: DecisionGraph, shape: Shape, data: Dataset | None = None) -> str | None:
    """Why ``graph`` is no model of ``shape``, or None when it is one.

    A tree's tests have one parent each (leaves may be shared, that changes no prediction). A diagram's
    tests lie in layers: every arc from a test goes to a test of the next layer or to a leaf. Multivariate tests
    part the samples of ``data`` with a margin.
    """
    if shape.splits == UNIVARIATE and graph.forms:
        return "it tests weighted sums of features, and the shape asks for univariate tests"
    if shape.splits != UNIVARIATE and data is not None and (narrow := _narrow(graph, data)) is not None:
        return narrow
    if graph.depth > shape.depth:
        return f"depth {graph.depth} exceeds {shape.depth}"
    tests = np.flatnonzero(graph.feature >= 0)
    if not len(tests):
        return None
    arcs = [(u, int(v)) for u in tests for v in (graph.left[u], graph.right[u]) if graph.feature[v] >= 0]
    if isinstance(shape, Tree):
        heads = [v for _, v in arcs]
        return None if len(heads) == len(set(heads)) else "two branches share a test, so it is not a tree"
    layer = {0: 0}
    for u, v in arcs:
        if layer.setdefault(v, layer[int(u)] + 1) != layer[int(u)] + 1:
            return f"test {v} is reached at two depths, so it has no layer"
    sizes = np.bincount(list(layer.values()), minlength=shape.depth)
    for index, (size, width) in enumerate(zip(sizes, shape.widths, strict=True)):
        if size > width:
            return f"layer {index} has {size} tests and the skeleton allows {width}"
    return None


def _narrow(graph: DecisionGraph, data: Dataset) -> str | None:
    """Which test of a multivariate model parts the samples that reach it by less than the margin, or None."""
    X = graph.tested(data.points.X)
    span = data.points.X.max(axis=0) - data.points.X.min(axis=0)
    visits = graph.route(data.points.X)
    for node in np.flatnonzero(graph.feature >= 0).tolist():
        feature = int(graph.feature[node])
        form = graph.forms[feature - data.n_features] if feature >= data.n_features else None
        size = span[feature] if form is None else np.abs(span[list(form.features)] * form.weights).max()
        value = X[visits[:, node], feature]
        left = value <= graph.threshold[node]
        if left.all() or not left.any():
            continue
        gap = value[~left].min() - value[left].max()
        if gap < _ENOUGH * float(MARGIN) * size:
            return (
                f"the sides of test {node} are {gap / size:.2g} apart, less than the margin {float(MARGIN):g}"
            )
    return None
