"""Diagrams on large tables: the first model, and errors after some seconds, beside a leaf and a tree of CART.

Each run is a process of its own, with the tables of the benchmark on memory: normal values, and noisy labels that
depend on three columns. ``1-2-4`` is a diagram of these widths; CART's tree has as many levels, and so more leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.memory import cart_cost, drawn, widths
from benchmarks.deep.programs import CURVE, interrupted_after
from benchmarks.deep.standing import curve_of
from benchmarks.deep.targets import errors_after
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

LADDERS, SIZES = "1-2-3,1-2-4,1-2-3-4-5", "4000x20,20000x20,100000x20,1000000x20"
MOMENTS = (1.0, 3.0, 10.0)


def run(ladder: str, rows: int, columns: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    task = f"diagram {ladder}"
    _solve(*drawn(task, 60, columns), task, 1.0)  # imports and first calls
    X, y = drawn(task, rows, columns)
    errors = _solve(X, y, task, seconds)
    return {
        "leaf": len(y) - int(np.bincount(y).max()),
        "CART": round(cart_cost("classes", X, y, len(widths(task)), 1)[0]),
        "errors": errors,
        "curve": " ".join(f"{t:g}:{errors}" for t, errors in CURVE),
        "version": commit(),
    }


def _solve(X: Any, y: Any, task: str, seconds: float) -> int:
    import treeform as tf

    CURVE.clear()
    began = user_seconds()

    def note(now: tf.Progress) -> None:
        if now.upper is not None and (not CURVE or now.upper < CURVE[-1][1]):
            CURVE.append((round(user_seconds() - began, 3), int(now.upper)))

    problem = tf.Problem(X, y, shape=tf.Diagram(*widths(task)))
    with interrupted_after(seconds):
        return int(problem.solve(on_progress=note).errors or 0)


@table("deep_ladders")
def ladders(rows: Rows) -> Shown:
    """Diagrams and tables."""
    lines = []
    for found in rows.frame[rows.frame["errors"] != ""].to_dict("records"):
        row = found | {"limit": rows.facts["seconds"]}
        better = [t for t, errors in curve_of([row]) if errors < int(row["leaf"])]
        line = {column: row[column] for column in ("diagram", "rows x columns", "leaf", "CART")}
        line["first model, s"] = f"{min(better):.2f}" if better else ""
        for moment in MOMENTS:
            line[f"{moment:g} s"] = errors_after(row, moment)
        lines.append(line)
    note = (
        "Errors of a leaf, of CART's tree of as many levels, and of the diagram after so many user CPU seconds; the "
        "first model has fewer errors than a leaf."
    )
    return Shown("Diagrams on large tables", pd.DataFrame(lines), note)


def main(diagrams: str = LADDERS, sizes: str = SIZES, seconds: float = MOMENTS[-1]) -> None:
    """Measure."""
    figures = Figures("deep_ladders", ("diagram", "rows x columns"), seconds=f"{seconds:g}")
    empty = dict.fromkeys(("leaf", "CART", "errors", "curve", "version"), "")
    for size in sizes.split(","):
        for ladder in diagrams.split(","):
            given = (ladder, *map(int, size.split("x")), seconds)
            figures.measure(
                lambda given=given: in_child(run, *given, seconds=600).answer or empty,
                diagram=ladder, **{"rows x columns": size},
            )  # fmt: skip
