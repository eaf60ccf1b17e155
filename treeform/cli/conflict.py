"""The command ``treeform conflict``: which requirements cannot hold together, and how far each would have to move."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from treeform.cli import options as opt
from treeform.cli.messages import Exit
from treeform.cli.spec import Settings
from treeform.cli.stating import states_problem
from treeform.cli.tradeoff import run_tradeoff
from treeform.problem import Problem
from treeform.solve import Limit
from treeform.tradeoff.conflict import Conflict


@states_problem("warm_start")
def conflict(
    settings: Settings,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the conflict and its certificates here (JSON)."),
    ] = None,
    verbose: opt.Verbose = False,
    quiet: opt.Quiet = False,
) -> Exit:
    """Which requirements cannot hold together, and the smallest relaxation of each that suffices.

    Exit codes: 0 some model satisfies all requirements, 3 a conflict is proved, 4 neither within the time.

    \b
    Example: treeform conflict examples/data/german-credit.csv --target creditworthy \\
               --shape tree:2 --require min_support:0.2 --require max_errors:0.27
    """

    def explain(problem: Problem, solver: Any, *, warm_start: Any, **options: Any) -> Conflict | None:
        return problem.conflict(solver, **options)

    found: Conflict | None = run_tradeoff(explain, settings, output, quiet=quiet, verbose=verbose)
    if found is None:
        print("no conflict: some model satisfies all requirements")
        return Exit.DONE
    print(found)
    if found.limit is Limit.INTERRUPTED:
        return Exit.INTERRUPTED
    return Exit.INFEASIBLE if found.proved else Exit.NO_MODEL
