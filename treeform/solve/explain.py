"""What would be solved, and by which route: sizes of every block, nothing is solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treeform.bridges import route
from treeform.language.question import Question
from treeform.plural import count_of
from treeform.solve.choice import Plan
from treeform.solve.in_parts import first_part


@dataclass(frozen=True)
class Explanation:
    """A printable account of formulation, route and sizes.

    Attributes
    ----------
    head : str
        One line: what is solved by what.
    rows : tuple of tuple
        ``(block, kind, route, rows in the model, rows of the solver)``.
    """

    head: str
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()

    HEADER = ("block", "kind", "route", "rows", "rows to solver")

    def __str__(self) -> str:
        table = [self.HEADER, *[tuple(map(str, row)) for row in self.rows]] if self.rows else []
        widths = [max(len(row[i]) for row in table) for i in range(len(self.HEADER))] if table else []
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([self.head, *lines, *self.notes])


def explain_plan(question: Question, plan: Plan) -> Explanation:
    """Compile as a solve would, and report route and sizes."""
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
    compiled = plan.formulation.compile(
        question.data, question.shape, question.objective, question.requirements
    )
    model = compiled.model
    rows = route(plan.backend.capabilities).explain(model)
    head = (
        f"{plan.formulation.title} on {plan.backend.name}: {count_of(model.n_cols, 'column')} in "
        f"{len(model.variables)} families, {count_of(len(model.blocks), 'block')} of rows"
    )
    return Explanation(head, tuple(tuple(row) for row in rows), plan.notes)
