"""Objectives beyond counting errors: class by class, group by group, and the F1 score."""

from treeform.objectives.balanced import BalancedError
from treeform.objectives.f1 import F1Loss
from treeform.objectives.group_error import GroupError, MaxGroupError
from treeform.objectives.soft import Soft

__all__ = ["BalancedError", "F1Loss", "GroupError", "MaxGroupError", "Soft"]
