"""Trade-offs: the least error for every number of tests, over depth and tests, and for every bound of a requirement."""

from __future__ import annotations

from treeform.tradeoff.fill import fill_size_table
from treeform.tradeoff.frontier import Frontier, FrontierPoint
from treeform.tradeoff.pareto import Pareto, ParetoPoint, curve
from treeform.tradeoff.size_table import PriceOptimum, SizeRow, SizeTable
from treeform.tradeoff.tracing import trace_frontier

__all__ = [
    "Frontier",
    "FrontierPoint",
    "Pareto",
    "ParetoPoint",
    "PriceOptimum",
    "SizeRow",
    "SizeTable",
    "curve",
    "fill_size_table",
    "trace_frontier",
]
