"""Objectives beyond counting errors: by class, by group, the F1 score, Matthews' correlation, losses of regression.

They are listed once, in `treeform.utils.extensions`, and imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from treeform.utils.extensions import BUILT_IN, OBJECTIVES

_HOMES = {name: home for home, _, name in (target.partition(":") for target in BUILT_IN[OBJECTIVES].values())}
__all__ = sorted(name for name, home in _HOMES.items() if home.startswith(f"{__name__}."))


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
