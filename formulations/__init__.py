"""Published formulations, written with treeform's public names only.

The folder stands beside ``treeform/`` and is imported as ``treeform.formulations``. Each formulation is
registered in the entry-point group ``treeform.formulations``, exactly as one from another package would be.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

if __name__ != "treeform.formulations":
    raise ImportError(
        f"this package is treeform.formulations and cannot be imported as {__name__!r}: "
        "write `from treeform.formulations import ODD` "
        "(and take the repository's root off the import path, or run from another folder)",
        name=__name__,
    )

_HOMES = {
    "ODD": "treeform.formulations.odd",
    "BendersOCT": "treeform.formulations.flow",
    "FlowOCT": "treeform.formulations.flow",
    "HypergraphFlow": "treeform.formulations.hypergraph",
    "SatDepth": "treeform.formulations.sat",
    "SatSize": "treeform.formulations.sat",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
