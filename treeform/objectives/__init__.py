"""Objectives beyond counting errors: by class, by group, the F1 score, Matthews' correlation, losses of regression."""

from treeform.objectives.abstain import AbstainCost
from treeform.objectives.balanced import BalancedError
from treeform.objectives.f1 import F1Loss
from treeform.objectives.group_error import GroupError, MaxGroupError
from treeform.objectives.matthews import MatthewsLoss
from treeform.objectives.regression import AbsoluteError, SquaredError
from treeform.objectives.soft import Soft

__all__ = [
    "AbsoluteError",
    "AbstainCost",
    "BalancedError",
    "F1Loss",
    "GroupError",
    "MatthewsLoss",
    "MaxGroupError",
    "Soft",
    "SquaredError",
]
