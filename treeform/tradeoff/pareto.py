"""The Pareto curve depth x tests x errors (or loss): no model on it is at least as good in all three and better in one.

One family of problems: the size table (`treeform.tradeoff.fill`) of each depth is filled into it. Bounds of a greater
depth hold for the smaller ones, and models of a smaller depth are models of the greater ones.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from treeform.catalogue.solvers import find_solver
from treeform.certify.family import Family
from treeform.certify.family_certificate import enter_answer
from treeform.errors import BREAKDOWNS, SpecError, broke_down, is_breakdown
from treeform.graph import DecisionGraph
from treeform.language.losses import without_tests
from treeform.language.question import Question
from treeform.solve import schedule
from treeform.solve.choice import refuse_restriction
from treeform.solve.result import USUAL, Number, SolveOptions
from treeform.tradeoff.asking import told
from treeform.tradeoff.fill import fill_size_table
from treeform.tradeoff.size_table import SizeTable
from treeform.tradeoff.view import View, known_from
from treeform.utils.budget import Limit, interruptible, limit_of
from treeform.utils.rows import worded


@dataclass(frozen=True)
class ParetoPoint:
    """A model that no other model dominates."""

    depth: int
    tests: int
    value: Number
    """The objective, such as the number of errors."""
    graph: DecisionGraph
    proved: bool
    """Whether nothing with this depth and as many tests has a smaller value."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Pareto(View):
    """The curve, and the size tables that it is taken from.

    Attributes
    ----------
    tables : dict of int to SizeTable
        By depth, up to the first for which the time was not enough.
    """

    tables: dict[int, SizeTable]

    @property
    def depth(self) -> int:
        """The greatest depth, that of the shape."""
        return self.question.shape.depth

    @cached_property
    def points(self) -> tuple[ParetoPoint, ...]:
        """By depth, then tests."""
        family = self.family
        models = {(k.needs.depth or 0, k.needs.tests or 0, k.value): k.graph for k in reversed(family.models)}
        best = sorted(k for k in models if not any(o != k and all(map(operator.le, o, k)) for o in models))
        points = []
        for depth, tests, value in best:
            proof = family.lower(family.place(max(1, depth), tests))
            proved = proof is not None and proof.lower >= value
            points.append(ParetoPoint(depth, tests, value, models[depth, tests, value], proved))
        return tuple(points)

    def __str__(self) -> str:
        name = str(self.question.objective)
        lines = [f"{'depth':>5}  {'tests':>5}  {name:>10}"]
        for p in self.points:
            lines.append(
                f"{p.depth:>5}  {p.tests:>5}  {float(p.value):>10.6g}{'' if p.proved else '  (open)'}"
            )
        if not self.proved:
            first = next(d for d in range(1, self.depth + 1) if d not in self.tables or not self.tables[d].proved)
            depths = f"depth {first}" if first == self.depth else f"depth {first} to {self.depth}"
            lines.append(f"stopped ({self.limit}): better models of {depths} may exist")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The curve as plain values; numbers exact, as text."""
        return {
            **self._facts(),
            "proved": self.proved,
            "points": [
                {
                    "depth": p.depth,
                    "tests": p.tests,
                    "value": str(Fraction(p.value)),
                    "proved": p.proved,
                    "model": p.graph.to_json(),
                }
                for p in self.points
            ],
        }


def curve(question: Question, options: SolveOptions = USUAL, start: Any = None) -> Pareto:
    """Fill the curve; see `treeform.Problem.pareto`."""
    refuse_restriction(question, options, "a curve over depths")
    if not question.shape.own_leaves:
        raise SpecError(
            f"there is no curve over depths for {question.shape}",
            cause="its depths are those of trees",
            fix=f"use {worded('shape=tf.Tree(depth=k)', '--shape tree:k')}, where k is the largest depth",
        )
    if options.solver is not None and options.formulation is None and _only_clauses(options.solver):
        options = replace(options, formulation="sat-depth")
    family = Family(question.with_(objective=without_tests(question.objective)), by_tests=True, by_depth=True)
    for place, answer in known_from(start, Pareto, family):
        enter_answer(family, place, answer)
    budget = options.budget()
    tables: dict[int, SizeTable] = {}
    notes: list[str] = []
    broken: Limit | None = None
    last = question.shape.depth
    with interruptible(budget):
        for depth in range(1, last + 1):
            # The remaining time is shared equally among the remaining depths.
            share = schedule.equal_part(budget.remaining, last - depth + 1)
            report = told(options.on_progress, budget, f"depth {depth}", (depth - 1, last))
            try:
                tables[depth] = fill_size_table(
                    question.with_(shape=question.shape.at_depth(depth)),
                    replace(options, time_limit=share, on_progress=report),
                    family=family,
                )
            except BREAKDOWNS as error:
                if not (tables and is_breakdown(error)):
                    raise
                broken = limit_of(error)
                notes.append(f"depth {depth}: {broke_down(error)}")
                break
            if budget.stop() and family.lower(family.place(depth + 1)) is None:
                break
    stopped = budget.reason or broken or next((table.limit for table in tables.values() if table.limit), None)
    pareto = Pareto(family=family, seconds=budget.seconds, limit=stopped, notes=tuple(notes), tables=tables)
    return replace(pareto, limit=None) if pareto.proved else pareto


def _only_clauses(solver: Any) -> bool:
    named_solver = find_solver(solver)
    forms = getattr(getattr(named_solver, "capabilities", None), "forms", None)
    return forms is not None and all(form.kind.name != "LINEAR" for form in forms)
