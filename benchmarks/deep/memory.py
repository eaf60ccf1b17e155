"""Memory of deep trees: by how much a process grows at most, as a multiple of the table of float64.

Each run is a process of its own, on Linux, with a table of normal values and noisy labels or values. A small fit comes
before, so that libraries do not count. The growth of treeform includes its copy of the table. Trees of classes are the
first ones of a search; all other runs go on until a limit on time: ``proof`` is of classes, with the proof by turns.
``diagram 1-2-4`` is a diagram of these widths, ``MaxLeaves 20`` a tree of at most so many leaves, ``parity`` one of
classes under statistical parity of two groups, ``size_table`` the least errors with at most so many tests.
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
OF_CLASSES = ("classes", "diagram", "proof", "MaxLeaves", "parity", "size_table")
"""How tasks of classes begin."""


def drawn(task: str, rows: int, columns: int) -> tuple[Any, Any]:
    """Normal values, and labels or values that depend on three columns."""
    pick = np.random.default_rng(0)
    X = pick.normal(size=(rows, columns))
    y = X[:, 0] * X[:, 1] + X[:, 2] / 2 + pick.normal(size=rows)
    return X, (y > 0.5).astype(int) if task.startswith(OF_CLASSES) else y


def widths(task: str) -> tuple[int, ...]:
    """Those of the levels of a diagram; none of a tree."""
    return tuple(map(int, task.removeprefix("diagram ").split("-"))) if task.startswith("diagram ") else ()


def cart_cost(task: str, X: Any, y: Any, depth: int, support: int) -> tuple[float, str]:
    """The objective of CART's tree under a minimum support, in rows; it has no models before."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if task == "classes" else DecisionTreeRegressor
    found = kind(max_depth=depth, min_samples_leaf=support, random_state=0).fit(X, y).predict(X)
    return float((found != y).sum() if task == "classes" else ((found - y) ** 2).sum()), ""


def tree_cost(
    task: str, X: Any, y: Any, depth: int, support: int, seconds: float
) -> tuple[float, float | str]:
    """The objective of treeform's first tree of classes, of another task after some seconds; its first model's time."""
    import treeform as tf

    firsts: list[float] = []
    leaf = len(y) - np.bincount(y).max() if y.dtype.kind == "i" else np.inf
    began = user_seconds()

    def note(now: tf.Progress) -> None:
        if not firsts and now.upper is not None and now.upper < leaf:
            firsts.append(round(user_seconds() - began, 2))

    kind = task.partition(" ")[0]
    shape = tf.Diagram(*widths(task)) if kind == "diagram" else tf.Tree(depth)
    problem = tf.Problem(X, y, shape=shape)
    if support > 1:
        problem += tf.MinSupport(support)
    if kind == "MaxLeaves":
        problem += tf.MaxLeaves(int(task.removeprefix(kind)))
    if kind == "parity":
        groups = np.random.default_rng(1).random(len(y)) < 0.4
        problem += tf.StatisticalParity(groups=groups, difference="0.02")
    if kind not in OF_CLASSES:
        loss = tf.AbsoluteError if task == "absolute errors" else tf.SquaredError
        problem = problem.minimize(loss(grid="auto"))
    if kind == "monotone":
        problem += tf.Monotone("x2")
    if kind == "size_table":
        rows = problem.size_table(time_limit=seconds, on_progress=note).rows
        return float(min(row.upper for row in rows if row.upper is not None)), firsts[0] if firsts else ""
    result = (
        problem.solve(tf.DeepTreeSearch(work_limit=1), on_progress=note)
        if kind == "classes"
        else problem.solve(time_limit=seconds, on_progress=note)
    )
    return float(result.objective or 0), firsts[0] if firsts else ""


def run(
    program: str, task: str, rows: int, columns: int, depth: int, support: int, seconds: float
) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    more = () if program == "CART" else (seconds,)
    cost = cart_cost if program == "CART" else tree_cost
    cost(task, *drawn(task, 60, columns), depth, 1, *more)
    X, y = drawn(task, rows, columns)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = status("VmRSS"), user_seconds()
    errors, first = cost(task, X, y, depth, support, *more)
    return {
        "tables": round((status("VmHWM") - before) / X.nbytes, 2),
        "errors": round(errors),
        "first": first,
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


@table("deep_memory")
def memory(rows: Rows) -> Shown:
    """Sizes, depths and supports by program."""
    lines = []
    keys = ["task", "rows x columns", "depth", "minimum support"]
    for case, found in rows.frame.groupby(keys, sort=False):
        line: dict[str, Any] = dict(zip(keys, case, strict=True))
        for row in found.to_dict("records"):
            line[f"{row['program']}, tables"] = row["tables"]
            line[f"{row['program']}, errors"] = row["errors"]
            line[f"{row['program']}, s"] = row["seconds"]
            if row["first"]:
                line["first model, s"] = row["first"]
        lines.append(line)
    note = (
        "Largest growth of the process, in multiples of the table of float64; user CPU seconds of one thread, and "
        "those up to the first model that treeform reports, of classes the first with fewer errors than a leaf."
    )
    return Shown("Memory of deep trees", pd.DataFrame(lines), note)


def main(
    sizes: str = SIZES, depth: int = 6, supports: str = "1", tasks: str = "classes", seconds: float = 4
) -> None:
    """Measure."""
    figures = Figures("deep_memory", ("program", "task", "rows x columns", "depth", "minimum support"))
    for task, size in product(tasks.split(","), sizes.split(",")):
        rows, columns = map(int, size.split("x"))
        levels = len(widths(task)) or depth
        for program, support in product(PROGRAMS, map(int, supports.split(","))):
            if program == "CART" and task not in ("classes", "squared errors"):
                continue
            given = (program, task, rows, columns, levels, support, seconds)
            figures.measure(
                lambda given=given: in_child(run, *given, seconds=600).answer or {"tables": ""},
                program=program, task=task, depth=levels, **{"rows x columns": size, "minimum support": support},
            )  # fmt: skip
