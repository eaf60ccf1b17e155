"""The same solver on more threads, or in a process of its own."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from treeform.backends.isolated import Isolated
from treeform.data.rows import setting_text
from treeform.errors import SpecError
from treeform.language.question import Question
from treeform.solve.choice import choose
from treeform.solve.options import SolveOptions


def on_threads(question: Question, options: SolveOptions, threads: int) -> SolveOptions:
    """The options with a solver that runs on so many threads; the one that would be chosen, where none is named.

    Raises
    ------
    SpecError
        If that solver has no such setting.
    """
    plan = choose(question, options)
    if plan.engine is None and plan.backend is None:
        return replace(options, warm_start=with_threads(plan.warm_engine, threads))
    return replace(options, solver=with_threads(plan.engine or plan.backend, threads))


def with_threads(solver: Any, threads: int) -> Any:
    """The same solver on so many threads.

    Raises
    ------
    SpecError
        If it has no such setting.
    """
    if isinstance(solver, Isolated):
        return Isolated(with_threads(solver.solver, threads), solver.memory_limit)
    kind = solver.__class__
    known = inspect.signature(kind).parameters
    if "threads" in known:
        kept = {key: getattr(solver, key) for key in known if hasattr(solver, key)}
        return kind(**{**kept, "threads": threads})
    if threads == 1:
        return solver
    raise SpecError(
        f"{solver.name} runs on one thread",
        cause="it has no setting for threads",
        fix=f"leave out {setting_text('threads', str(threads))}",
    )


def alone(question: Question, options: SolveOptions) -> Any:
    """The solver that the options lead to, in a process of its own; None where an engine of treeform is chosen."""
    plan = choose(question, replace(options, isolate=True))
    return options.solver if plan.backend is None else plan.backend
