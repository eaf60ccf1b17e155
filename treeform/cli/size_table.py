"""The command ``treeform size-table``: the least error for every number of tests, and the optima at given prices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.messages import Exit
from treeform.cli.spec import Settings
from treeform.cli.tradeoff import run_tradeoff
from treeform.problem import Problem
from treeform.tradeoff.size_table import SizeTable


def size_table(
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
    categorical: opt.Categorical = None,
    missing: opt.Missing = None,
    dates: opt.Dates = None,
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
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None,
        categorical=tuple(categorical) if categorical else None, missing=missing, dates=dates, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, warm_start=warm_start, time_limit=time_limit,
        threads=threads,
    )  # fmt: skip
    table: SizeTable = run_tradeoff(
        Problem.size_table, spec, given, require, output, quiet, prices=price, alphas=alpha
    )
    print(table)
    _show_prices(table, alpha or [], price or [])
    return Exit.NO_MODEL if table.rows[-1].graph is None and table.rows[-1].lower is not None else Exit.DONE


def _show_prices(table: SizeTable, alphas: list[str], prices: list[str]) -> None:
    for alpha in alphas:
        print(f"alpha {alpha}: {table.at_alpha(alpha)}")
    for price in prices:
        print(table.at(price))
