"""The diagram formulation on every solver, and the paper's own formulation on HiGHS, on the same small problems.

No warm start, no bound from a native engine: a solver and a model. Run: python benchmarks/odd_solvers.py
[--seconds 20]; the tables are in the folder ``odd`` of TREEFORM_DATA (default ../shared/data). Rows are appended to
docs/benchmarks/odd_solvers_runs.csv as they come, and what is there is not run again; ``--only-table`` writes the
table from them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tables

import treeform as tf
from treeform.bench.odd import append, cpu_seconds, read_parts, read_rows
from treeform.data import Dataset
from treeform.formulations.odd import ODD, PaperODD, paper_objective
from treeform.problem import Problem

SETS = [
    "acute-inflammations-nephritis",
    "balance-scale",
    "congressional-voting",
    "fertility-diagnosis",
    "hayes-roth",
    "hepatitis",
    "iris",
    "monks1",
    "seeds",
    "soybean-small",
    "spect-heart",
    "teaching-assistant-evaluation",
]
SHAPE = tf.Diagram(1, 2, 2)
ALPHA = "0.2"
WAYS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "paper's, HiGHS": lambda: (tf.HiGHS(), PaperODD()),
    "HiGHS": lambda: (tf.HiGHS(), ODD()),
    "SCIP": lambda: (tf.MathOpt("scip"), ODD()),
    "CBC": lambda: (tf.Pyomo("cbc"), ODD()),
    "CP-SAT": lambda: (tf.CPSAT(), ODD()),
    "portfolio": lambda: (tf.Portfolio([tf.CPSAT(), tf.HiGHS()]), ODD()),
    "DiagramSearch": lambda: (tf.DiagramSearch(), None),
}
DATA = Path(os.environ.get("TREEFORM_DATA", tables.HERE.parent.parent / "shared" / "data")) / "odd"
RUNS = tables.DOCS / "odd_solvers_runs.csv"
FIELDS = ["set", "n", "way", "status", "objective", "bound", "cpu", "wall", "limit"]


def one(folder: Path, name: str, way: str, seconds: float) -> dict[str, Any]:
    """One solver on one problem."""
    (X, y), *_ = read_parts(folder, name, 0)
    data = Dataset.from_user(X, y)
    problem = Problem(data, None, shape=SHAPE).minimize(paper_objective(ALPHA, data, SHAPE))
    solver, formulation = WAYS[way]()
    before, started = cpu_seconds(), time.perf_counter()
    warm = {} if formulation is None else {"warm_start": None}
    result = problem.solve(solver, formulation=formulation, time_limit=seconds, **warm)
    return {
        "set": name, "n": data.n_samples, "way": way, "status": str(result.status),
        "objective": float(result.objective) if result.objective is not None else "",
        "bound": float(result.bound) if result.bound is not None else "",
        "cpu": round(cpu_seconds() - before, 2), "wall": round(time.perf_counter() - started, 2), "limit": seconds,
    }  # fmt: skip


def known() -> list[dict[str, str]]:
    """What has been run."""
    return read_rows(RUNS) if RUNS.exists() else []


def cell(row: dict[str, str] | None) -> str:
    """User seconds, or the gap that was left."""
    if row is None:
        return ""
    if row["status"] == "optimal":
        return row["cpu"]
    value = f"{float(row['objective']):.3f}" if row["objective"] else "none"
    return f"open ({float(row['bound'] or 0):.3f} / {value})"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=float, default=20)
    words.add_argument("--only-table", action="store_true")
    words.add_argument("--minutes", type=float, default=1e9, help="end a session early")
    given = words.parse_args()
    have = {(row["set"], row["way"]): row for row in known()}
    until = time.perf_counter() + 60 * given.minutes
    for name in SETS:
        for way in WAYS:
            if given.only_table or (name, way) in have or time.perf_counter() > until:
                continue
            row = one(DATA, name, way, given.seconds)
            print(row, flush=True)
            append(RUNS, [row], FIELDS)
    have = {(row["set"], row["way"]): row for row in known()}
    rows = [[name, have[name, "HiGHS"]["n"], *[cell(have.get((name, way))) for way in WAYS]] for name in SETS
            if (name, "HiGHS") in have]  # fmt: skip
    solved = [str(sum(have[s, w]["status"] == "optimal" for s in SETS if (s, w) in have)) for w in WAYS]
    rows.append(["proved", "", *solved])
    note = (
        "User CPU seconds of one thread until the optimum was proved; otherwise ``open`` with bound and value, of "
        f"{given.seconds:g} seconds. Training halves of the sets, skeleton 1-2-2, univariate, alpha {ALPHA}. "
        "The portfolio is CP-SAT and HiGHS at once, and its seconds those of both."
    )
    tables.write("odd_solvers", "One formulation, several solvers", ["set", "rows", *WAYS], rows, note)


if __name__ == "__main__":
    main()
