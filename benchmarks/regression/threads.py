"""One thread of the regression search against two."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, one_and_two, table
from benchmarks.regression.tables import load


def measure(name: str, depth: int, repeat: int) -> dict[str, Any]:
    problem = tf.Problem(*load(name), shape=tf.Tree(depth)).minimize(tf.SquaredError())
    results, seconds = one_and_two(
        lambda threads: problem.solve(tf.RegressionSearch(threads=threads)), repeat
    )
    if len({result.objective for result in results}) > 1:
        raise SystemExit(f"{name}: the loss depends on the number of threads")
    return {"rows": problem.data.n_samples, "columns": problem.data.n_features, **seconds}


@table("regression_threads")
def threads(rows: Rows) -> Shown:
    """The rows as they are."""
    faster, alone = (rows.frame[name].astype(float) for name in ("times faster", "one thread, wall s"))
    note = f"{statistics.geometric_mean(faster):.2f} times in geometric mean; the losses are the same."
    if (alone > 1).any():
        note += f" {statistics.geometric_mean(faster[alone > 1]):.2f} times where one thread takes more than a second."
    return Shown(f"Regression: two threads at depth {rows.facts['depth']}", rows.frame, note)


def main(
    sets: str = "diabetes,bank,raisin,signal-1000-8,signal-4000-6,steps-10000-10,eeg,signal-20000-8,bean",
    depth: int = 3,
    repeat: int = 3,
) -> None:
    """Measure."""
    figures = Figures("regression_threads", ("set",), depth=depth)
    for name in sets.split(","):
        figures.measure(partial(measure, name, depth, repeat), set=name)
