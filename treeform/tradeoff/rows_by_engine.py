"""Rows of a size table from the exact search over tests of one feature, which fills all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from treeform.catalogue.solvers import engine_or_backend, find_solver
from treeform.engines import DiagramSearch
from treeform.engines.relaxation import Relaxation, relax
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.question import Question, ceiling
from treeform.solve import schedule
from treeform.solve.choice import require_exact
from treeform.solve.result import SolveOptions
from treeform.tradeoff.size_table import SizeBounds
from treeform.utils.budget import Budget


def engine_for(question: Question, options: SolveOptions) -> DiagramSearch | None:
    """The native search that runs first; None where tests are hyperplanes, or another start is given.

    Raises SpecError if another native engine is named, or an engine with a formulation.
    """
    solver, formulation, warm_start = options.solver, options.formulation, options.warm_start
    named_solver, _ = engine_or_backend(solver)
    if named_solver is not None:
        filling = _filling(named_solver)
        if formulation is not None or filling is None:
            raise SpecError(
                f"{named_solver.name} fills no size table" + (" with a formulation" if formulation else ""),
                cause="of the native engines only DiagramSearch fills a size table, and without a formulation",
                fix="use tf.DiagramSearch(), or a solver such as tf.HiGHS()",
            )
        require_exact(question, named_solver)
        return filling
    if warm_start in (None, False, "none") or isinstance(warm_start, DecisionGraph):
        return None
    filling = DiagramSearch() if warm_start == "auto" else _filling(find_solver(warm_start))
    return None if filling is None or relax(question, filling) is None else filling


def _filling(solver: Any) -> DiagramSearch | None:
    """It as a search that fills a table."""
    return solver if isinstance(solver, DiagramSearch) else None


def enter_rows(
    bounds: SizeBounds,
    engine: DiagramSearch,
    relaxation: Relaxation,
    prices: list[Fraction] | None,
    free: int,
    seconds: float | None,
    stop: Callable[[], bool],
) -> Any:
    """Enter the bounds and models that `engine` finds at these prices; returns what ended it, None if it is done."""
    task = relaxation.task
    outcome = engine.size_table(
        bounds.question.data,
        bounds.question.shape,
        prices,
        free=free,
        cost=task.cost,
        min_support=task.min_support,
        min_flow=task.min_flow,
        max_nodes=task.max_nodes,
        start=list({id(row.graph): row.graph for row in bounds.rows if row.graph is not None}.values()),
        lower=_refuted(bounds, relaxation),
        time_limit=seconds,
        stop=stop,
    )
    for graph in outcome.graphs:
        if graph is not None:
            bounds.submit(graph)
    by = relaxation.named(engine.name)
    most = ceiling(bounds.question)
    for m in range(bounds.most + 1):
        lower = relaxation.lower(outcome.lower_of(m))
        bounds.raise_lower(m, lower if lower <= most else None, by)
    return outcome.reason


def _refuted(bounds: SizeBounds, relaxation: Relaxation) -> list[int]:
    """The proved bounds in the engine's units; a bound under requirements does not hold without them."""
    if not relaxation.exact:
        return []
    return [0 if lower is None else relaxation.at_least(lower) for lower in bounds.lower]


def enter_models_of_one_feature(bounds: SizeBounds, budget: Budget, report: Callable[[str], None]) -> None:
    """Models with tests of one feature are models with hyperplanes, where the margin allows them."""
    question = bounds.question
    single = question.shape.of_columns()
    engine = DiagramSearch()
    report(f"tests of one feature: {engine.name}")
    relaxation = relax(question.with_(shape=single), engine)
    if relaxation is None:
        return
    seconds = schedule.ONE_FEATURE.seconds(budget.remaining)
    outcome = engine.size_table(
        question.data, single, cost=relaxation.task.cost, time_limit=seconds, stop=budget.stop
    )
    for graph in outcome.graphs:
        if graph is not None:
            bounds.submit(graph)
