"""Commands that state a problem: the options that all of them take, gathered with the specification file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from treeform.cli import options as opt
from treeform.cli.problems import gather
from treeform.cli.spec import OF_FIT, Settings, Stated

T = TypeVar("T")


def shared_options(without: Container[str] = OF_FIT) -> list[inspect.Parameter]:
    """The options that state a problem, but for those named."""
    hints = get_type_hints(Stated, include_extras=True)
    hints |= {"require": opt.Require, "spec": opt.SpecFile}
    data, target, shape, *others = Stated.model_fields
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[name])
        for name in (data, target, shape, "require", *others, "spec")
        if name not in without
    ]


def _settings(require: list[str] | None = None, spec: Path | None = None, **given: Any) -> Settings:
    """The settings that the options make; a list that is empty, and a switch that is off, are not given."""
    stated = {name: value for name, value in given.items() if value is not False and value != []}
    return gather(spec, Settings.model_construct(**stated), require or [])


def states_problem(*without: str, of_fit: bool = False) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Give a command the options that state a problem, and call it with the `Settings` that they make.

    The decorator is for a function whose first parameter is ``settings``; its other parameters are options of its own,
    or groups of options: data classes whose fields are options. Options ``without`` use for the command are left out;
    those that are for `fit` only are there with ``of_fit``.
    """
    shared = shared_options((*without, *(() if of_fit else OF_FIT)))

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @functools.wraps(function)
        def run(**given: Any) -> T:
            settings = _settings(**{p.name: given.pop(p.name) for p in shared})
            for name, group in groups.items():
                given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
            return function(settings, **given)

        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        groups: dict[str, Any] = {p.name: p.annotation for p in own if is_dataclass(p.annotation)}
        single = [one for p in own for one in (_options_of(groups[p.name]) if p.name in groups else [p])]
        keyword = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in sorted([*shared, *single], key=lambda p: p.default is not inspect.Parameter.empty)
        ]
        opt.accept(run, keyword)
        return run

    return decorate


def _options_of(group: Any) -> list[inspect.Parameter]:
    """The options that the fields of a data class are."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
        )
        for one in fields(group)
    ]
