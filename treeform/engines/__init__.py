"""The native engines: exact algorithms for trees, as plain values."""

from __future__ import annotations

from treeform.engines.binary import CADL85, DL85, Blossom
from treeform.engines.continuous_totals import ContinuousTotals
from treeform.engines.contree import ConTree
from treeform.engines.deep_trees import DeepTreeSearch
from treeform.engines.diagram import DiagramSearch
from treeform.engines.paths import PathSearch
from treeform.engines.regression import RegressionSearch
from treeform.engines.regression_task import RegressionTask
from treeform.engines.size_outcome import SizeOutcome
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.engines.totals import TotalsSearch

__all__ = [
    "CADL85",
    "DL85",
    "Blossom",
    "ConTree",
    "ContinuousTotals",
    "DeepTreeSearch",
    "DiagramSearch",
    "Engine",
    "EngineOutcome",
    "EngineRun",
    "PathSearch",
    "RegressionSearch",
    "RegressionTask",
    "SizeOutcome",
    "TotalsSearch",
    "TreeTask",
]
