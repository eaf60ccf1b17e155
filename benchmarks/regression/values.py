"""Regression under requirements on values: diabetes (scikit-learn), squared and absolute errors.

The loss with and without the requirements, what is proved, and user CPU seconds of one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.datasets import load_diabetes

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds

REQUIREMENTS = (
    "monotone:bmi,increasing",
    "monotone:bmi,decreasing",
    "mean_parity:groups=sex,difference=5",
    "mean_parity:groups=sex,difference=1",
)


def measure(objective: str, requirement: str, depth: int, limit: float) -> dict[str, Any]:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    problem = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(objective)
    free = problem.solve(tf.RegressionSearch(), time_limit=limit).objective
    name, _, settings = requirement.partition(":")
    if name == "monotone":
        problem += tf.Monotone(*settings.split(","))
    else:
        problem += tf.MeanParity("sex", settings.rpartition("=")[2])
    before = user_seconds()
    result = problem.solve(tf.RegressionSearch(), time_limit=limit)
    seconds = user_seconds() - before
    return {
        "loss without": f"{float(free):.8g}",
        "loss": f"{float(result.objective):.8g}",
        "proved": str(result.status) == "optimal",
        "gap %": f"{100 * (result.gap or 0.0):.2g}",
        "CPU s": f"{seconds:.2g}",
    }


@table("regression_values")
def values(rows: Rows) -> Shown:
    """The rows as they are."""
    proved = int((rows.frame["proved"].astype(str) == "True").sum())
    note = f"{proved} of {len(rows.frame)} are proved; at most {rows.facts['limit']} seconds each."
    return Shown("Regression under requirements on values: diabetes", rows.frame, note)


def main(depths: str = "1,2,3", objectives: str = "squared_error,absolute_error", limit: float = 120) -> None:
    """Measure; `limit` are seconds of each run."""
    figures = Figures("regression_values", ("objective", "requirement", "depth"), limit=f"{limit:g}")
    for objective in objectives.split(","):
        for depth in map(int, depths.split(",")):
            for requirement in REQUIREMENTS:
                work = partial(measure, objective, requirement, depth, limit)
                figures.measure(work, objective=objective, requirement=requirement, depth=depth)
