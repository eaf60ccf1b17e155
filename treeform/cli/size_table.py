"""The command ``treeform size-table``: the least error for every number of tests, and the optima at given prices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.messages import Exit
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.tradeoff import refuse_threads_alone, run_tradeoff
from treeform.problem import Problem
from treeform.solve import Limit
from treeform.tradeoff.size_table import SizeTable


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
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table and its models here (JSON).")
    ] = None,
    certificate: opt.FamilyCertificate = None,
    start: opt.Start = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """The least error with at most m tests, for m = 0, 1, 2, ...: one table that answers every price of a test."""
    refuse_threads_alone(settings)
    table: SizeTable = run_tradeoff(
        Problem.size_table,
        settings,
        output,
        quiet=quiet,
        verbose=verbose,
        certificate=certificate,
        start=start,
        prices=price,
        alphas=alpha,
    )
    print(table)
    _show_prices(table, alpha or [], price or [])
    if table.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    return Exit.NO_MODEL if table.rows[-1].graph is None and table.rows[-1].lower is not None else Exit.DONE


def _show_prices(table: SizeTable, alphas: list[str], prices: list[str]) -> None:
    for alpha in alphas:
        print(f"alpha {alpha}: {table.at_alpha(alpha)}")
    for price in prices:
        print(table.at(price))
