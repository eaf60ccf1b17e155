"""The paper's formulation on HiGHS without our help, on runs of the sample behind Table 1.

Of the 300 runs of ``treeform bench odd --sample 60`` so many are drawn with a seed of their own; the first of a draw
are the draw of fewer. Run: python benchmarks/odd_paper.py ROWS.csv [--seconds 60] [--runs 40] [--draw 1], with the rows
of that command; the tables are in the folder ``odd`` of TREEFORM_DATA (default ../shared/data). What
docs/benchmarks/odd_paper_runs.csv has is not run again, and ``--minutes`` ends a session early.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tables

import treeform as tf
from treeform.bench.odd import SKELETONS, Job, cpu_seconds, job_of, read_parts, read_rows
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.formulations.odd import PaperODD, paper_objective
from treeform.graph import DecisionGraph
from treeform.problem import Problem
from treeform.shape import UNIVARIATE, Shape
from treeform.solve.sizes import price_of_alpha

DATA = Path(os.environ.get("TREEFORM_DATA", tables.HERE.parent.parent / "shared" / "data")) / "odd"
RUNS = tables.DOCS / "odd_paper_runs.csv"
FIELDS = [
    "set",
    "splits",
    "skeleton",
    "alpha",
    "n",
    "status",
    "value",
    "bound_with_root",
    "cpu",
    "wall",
    "limit",
]


class Plain(PaperODD):
    """Without first models."""

    def starts(self, data: Dataset, shape: Shape) -> Iterator[DecisionGraph]:
        return iter(())


def one(job: Job, alpha: str, seconds: float) -> dict[str, Any]:
    """A single solve of (17)-(18); its value without the price of the root, as in the ladder's rows."""
    (X, y), *_ = read_parts(DATA, job.set, job.seed)
    data = Dataset.from_user(X, y)
    problem = Problem(
        data, None, shape=SKELETONS[job.skeleton] + ("" if job.splits == UNIVARIATE else f":{job.splits}")
    )
    problem.minimize(paper_objective(alpha, data, problem.question.shape))
    before, started = cpu_seconds(), time.perf_counter()
    out: dict[str, Any] = {"set": job.set, "splits": job.splits, "skeleton": job.skeleton, "alpha": alpha,
                           "n": data.n_samples, "limit": seconds}  # fmt: skip
    try:
        result = problem.solve(tf.HiGHS(), formulation=Plain(), warm_start=None, time_limit=seconds)
    except TreeformError as error:
        return {**out, "status": error.what}
    free = (
        float(price_of_alpha(problem.question, alpha)) / data.n_samples
        if result.graph and result.graph.n_nodes
        else 0
    )
    return {
        **out, "status": str(result.status), "value": max(0.0, round(float(result.objective) - free, 8)),
        "bound_with_root": round(float(result.bound or 0), 8), "cpu": round(cpu_seconds() - before, 2),
        "wall": round(time.perf_counter() - started, 2),
    }  # fmt: skip


def known() -> list[dict[str, str]]:
    return read_rows(RUNS) if RUNS.exists() else []


def write_table(ours: dict[tuple[str, ...], dict[str, str]]) -> None:
    """Both sides of every run."""
    lines, proved, seconds = [], [0, 0], [0.0, 0.0]
    for row in known():
        mine = ours[row["set"], row["splits"], row["skeleton"], row["alpha"]]
        mark = "proved" if row["status"] == "optimal" else row["status"]
        theirs = [row[what] for what in ("set", "n", "splits", "skeleton", "alpha")] + [
            mark,
            row["value"],
            row["cpu"],
        ]
        lines.append([*theirs, "proved" if mine["proved"] == "1" else "open", mine["objective"], mine["cpu"]])
        proved[0] += row["status"] == "optimal"
        proved[1] += mine["proved"] == "1"
        seconds[0] += float(row["cpu"] or 0)
        seconds[1] += float(mine["cpu"])
    lines.append(
        ["all", "", "", "", "", proved[0], "", f"{seconds[0]:.1f}", proved[1], "", f"{seconds[1]:.1f}"]
    )
    header = [
        "set",
        "rows",
        "splits",
        "skeleton",
        "alpha",
        "paper's on HiGHS",
        "value",
        "CPU s",
        "ladder",
        "value",
        "CPU s",
    ]
    note = (
        f"Limits: {known()[0]['limit']} s for a run of the paper's formulation, {mine['limit']} s for a ladder, whose "
        "seconds are those of all five alphas together. Values are (18) over the number of rows, without the price of "
        "the root. The paper's formulation starts from nothing but treeform's bound from identical rows and few "
        "terminals."
    )
    tables.write(
        "odd_paper", "The paper's formulation on HiGHS, and the ladder, on the same runs", header, lines, note
    )


def drawn(rows: list[dict[str, str]], runs: int, draw: int) -> list[dict[str, str]]:
    """So many of the runs, at random."""
    order = np.random.default_rng(draw).permutation(len(rows))[:runs]
    return [rows[i] for i in order]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("rows", type=Path)
    words.add_argument("--seconds", type=float, default=60)
    words.add_argument("--runs", type=int, default=40)
    words.add_argument("--draw", type=int, default=1)
    words.add_argument("--minutes", type=float, default=1e9)
    given = words.parse_args()
    rows = read_rows(given.rows)
    until = time.perf_counter() + 60 * given.minutes
    have = {(row["set"], row["splits"], row["skeleton"], row["alpha"]) for row in known()}
    for run in drawn(rows, given.runs, given.draw):
        job, alpha = job_of(run), run["alpha"]
        if (job.set, job.splits, job.skeleton, alpha) in have or time.perf_counter() > until:
            continue
        row = one(job, alpha, given.seconds)
        print(row, flush=True)
        new = not RUNS.exists()
        with RUNS.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
    write_table({(r["set"], r["splits"], r["skeleton"], r["alpha"]): r for r in rows})


if __name__ == "__main__":
    main()
