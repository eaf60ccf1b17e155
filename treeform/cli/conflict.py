"""The command ``treeform conflict``: which requirements cannot hold together, and how far each would have to move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable, write_text
from treeform.cli.messages import Exit
from treeform.cli.problems import choose_how, gather, load_problem
from treeform.cli.spec import Settings


def conflict(
    data: opt.MaybeData = None,
    target: opt.Target = None,
    shape: opt.Shape = None,
    require: opt.Require = None,
    minimize: opt.Minimize = None,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    time_limit: opt.TimeLimit = None,
    exclude: opt.Exclude = None,
    weight: opt.Weight = None,
    spec: opt.SpecFile = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the conflict and its certificates here (JSON)."),
    ] = None,
    import_: opt.Import = None,
    debug: opt.Debug = False,
) -> Exit:
    """Which requirements cannot hold together, and the smallest relaxation of each that would do.

    Exit codes: 0 some model satisfies all requirements, 3 a conflict is proved, 4 neither within the time.

    Example: treeform conflict examples/data/german-credit.csv --target creditworthy --shape tree:2
    --require min_support:0.2 --require max_errors:0.27
    """
    given = Settings(
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, time_limit=time_limit,
    )  # fmt: skip
    settings = gather(spec, given, require or [])
    if output is not None:
        check_writable([output], inputs=[path for path in (settings.data, spec) if path is not None])
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    conflict_found = problem.conflict(how.solver, formulation=how.formulation, time_limit=settings.time_limit)
    if conflict_found is None:
        print("no conflict: some model satisfies all requirements")
        return Exit.DONE
    if output is not None:
        write_text(output, json.dumps(conflict_found.to_json(), indent=1) + "\n")
    print(conflict_found)
    return Exit.INFEASIBLE if conflict_found.proved else Exit.NO_MODEL
