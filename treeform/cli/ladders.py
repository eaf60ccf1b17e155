"""The command ``treeform ladder``: the least error for every number of tests, and what prices make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable, write_text
from treeform.cli.messages import Exit, err_console
from treeform.cli.problems import choose_how, gather, load_problem
from treeform.cli.progress import ProgressDisplay
from treeform.cli.spec import Settings
from treeform.solve import Ladder


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
    debug: opt.Debug = False,
) -> Exit:
    """The least error with at most m tests, for m = 0, 1, 2, ...: one table that answers every price of a test."""
    given = Settings(
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, warm_start=warm_start, time_limit=time_limit,
        threads=threads,
    )  # fmt: skip
    settings = gather(spec, given, require or [])
    if output is not None:
        check_writable([output], inputs=[path for path in (settings.data, spec) if path is not None])
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    with ProgressDisplay(err_console(), enabled=not quiet) as display:
        table = problem.ladder(
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            prices=price,
            alphas=alpha,
            on_progress=display,
        )
    print(table)
    _show_prices(table, alpha or [], price or [])
    if output is not None:
        write_text(output, json.dumps(table.to_json(), indent=1) + "\n")
    return Exit.NO_MODEL if table.rungs[-1].graph is None and table.rungs[-1].lower is not None else Exit.DONE


def _show_prices(table: Ladder, alphas: list[str], prices: list[str]) -> None:
    for alpha in alphas:
        print(f"alpha {alpha}: {table.at_alpha(alpha)}")
    for price in prices:
        print(table.at(price))
