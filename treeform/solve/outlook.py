"""Whether a solver alone has a prospect of a proof, said before it starts."""

from __future__ import annotations

import warnings
from dataclasses import replace

from treeform.errors import TreeformWarning
from treeform.language.abilities import ColumnsOnDemand
from treeform.language.question import Question
from treeform.shape import Tree
from treeform.solve.choice import Plan
from treeform.solve.columns_on_demand import is_usual

LARGEST_PROVED = 6000
"""Distinct rows times test nodes, above which a warning is due: in one run of ``python -m benchmarks graph ladder``, on
a busy machine, solvers alone proved no tree under parity of this size that is stated node by node."""


def without_prospect(question: Question, plan: Plan) -> str | None:
    """Why the plan is not likely to prove anything, and what is; None where it may, or nothing better is known.

    Parameters
    ----------
    question : Question
    plan : Plan
    """
    alone = plan.backend is not None and plan.warm_engine is None and plan.start is None
    if not alone or plan.formulation is None or not isinstance(question.shape, Tree):
        return None
    if isinstance(plan.formulation, ColumnsOnDemand) or plan.formulation.name.startswith("sat-"):
        return None
    points, nodes = question.data.points.n_points, 2**question.shape.depth - 1
    if points * nodes <= LARGEST_PROVED or not is_usual(question):
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
