"""The command ``treeform pareto``: the curve depth x tests x errors."""

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


def pareto(
    data: opt.MaybeData = None,
    target: opt.Target = None,
    shape: opt.Shape = None,
    require: opt.Require = None,
    minimize: opt.Minimize = None,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    warm_start: opt.WarmStart = None,
    time_limit: opt.TimeLimit = None,
    exclude: opt.Exclude = None,
    weight: opt.Weight = None,
    spec: opt.SpecFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the curve and its models here (JSON).")
    ] = None,
    quiet: opt.Quiet = False,
    debug: opt.Debug = False,
) -> Exit:
    """The models that no other one beats in depth, number of tests and errors at once, up to a depth."""
    given = Settings(
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, warm_start=warm_start, time_limit=time_limit,
    )  # fmt: skip
    settings = gather(spec, given, require or [])
    if output is not None:
        check_writable([output], inputs=[path for path in (settings.data, spec) if path is not None])
    problem = load_problem(settings)
    how = choose_how(problem, settings)
    with ProgressDisplay(err_console(), enabled=not quiet) as display:
        found = problem.pareto(
            how.solver,
            formulation=how.formulation,
            warm_start=how.warm_start,
            time_limit=settings.time_limit,
            on_progress=display,
        )
    print(found)
    if output is not None:
        write_text(output, json.dumps(found.to_json(), indent=1) + "\n")
    return Exit.DONE if found.points else Exit.NO_MODEL
