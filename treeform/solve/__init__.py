"""Solving: claims are gathered in a ledger, verified exactly, and end in a result with a certificate."""

from treeform.solve.budget import Budget
from treeform.solve.check import CheckReport, check
from treeform.solve.choose import find_formulation, find_solver, formulation_names
from treeform.solve.claims import Claim, Ledger
from treeform.solve.driver import solve
from treeform.solve.listing import solvers
from treeform.solve.pareto import Pareto, ParetoPoint
from treeform.solve.question import Question
from treeform.solve.result import Limit, Progress, Result, Status
from treeform.solve.sizes import Ladder, Priced, Rung
from treeform.solve.statements import CheckRow
from treeform.solve.verify import Verified, misfit, verify

__all__ = [
    "Budget",
    "CheckReport",
    "CheckRow",
    "Claim",
    "Ladder",
    "Ledger",
    "Limit",
    "Pareto",
    "ParetoPoint",
    "Priced",
    "Progress",
    "Question",
    "Result",
    "Rung",
    "Status",
    "Verified",
    "check",
    "find_formulation",
    "find_solver",
    "formulation_names",
    "misfit",
    "solve",
    "solvers",
    "verify",
]
