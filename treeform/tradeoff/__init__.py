"""Trade-offs: the least error for every number of tests, over depth and tests, and for every bound of a requirement."""

from __future__ import annotations

from treeform.tradeoff.conflict import BoundNeeded, Conflict, explain_conflict
from treeform.tradeoff.fill import fill_size_table
from treeform.tradeoff.frontier import Frontier, FrontierPoint, SoftOptimum, trace_frontier
from treeform.tradeoff.listing import list_near_optimal
from treeform.tradeoff.near_optimal import Indispensable, Multiplicity, NearOptimal
from treeform.tradeoff.near_trees import NearModel
from treeform.tradeoff.pareto import Pareto, ParetoPoint, curve
from treeform.tradeoff.prices import Price, Prices
from treeform.tradeoff.size_table import PriceOptimum, SizeRow, SizeTable

__all__ = [
    "BoundNeeded",
    "Conflict",
    "Frontier",
    "FrontierPoint",
    "Indispensable",
    "Multiplicity",
    "NearModel",
    "NearOptimal",
    "Pareto",
    "ParetoPoint",
    "Price",
    "PriceOptimum",
    "Prices",
    "SizeRow",
    "SizeTable",
    "SoftOptimum",
    "curve",
    "explain_conflict",
    "fill_size_table",
    "list_near_optimal",
    "trace_frontier",
]
