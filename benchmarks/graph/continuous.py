"""Rules on continuous columns by a solver alone, all thresholds: hypergraph-flow without a warm start.

The questions are those of ``totals continuous``: groups by whether the first column is above its median, which is not
tested. Two more have a requirement beside parity that no engine supports. One thread; user CPU seconds of everything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.graph.questions import SOLVERS
from benchmarks.graph.requirements import FewPositiveLeaves
from benchmarks.harness import Figures, plain_table, user_seconds
from benchmarks.totals.continuous import RULES, problem_of

SETS = "raisin,bank,wilt,page"
BESIDE: dict[str, Callable[[tf.Problem], tf.Requirement]] = {
    "own: 1 positive leaf": lambda problem: FewPositiveLeaves(1),
    "1 threshold": lambda problem: tf.MaxThresholds(problem.data.columns[0].source, 1),
}
"""Beside parity within .05."""


def stated(name: str, rule: str, depth: int) -> tf.Problem:
    """The question."""
    if rule in RULES:
        return problem_of(name, rule, depth)
    problem = problem_of(name, "parity .05", depth)
    return problem + BESIDE[rule](problem)


def one(name: str, rule: str, depth: int, solver: str, seconds: float) -> dict[str, Any]:
    """One question."""
    optimum = None
    if rule in RULES:
        best = stated(name, rule, depth).solve(tf.ContinuousTotals(), time_limit=60)
        optimum = best.objective if best.status is tf.Status.OPTIMAL else None
    problem = stated(name, rule, depth)
    began = user_seconds()
    result = problem.solve(
        SOLVERS[solver], formulation="hypergraph-flow", warm_start=None, time_limit=seconds
    )
    return {
        "rows": problem.data.n_samples, "tests": problem.data.n_tests, "optimum": optimum, "status": result.status,
        "errors": result.errors, "bound": result.bound, "CPU s": round(user_seconds() - began, 2),
    }  # fmt: skip


plain_table(
    "graph_continuous",
    "Solvers alone on all thresholds, depth 2",
    lambda rows: f"Within {rows.facts['seconds']} s each. Optimum: that of ContinuousTotals.",
)


plain_table(
    "graph_continuous_deep",
    "Solvers alone on all thresholds, deeper",
    lambda rows: (
        f"Within {rows.facts['seconds']} wall seconds each. Optimum: of ContinuousTotals, where it ended in 60 s."
    ),
)


def main(
    sets: str = SETS,
    seconds: float = 60,
    depth: int = 2,
    solvers: str = ",".join(SOLVERS),
    rules: str = ",".join(RULES),
) -> None:
    """Measure; HiGHS and OR-Tools cannot share a process, so each solver is measured best in a call of its own."""
    name = "graph_continuous" if depth == 2 else "graph_continuous_deep"
    key = ("set", "rule", "solver") if depth == 2 else ("set", "rule", "depth", "solver")
    figures = Figures(name, key, seconds=f"{seconds:g}")
    for of in sets.split(","):
        for rule in rules.split(","):
            for solver in solvers.split(","):
                which = {"set": of, "rule": rule, "depth": depth, "solver": solver}
                work = partial(one, of, rule, depth, solver, seconds)
                figures.measure(work, **{column: which[column] for column in key})
