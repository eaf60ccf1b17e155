"""One thread of the regression search against two: wall seconds, measured alternately in one process.

Of each number of threads the fastest of several runs counts, since anything else on the machine only adds. The last
column is user CPU over wall of the run with two threads: well below 2 means that a core was not ours.
"""

from __future__ import annotations

import math
import statistics
import time
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.regression.tables import load


def measure(name: str, depth: int, repeat: int) -> dict[str, Any]:
    problem = tf.Problem(*load(name), shape=tf.Tree(depth)).minimize(tf.SquaredError())
    best: dict[int, tuple[float, float]] = {1: (math.inf, 0.0), 2: (math.inf, 0.0)}
    losses = set()
    for _ in range(repeat):
        for threads in best:
            user, wall = user_seconds(), time.perf_counter()
            result = problem.solve(tf.RegressionSearch(threads=threads))
            wall = time.perf_counter() - wall
            best[threads] = min(best[threads], (wall, user_seconds() - user))
            losses.add(result.objective)
    if len(losses) > 1:
        raise SystemExit(f"{name}: the loss depends on the number of threads")
    (one, _), (two, user) = best[1], best[2]
    return {
        "rows": problem.data.n_samples, "columns": problem.data.n_features,
        "one thread, wall s": f"{one:.3f}", "two threads, wall s": f"{two:.3f}",
        "times faster": f"{one / two:.2f}", "CPU over wall, two": f"{user / two:.2f}",
    }  # fmt: skip


@table("regression_threads")
def threads(rows: Rows) -> Shown:
    """The rows as they are."""
    mean = statistics.geometric_mean(rows.frame["times faster"].astype(float))
    note = f"{mean:.2f} times in geometric mean; the losses are the same."
    return Shown(f"Regression: two threads at depth {rows.facts['depth']}", rows.frame, note)


def main(
    sets: str = "diabetes,bank,raisin,signal-1000-8,signal-4000-6,steps-10000-10",
    depth: int = 3,
    repeat: int = 3,
) -> None:
    """Measure."""
    figures = Figures("regression_threads", ("set",), depth=depth)
    for name in sets.split(","):
        figures.measure(partial(measure, name, depth, repeat), set=name)
