"""The command ``treeform near-optimal``: all models that are almost as good as the best."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.files import check_writable, write_text
from treeform.cli.messages import Exit, exit_code
from treeform.cli.problems import choose_how, gather, load_problem
from treeform.cli.spec import Settings


def near_optimal(
    data: opt.MaybeData = None,
    target: opt.Target = None,
    shape: opt.Shape = None,
    within: Annotated[
        str, typer.Option(help="The share of the optimum by which a model may be worse.", metavar="NUMBER")
    ] = "0.01",
    most: Annotated[int, typer.Option("--limit", help="Most models to list.", min=1)] = 1000,
    require: opt.Require = None,
    minimize: opt.Minimize = None,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    time_limit: opt.TimeLimit = None,
    exclude: opt.Exclude = None,
    weight: opt.Weight = None,
    spec: opt.SpecFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the models here (JSON).")
    ] = None,
    import_: opt.Import = None,
    debug: opt.Debug = False,
) -> Exit:
    """All models that are almost as good as the best, which columns they test, and which none can do without.

    Example: treeform near-optimal examples/data/german-credit.csv --target creditworthy --shape tree:2 --within 0.02
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
    listing = problem.near_optimal(
        how.solver, formulation=how.formulation, within=within, limit=most, time_limit=settings.time_limit
    )
    if output is not None:
        write_text(output, json.dumps(listing.to_json(), indent=1) + "\n")
    print(listing)
    return exit_code(listing.best)
