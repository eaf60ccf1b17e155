"""Conformance kits: show that a requirement, formulation, bridge or backend is right.

Everything is compared with exhaustive enumeration on tiny random data; an assertion that fails prints the case
as code that reproduces it.
"""

from __future__ import annotations

from treeform.testing.backends import ConformanceReport, check_backend
from treeform.testing.bridges import check_bridge
from treeform.testing.brute import all_models, brute_force
from treeform.testing.cases import Case, draw_cases
from treeform.testing.conformance import Report, check_formulation, check_requirement
from treeform.testing.mutate import Mutation, mutations
from treeform.testing.rows_against_violation import compare_faces
from treeform.testing.solver_bugs import check_solver_bugs

__all__ = [
    "Case",
    "ConformanceReport",
    "Mutation",
    "Report",
    "all_models",
    "brute_force",
    "check_backend",
    "check_bridge",
    "check_formulation",
    "check_requirement",
    "check_solver_bugs",
    "compare_faces",
    "draw_cases",
    "mutations",
]
