"""Formulations by name: all of the entry-point group ``treeform.formulations``, whatever package they are from."""

from __future__ import annotations

from treeform.errors import SpecError, unknown_name
from treeform.language.formulation import Formulation
from treeform.utils.extensions import FORMULATIONS, Extension, extensions, find
from treeform.utils.settings import construct, parse_name


def formulation_names() -> tuple[str, ...]:
    """The formulations installed here, ours and others'."""
    return tuple(one.name for one in extensions(FORMULATIONS) if one.taken_by is None)


def find_formulation(value: Formulation | type[Formulation] | str) -> Formulation:
    """A formulation from an instance, a class, or the name of an entry point, settings after a colon.

    Raises
    ------
    SpecError
        If the name is unknown (the message lists those that are installed), what it names cannot be loaded, or a
        setting is not possible.
    """
    if isinstance(value, Formulation):
        return value
    if isinstance(value, type) and issubclass(value, Formulation):
        return value()
    name, settings = parse_name(value) if isinstance(value, str) else ("", "")
    extension = find(FORMULATIONS, name)
    if extension is None:
        fix = f"name one of them, or register yours in the entry-point group {FORMULATIONS!r}"
        raise unknown_name(value, formulation_names(), "formulation", fix=fix)
    return construct(_load(extension), name, settings)


def _load(extension: Extension) -> type[Formulation]:
    loaded = extension.load()
    if isinstance(loaded, type) and issubclass(loaded, Formulation):
        return loaded
    raise SpecError(
        f"{extension.target}, registered as the formulation {extension.name!r}, is no formulation",
        cause="a formulation is a class derived from treeform.language.formulation.Formulation",
        fix="derive it from Formulation, and implement decode()",
    )
