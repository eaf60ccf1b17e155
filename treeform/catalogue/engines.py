"""Native engines by name."""

from __future__ import annotations

from treeform.engines import (
    CADL85,
    DL85,
    Blossom,
    ConTree,
    DiagramHeuristic,
    DiagramSearch,
    Engine,
    TotalsSearch,
)
from treeform.errors import SpecError
from treeform.settings import construct, parse_name

_ENGINES: dict[str, type[Engine]] = {
    engine.name: engine
    for engine in (ConTree, DL85, CADL85, Blossom, DiagramSearch, DiagramHeuristic, TotalsSearch)
}


def engine_names() -> tuple[str, ...]:
    """The names that `find_engine` knows."""
    return tuple(_ENGINES)


def find_engine(name: str) -> Engine:
    """The engine of that name, with its usual settings or those that follow: ``"contree:max_gap=5"``.

    Raises
    ------
    SpecError
        If there is none, or a setting is not possible.
    """
    plain, settings = parse_name(name)
    if plain not in _ENGINES:
        raise SpecError(
            f"there is no native engine {plain!r}",
            cause=f"the engines are {', '.join(_ENGINES)}",
            fix="use one of these names",
        )
    return construct(_ENGINES[plain], plain, settings)
