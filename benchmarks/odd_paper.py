"""The paper's formulation on HiGHS without our help, on runs of the sample behind Table 1.

Of the 300 runs of ``treeform bench odd --sample 60`` so many are drawn with a seed of their own; the first of a draw
are the draw of fewer. Run: python benchmarks/odd_paper.py ROWS.csv [--seconds 60] [--runs 40] [--draw 1], with the rows
of that command; the tables are in the folder ``odd`` of TREEFORM_DATA (default ../shared/data). What
docs/benchmarks/odd_paper_runs.csv has is not run again, and ``--minutes`` ends a session early.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tables

import treeform as tf
from treeform.bench.odd import SKELETONS, SPLITS, Job, append, cpu_seconds, job_of, read_parts, read_rows
from treeform.data import Dataset
from treeform.errors import TreeformError
from treeform.formulations.odd import PaperODD, paper_objective
from treeform.graph import DecisionGraph
from treeform.problem import Problem
from treeform.shape import UNIVARIATE, Shape
from treeform.tradeoff.size_table import price_of_alpha

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
    """Both sides by kind of splits: what is proved, how long it takes, whose models are better."""
    every = [(row, ours[row["set"], row["splits"], row["skeleton"], row["alpha"]]) for row in known()]
    lines = []
    for splits in (*SPLITS, "all"):
        own = [(theirs, mine) for theirs, mine in every if splits in ("all", theirs["splits"])]
        limit = float(own[0][0]["limit"])
        proved = [sum(t["status"] == "optimal" for t, _ in own), sum(m["proved"] == "1" for _, m in own)]
        seconds = [
            sum(float(t["wall"]) if t["status"] == "optimal" else limit for t, _ in own),
            sum(min(float(m["seconds"]), limit) if m["proved"] == "1" else limit for _, m in own),
        ]
        stated = [(t, m) for t, m in own if t["value"]]
        worse = sum(float(t["value"]) > float(m["objective"]) + 1e-6 for t, m in stated)
        better = sum(float(t["value"]) < float(m["objective"]) - 1e-6 for t, m in stated)
        lines.append(
            [splits, len(own), len(own) - len(stated), *proved, f"{proved[1] / max(proved[0], 1):.1f}",
             *(f"{s:.0f}" for s in seconds), f"{seconds[0] / seconds[1]:.2f}", worse, better]
        )  # fmt: skip
    header = [
        "splits", "runs", "not stated", "proved: paper's", "proved: ladder", "ratio", "seconds: paper's",
        "seconds: ladder", "ratio", "ladder's model better", "paper's better",
    ]  # fmt: skip
    both = [(t, m) for t, m in every if t["status"] == "optimal" and m["proved"] == "1"]
    apart = [sum(float(t["wall"]) for t, _ in both), sum(float(m["seconds"]) for _, m in both)]
    note = (
        f"Limits: {limit:g} s of wall clock for a run of the paper's formulation, {limit:g} s for a ladder, which "
        "answers five of these runs at once; its seconds are those of the whole ladder, and whatever is not proved "
        f"counts as {limit:g}. The {len(both)} runs that both prove take {apart[0]:.0f} and {apart[1]:.0f} s. *Not "
        "stated*: two values of a feature are closer than the solver's tolerance, so that (15)-(16) have no epsilon. "
        "The paper's formulation starts from nothing but treeform's bound from identical rows and few terminals. "
        "Every run is in ``odd_paper_runs.csv``."
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
        append(RUNS, [row], FIELDS)
    write_table({(r["set"], r["splits"], r["skeleton"], r["alpha"]): r for r in rows})


if __name__ == "__main__":
    main()
