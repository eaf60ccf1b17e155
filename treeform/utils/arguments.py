"""Calls with wrong arguments: what Python says of them as an error of ours, with the parameter that was meant."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, ParamSpec, TypeVar

from treeform.errors import CallError, FormerName, TreeformError, did_you_mean
from treeform.utils.text import count_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", bound=type)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def whole_number(value: object) -> int | None:
    """A whole number of Python or NumPy as an int; None if it is none, as True is not."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def clear_call(function: Callable[P, R]) -> Callable[P, R]:
    """A function that refuses missing, unknown and surplus arguments with a `CallError`.

    Arguments are looked at only where Python has refused the call, so that calls cost no more. Everything else that the
    function raises passes.
    """

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            refusal = None if isinstance(error, TreeformError) else _refusal(function, args, kwargs)
            if refusal is None:
                raise
        raise refusal

    return called


def clear_calls(kind: K) -> K:
    """A class whose constructor and public methods refuse wrong arguments as `clear_call` says."""
    for name, made in list(vars(kind).items()):
        public = name == "__init__" or not name.startswith("_")
        if inspect.isfunction(made) and public and not hasattr(made, "former_names"):
            setattr(kind, name, clear_call(made))
    return kind


def renamed(**former: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that takes parameters by former names, too, with a warning (`FormerName`) that names the new one.

    ``@renamed(k="at_most")``: ``k`` was renamed to ``at_most``. It refuses wrong arguments as `clear_call` does.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        clear = clear_call(function)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            if former.keys() & kwargs.keys():
                kwargs = current_names(called, kwargs, _called(function, args), stacklevel=3)  # type: ignore[assignment]
            return clear(*args, **kwargs)

        setattr(called, "former_names", former)  # noqa: B010 (mypy knows no attributes of functions)
        return called

    return decorate


def renamed_fields(**former: str) -> Callable[[K], K]:
    """A dataclass that takes fields by former names, too; see `renamed`."""

    def decorate(kind: K) -> K:
        made: Callable[..., None] = vars(kind)["__init__"]
        setattr(kind, "__init__", renamed(**former)(made))  # noqa: B010 (mypy refuses to assign a method)
        return kind

    return decorate


def current_names(
    function: Callable[..., Any], given: Mapping[str, T], owner: str, stacklevel: int = 2
) -> dict[str, T]:
    """Arguments by the present names of their parameters; former ones get a `FormerName` warning.

    ``owner`` is what the message calls the function.

    Raises CallError if one parameter is given by both names.
    """
    former: Mapping[str, str] = getattr(function, "former_names", {})
    made: dict[str, T] = {}
    for name, value in given.items():
        now = former.get(name, name)
        if now in made:
            raise CallError(f"{now} is given twice", cause=f"{name} is its former name", fix=f"give {now} only")
        if now != name:
            text = f"the parameter {name} of {owner} is called {now} now"
            warnings.warn(text, FormerName, stacklevel=stacklevel + 1)
        made[now] = value
    return made


_MEANT = {
    "timeout": "time_limit",
    "max_time": "time_limit",
    "n_jobs": "threads",
    "callback": "on_progress",
    "tolerance": "within",
    "tol": "within",
    "epsilon": "within",
}
"""Names that other packages have for parameters that many calls here take."""


@functools.cache
def public(found: Any) -> Any:
    """A function that refuses wrong arguments; a class whose constructor does; anything else as it is."""
    if inspect.isfunction(found):
        return clear_call(found)
    if not inspect.isclass(found) or issubclass(found, enum.Enum | BaseException):
        return found
    made = found.__init__
    if inspect.isfunction(made) and not hasattr(made, "__wrapped__"):
        setattr(found, "__init__", clear_call(made))  # noqa: B010 (mypy refuses to assign a method)
    return found


def _called(function: Callable[..., Any], args: Any) -> str:
    """What a message calls a function; of a method, with the class that was called, not the one that it comes from."""
    if "." not in function.__qualname__ or not args:
        return ".".join(function.__qualname__.split(".")[-2:])
    owner = type(args[0]).__name__
    return owner if function.__name__ == "__init__" else f"{owner}.{function.__name__}"


def unknown_parameter(
    owner: str, given: Mapping[str, object], known: Sequence[str], elsewhere: Mapping[str, str]
) -> CallError | None:
    """What is wrong with the first name that ``owner`` does not know; None where it knows them all.

    ``elsewhere`` says what to write in place of a parameter that others have and this one has not.
    """
    for name, value in given.items():
        if name not in known:
            stated = elsewhere.get(name, "")
            if _is_positive(value):  # in the place of the example's number, as in MinSupport(20)
                stated = re.sub(r"(?<=\()\d+(?=\))", str(value), stated)
            meant = _MEANT.get(name)
            if not stated and meant in known:
                stated = f"use {meant}={value!r}" if _is_positive(value) else f"use {meant}=..."
            return CallError(
                f"{owner} has no parameter {name!r}",
                cause=f"it takes {', '.join(known)}" if known else "it takes no arguments",
                fix=stated or did_you_mean(name, known) or f"leave out {name}",
            )
    return None


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _refusal(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> CallError | None:
    """What is wrong with the arguments; None where they fit, so that the fault is somewhere else."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    is_method = "." in function.__qualname__
    name = _called(function, args)
    parameters = list(signature.parameters.values())[1 if is_method else 0 :]
    named = [one.name for one in parameters if one.kind in _BY_NAME]
    takes = f"it takes {', '.join(named)}" if named else "it takes no arguments"
    elsewhere = getattr(type(args[0]), "parameters_elsewhere", {}) if args else {}
    unknown = unknown_parameter(name, kwargs, named, elsewhere)
    if unknown is not None:
        return unknown
    given = set(named[: len(args) - is_method]) | set(kwargs)
    lacking = [
        one.name
        for one in parameters
        if one.kind in _BY_NAME and one.default is inspect.Parameter.empty and one.name not in given
    ]
    if lacking:
        return CallError(
            f"{name} needs {' and '.join(lacking)}", cause=takes, fix=f"give {_example(lacking[0])}"
        )
    positional = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    twice = [key for key in kwargs if key in positional[: len(args) - is_method]]
    if twice:
        return CallError(f"{name} is given {twice[0]} twice", cause=takes, fix="give it once")
    return CallError(
        f"{name} takes {'at most ' if positional else ''}{count_of(len(positional), 'argument')} by position "
        f"and was given {len(args) - is_method}",
        cause=takes,
        fix="name the others: parameter=value",
    )


_EXAMPLES = {
    "shape": "shape=tf.Tree(depth=3)",
    "depth": "tf.Tree(depth=3)",
    "y": "the labels, or the name of the target's column, after the table",
    "X": "a table and its target: tf.Problem(table, 'target', shape=tf.Tree(depth=3))",
    "over": "over=tf.StatisticalParity(groups='sex', difference=None), or another requirement",
}


def _example(name: str) -> str:
    return _EXAMPLES.get(name, f"{name}=...")
