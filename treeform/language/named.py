"""Collections of requirements: their names, and the same requirements with other parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treeform.errors import SpecError, did_you_mean
from treeform.language.component import parameters_of
from treeform.language.objective import Objective
from treeform.language.requirement import Requirement
from treeform.language.requirement_text import read
from treeform.utils.arguments import current_names


def _read(given: Any) -> Any:
    """A requirement that was given as text, as on the command line; anything else as it is."""
    return read(given) if isinstance(given, str) else given


def listed(requirements: Any) -> list[Requirement]:
    """The requirements as a list, whatever collection they came in."""
    if requirements is None:
        return []
    if isinstance(requirements, Mapping):
        requirements = requirements.values()
    several = isinstance(requirements, Iterable) and not isinstance(requirements, str)
    return list(requirements) if several else [requirements]


def held_or_paid(given: Any) -> list[Any]:
    """One requirement or several, and what stands in the objective in their place, as a list.

    Text is read as on the command line: ``"min_support:0.05"``.

    Raises SpecError if something else is among them.
    """
    several = isinstance(given, Iterable) and not isinstance(given, str | type | Mapping)
    many: list[Any] = [_read(one) for one in (given if several else [given])]
    for one in many:
        if not isinstance(one, Requirement | Objective):
            raise SpecError(
                f"{one!r} is no requirement",
                cause="requirements are instances of tf.Requirement",
                fix="use for example tf.MinSupport(0.05), or derive a class from tf.Requirement",
            )
    return many


def named(requirements: Any) -> dict[str, Requirement]:
    """Requirements by the names that parameters use: the user's, or those of their classes, numbered on repeats."""
    if isinstance(requirements, Mapping):
        return {str(name): _read(requirement) for name, requirement in requirements.items()}
    by_name: dict[str, Requirement] = {}
    for requirement in map(_read, listed(requirements)):
        base = name = getattr(requirement, "name", type(requirement).__name__)
        count = 1
        while name in by_name:
            count += 1
            name = f"{base}_{count}"
        by_name[name] = requirement
    return by_name


def with_parameters(requirements: Any, changes: Mapping[str, Any]) -> Any:
    """The same requirements, with new values for ``NAME__PARAMETER``.

    Raises SpecError if there is no such requirement or parameter.
    """
    current = named(requirements)
    by_name: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        name, _, parameter = key.partition("__")
        if name not in current:
            raise SpecError(
                f"requirements__{key} names no requirement",
                cause=f"it is requirements__NAME__PARAMETER, and there are {', '.join(current) or 'none'}",
                fix=_example(current) or "pass requirements first",
            )
        known = parameters_of(current[name])
        kind = type(current[name])
        parameter = next(iter(current_names(kind.__init__, {parameter: None}, kind.__name__)))
        if parameter not in known:
            raise SpecError(
                f"{name} has no parameter {parameter!r}",
                cause=f"it has {', '.join(known) or 'none'}",
                fix=did_you_mean(parameter, known) or _example(current),
            )
        by_name.setdefault(name, {})[parameter] = value
    made = {
        name: type(requirement)(**_changed(requirement, by_name[name])) if name in by_name else requirement
        for name, requirement in current.items()
    }
    return made if isinstance(requirements, Mapping) else list(made.values())


def _example(current: Mapping[str, Requirement]) -> str | None:
    """A parameter that can be set."""
    names = [f"requirements__{name}__{key}" for name, one in current.items() for key in parameters_of(one)]
    return f"set for example {names[0]}" if names else None


def _changed(requirement: Requirement, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters with some of them changed; of `alternatives` only the one that is set."""
    dropped = requirement.alternatives if set(requirement.alternatives) & set(changes) else ()
    kept = {key: value for key, value in parameters_of(requirement).items() if key not in dropped}
    return {**kept, **changes}
