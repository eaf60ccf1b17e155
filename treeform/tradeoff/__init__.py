"""The least error for every number of tests, and the curve over depth, tests and errors."""

from __future__ import annotations

from treeform.tradeoff.fill import fill_size_table
from treeform.tradeoff.pareto import Pareto, ParetoPoint, curve
from treeform.tradeoff.size_table import PriceOptimum, SizeRow, SizeTable

__all__ = ["Pareto", "ParetoPoint", "PriceOptimum", "SizeRow", "SizeTable", "curve", "fill_size_table"]
