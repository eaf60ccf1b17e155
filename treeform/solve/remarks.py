"""What the reader of an answer has to know: where its model abstains, tests on sensitive columns, bounds in floats.

Before a solver starts alone: whether it has a prospect of a proof.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from treeform.backends.run import CLAUSE, LINEAR
from treeform.errors import TreeformWarning
from treeform.graph import DecisionGraph
from treeform.language.abilities import ColumnsOnDemand
from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.requirements.groups import CROSSED, Groups
from treeform.solve.choice import Plan
from treeform.solve.columns_on_demand import is_usual


def remarks(question: Question, graph: DecisionGraph) -> list[str]:
    """Notes about a model that satisfies the question."""
    remarks = (term.remark(graph, question.data) for _, term in question.objective.terms)
    return [
        *(text for text in remarks if text is not None),
        *(text for one in question.requirements if (text := one.remark(question.data)) is not None),
        *_abstentions(question, graph),
        *_sensitive_tests(question, graph),
    ]


def _abstentions(question: Question, graph: DecisionGraph) -> Iterator[str]:
    data = question.data
    if data.abstain_code is not None:
        left = graph.predict_codes(data.X) == data.abstain_code
        share = 100 * int(data.weights[left].sum()) / data.total_weight
        yield f"the model abstains on {int(left.sum())} of {data.n_samples} rows, {share:.3g} % of the weight"


def _sensitive_tests(question: Question, graph: DecisionGraph) -> Iterator[str]:
    """One note for each requirement between groups whose column the model tests."""
    if not graph.is_univariate:
        return
    data = question.data
    for label, requirement in zip(question.labels, question.requirements, strict=True):
        for column in _columns(getattr(requirement, "groups", None)):
            tests = [
                t.node for t in graph.tests() if t.columns and data.columns[t.columns[0]].source == column
            ]
            if not tests:
                continue
            rests = all(_missed_without(requirement, question, graph, node) for node in tests)
            how = (
                "it is satisfied by treating groups differently" if rests else "it treats groups differently"
            )
            yield (
                f"warning: the model tests {column!r}, whose groups {label} compares: {how}; "
                f"exclude={[column]!r} (--exclude {column}) or NoTestOn({column!r}) forbids it"
            )


def _columns(groups: Any) -> list[str]:
    """The columns that groups are made of, as far as they have names."""
    name = groups.name if isinstance(groups, Groups) else groups
    return list(dict.fromkeys([name, *name.split(CROSSED)])) if isinstance(name, str) else []


def _missed_without(requirement: Requirement, question: Question, graph: DecisionGraph, node: int) -> bool:
    """Whether the requirement is missed when a test sends everything to one side, whichever."""
    values = question.data.X[:, int(graph.feature[node])]
    for threshold in (float(values.max()), float(np.nextafter(values.min(), -np.inf))):
        moved = graph.threshold.copy()
        moved[node] = threshold
        if requirement.violation(replace(graph, threshold=moved), question.data) == 0:
            return False
    return True


def within_tolerances(formulation: str, solver: str) -> str:
    """The note of a solver whose last bound stays below the best model by less than it computes."""
    return (
        f"{formulation} on {solver} ended with a bound within its tolerances of the best model, which proves no "
        "optimum: values of the objective are closer together than that"
    )


LARGEST_PROVED = 6000
"""Distinct rows times test nodes, above which a warning is due: in one run of ``python -m benchmarks graph ladder``, on
a busy machine, solvers alone proved no tree under parity of this size that is stated node by node."""
LARGEST_PROVED_BY_ONE_KIND = 1800
"""The same of solvers that take linear rows only, or no linear rows: in that run they proved none of 1,878."""


def without_prospect(question: Question, plan: Plan) -> str | None:
    """Why the plan is not likely to prove anything, and what is; None where it may, or nothing better is known.

    Parameters
    ----------
    question : Question
    plan : Plan
    """
    if plan.backend is None or plan.warm_engine is not None or plan.start is not None:
        return None
    if plan.formulation is None or not question.shape.own_leaves:
        return None
    if isinstance(plan.formulation, ColumnsOnDemand) or plan.formulation.name.startswith("sat-"):
        return None
    points, nodes = question.data.points.n_points, 2**question.shape.depth - 1
    takes_both = plan.backend.capabilities.forms >= {LINEAR, CLAUSE}
    if points * nodes <= (LARGEST_PROVED if takes_both else LARGEST_PROVED_BY_ONE_KIND) or not is_usual(
        question
    ):
        return None
    return (
        f"{plan.formulation.name} without a warm start is not likely to prove anything here: {points:,} distinct rows "
        f"and {nodes} test nodes; formulation='hypergraph-flow' states what trees below a cost use"
    )


def with_outlook(question: Question, plan: Plan) -> Plan:
    """The plan with a note where it has no prospect of a proof, and a warning at once."""
    prospect = without_prospect(question, plan)
    if prospect is None:
        return plan
    warnings.warn(prospect, TreeformWarning, stacklevel=2)
    return replace(plan, notes=(*plan.notes, prospect))
