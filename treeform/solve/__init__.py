"""Solving: claims are gathered in a ledger, verified exactly, and end in a result with a certificate."""

from treeform.solve.driver import solve
from treeform.solve.ledger import Ledger
from treeform.solve.result import Claim, Progress, SolveOptions, SolveResult, Status
from treeform.solve.verification import Verified, judge_candidate, misfit, verify
from treeform.utils.budget import Budget, Limit

__all__ = [
    "Budget",
    "Claim",
    "Ledger",
    "Limit",
    "Progress",
    "SolveOptions",
    "SolveResult",
    "Status",
    "Verified",
    "judge_candidate",
    "misfit",
    "solve",
    "verify",
]
