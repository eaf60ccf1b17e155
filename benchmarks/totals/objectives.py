"""Objectives other than errors: F1, Matthews' correlation, largest and mean error rate of groups, balanced error.

*Soft tests* are errors, and a quarter of a per cent of the rows for each test beyond three. Proved optima on the
fairness sets, plain and under statistical parity (difference .05); the sensitive column is left out of the tests. One
thread; user CPU seconds of the whole solve, with the exact recount of every model.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE

OBJECTIVES = (
    "F1 loss",
    "Matthews loss",
    "largest group error",
    "mean group error",
    "balanced error",
    "soft tests",
)


def solve(name: str, objective: str, parity: str, depth: int, seconds: float) -> dict[str, Any]:
    """One question."""
    X, y = read_set("fairness", name)
    sensitive, positive = SENSITIVE[name]
    groups = X[sensitive]
    problem = tf.Problem(X.drop(columns=sensitive), y, shape=tf.Tree(depth))
    problem.minimize(
        {
            "F1 loss": tf.F1Loss(positive=positive),
            "Matthews loss": tf.MatthewsLoss(positive=positive),
            "largest group error": tf.MaxGroupError(groups=groups),
            "mean group error": tf.GroupError(groups=groups),
            "balanced error": tf.BalancedError(),
            "soft tests": tf.Error() + tf.MaxNodes(3).soft(len(y) // 400),
        }[objective]
    )
    if parity:
        problem += tf.StatisticalParity(groups=groups, difference=parity, positive=positive)
    began = user_seconds()
    result = problem.solve(time_limit=seconds)
    spent = user_seconds() - began
    value, bound = result.objective, result.bound
    return {
        "optimum": str(value), "value": f"{float(value):.5f}", "bound": f"{float(bound):.5f}",
        "errors": result.errors, "status": result.status, "by": result.solver, "solve s": round(spent, 3),
    }  # fmt: skip


@table("totals_objectives")
def objectives(rows: Rows) -> Shown:
    """The rows without the exact fractions, which the file holds."""
    frame = rows.frame.drop(columns=["optimum"])
    proved = int((frame["status"] == "optimal").sum())
    note = f"{proved} of {len(frame)} proved, each within {rows.facts['seconds']} s. *value* is rounded here."
    return Shown("Objectives other than errors", frame, note)


def main(sets: str = ",".join(SENSITIVE), depths: str = "3,4", seconds: float = 60) -> None:
    """Measure."""
    figures = Figures("totals_objectives", ("set", "depth", "objective", "parity"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for depth in map(int, depths.split(",")):
            for objective in OBJECTIVES:
                for parity in ("", "0.05"):
                    work = partial(solve, name, objective, parity, depth, seconds)
                    figures.measure(work, set=name, depth=depth, objective=objective, parity=parity)
