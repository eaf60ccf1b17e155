"""The command ``treeform pareto``: the curve depth x tests x errors."""

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
from treeform.tradeoff.pareto import Pareto


@states_problem()
def pareto(
    settings: Settings,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the curve and its models here (JSON).")
    ] = None,
    certificate: opt.FamilyCertificate = None,
    start: opt.Start = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """The nondominated models in depth, number of tests and errors, up to a depth."""
    refuse_threads_alone(settings)
    found: Pareto = run_tradeoff(
        Problem.pareto, settings, output, quiet=quiet, verbose=verbose, certificate=certificate, start=start
    )
    print(found)
    if found.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    return Exit.DONE if found.points else Exit.NO_MODEL
