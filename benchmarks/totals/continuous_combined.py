"""Parity .05 together with other requirements on continuous columns, all thresholds, one thread.

Tables and groups as in `benchmarks.totals.continuous`. User CPU seconds from the encoded data to the proof.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.totals.continuous import SETS, problem_of
from treeform.engines import EngineRun
from treeform.solve.relaxation import relax

MORE: dict[str, list[tf.Requirement]] = {
    "nothing": [],
    "min support 5 %": [tf.MinSupport(fraction=0.05)],
    "min support 15 %": [tf.MinSupport(fraction=0.15)],
    "stability 20 %": [tf.Stability(fraction=0.2)],
    "at most 4 tests": [tf.MaxNodes(4)],
    "at most 1 column": [tf.FeatureBudget(1)],
    "at most 2 columns": [tf.FeatureBudget(2)],
}
KEY = ("set", "parity .05 and", "depth")
COUNTERS = ("splits", "alive", "largest_front", "column_sets")


def one(name: str, more: str, depth: int, seconds: float) -> dict[str, Any]:
    """The search on one question."""
    problem, engine = problem_of(name, "parity .05", depth), tf.ContinuousTotals()
    problem += MORE[more]
    relaxation = relax(problem.question, engine)
    assert relaxation is not None and relaxation.exact
    began = user_seconds()
    run = EngineRun(stop=lambda: user_seconds() - began > seconds)
    answer = engine.run(problem.data, relaxation.task, run)
    spent = user_seconds() - began
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
        "*column_sets*: runs of the search over a set of columns, for a budget of them."
    )
    return Shown("Parity with other requirements on continuous columns", rows.frame, note)


def main(sets: str = "", depths: str = "2", seconds: float = 5) -> None:
    """Measure."""
    figures = Figures("continuous_combined", KEY, seconds=f"{seconds:g}")
    for depth in map(int, depths.split(",")):
        for name in sets.split(",") if sets else SETS:
            for more in MORE:
                if more == "at most 4 tests" and depth < 3:
                    continue
                work = partial(one, name, more, depth, seconds)
                figures.measure(work, **{"set": name, "parity .05 and": more, "depth": depth})
