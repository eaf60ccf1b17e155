"""What would be solved, in which stages, and by which route: sizes of every block, nothing is solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from treeform.bridges import route
from treeform.engines.relaxation import Relaxation
from treeform.language.formulation import Formulation
from treeform.language.question import Question
from treeform.solve.choice import Plan
from treeform.solve.columns_on_demand import GraphSearch, priced_part
from treeform.solve.driver import without_prospect
from treeform.solve.in_parts import first_part
from treeform.solve.ledger import Ledger
from treeform.solve.node import Node
from treeform.solve.pipeline import planned
from treeform.solve.result import PlannedStage
from treeform.solve.search import without
from treeform.utils.budget import Budget
from treeform.utils.text import count_of, exact_text

LIMITED = 10**6
"""Seconds of a run with a time limit, which has all stages."""

FIRST_STEP = 10
"""Seconds for what a formulation with columns on demand states at first; deep trees on many thresholds take hours."""


@dataclass(frozen=True)
class Explanation:
    """A printable account of stages, formulation, route and sizes."""

    head: str
    """One line: what is solved by what."""
    rows: tuple[tuple[Any, ...], ...]
    """``(block, kind, route, rows in the model, rows of the solver)``."""
    notes: tuple[str, ...] = ()
    """What was chosen for the user."""
    stages: tuple[PlannedStage, ...] = ()
    """What a solve does, in order, until the answer is proved: who does it, and what of the problem is left out
    there. Smaller shapes come in limited time only."""

    HEADER = ("block", "kind", "route", "rows", "rows to solver")

    def __str__(self) -> str:
        table = [self.HEADER, *[tuple(map(str, row)) for row in self.rows]] if self.rows else []
        widths = [max(len(row[i]) for row in table) for i in range(len(self.HEADER))] if table else []
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        stages = [f"{number}. {stage}" for number, stage in enumerate(self.stages, start=1)]
        title = ["stages, until the answer is proved:"] if stages else []
        return "\n".join([self.head, *lines, *self.notes, *title, *stages])


def explain_plan(question: Question, plan: Plan) -> Explanation:
    """Compile as a solve would, and report stages, route and sizes."""
    stages = planned(Node(Ledger(question, Budget(LIMITED)), plan))
    return replace(_explain(question, plan), stages=stages)


def _explain(question: Question, plan: Plan) -> Explanation:
    if plan.engine is not None:
        under = f" under {', '.join(question.labels)}" if question.labels else ""
        head = f"{plan.engine.name} solves the whole problem natively: {question.objective} over {question.shape}"
        return Explanation(head + under, (), plan.notes)
    if plan.backend is None:
        assert plan.warm_engine is not None
        return Explanation(f"{plan.warm_engine.name} alone: its bound and its models", (), plan.notes)
    assert plan.formulation is not None
    if plan.in_parts:
        question = first_part(question)
    prospect = without_prospect(question, plan)
    formulation, notes = plan.formulation, plan.notes + (() if prospect is None else (prospect,))
    part = priced_part(question) if formulation.columns_on_demand else None
    kept = frozenset[str]()
    if part is not None:
        step = _first_step(question, plan, part)
        if step is None:
            unknown = f"what it states at first is not known after {count_of(FIRST_STEP, 'second')}"
            return Explanation(f"{formulation.title} on {plan.backend.name}: {unknown}", (), notes)
        formulation, priced, kept = step
        notes = (*notes, *priced)
    stated = without(question, kept)
    compiled = formulation.compile(question.data, question.shape, question.objective, stated)
    model = compiled.model
    rows = route(plan.backend.capabilities).explain(model)
    head = (
        f"{formulation.title} on {plan.backend.name}: {count_of(model.n_cols, 'column')} in "
        f"{len(model.variables)} families, {count_of(len(model.blocks), 'block')} of rows"
    )
    return Explanation(head, tuple(tuple(row) for row in rows), notes)


def _first_step(
    question: Question, plan: Plan, part: Relaxation
) -> tuple[Formulation, tuple[str, ...], frozenset[str]] | None:
    """What a formulation with columns on demand states at first, what its prices show, and what needs no rows.

    None: it took too long.
    """
    assert plan.formulation is not None and plan.backend is not None
    budget = Budget(FIRST_STEP)
    search = GraphSearch(plan.formulation, plan.backend, Ledger(question, budget), budget, part)
    priced = search.price()
    step = None if priced is None or priced.infeasible else search.enlarged(priced)
    if priced is None or step is None:
        return None if budget.stop() else (plan.formulation, (), frozenset())
    lower = question.to_units(part.lower(priced.lower))
    graph, below = step.graph, question.to_units(part.lower(step.up_to + 1))
    rows = f" with {count_of(search.trees.n_rows, 'multiplier')}" if search.trees.n_rows else ""
    return (
        search.stated(graph),
        (
            f"the AND/OR graph of all trees, priced{rows}, shows that no model is below {exact_text(lower)}",
            f"stated first: {count_of(graph.n_nodes, 'node')} and {count_of(graph.n_alternatives, 'alternative')}, "
            f"all that models below {exact_text(below)} use; more only if none of them is admissible",
            *(f"{label}: every tree of the graph satisfies it" for label in sorted(search.kept)),
        ),
        search.kept,
    )
