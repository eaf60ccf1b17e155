"""Native engines by name."""

from __future__ import annotations

from treeform.engines import Engine
from treeform.errors import unknown_name
from treeform.utils.extensions import ENGINES, Extension, construct, extensions, find, parse_name


def engine_names() -> tuple[str, ...]:
    """The names that `find_engine` knows."""
    return tuple(one.name for one in extensions(ENGINES) if one.taken_by is None)


def load_engine(extension: Extension) -> type[Engine]:
    """The class of an entry in the group of engines. Raises SpecError if it cannot be loaded, or is no engine."""
    return extension.load_class(
        Engine,  # type: ignore[type-abstract]
        "a native engine is a class derived from treeform.engines.Engine",
        "derive it from Engine, and implement run()",
    )


def find_engine(name: str) -> Engine:
    """The engine of that name, with its usual settings or those that follow: ``"contree:max_gap=5"``.

    Raises SpecError if there is none, it cannot be loaded, or a setting is not possible.
    """
    plain, settings = parse_name(name)
    extension = find(ENGINES, plain)
    if extension is None:
        raise unknown_name(plain, engine_names(), "native engine", fix="use one of these names")
    return construct(load_engine(extension), plain, settings)
