"""Requirements: what every admissible model satisfies, stated once for all formulations and solvers."""

from __future__ import annotations

from treeform.requirements.confusion import MaxFalsePositiveRate as MaxFalsePositiveRate
from treeform.requirements.confusion import MinPrecision as MinPrecision
from treeform.requirements.confusion import MinRecall as MinRecall
from treeform.requirements.confusion import MinSpecificity as MinSpecificity
from treeform.requirements.coverage import MinCoverage as MinCoverage
from treeform.requirements.excluded import NoTestOn as NoTestOn
from treeform.requirements.fairness import AccuracyParity as AccuracyParity
from treeform.requirements.fairness import ConditionalParity as ConditionalParity
from treeform.requirements.fairness import EqualizedOdds as EqualizedOdds
from treeform.requirements.fairness import EqualOpportunity as EqualOpportunity
from treeform.requirements.fairness import PredictiveEquality as PredictiveEquality
from treeform.requirements.fairness import StatisticalParity as StatisticalParity
from treeform.requirements.feature_cost import FeatureCost as FeatureCost
from treeform.requirements.features import FeatureBudget as FeatureBudget
from treeform.requirements.features import Monotone as Monotone
from treeform.requirements.group_error import GroupErrorAtMost as GroupErrorAtMost
from treeform.requirements.groups import Groups as Groups
from treeform.requirements.interaction import Interaction as Interaction
from treeform.requirements.max_cost import MaxCost as MaxCost
from treeform.requirements.mean_parity import MeanParity as MeanParity
from treeform.requirements.on_rows import OnRows as OnRows
from treeform.requirements.parsimony import MaxDepth as MaxDepth
from treeform.requirements.parsimony import MaxLeaves as MaxLeaves
from treeform.requirements.parsimony import MaxNodes as MaxNodes
from treeform.requirements.path_order import Below as Below
from treeform.requirements.path_order import MaxTestsPerPath as MaxTestsPerPath
from treeform.requirements.path_order import OncePerPath as OncePerPath
from treeform.requirements.performance import MaxErrors as MaxErrors
from treeform.requirements.performance import MustClassifyRight as MustClassifyRight
from treeform.requirements.stability import MinSupport as MinSupport
from treeform.requirements.stability import Stability as Stability
from treeform.requirements.tested import Exclusive as Exclusive
from treeform.requirements.tested import Uses as Uses
from treeform.requirements.thresholds import MaxThresholds as MaxThresholds
from treeform.requirements.updates import Fix as Fix
from treeform.requirements.updates import StayCloseTo as StayCloseTo

__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))
