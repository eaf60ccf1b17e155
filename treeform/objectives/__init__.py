"""Objectives beyond counting errors: class by class, group by group, the F1 score, and losses of regression."""

from treeform.objectives.abstain import AbstainCost
from treeform.objectives.balanced import BalancedError
from treeform.objectives.f1 import F1Loss
from treeform.objectives.group_error import GroupError, MaxGroupError
from treeform.objectives.regression import AbsoluteError, SquaredError
from treeform.objectives.soft import Soft

__all__ = [
    "AbsoluteError",
    "AbstainCost",
    "BalancedError",
    "F1Loss",
    "GroupError",
    "MaxGroupError",
    "Soft",
    "SquaredError",
]
