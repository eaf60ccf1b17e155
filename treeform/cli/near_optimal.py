"""The command ``treeform near-optimal``: all models that are almost as good as the best."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treeform.cli import options as opt
from treeform.cli.messages import Exit, exit_code
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.tradeoff import run_tradeoff
from treeform.problem import Problem
from treeform.solve import Limit
from treeform.tradeoff.near_optimal import NearOptimal


@states_problem("warm_start")
def near_optimal(
    settings: Settings,
    within: Annotated[
        str, typer.Option(help="The share of the optimum by which a model may be worse.", metavar="NUMBER")
    ] = "0.01",
    most: Annotated[int, typer.Option("--limit", help="Most models to list.", min=1)] = 1000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the models here (JSON).")
    ] = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """All models that are almost as good as the best, which columns they test, and which none can do without.

    Example: treeform near-optimal examples/data/german-credit.csv --target creditworthy --shape tree:2 --within 0.02
    """

    def listed(problem: Problem, solver: Any, *, warm_start: Any, **options: Any) -> NearOptimal:
        return problem.near_optimal(solver, within=within, limit=most, **options)

    found: NearOptimal = run_tradeoff(listed, settings, output, quiet=quiet, verbose=verbose)
    print(found)
    if found.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    return exit_code(found.best)
