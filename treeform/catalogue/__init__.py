"""Look-up by name: solvers, native engines, formulations, requirements."""

from __future__ import annotations

from treeform.catalogue.solvers import (
    SolverRow,
    SolverTable,
    engine_names,
    find_engine,
    find_formulation,
    find_solver,
    formulation_names,
    register,
    solvers,
)

__all__ = [
    "SolverRow",
    "SolverTable",
    "engine_names",
    "find_engine",
    "find_formulation",
    "find_solver",
    "formulation_names",
    "register",
    "solvers",
]
