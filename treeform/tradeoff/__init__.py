"""The least error for every number of tests, and the curve over depth, tests and errors."""

from __future__ import annotations

from treeform.tradeoff.climb import climb_sizes
from treeform.tradeoff.pareto import Pareto, ParetoPoint, curve
from treeform.tradeoff.sizes import Ladder, Priced, Rung

__all__ = ["Ladder", "Pareto", "ParetoPoint", "Priced", "Rung", "climb_sizes", "curve"]
