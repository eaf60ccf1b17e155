"""The native engines: exact algorithms for trees, as plain values."""

from __future__ import annotations

from treeform.dp.base import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.dp.binary import CADL85, DL85, Blossom
from treeform.dp.contree import ConTree
from treeform.dp.diagram import DiagramHeuristic, DiagramSearch
from treeform.dp.rungs import NodeLadder
from treeform.errors import SpecError
from treeform.named import build, split

_ENGINES: dict[str, type[Engine]] = {
    engine.name: engine for engine in (ConTree, DL85, CADL85, Blossom, DiagramSearch, DiagramHeuristic)
}


def names() -> tuple[str, ...]:
    """The names that `by_name` knows."""
    return tuple(_ENGINES)


def by_name(name: str) -> Engine:
    """The engine of that name, with its usual settings or those that follow: ``"contree:max_gap=5"``.

    Raises
    ------
    SpecError
        If there is none, or a setting is not possible.
    """
    plain, settings = split(name)
    if plain not in _ENGINES:
        raise SpecError(
            f"there is no native engine {plain!r}",
            cause=f"the engines are {', '.join(_ENGINES)}",
            fix="use one of these names",
        )
    return build(_ENGINES[plain], plain, settings)


__all__ = [
    "CADL85",
    "DL85",
    "Blossom",
    "ConTree",
    "DiagramHeuristic",
    "DiagramSearch",
    "Engine",
    "EngineOutcome",
    "EngineRun",
    "NodeLadder",
    "TreeTask",
    "by_name",
    "names",
]
