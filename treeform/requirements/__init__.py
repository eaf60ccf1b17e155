"""Requirements: what every admissible model satisfies, stated once for all formulations and solvers."""

from __future__ import annotations

from treeform.requirements.confusion import MaxFalsePositiveRate, MinPrecision, MinRecall, MinSpecificity
from treeform.requirements.excluded import NoTestOn
from treeform.requirements.fairness import (
    AccuracyParity,
    ConditionalParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    StatisticalParity,
)
from treeform.requirements.features import FeatureBudget, Monotone
from treeform.requirements.group_error import GroupErrorAtMost
from treeform.requirements.groups import Groups
from treeform.requirements.parsimony import MaxNodes
from treeform.requirements.performance import MaxErrors, MustClassifyRight
from treeform.requirements.stability import MinSupport, Stability

__all__ = [
    "AccuracyParity",
    "ConditionalParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "FeatureBudget",
    "GroupErrorAtMost",
    "Groups",
    "MaxErrors",
    "MaxFalsePositiveRate",
    "MaxNodes",
    "MinPrecision",
    "MinRecall",
    "MinSpecificity",
    "MinSupport",
    "Monotone",
    "MustClassifyRight",
    "NoTestOn",
    "PredictiveEquality",
    "Stability",
    "StatisticalParity",
]
