"""Solvers behind one small interface; importing this package imports none of them."""

from __future__ import annotations

from treeform.backends.base import Backend, Session
from treeform.backends.cpsat import CPSAT
from treeform.backends.highs import HiGHS
from treeform.backends.isolated import Isolated
from treeform.backends.mathopt import MathOpt
from treeform.backends.maxsat import MaxSAT
from treeform.backends.packages import Availability
from treeform.backends.portfolio import Portfolio
from treeform.backends.pyomo import Pyomo
from treeform.backends.registry import backend_classes, by_name
from treeform.backends.run import Answer, Capabilities, Outcome, Run, Verdict
from treeform.backends.sat import SAT
from treeform.backends.watch import Watch

__all__ = [
    "CPSAT",
    "SAT",
    "Answer",
    "Availability",
    "Backend",
    "Capabilities",
    "HiGHS",
    "Isolated",
    "MathOpt",
    "MaxSAT",
    "Outcome",
    "Portfolio",
    "Pyomo",
    "Run",
    "Session",
    "Verdict",
    "Watch",
    "backend_classes",
    "by_name",
]
