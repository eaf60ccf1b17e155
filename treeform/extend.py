"""What one extends treeform with: bases of requirements, formulations, solvers and engines, and what these exchange.

See "Extend treeform" among the how-tos.
"""

from __future__ import annotations

from treeform.backends import Backend
from treeform.engines import Engine
from treeform.language.bounded import Bounded
from treeform.language.complete_tree import CompleteTree, LabelOfLeaf
from treeform.language.component import Component
from treeform.language.costs import ClassCost, SampleCost
from treeform.language.forms import Inequality, Rows, Sum
from treeform.language.formulation import Formulation
from treeform.language.linear import LinearRequirement
from treeform.language.meetings import Clash, Meetings
from treeform.language.objective import Term
from treeform.language.paths import PathRule, PathTests
from treeform.language.requirement import Requirement
from treeform.language.totals import TotalRow, Totals
from treeform.shape import Limits

__all__ = [
    "Backend",
    "Bounded",
    "Clash",
    "ClassCost",
    "CompleteTree",
    "Component",
    "Engine",
    "Formulation",
    "Inequality",
    "LabelOfLeaf",
    "Limits",
    "LinearRequirement",
    "Meetings",
    "PathRule",
    "PathTests",
    "Requirement",
    "Rows",
    "SampleCost",
    "Sum",
    "Term",
    "TotalRow",
    "Totals",
]
