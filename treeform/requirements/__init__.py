"""Requirements: what every admissible model satisfies, stated once for all formulations and solvers."""

from __future__ import annotations

from treeform.requirements.excluded import NoTestOn
from treeform.requirements.fairness import (
    ConditionalParity,
    EqualizedOdds,
    EqualOpportunity,
    PredictiveEquality,
    StatisticalParity,
)
from treeform.requirements.features import FeatureBudget, Monotone
from treeform.requirements.groups import Groups
from treeform.requirements.parsimony import MaxNodes
from treeform.requirements.performance import MaxErrors
from treeform.requirements.stability import MinSupport, Stability

__all__ = [
    "ConditionalParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "FeatureBudget",
    "Groups",
    "MaxErrors",
    "MaxNodes",
    "MinSupport",
    "Monotone",
    "NoTestOn",
    "PredictiveEquality",
    "Stability",
    "StatisticalParity",
]
