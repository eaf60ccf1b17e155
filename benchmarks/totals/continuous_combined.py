"""Parity .05 together with other requirements on continuous columns, all thresholds, one thread.

Tables and groups as in `benchmarks.totals.continuous`. User CPU seconds from the encoded data to the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.totals.continuous import SETS, problem_of
from benchmarks.totals.growth import run_within


def monotone(problem: tf.Problem, along: bool) -> tf.Requirement:
    """The column that is correlated most with the label, in the direction of that correlation or against it."""
    data = problem.data
    with np.errstate(invalid="ignore"):
        correlation = np.nan_to_num([np.corrcoef(column, data.y)[0, 1] for column in data.X.T])
    best = int(np.abs(correlation).argmax())
    direction = "increasing" if (correlation[best] > 0) == along else "decreasing"
    return tf.Monotone(data.columns[best].source, direction, positive=1)


MORE: dict[str, Callable[[tf.Problem], list[tf.Requirement]]] = {
    "nothing": lambda problem: [],
    "min support 5 %": lambda problem: [tf.MinSupport(fraction=0.05)],
    "min support 15 %": lambda problem: [tf.MinSupport(fraction=0.15)],
    "stability 20 %": lambda problem: [tf.Stability(fraction=0.2)],
    "at most 4 tests": lambda problem: [tf.MaxNodes(4)],
    "at most 1 column": lambda problem: [tf.FeatureBudget(1)],
    "at most 2 columns": lambda problem: [tf.FeatureBudget(2)],
    "monotone along": lambda problem: [monotone(problem, True)],
    "monotone against": lambda problem: [monotone(problem, False)],
}
KEY = ("set", "parity .05 and", "depth")
COUNTERS = ("splits", "alive", "largest_front", "column_sets")


def one(name: str, more: str, depth: int, seconds: float) -> dict[str, Any]:
    """The search on one question."""
    problem = problem_of(name, "parity .05", depth)
    problem += MORE[more](problem)
    _, answer, spent = run_within(problem, tf.ContinuousTotals(), seconds)
    return {
        "rows": problem.data.n_samples, "errors": answer.upper, "bound": answer.lower,
        "status": "proved" if answer.proved else "open", "CPU s": round(spent, 3),
        **{name: answer.counters.get(name, "") for name in COUNTERS},
    }  # fmt: skip


@table("continuous_combined")
def shown(rows: Rows) -> Shown:
    """A line for each question."""
    proved = int((rows.frame["status"] == "proved").sum())
    note = (
        f"{proved} of {len(rows.frame)} questions proved within {rows.facts['seconds']} s of CPU each. "
        "*column_sets*: runs of the search over a set of columns, for a budget of them. *Monotone* concerns the column "
        "correlated most with the label: *along* that correlation, or *against* it."
    )
    return Shown("Parity with other requirements on continuous columns", rows.frame, note)


def main(sets: str = "", depths: str = "2", seconds: float = 5, only: str = "") -> None:
    """Measure; `only` names what stands beside the parity, separated by commas."""
    figures = Figures("continuous_combined", KEY, seconds=f"{seconds:g}")
    for depth in map(int, depths.split(",")):
        for name in sets.split(",") if sets else SETS:
            for more in only.split(",") if only else MORE:
                if more == "at most 4 tests" and depth < 3:
                    continue
                work = partial(one, name, more, depth, seconds)
                figures.measure(work, **{"set": name, "parity .05 and": more, "depth": depth})
