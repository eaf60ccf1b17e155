"""Objectives beyond counting errors: by class, by group, the F1 score, Matthews' correlation, losses of regression.

They are listed once, in `treeform.utils.extensions`, and imported on first use.
"""

from __future__ import annotations

from treeform.utils.extensions import BUILT_IN, OBJECTIVES
from treeform.utils.first_use import on_first_use

_HOMES = {name: home for home, _, name in (target.partition(":") for target in BUILT_IN[OBJECTIVES].values())}
__all__ = sorted(name for name, home in _HOMES.items() if home.startswith(f"{__name__}."))
__getattr__, __dir__ = on_first_use(__name__, {name: _HOMES[name] for name in __all__})
