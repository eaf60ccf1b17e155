"""Requirements: what every admissible model satisfies, stated once for all formulations and solvers."""

from __future__ import annotations

from treeform.requirements.confusion import MaxFalsePositiveRate, MinPrecision, MinRecall, MinSpecificity
from treeform.requirements.coverage import MinCoverage
from treeform.requirements.excluded import NoTestOn
from treeform.requirements.fairness import (
    AccuracyParity,
    ConditionalParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    StatisticalParity,
)
from treeform.requirements.feature_cost import FeatureCost
from treeform.requirements.features import FeatureBudget, Monotone
from treeform.requirements.group_error import GroupErrorAtMost
from treeform.requirements.groups import Groups
from treeform.requirements.interaction import Interaction
from treeform.requirements.max_cost import MaxCost
from treeform.requirements.mean_parity import MeanParity
from treeform.requirements.on_rows import OnRows
from treeform.requirements.parsimony import MaxDepth, MaxLeaves, MaxNodes
from treeform.requirements.path_order import Below, MaxTestsPerPath, OncePerPath
from treeform.requirements.performance import MaxErrors, MustClassifyRight
from treeform.requirements.stability import MinSupport, Stability
from treeform.requirements.tested import Exclusive, Uses
from treeform.requirements.thresholds import MaxThresholds
from treeform.requirements.updates import Fix, StayCloseTo

__all__ = [
    "AccuracyParity",
    "Below",
    "ConditionalParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "Exclusive",
    "FeatureBudget",
    "FeatureCost",
    "Fix",
    "GroupErrorAtMost",
    "Groups",
    "Interaction",
    "MaxCost",
    "MaxDepth",
    "MaxErrors",
    "MaxFalsePositiveRate",
    "MaxLeaves",
    "MaxNodes",
    "MaxTestsPerPath",
    "MaxThresholds",
    "MeanParity",
    "MinCoverage",
    "MinPrecision",
    "MinRecall",
    "MinSpecificity",
    "MinSupport",
    "Monotone",
    "MustClassifyRight",
    "NoTestOn",
    "OnRows",
    "OncePerPath",
    "PredictiveEquality",
    "Stability",
    "StatisticalParity",
    "StayCloseTo",
    "Uses",
]
