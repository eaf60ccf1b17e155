"""Mutations of certificates: every field changed in turn, and the whole signed again.

A forger who can sign is assumed: a digest stops accidents only. What a check has to do with each mutation is to refuse
it, to find it false, or to take it on trust; where it says *verified*, the mutated certificate
has to be true.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeform.certify.certificate import sign

Path = tuple[str | int, ...]

METADATA = "metadata"
_WORDS = (
    ("tree", "diagram"),
    ("optimal", "feasible", "infeasible", "unknown"),
    ("upper", "lower", "infeasible"),
    ("lagrangian", "proof"),
    ("contree", "dl85", "diagram-search", "contree:max_gap=5"),
    ("sat-depth", "sat-size", "odd", "odd-paper"),
    ("increasing", "decreasing"),
    ("numeric", "boolean", "category"),
)


@dataclass(frozen=True)
class Mutation:
    """One change."""

    path: Path
    """Where in the certificate."""
    what: str
    """What was done there."""
    certificate: dict[str, Any]
    """The result, signed again."""

    @property
    def is_metadata(self) -> bool:
        """Whether the change is within what no check verifies, and says so by its key."""
        return METADATA in self.path

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {self.what}"


def mutations(certificate: dict[str, Any]) -> Iterator[Mutation]:
    """Every mutation of a certificate, one field at a time.

    Numbers move by one, exact numbers in text too; text gets another letter, or another word of the format; booleans
    flip; null becomes a value and a value null; entries of lists are dropped, repeated and swapped; keys are dropped
    and added.

    Parameters
    ----------
    certificate : dict
        From `treeform.Result.certificate`, through JSON.

    Yields
    ------
    Mutation
    """
    for path, changes in _changes(certificate, ()):
        if path and path[-1] == "digest" and path in (("digest",), ("model", "digest")):
            continue  # signed again below
        for what, change in changes:
            mutated = copy.deepcopy(certificate)
            mutated = _applied(mutated, path, change)
            if json.dumps(mutated) != json.dumps(certificate):  # 1, 1.0 and true are equal in Python
                yield Mutation(path, what, sign(mutated))


Change = Callable[[Any], Any]
_DROP = object()


def _changes(value: Any, path: Path) -> Iterator[tuple[Path, list[tuple[str, Change]]]]:
    if isinstance(value, dict):
        yield path, [("an unknown key", lambda old: {**old, "unknown": 1})]
        for key, inner in value.items():
            yield (*path, key), [(f"{key} dropped", lambda old: _DROP)]
            yield from _changes(inner, (*path, key))
    elif isinstance(value, list):
        yield path, list(_of_list(value))
        for index, inner in enumerate(value):
            yield from _changes(inner, (*path, index))
    else:
        yield path, [(f"{value!r} -> {new!r}", _constant(new)) for new in _others(value)]


def _of_list(value: list[Any]) -> Iterator[tuple[str, Change]]:
    yield "emptied", _constant([])
    for i in range(len(value)):
        yield f"entry {i} dropped", _constant([*value[:i], *value[i + 1 :]])
        yield f"entry {i} repeated", _constant([*value[: i + 1], *value[i:]])
        if i:
            swapped = [*value[: i - 1], value[i], value[i - 1], *value[i + 1 :]]
            yield f"entries {i - 1} and {i} swapped", _constant(swapped)


def _others(value: Any) -> list[Any]:
    """Other values for a number, a text, a boolean or null."""
    if value is None:
        return [0, 1, "0", "x", [], {}]
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value - 1, value + 1, -value, None, str(value), float(value)]
    if isinstance(value, float):
        return [value - 1, value + 1, -value, value + 1e-9, None]
    out: list[Any] = [value + "x", value[:-1], "", None]
    out += [other for words in _WORDS if value in words for other in words if other != value]
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        return out
    out += [
        str(number - 1),
        str(number + 1),
        str(-number),
        f"{2 * number.numerator}/{2 * number.denominator}",
    ]
    return out


def _constant(new: Any) -> Change:
    return lambda old: new


def _applied(body: dict[str, Any], path: Path, change: Change) -> dict[str, Any]:
    if not path:
        changed: dict[str, Any] = change(body)
        return changed
    at: Any = body
    for key in path[:-1]:
        at = at[key]
    new = change(at[path[-1]])
    if new is _DROP:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return body
