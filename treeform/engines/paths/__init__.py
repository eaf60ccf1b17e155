"""The search for trees under rules on paths."""

from __future__ import annotations

from treeform.engines.paths.engine import PathSearch

__all__ = ["PathSearch"]
