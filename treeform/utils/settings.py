"""Solvers and formulations from text, as the command line and stored settings name them: ``cp-sat:threads=2``.

Settings are the parameters of the class. Commas separate them, ``+`` separates the entries of a list, and
``none`` stands for None: ``contree:prune=neighbourhood+shrinking,memory_limit=1073741824``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from treeform.errors import SpecError, did_you_mean
from treeform.utils.arguments import current_names

T = TypeVar("T")


def parse_name(text: str) -> tuple[str, str]:
    """The name and the settings: ``"pyomo:cbc"`` has none, ``"dl85:threads=2"`` has ``"threads=2"``."""
    before, equals, _ = text.partition("=")
    if not equals:
        return text.strip(), ""
    name, colon, _ = before.rpartition(":")
    if not colon:
        raise SpecError(
            f"{text!r} cannot be read",
            cause="settings follow the name after a colon",
            fix="write for example cp-sat:threads=2",
        )
    return name.strip(), text[len(name) + 1 :]


def construct(
    make: Callable[..., T], name: str, settings: str, *, among: Callable[..., Any] | None = None
) -> T:
    """Call ``make`` with settings written as text.

    Parameters
    ----------
    make : callable
        A class, or what stands for it.
    name : str
        What messages call it.
    settings : str
        As `parse_name` gives them.
    among : callable, optional
        Whose parameters the settings are; by default those of ``make``.

    Raises
    ------
    SpecError
        If there is no such setting, or a value is not possible.
    """
    if not settings:
        return make()
    owner = among or make
    known = _parameters(owner)
    arguments: dict[str, Any] = {}
    for part in filter(None, settings.split(",")):
        key, equals, value = (side.strip() for side in part.partition("="))
        key = next(iter(current_names(getattr(owner, "__init__", owner), {key: None}, name)))
        if key not in known or not equals or key in arguments:
            raise _misread(name, part, key, known, twice=key in arguments)
        arguments[key] = _value(value, listed=isinstance(known[key].default, tuple))
    try:
        return make(**arguments)
    except SpecError:
        raise
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"{name}:{settings} is not possible", cause=str(error), fix=_example(name, known)
        ) from error


def _parameters(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {k: p for k, p in inspect.signature(make).parameters.items() if p.kind in kinds}


def _misread(
    name: str, part: str, key: str, known: dict[str, inspect.Parameter], *, twice: bool
) -> SpecError:
    what = f"{name} has no setting {key!r}" if key not in known else f"{part!r} gives {key} no value"
    return SpecError(
        f"{name} is given {key} twice" if twice else what,
        cause=f"its settings are {', '.join(known)}, each written setting=value" if known else "it has none",
        fix=(did_you_mean(key, known) if key not in known else None) or _example(name, known),
    )


def _example(name: str, known: dict[str, inspect.Parameter]) -> str:
    plain = [p for p in known.values() if isinstance(p.default, int | float | str)]
    return f"write for example {name}:{plain[0].name}={plain[0].default}" if plain else f"write {name} alone"


def _value(text: str, listed: bool) -> Any:
    """An int, a float, a truth value, None or the text itself; of a list, a tuple of them."""
    if listed:
        return tuple(_value(one, False) for one in text.split("+") if one.lower() not in ("", "none"))
    words: dict[str, Any] = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _value(text, True) if "+" in text else text
