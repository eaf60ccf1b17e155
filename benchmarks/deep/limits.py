"""How a limit on time is kept on large tables: seconds of work of one solve beyond it, and the errors that it leaves.

Each run is a process of its own, with a small solve before. A limit counts the seconds that the process works, so that
a busy machine changes no figure. Tables are those of the benchmarks on memory and on very many columns; path search has
their values as whole numbers. Cross-validation chooses among depths of at most the one given, and prices.
``--random 100 --seed 1`` draws so many small and large problems with limits of .01 to 2 seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.elsewhere import noisy_sums
from benchmarks.deep.memory import drawn
from benchmarks.deep.programs import limits_count_work
from benchmarks.harness import SESSION, Figures, Rows, Shown, commit, in_child, table

TREE, LEAVES, PATHS, FOLDS = "tree", "MaxLeaves(20)", "path search", "cross-validation"
DIAGRAM, PARITY, RISING, SQUARES = "diagram", "parity", "Monotone", "squared errors"
DRAWN = (TREE, LEAVES, FOLDS, DIAGRAM, PARITY, RISING, SQUARES)
CASES = (
    ("1000000x20", 4, 0.01, TREE),
    ("1000000x20", 2, 5.0, TREE),
    ("1000000x20", 6, 5.0, TREE),
    ("1000000x20", 6, 5.0, LEAVES),
    ("100000x20", 6, 5.0, TREE),
    ("1000x10000", 4, 0.01, TREE),
    ("1000x10000", 3, 5.0, TREE),
    ("60x10000", 3, 2.0, TREE),
    ("200000x20", 2, 0.3, PATHS),
    ("200000x20", 3, 0.8, PATHS),
    ("100000x54", 6, 3.0, FOLDS),
)
"""Rows by columns, depth, limit and what is solved."""
MANY_COLUMNS = 256
TOGETHER = 20
"""Drawn problems in one process."""
LATE = 0.15
"""Seconds beyond a limit that are counted."""


def asked(task: str, X: Any, y: Any, depth: int) -> Callable[[float], tuple[int, str]]:
    """What is timed: from a limit to errors on these rows and how it ended."""
    import treeform as tf

    def folds(limit: float) -> tuple[int, str]:
        found = tf.OptimalTreeClassifierCV(max_depth=range(1, depth + 1), time_limit=limit).fit(X, y)
        return int((found.predict(X) != y).sum()), "time"

    if task == FOLDS:
        return folds
    shape = tf.Diagram(*range(1, depth + 1)) if task == DIAGRAM else tf.Tree(depth)
    problem = tf.Problem(X.round() if task == PATHS else X, X[:, 0] + y if task == SQUARES else y, shape=shape)
    if task == SQUARES:
        problem = problem.minimize(tf.SquaredError(grid="auto"))
    more = {
        LEAVES: lambda: tf.MaxLeaves(20),
        PARITY: lambda: tf.StatisticalParity(groups=X[:, 1] > 0, difference="0.02"),
        RISING: lambda: tf.Monotone("x0"),
    }
    if task in more:
        problem += more[task]()

    def solve(limit: float) -> tuple[int, str]:
        result = problem.solve(tf.PathSearch() if task == PATHS else None, time_limit=limit)
        return int(result.objective or 0), str(result.limit or result.status)

    return solve


def run(rows: int, columns: int, depth: int, limit: float, task: str) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    limits_count_work()
    make = noisy_sums if columns > MANY_COLUMNS else partial(drawn, "classes")
    asked(task, *make(60, columns), depth)(0.1)
    solve = asked(task, *make(rows, columns), depth)
    began = time.process_time()  # system time is part of such a limit
    errors, status = solve(limit)
    spent = time.process_time() - began
    return {
        "seconds": round(spent, 2), "late": round(max(0.0, spent - limit), 2), "errors": errors, "status": status,
        "version": commit(),
    }  # fmt: skip


def run_drawn(seed: int, numbers: list[int]) -> list[dict[str, Any]]:
    """Some of the drawn problems in this process; called in a fresh one."""
    rows = []
    for number in numbers:
        pick = np.random.default_rng([seed, number])
        size, columns = round(10 ** pick.uniform(2, 5)), round(10 ** pick.uniform(0.5, 1.5))
        depth, limit = int(pick.integers(2, 8)), float(f"{10 ** pick.uniform(-2, 0.3):.2g}")
        task = str(pick.choice(DRAWN))
        key = {"seed": seed, "number": number, "task": task, "depth": depth, "limit": limit}
        rows.append(key | {"rows x columns": f"{size}x{columns}"} | run(size, columns, depth, limit, task))
    return rows


@table("deep_limits_drawn")
def limits_drawn(rows: Rows) -> Shown:
    """What is solved: how late, and the latest."""
    frame = rows.frame.astype({"late": float, "limit": float})
    lines = []
    for task, case in frame.groupby("task"):
        worst = case.loc[case["late"].idxmax()]
        lines.append(
            {"task": task, "problems": len(case), "beyond it, s": f"{case['late'].mean():.3f}"}
            | {"at most": f"{worst['late']:.2f}", "of": f"{worst['rows x columns']}, depth {worst['depth']}"}
            | {"ended by time": (case["status"] == "time").sum()}
        )
    note = (
        f"CPU seconds of work beyond the limit, of {len(frame)} drawn problems in the mean, and of the latest; "
        f"{(frame['late'] > LATE).sum()} are later than {LATE} s. A problem that ends before its limit is not late."
    )
    return Shown("Limits on time, drawn problems", pd.DataFrame(lines), note)


@table("deep_limits")
def limits(rows: Rows) -> Shown:
    """What is solved, tables, depths and limits."""
    frame = rows.frame.rename(columns={"limit": "limit, s", "late": "beyond it, s", "status": "ended by"})
    note = (
        "CPU seconds of one solve or fit, those beyond its limit, and the errors of its tree. On a machine with a load "
        "of more than ten a run ends before its limit, after ten times as many elapsed seconds."
    )
    return Shown("Limits on time", frame.drop(columns="version"), note)


def main(cases: str = "", random: int = 0, seed: int = 0) -> None:
    """Measure all, or such cases: ``1000x20:4:0.5:tree``, rows by columns, depth, limit and what is solved."""
    if random:
        of_drawn = Figures("deep_limits_drawn", ("seed", "number"))
        left = [number for number in range(random) if of_drawn.find(seed=seed, number=number) is None]
        for first in range(0, len(left), TOGETHER):
            SESSION.check_time()
            of_drawn.add(*(in_child(run_drawn, seed, left[first : first + TOGETHER], seconds=600).answer or []))
        return
    figures = Figures("deep_limits", ("task", "rows x columns", "depth", "limit"))
    for one in cases.split(",") if cases else (":".join(map(str, case)) for case in CASES):
        size, depth, limit, task = one.split(":")
        rows, columns = map(int, size.split("x"))
        figures.measure(
            lambda given=(rows, columns, int(depth), float(limit), task): in_child(run, *given, seconds=600).answer
            or dict.fromkeys(("seconds", "late", "errors", "status", "version"), ""),
            task=task, depth=depth, limit=limit, **{"rows x columns": size},
        )  # fmt: skip
