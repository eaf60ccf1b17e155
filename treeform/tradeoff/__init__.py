"""Trade-offs: the least error for every number of tests, over depth and tests, and for every bound of a requirement."""

from __future__ import annotations

from treeform.utils.first_use import on_first_use

_HOMES = {
    "BoundNeeded": ".conflict",
    "Conflict": ".conflict",
    "Frontier": ".frontier",
    "FrontierPoint": ".frontier",
    "Indispensable": ".near_optimal",
    "Multiplicity": ".near_optimal",
    "NearModel": ".near_trees",
    "NearOptimal": ".near_optimal",
    "Pareto": ".pareto",
    "ParetoPoint": ".pareto",
    "Price": ".prices",
    "PriceOptimum": ".size_table",
    "Prices": ".prices",
    "SizeRow": ".size_table",
    "SizeTable": ".size_table",
    "SoftOptimum": ".frontier",
    "curve": ".pareto",
    "explain_conflict": ".conflict",
    "fill_size_table": ".fill",
    "list_near_optimal": ".listing",
    "trace_frontier": ".frontier",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = on_first_use(__name__, _HOMES)
