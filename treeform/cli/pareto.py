"""The command ``treeform pareto``: the curve depth x tests x errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treeform.cli import options as opt
from treeform.cli.messages import Exit
from treeform.cli.spec import Settings
from treeform.cli.tradeoff import run_tradeoff
from treeform.problem import Problem
from treeform.tradeoff.pareto import Pareto


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
    threads: opt.Threads = None,
    exclude: opt.Exclude = None,
    categorical: opt.Categorical = None,
    missing: opt.Missing = None,
    dates: opt.Dates = None,
    weight: opt.Weight = None,
    spec: opt.SpecFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the curve and its models here (JSON).")
    ] = None,
    quiet: opt.Quiet = False,
    import_: opt.Import = None,
    debug: opt.Debug = False,
) -> Exit:
    """The models that no other one beats in depth, number of tests and errors at once, up to a depth."""
    given = Settings(
        data=data, target=target, weight=weight, exclude=tuple(exclude) if exclude else None,
        categorical=tuple(categorical) if categorical else None, missing=missing, dates=dates, shape=shape,
        minimize=minimize, formulation=formulation, solver=solver, warm_start=warm_start, time_limit=time_limit,
        threads=threads,
    )  # fmt: skip
    curve: Pareto = run_tradeoff(Problem.pareto, spec, given, require, output, quiet)
    print(curve)
    return Exit.DONE if curve.points else Exit.NO_MODEL
