"""What the commands share that answer with several models: ``size-table``, ``pareto``, ``frontier`` and others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.text import Text

from treeform.cli.files import check_writable
from treeform.cli.messages import err_console, warn
from treeform.cli.problems import How, choose_how, load_problem
from treeform.cli.progress import ProgressDisplay
from treeform.cli.spec import Settings
from treeform.errors import SpecError
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse
from treeform.problem import Problem
from treeform.utils.files import write_text
from treeform.utils.progress import observe_steps
from treeform.utils.text import Caution


def read_problem(settings: Settings, display: ProgressDisplay, *, verbose: bool) -> tuple[Problem, How]:
    """State the problem, and show how its table was read if ``verbose``."""
    display.begin(f"reading {settings.data}")
    with observe_steps(display.on_step):
        problem = load_problem(settings)
        how = choose_how(problem, settings)
    for note in problem.data.notes:
        if isinstance(note, Caution):
            warn(note)
    if verbose:
        err_console().print(Text(problem.data.summary().to_string()), soft_wrap=True)
    return problem, how


def run_tradeoff(
    method: Callable[..., Any],
    settings: Settings,
    output: Path | None,
    *,
    quiet: bool,
    verbose: bool,
    certificate: Path | None = None,
    **more: Any,
) -> Any:
    """Call a method of `Problem` that returns several models, and write its result and certificate if files are given.

    ``method`` is called with the problem, the solver, and by keyword with what `Problem.size_table` takes.
    """
    if files := [path for path in (output, certificate) if path is not None]:
        check_writable(files, inputs=settings.inputs)
    with ProgressDisplay(err_console(), enabled=not quiet, log=verbose) as display:
        problem, how = read_problem(settings, display, verbose=verbose)
        answer = method(
            problem,
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            on_progress=display,
            **more,
        )
    if output is not None and answer is not None:
        write_text(output, json.dumps(answer.to_json(), indent=1) + "\n")
    if certificate is not None and answer is not None:
        answer.certificate().with_weight(settings.weight).save(certificate)
    return answer


def requirement_of(problem: Problem, text: str) -> Requirement | str:
    """A requirement of the problem by its name or label, or else one that the text describes."""
    names = {*problem.question.labels, *(requirement.name for requirement in problem.requirements)}
    return text if text in names else parse(text)


def refuse_threads_alone(settings: Settings) -> None:
    """Threads are those of one solver.

    Raises
    ------
    SpecError
        If threads are asked for and no solver is named.
    """
    if settings.threads is not None and settings.solver is None:
        raise SpecError(
            "--threads needs --solver here",
            cause="several solvers share the work when none is named",
            fix=f"name one, such as --solver cp-sat --threads {settings.threads}",
        )
