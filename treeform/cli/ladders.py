"""The command ``treeform ladder``: the least error for every number of tests, and what prices make of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable, write_text
from treeform.cli.messages import Exit, err_console
from treeform.cli.problems import choose_how, gather, load_problem
from treeform.cli.progress import ProgressDisplay
from treeform.cli.spec import Settings
from treeform.errors import SpecError
from treeform.problem import Problem
from treeform.tradeoff.sizes import Ladder


def ladder(
    data: opt.MaybeData = None,
    target: opt.Target = None,
    shape: opt.Shape = None,
    alpha: Annotated[
        list[str] | None,
        typer.Option(
            help="Prove what this alpha of the paper's objective (18) needs. Repeatable.", metavar="NUMBER"
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(help="The same for a price per test, in units of the objective.", metavar="NUMBER"),
    ] = None,
    require: opt.Require = None,
    minimize: opt.Minimize = None,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    warm_start: opt.WarmStart = None,
    time_limit: opt.TimeLimit = None,
    threads: opt.Threads = None,
    exclude: opt.Exclude = None,
    weight: opt.Weight = None,
    spec: opt.SpecFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table and its models here (JSON).")
    ] = None,
    quiet: opt.Quiet = False,
    import_: opt.Import = None,
    debug: opt.Debug = False,
) -> Exit:
    """The least error with at most m tests, for m = 0, 1, 2, ...: one table that answers every price of a test."""
    given = Settings(
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, warm_start=warm_start, time_limit=time_limit,
        threads=threads,
    )  # fmt: skip
    table: Ladder = climb(Problem.ladder, spec, given, require, output, quiet, prices=price, alphas=alpha)
    print(table)
    _show_prices(table, alpha or [], price or [])
    return Exit.NO_MODEL if table.rungs[-1].graph is None and table.rungs[-1].lower is not None else Exit.DONE


def climb(
    way: Callable[..., Any],
    spec: Path | None,
    given: Settings,
    require: Sequence[str] | None,
    output: Path | None,
    quiet: bool,
    **more: Any,
) -> Any:
    """What a way of `Problem` to a table of models finds; it is written as JSON if a file is given.

    Raises
    ------
    SpecError
        If threads are asked for and no solver is named.
    """
    settings = gather(spec, given, require or [])
    if settings.threads is not None and settings.solver is None:
        raise SpecError(
            "--threads needs --solver here",
            cause="several solvers share the work when none is named",
            fix=f"name one, such as --solver cp-sat --threads {settings.threads}",
        )
    if output is not None:
        check_writable([output], inputs=[path for path in (settings.data, spec) if path is not None])
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    with ProgressDisplay(err_console(), enabled=not quiet) as display:
        found = way(
            problem,
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            on_progress=display,
            **more,
        )
    if output is not None:
        write_text(output, json.dumps(found.to_json(), indent=1) + "\n")
    return found


def _show_prices(table: Ladder, alphas: list[str], prices: list[str]) -> None:
    for alpha in alphas:
        print(f"alpha {alpha}: {table.at_alpha(alpha)}")
    for price in prices:
        print(table.at(price))
