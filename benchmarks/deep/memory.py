"""Memory up to the first deep trees: by how much a process grows at most, as a multiple of the table of float64.

Each run is a process of its own, on Linux, with a table of normal values and noisy labels. A small fit comes before, so
that libraries do not count. The growth of treeform includes its copy of the table.
"""

from __future__ import annotations

import gc
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.faults.memory import status
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

SIZES = "100000x20,1000000x20"
PROGRAMS = ("CART", "treeform")


def drawn(rows: int, columns: int) -> tuple[Any, Any]:
    """Normal values, and labels that depend on three columns."""
    pick = np.random.default_rng(0)
    X = pick.normal(size=(rows, columns))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] / 2 + pick.normal(size=rows) > 0.5).astype(int)


def first_tree(program: str, X: Any, y: Any, depth: int, support: int) -> int:
    """Errors of the first tree under a minimum support, in rows."""
    if program == "CART":
        from sklearn.tree import DecisionTreeClassifier

        greedy = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=support, random_state=0)
        return int((greedy.fit(X, y).predict(X) != y).sum())
    import treeform as tf

    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    if support > 1:
        problem += tf.MinSupport(support)
    result = problem.solve(tf.DeepTreeSearch(work_limit=1))
    return int(result.errors or 0)


def run(program: str, rows: int, columns: int, depth: int, support: int) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    first_tree(program, *drawn(60, columns), depth, 1)
    X, y = drawn(rows, columns)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = status("VmRSS"), user_seconds()
    errors = first_tree(program, X, y, depth, support)
    return {
        "tables": round((status("VmHWM") - before) / X.nbytes, 2),
        "errors": errors,
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


@table("deep_memory")
def memory(rows: Rows) -> Shown:
    """Sizes, depths and supports by program."""
    lines = []
    keys = ["rows x columns", "depth", "minimum support"]
    for case, found in rows.frame.groupby(keys, sort=False):
        line: dict[str, Any] = dict(zip(keys, case, strict=True))
        for row in found.to_dict("records"):
            line[f"{row['program']}, tables"] = row["tables"]
            line[f"{row['program']}, errors"] = row["errors"]
            line[f"{row['program']}, s"] = row["seconds"]
        lines.append(line)
    note = "Largest growth of the process, in multiples of the table of float64; user CPU seconds of one thread."
    return Shown("Memory up to the first deep trees", pd.DataFrame(lines), note)


def main(sizes: str = SIZES, depth: int = 6, supports: str = "1") -> None:
    """Measure."""
    figures = Figures("deep_memory", ("program", "rows x columns", "depth", "minimum support"))
    for size in sizes.split(","):
        rows, columns = map(int, size.split("x"))
        for program, support in product(PROGRAMS, map(int, supports.split(","))):
            figures.measure(
                lambda p=program, n=rows, c=columns, s=support: in_child(run, p, n, c, depth, s, seconds=600).answer
                or {"tables": ""},
                program=program, depth=depth, **{"rows x columns": size, "minimum support": support},
            )  # fmt: skip
