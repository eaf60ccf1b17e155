"""What runs of a sweep save by models and bounds of their neighbours, beside the same runs each alone.

User CPU seconds, one thread. The fairness sets with the sensitive column left out of the tests: prices of a test,
bounds on the difference of acceptance rates, and both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, named, read_set, table, user_seconds
from benchmarks.totals.compare import SENSITIVE

PRICES = [0, 32, 2, 16, 1, 8, 4, 3, 6, 12, 24]
BOUNDS = ["0.2", "0.15", "0.1", "0.07", "0.05", "0.04", "0.03", "0.02", "0.015", "0.01", "0.005"]
STUDIES: dict[str, dict[str, list[Any]]] = {
    "11 prices": {"price": PRICES},
    "11 bounds": {"statistical_parity__difference": BOUNDS},
    "4 prices x 5 bounds": {"price": PRICES[:4], "statistical_parity__difference": BOUNDS[::2][:5]},
}


def problem_of(name: str, depth: int, fair: bool) -> tf.Problem:
    """The least error, with parity where it is asked."""
    X, y = read_set("fairness", name)
    column, positive = SENSITIVE[name]
    frame = X.assign(target=y)
    problem = tf.Problem(frame, "target", shape=tf.Tree(depth), exclude=[column])
    if fair:
        problem += tf.StatisticalParity(groups=column, difference="0.2", positive=positive)
    return problem


def run(name: str, depth: int, study: str, way: str, seconds: float) -> dict[str, Any]:
    """The runs of a study, together or each alone."""
    grid = STUDIES[study]
    problem = problem_of(name, depth, "statistical_parity__difference" in grid)
    grids = [grid] if way == "together" else list(single(grid))
    began = user_seconds()
    tables = [tf.sweep(problem, one, time_limit=seconds).table for one in grids]
    spent = user_seconds() - began
    rows = [row for each in tables for row in each.to_dict("records")]
    return {
        "runs": len(rows), "proved": sum(row["status"] == "optimal" for row in rows),
        "mean gap": f"{sum(row['gap'] or 0 for row in rows) / len(rows):.4f}", "CPU s": f"{spent:.2f}",
        "objectives": " ".join(str(row["objective"]) for row in rows),
    }  # fmt: skip


def single(grid: dict[str, list[Any]]) -> Iterator[dict[str, list[Any]]]:
    """Each combination as a grid of its own."""
    for values in product(*grid.values()):
        yield {name: [value] for name, value in zip(grid, values, strict=True)}


@table("study_neighbours")
def neighbours(rows: Rows) -> Shown:
    """Together beside alone."""
    every = {(r["set"], r["depth"], r["study"], r["way"]): r for r in rows.frame.to_dict("records")}
    lines = []
    for name, depth, study in dict.fromkeys(key[:3] for key in every):
        alone, together = (every.get((name, depth, study, way)) for way in ("alone", "together"))
        if alone is None or together is None:
            continue
        ratio = float(alone["CPU s"]) / max(float(together["CPU s"]), 1e-9)
        line = [name, depth, study, alone["CPU s"], together["CPU s"], f"{ratio:.2f}"]
        lines.append([*line, alone["proved"], together["proved"], alone["mean gap"], together["mean gap"]])
    columns = ["set", "depth", "study", "alone, s", "together, s", "ratio", "proved alone", "together"]
    note = f"User CPU seconds, at most {rows.facts['seconds']} s a run. Where all are proved, the optima are equal."
    return Shown.of(
        "Runs that learn from their neighbours",
        [*columns, "mean gap alone", "mean gap together"],
        lines,
        note,
    )


def main(sets: str = "compas,german-credit,adult", depths: str = "3,4", seconds: float = 10) -> None:
    """Measure."""
    figures = Figures("study_neighbours", ("set", "depth", "study", "way"), seconds=f"{seconds:g}")
    for name in named("fairness", sets):
        for depth, study, way in product(map(int, depths.split(",")), STUDIES, ("alone", "together")):
            work = partial(run, name, depth, study, way, seconds)
            figures.measure(work, set=name, depth=depth, study=study, way=way)
