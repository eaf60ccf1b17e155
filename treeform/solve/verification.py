"""Exact judgement of a candidate model: shape, objective and every requirement.

Where the candidate comes from does not matter; the status and objective of a solver are never read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from treeform.graph import DecisionGraph, normalised
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve.admissible import misfit


@dataclass(frozen=True)
class Verified:
    """The exact value of a model and what is left of each requirement."""

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
        label: Fraction(requirement.violation(graph, question.data))
        for label, requirement in zip(question.labels, question.requirements, strict=True)
    }
    kept = value.numerator if value.denominator == 1 else value
    return Verified(kept, violations, misfit(graph, question.shape, question.data))


def judge_candidate(
    question: Question, graph: DecisionGraph, *, is_point: bool = False
) -> tuple[DecisionGraph, Verified]:
    """A candidate in the form in which it is kept, and the judgement of that form.

    That is the graph without the tests that decide nothing, if that one is admissible; else the normal form of the
    graph as given. A requirement, or the layers of a diagram, may need a test that changes no prediction. See
    "Admissible models" in the design documents.

    Parameters
    ----------
    question : Question
    graph : DecisionGraph
        Any model, in normal form or not.
    is_point : bool
        Whether a point that satisfies all rows of the question's own formulation stands for the graph, so that it
        satisfies the question's restriction.

    Returns
    -------
    DecisionGraph, Verified
        The second one holds whether the first one is admissible.
    """
    own_leaves = isinstance(question.shape, Tree)
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
