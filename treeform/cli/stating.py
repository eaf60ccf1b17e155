"""Commands that state a problem: the options that all of them take, gathered with the specification file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from treeform.cli import options as opt
from treeform.cli.problems import gather
from treeform.cli.spec import Settings

T = TypeVar("T")


def _stated(
    data: opt.MaybeData = None,
    target: opt.Target = None,
    shape: opt.Shape = None,
    require: opt.Require = None,
    minimize: opt.Minimize = None,
    ccp_alpha: opt.CcpAlpha = None,
    formulation: opt.FormulationName = None,
    solver: opt.SolverName = None,
    warm_start: opt.WarmStart = None,
    time_limit: opt.TimeLimit = None,
    threads: opt.Threads = None,
    isolate: opt.Isolate = None,
    exclude: opt.Exclude = None,
    categorical: opt.Categorical = None,
    missing: opt.Missing = None,
    dates: opt.Dates = None,
    abstain: opt.Abstain = None,
    weight: opt.Weight = None,
    weight_grid: opt.WeightGrid = None,
    sep: opt.Separator = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    spec: opt.SpecFile = None,
) -> Settings:
    """The options, and the settings that they make."""
    settings = Settings(
        data=data, target=target, weight=weight, exclude=_several(exclude), categorical=_several(categorical),
        missing=missing, dates=dates, abstain=abstain, weight_grid=weight_grid, shape=shape,
        minimize=minimize, ccp_alpha=ccp_alpha, formulation=formulation, solver=solver,
        warm_start=warm_start, time_limit=time_limit, threads=threads, isolate=isolate or None,
        sep=sep, decimal=decimal, encoding=encoding,
    )  # fmt: skip
    return gather(spec, settings, require or [])


def _several(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def states_problem(*without: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command the options that state a problem, and call it with the `Settings` that they make.

    Parameters
    ----------
    *without : str
        Options that the command has no use for.

    Returns
    -------
    decorator
        For a function whose first parameter is ``settings``; its other parameters are options of its own.
    """
    shared = [
        p for p in inspect.signature(_stated, eval_str=True).parameters.values() if p.name not in without
    ]

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(function)
        def run(**given: Any) -> T:
            settings = _stated(**{p.name: given.pop(p.name) for p in shared})
            return function(settings, **given)

        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        keyword = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in sorted([*shared, *own], key=lambda p: p.default is not inspect.Parameter.empty)
        ]
        opt.accept(run, keyword)
        return run

    return decorate
