"""Formulations by name: those of the entry-point group ``treeform.formulations``, ours like a stranger's."""

from __future__ import annotations

import difflib
from importlib.metadata import entry_points
from typing import Any

from treeform.errors import SpecError
from treeform.language.formulation import Formulation
from treeform.settings import construct, parse_name

GROUP = "treeform.formulations"


def formulation_names() -> dict[str, Any]:
    """The formulations installed here, ours and others', by entry-point name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def find_formulation(value: Formulation | type[Formulation] | str) -> Formulation:
    """A formulation from an instance, a class, or the name of an entry point, settings after a colon.

    Raises
    ------
    SpecError
        If the name is unknown (the message lists those that are installed) or a setting is.
    """
    if isinstance(value, Formulation):
        return value
    if isinstance(value, type) and issubclass(value, Formulation):
        return value()
    known = formulation_names()
    name, settings = parse_name(value) if isinstance(value, str) else ("", "")
    if name in known:
        made: Formulation = construct(known[name].load(), name, settings)
        return made
    close = difflib.get_close_matches(name or str(value), known, n=1)
    raise SpecError(
        f"there is no formulation {value!r}",
        cause=f"installed formulations: {', '.join(sorted(known)) or 'none'}",
        fix=f"did you mean {close[0]!r}?"
        if close
        else f"name one of them, or register yours in the group {GROUP!r}",
    )
