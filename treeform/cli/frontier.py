"""The command ``treeform frontier``: the best model for every bound of one requirement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable
from treeform.cli.messages import Exit
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.tradeoff import refuse_threads_alone, requirement_of, run_tradeoff
from treeform.problem import Problem
from treeform.solve import Limit
from treeform.tradeoff.frontier import Frontier


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
        typer.Option("--to", help="The tightest bound (default: the tightest there is).", metavar="NUMBER"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write points, models and certificates here (JSON)."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curve here (.svg, .png or .pdf).")] = None,
    certificate: opt.FamilyCertificate = None,
    start: opt.Start = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """The exact trade-off between the objective and one requirement: every bound at which the best model changes.

    \b
    Example: treeform frontier examples/data/german-credit.csv --target creditworthy \\
               --shape tree:2 --exclude sex --over statistical_parity:groups=sex
    """
    refuse_threads_alone(settings)
    if plot is not None:
        check_writable([plot], inputs=settings.inputs)

    def trace(problem: Problem, *args: Any, **kwargs: Any) -> Frontier:
        return problem.frontier(*args, over=requirement_of(problem, over), **kwargs)

    curve: Frontier = run_tradeoff(
        trace,
        settings,
        output,
        quiet=quiet,
        verbose=verbose,
        certificate=certificate,
        start=start,
        between=(loosest, tightest),
    )
    if plot is not None:
        curve.plot().save(plot)
    print(curve)
    if curve.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    if curve.points:
        return Exit.DONE
    return Exit.INFEASIBLE if curve.complete else Exit.NO_MODEL
