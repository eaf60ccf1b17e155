"""Fair diagrams: the native search with totals, beside solvers with the native bounds and first models.

Statistical parity within 5 points, on skeletons in which tests are shared. Each run has so many wall seconds on one
thread, of which the CPU seconds are shown; on a busy machine these are fewer.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest import mock

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE
from treeform.solve import pipeline

SETS = "student-mat,german-credit,compas"
SHAPES = "diagram:1,2,2;diagram:1,2,2,4"
DIFFERENCE = "0.05"
WAYS = {"with totals": None, "CP-SAT": "cp-sat", "HiGHS": "highs"}


def solved(name: str, shape: str, way: str, seconds: float) -> dict[str, Any]:
    """One run; the two solvers go without the search with totals."""
    X, y = read_set("fairness", name)
    column, positive = SENSITIVE[name]
    problem = tf.Problem(X, y, shape=shape)
    problem += tf.StatisticalParity(column, difference=DIFFERENCE, positive=positive)
    solver = WAYS[way]
    began = user_seconds()
    if solver is None:
        result = problem.solve(time_limit=seconds)
    else:
        others = [stage for stage in pipeline.PIPELINE if stage.name != "search within the gap"]
        with mock.patch.object(pipeline, "PIPELINE", tuple(others)):
            result = problem.solve(solver, formulation="odd", time_limit=seconds)
    return {
        "rows": len(y),
        "errors": result.errors,
        "bound": None if result.bound is None else int(result.bound),
        "status": result.status,
        "CPU s": round(user_seconds() - began, 1),
    }


@table("diagram_totals")
def totals(rows: Rows) -> Shown:
    """For each problem what each way finds and proves."""
    every = rows.frame.to_dict("records")
    problems = list(dict.fromkeys((row["set"], row["shape"]) for row in every))
    lines = []
    for name, shape in problems:
        own = {row["way"]: row for row in every if (row["set"], row["shape"]) == (name, shape)}
        cells = []
        for way in WAYS:
            row = own.get(way)
            cells += [None, None] if row is None else [f"{row['errors']} / {row['bound']}", row["CPU s"]]
        lines.append([name, next(iter(own.values()))["rows"], shape, *cells])
    columns = ["set", "rows", "shape"]
    for way in WAYS:
        columns += [f"{way}: errors / bound", f"{way}: CPU s"]
    proved = {way: sum(row["status"] == "optimal" for row in every if row["way"] == way) for way in WAYS}
    note = (
        f"Difference of {DIFFERENCE}, {rows.facts['seconds']} wall seconds each. Proved: "
        f"{', '.join(f'{way} {count} of {len(problems)}' for way, count in proved.items())}. All three begin with the "
        "bounds and models of the native engines; the two solvers go without the search with totals."
    )
    return Shown.of("Fair diagrams", columns, lines, note)


def main(seconds: float = 20, sets: str = SETS, shapes: str = SHAPES) -> None:
    """Measure; shapes with semicolons between them."""
    figures = Figures("diagram_totals", ("set", "shape", "way"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for shape in shapes.split(";"):
            for way in WAYS:
                figures.measure(partial(solved, name, shape, way, seconds), set=name, shape=shape, way=way)
