"""Exact judgement of a candidate model: shape, objective and every requirement.

Where the candidate comes from does not matter; the status and objective of a solver are never read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph, normalised
from treeform.graph.routing import sides_taken
from treeform.language.question import Question
from treeform.shape import MARGIN, MULTIVARIATE, UNIVARIATE, Diagram, Shape, Tree
from treeform.utils.text import count_of

_ENOUGH = 0.97
"""Share of the margin that a model has to have: solvers state it within their tolerance of 1e-6."""


def misfit(graph: DecisionGraph, shape: Shape, data: Dataset | None = None) -> str | None:
    """Why `graph` is no model of `shape`, or None when it is one.

    Returns the first condition that is not met, as a sentence.

    Parameters
    ----------
    data : Dataset, optional
        Training samples. Without them, tests that send all samples one way and margins are not examined.

    Notes
    -----
    Florio et al. (AAAI 2023), (6)-(8): layers, reached tests, arcs to different heads; (13)-(14): margins. A graph
    in the normal form of `treeform.graph.normalised` meets (8) and the rule on tests that send all samples one way.
    """
    return next(_faults(graph, shape, data), None)


def _faults(graph: DecisionGraph, shape: Shape, data: Dataset | None) -> Iterator[str]:
    if not graph.is_level_by_level:  # else the root leads to every node by one path
        yield from _unreached(graph)
    if graph.depth > shape.depth:
        yield f"depth {graph.depth} exceeds {shape.depth}"
    for kind, faults in OF_MODELS.items():
        if isinstance(shape, kind):
            yield from faults(graph, shape.widths)
    if data is not None:
        yield from _one_sided(graph, data)
    yield from OF_TESTS[shape.splits](graph, data)


def _arcs(graph: DecisionGraph) -> Iterator[tuple[int, int]]:
    """Arcs (tail, head), of which a pass-through has one and any other test two."""
    for test in graph.tests():
        yield test.node, int(graph.left[test.node])
        if not test.passes:
            yield test.node, int(graph.right[test.node])


def _unreached(graph: DecisionGraph) -> Iterator[str]:
    """(7) Every test other than the root is the head of an arc; with the order of the nodes, the root leads to it."""
    heads = {head for _, head in _arcs(graph)}
    for test in graph.tests():
        if test.node and test.node not in heads:
            yield f"no arc leads to test {test.node}"


def _outside_tree(graph: DecisionGraph, _: object) -> Iterator[str]:
    if graph.is_level_by_level:
        return
    arcs = Counter(head for _, head in _arcs(graph) if graph.feature[head] >= 0)
    for head in sorted(head for head, count in arcs.items() if count > 1):
        yield f"two branches share test {head}, so it is not a tree"


def _outside_layers(graph: DecisionGraph, widths: tuple[int, ...]) -> Iterator[str]:
    layer = {0: 0} if graph.feature[0] >= 0 else {}
    for tail, head in _arcs(graph):  # parents come before their children, so the layer of the tail is known
        if graph.feature[head] >= 0 and layer.setdefault(head, layer[tail] + 1) != layer[tail] + 1:
            yield f"test {head} is reached at two depths, so it has no layer"
            return
    sizes = np.bincount(list(layer.values()), minlength=len(widths)).tolist()
    for index, (size, width) in enumerate(zip_longest(sizes, widths, fillvalue=0)):
        if size > width:
            yield f"layer {index} has {count_of(size, 'test')} and the skeleton allows {width}"
    for test in graph.tests():
        left, right = int(graph.left[test.node]), int(graph.right[test.node])
        same_class = graph.feature[left] < 0 and graph.label[left] == graph.label[right]
        if not test.passes and (left == right or same_class):
            yield f"both arcs of test {test.node} lead to one node, and it is not a pass-through"


def _one_sided(graph: DecisionGraph, data: Dataset) -> Iterator[str]:
    one_sided = (graph.feature >= 0) & ~graph.passes & ~sides_taken(graph, data).all(axis=1)
    for node in np.flatnonzero(one_sided).tolist():
        yield f"all samples leave test {node} by one side, and it is not a pass-through"


def _weighted(graph: DecisionGraph, _: object) -> Iterator[str]:
    if not graph.is_univariate:
        yield "it tests weighted sums of features, and the shape asks for univariate tests"


def _narrow(graph: DecisionGraph, data: Dataset | None) -> Iterator[str]:
    """Tests whose two sides, on the samples that reach them, are less than the margin apart.

    Every test but a pass-through has samples on both sides: others were named before.
    """
    if data is None:
        return
    X = graph.tested(data.points.X)
    span = data.points.X.max(axis=0) - data.points.X.min(axis=0)
    visits = graph.route(data.points.X)
    for test in graph.tests():
        if test.passes:
            continue
        size = max(abs(span[column] * test.weight(column)) for column in test.columns)
        value = X[visits[:, test.node], graph.feature[test.node]]
        left = value <= test.threshold
        gap = value[~left].min() - value[left].max()
        if gap < _ENOUGH * float(MARGIN) * size:
            yield (
                f"the sides of test {test.node} are {gap / size:.2g} apart, less than the margin {float(MARGIN):g}"
            )


Faults = Callable[[DecisionGraph, Any], Iterator[str]]
OF_MODELS: dict[type[Shape], Faults] = {Tree: _outside_tree, Diagram: _outside_layers}
OF_TESTS: dict[str, Faults] = {UNIVARIATE: _weighted, MULTIVARIATE: _narrow}


@dataclass(frozen=True)
class Verified:
    """The exact value of a model and the violation of each requirement."""

    value: int | Fraction
    """Objective times ``question.scale``: whole, except for a ratio."""
    violations: dict[str, Fraction]
    misfit: str | None
    """Why the model does not have the shape asked for, or None."""

    @property
    def ok(self) -> bool:
        """Whether the model has the shape and satisfies every requirement exactly."""
        return self.misfit is None and not any(self.violations.values())


def verify(question: Question, graph: DecisionGraph) -> Verified:
    """Evaluate ``graph`` exactly on the question's data."""
    value = Fraction(question.objective.evaluate(graph, question.data)) * question.scale
    if value.denominator != 1 and question.objective.is_whole:
        raise AssertionError(f"objective scale {question.scale} leaves {value}: Objective.scale is wrong")
    violations = {
        label: _amount(requirement.violation(graph, question.data), label)
        for label, requirement in zip(question.labels, question.requirements, strict=True)
    }
    kept = value.numerator if value.denominator == 1 else value
    return Verified(kept, violations, misfit(graph, question.shape, question.data))


def _amount(violation: Any, label: str) -> Fraction:
    """A violation as an exact number. Raises SpecError if it is none, or negative."""
    try:
        amount = Fraction(violation)
    except (TypeError, ValueError, OverflowError):
        amount = Fraction(-1)
    if amount >= 0:
        return amount
    raise SpecError(
        f"violation() of {label} returns {violation!r}",
        cause="it is 0 where a model satisfies the requirement, and else an amount by which it does not",
        fix="return a number of at least 0, such as max(0, used - most)",
    )


def judge_candidate(
    question: Question, graph: DecisionGraph, *, is_point: bool = False
) -> tuple[DecisionGraph, Verified]:
    """A candidate in the form in which it is kept, and the judgement of that form.

    That is the graph without the tests that decide nothing, if that one is admissible; else the normal form of the
    graph as given. A requirement, or the layers of a diagram, may need a test that changes no prediction. See
    "Admissible models" in the design documents.

    The second one that is returned says whether the first one is admissible. ``is_point``: whether a point that
    satisfies all rows of the question's own formulation stands for the graph, so that it satisfies the question's
    restriction.
    """
    own_leaves = question.shape.own_leaves
    simple = _adapted(
        question, normalised(graph.simplified(question.data), question.data, own_leaves=own_leaves)
    )
    is_same = simple.n_nodes == graph.n_nodes
    judged = _judged(question, simple, is_point=is_point and is_same)
    if judged.ok or is_same:
        return simple, judged
    whole = _adapted(question, normalised(graph, question.data, own_leaves=own_leaves))
    return whole, _judged(question, whole, is_point=is_point)


def _judged(question: Question, graph: DecisionGraph, *, is_point: bool) -> Verified:
    """The judgement of a graph, its restriction included."""
    judged = verify(question, graph)
    if not judged.ok or is_point or question.restriction is None:
        return judged
    outside = question.restriction.misfit(
        graph, question.data, question.shape, question.objective, question.requirements
    )
    return replace(judged, misfit=outside)


def _adapted(question: Question, graph: DecisionGraph) -> DecisionGraph:
    """The model in the form that the requirements want; it decides the same on the data."""
    for requirement in question.requirements:
        graph = requirement.adapted(graph, question.data)
    return graph
