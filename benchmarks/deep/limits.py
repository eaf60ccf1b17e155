"""How a limit on time is kept on large tables: seconds of work of one solve beyond it, and the errors that it leaves.

Each run is a process of its own, with a small solve before. A limit counts the seconds that the process works, so that
a busy machine changes no figure. Tables are those of the benchmarks on memory and on very many columns.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from benchmarks.deep.elsewhere import noisy_sums
from benchmarks.deep.memory import drawn
from benchmarks.deep.programs import limits_count_work
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table

CASES = (
    ("1000000x20", 4, 0.01),
    ("1000000x20", 2, 5.0),
    ("1000000x20", 6, 5.0),
    ("100000x20", 6, 5.0),
    ("1000x10000", 4, 0.01),
    ("1000x10000", 3, 5.0),
    ("60x10000", 3, 2.0),
)
"""Rows by columns, depth and limit."""
MANY_COLUMNS = 256


def run(rows: int, columns: int, depth: int, limit: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    import treeform as tf

    limits_count_work()
    make = noisy_sums if columns > MANY_COLUMNS else partial(drawn, "classes")
    tf.Problem(*make(60, columns), shape=tf.Tree(depth)).solve(time_limit=0.1)
    problem = tf.Problem(*make(rows, columns), shape=tf.Tree(depth))
    began = time.process_time()  # system time is part of such a limit
    result = problem.solve(time_limit=limit)
    spent = time.process_time() - began
    return {
        "seconds": round(spent, 2), "late": round(max(0.0, spent - limit), 2), "errors": int(result.errors or 0),
        "status": str(result.limit or result.status), "version": commit(),
    }  # fmt: skip


@table("deep_limits")
def limits(rows: Rows) -> Shown:
    """Tables, depths and limits."""
    frame = rows.frame.rename(columns={"limit": "limit, s", "late": "beyond it, s", "status": "ended by"})
    note = (
        "CPU seconds of one solve, those beyond its limit, and the errors of its tree. On a machine with a load "
        "of more than ten a run ends before its limit, after ten times as many elapsed seconds."
    )
    return Shown("Limits on time", frame.drop(columns="version"), note)


def main(cases: str = "") -> None:
    """Measure all, or such cases: ``1000x20:4:0.5``, rows by columns, depth and limit."""
    figures = Figures("deep_limits", ("rows x columns", "depth", "limit"))
    for one in cases.split(",") if cases else (":".join(map(str, case)) for case in CASES):
        size, depth, limit = one.split(":")
        rows, columns = map(int, size.split("x"))
        figures.measure(
            lambda n=rows, c=columns, d=int(depth), s=float(limit): in_child(run, n, c, d, s, seconds=600).answer
            or dict.fromkeys(("seconds", "late", "errors", "status", "version"), ""),
            depth=depth, limit=limit, **{"rows x columns": size},
        )  # fmt: skip
