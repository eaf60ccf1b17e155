"""Rules on continuous columns by a solver alone, all thresholds, at depth two: hypergraph-flow without a warm start.

The questions are those of ``totals continuous``: groups by whether the first column is above its median, which is not
tested. One thread; user CPU seconds of everything.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.graph.questions import SOLVERS
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.totals.continuous import RULES, problem_of

SETS = "raisin,bank,wilt,page"


def one(name: str, rule: str, solver: str, seconds: float) -> dict[str, Any]:
    """One question."""
    optimum = problem_of(name, rule, 2).solve(tf.ContinuousTotals(), time_limit=60).objective
    problem = problem_of(name, rule, 2)
    began = user_seconds()
    result = problem.solve(
        SOLVERS[solver], formulation="hypergraph-flow", warm_start=None, time_limit=seconds
    )
    return {
        "rows": problem.data.n_samples, "tests": problem.data.n_tests, "optimum": optimum, "status": result.status,
        "errors": result.errors, "bound": result.bound, "CPU s": round(user_seconds() - began, 2),
    }  # fmt: skip


@table("graph_continuous")
def questions(rows: Rows) -> Shown:
    """The rows as they are."""
    note = f"Within {rows.facts['seconds']} s each. Optimum: that of ContinuousTotals."
    return Shown("Solvers alone on all thresholds, depth 2", rows.frame, note)


def main(sets: str = SETS, seconds: float = 60) -> None:
    """Measure."""
    figures = Figures("graph_continuous", ("set", "rule", "solver"), seconds=f"{seconds:g}")
    for name in sets.split(","):
        for rule in RULES:
            for solver in SOLVERS:
                figures.measure(partial(one, name, rule, solver, seconds), set=name, rule=rule, solver=solver)
