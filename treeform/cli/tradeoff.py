"""The commands ``size-table``, ``pareto``, ``frontier`` and ``conflict``, and what they share with others."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from treeform.cli import options as opt
from treeform.cli.files import Unwritten, check_writable
from treeform.cli.messages import Exit, warn
from treeform.cli.problems import How, choose_how, load_problem
from treeform.cli.progress import ProgressDisplay, err_console
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.errors import SpecError
from treeform.graph.svg import Drawing
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import parse
from treeform.problem import Problem
from treeform.solve import Limit
from treeform.tradeoff.conflict import Conflict
from treeform.tradeoff.frontier import Frontier
from treeform.tradeoff.pareto import Pareto
from treeform.tradeoff.size_table import SizeTable
from treeform.utils.budget import observe_steps
from treeform.utils.files import write_text
from treeform.utils.text import Caution


@dataclass(frozen=True)
class Shown:
    """What is shown, and where the answer goes."""

    output: opt.Output = None
    verbose: opt.Verbose = False
    quiet: opt.Quiet = False


@dataclass(frozen=True)
class Kept:
    """The certificate of a family of problems: where it goes, and that of an earlier run."""

    certificate: opt.FamilyCertificate = None
    start: opt.Start = None


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
    shown: Shown,
    show: Callable[[Any, Unwritten], Exit],
    kept: Kept | None = None,
    plot: Path | None = None,
    **more: Any,
) -> Exit:
    """Call a method of `Problem` that returns several models; show its answer, and then write what was asked for.

    ``method`` is called with the problem, the solver, and by keyword with what `Problem.size_table` takes; ``show``
    with the answer gives the code to end with, unless the search was interrupted or a file could not be written.
    """
    output, certificate = shown.output, None if kept is None else kept.certificate
    if kept is not None:
        more["start"] = kept.start
    check_writable([output, certificate, plot], inputs=settings.inputs)
    if plot is not None:
        Drawing.check(plot)
    with ProgressDisplay(err_console(), enabled=not shown.quiet, log=shown.verbose) as display:
        problem, how = read_problem(settings, display, verbose=shown.verbose)
        answer = method(
            problem,
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            on_progress=display,
            **more,
        )
    unwritten = Unwritten()
    try:
        code = show(answer, unwritten)
    finally:  # Ctrl-C while it is shown, or a reader who has gone, does not cost the answer
        if answer is not None:
            _write(answer, settings, output, certificate, unwritten)
    interrupted = answer is not None and answer.limit is Limit.INTERRUPTED
    return unwritten.end(Exit.INTERRUPTED if interrupted else code)


def _write(
    answer: Any, settings: Settings, output: Path | None, certificate: Path | None, unwritten: Unwritten
) -> None:
    """Write the answer as plain values, and its certificate, where files are given."""
    if output is not None:
        written = answer.to_json()
        if written.get("certificate") is not None:
            written["certificate"] = written["certificate"].with_weight(settings.weight)
        unwritten.write(write_text, output, json.dumps(written, indent=1) + "\n")
    if certificate is not None:
        unwritten.write(answer.certificate().with_weight(settings.weight).save, certificate)


def requirement_of(problem: Problem, text: str) -> Requirement | str:
    """A requirement of the problem by its name or label, or else one that the text describes."""
    names = {*problem.question.labels, *(requirement.name for requirement in problem.requirements)}
    return text if text in names else parse(text)


def refuse_threads_alone(settings: Settings) -> None:
    """Threads are those of one solver. Raises SpecError if threads are asked for and no solver is named."""
    if settings.threads is not None and settings.solver is None:
        raise SpecError(
            "--threads needs --solver here",
            cause="several solvers share the work when none is named",
            fix=f"name one, such as --solver cp-sat --threads {settings.threads}",
        )


@states_problem()
def size_table(
    settings: Settings,
    alpha: Annotated[
        list[str] | None,
        typer.Option(
            help="Solve for this alpha of the paper's objective (18). Repeatable.", metavar="NUMBER"
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(help="Solve for this price of a test, in units of the objective.", metavar="NUMBER"),
    ] = None,
    *,
    kept: Kept,
    shown: Shown,
) -> Exit:
    """The least error with at most m tests, for m = 0, 1, 2, ...: the optimum at every complexity penalty."""
    refuse_threads_alone(settings)

    def show(table: SizeTable, _: Unwritten) -> Exit:
        print(table)
        for one in alpha or ():
            print(f"alpha {one}: {table.at_alpha(one)}")
        for one in price or ():
            print(table.at(one))
        last = table.rows[-1]
        return Exit.NO_MODEL if last.graph is None and last.lower is not None else Exit.DONE

    return run_tradeoff(Problem.size_table, settings, shown, show, kept, prices=price, alphas=alpha)


@states_problem()
def pareto(settings: Settings, kept: Kept, shown: Shown) -> Exit:
    """The nondominated models in depth, number of tests and errors, up to a depth."""
    refuse_threads_alone(settings)

    def show(found: Pareto, _: Unwritten) -> Exit:
        print(found)
        return Exit.DONE if found.points else Exit.NO_MODEL

    return run_tradeoff(Problem.pareto, settings, shown, show, kept)


@states_problem()
def frontier(
    settings: Settings,
    over: Annotated[
        str,
        typer.Option(
            help="The requirement whose bound is moved, such as statistical_parity:groups=sex or max_nodes:7 (the "
            "number is ignored); or the name of one given with --require.",
            metavar="REQUIREMENT",
            show_default=False,
        ),
    ],
    loosest: Annotated[
        str | None, typer.Option("--from", help="The loosest bound (default: none).", metavar="NUMBER")
    ] = None,
    tightest: Annotated[
        str | None,
        typer.Option("--to", help="The tightest bound (default: the tightest possible).", metavar="NUMBER"),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curve here (.svg, .png or .pdf).")] = None,
    *,
    kept: Kept,
    shown: Shown,
) -> Exit:
    """The exact trade-off between the objective and one requirement: every bound at which the best model changes.

    \b
    Example: treeform frontier examples/data/german-credit.csv --target creditworthy \\
               --shape tree:2 --exclude sex --over statistical_parity:groups=sex
    """
    refuse_threads_alone(settings)

    def trace(problem: Problem, *args: Any, **kwargs: Any) -> Frontier:
        return problem.frontier(*args, over=requirement_of(problem, over), **kwargs)

    def show(curve: Frontier, unwritten: Unwritten) -> Exit:
        print(curve)
        if plot is not None:
            unwritten.write(curve.plot().save, plot)
        without = Exit.INFEASIBLE if curve.complete else Exit.NO_MODEL
        return Exit.DONE if curve.points else without

    return run_tradeoff(trace, settings, shown, show, kept, plot, between=(loosest, tightest))


@states_problem("warm_start")
def conflict(settings: Settings, shown: Shown) -> Exit:
    """Which requirements cannot hold together, and the smallest relaxation of each that suffices.

    Exit codes: 0 some model satisfies all requirements, 3 a conflict is proved, 4 neither within the time.

    \b
    Example: treeform conflict examples/data/german-credit.csv --target creditworthy \\
               --shape tree:2 --require min_support:0.2 --require max_errors:0.27
    """

    def explain(problem: Problem, solver: Any, *, warm_start: Any, **options: Any) -> Conflict | None:
        return problem.conflict(solver, **options)

    def show(found: Conflict | None, _: Unwritten) -> Exit:
        print("no conflict: some model satisfies all requirements" if found is None else found)
        if found is None:
            return Exit.DONE
        return Exit.INFEASIBLE if found.proved else Exit.NO_MODEL

    return run_tradeoff(explain, settings, shown, show)
