"""How far size tables of hyperplanes get on large tables, under a limit of CPU time, before and after a change.

The size tables with hyperplanes among those that ``benchmarks odd runs`` draws from the sets with many rows for
training. Time limits count CPU seconds of the process, which a busy machine does not change as it does the clock's.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.diagrams.search import training
from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.odd.cpu_limits import limits_in_cpu_seconds
from benchmarks.odd.protocol import ALPHAS, SKELETONS, Job, jobs_of
from treeform.problem import Problem
from treeform.shape import MULTIVARIATE


def one(job: Job, cpu: float) -> dict[str, Any]:
    """One size table: which alphas are proved, and the gaps that are left, as shares of the samples."""
    data = training(job.set)
    problem = Problem(data, None, shape=f"{SKELETONS[job.skeleton]}:{MULTIVARIATE}")
    began = time.process_time()
    with limits_in_cpu_seconds():
        sizes = problem.size_table(alphas=ALPHAS, time_limit=cpu)
    out: dict[str, Any] = {"n": data.n_samples}
    for alpha in ALPHAS:
        found = sizes.at_alpha(alpha)
        out[f"value {alpha}"] = round(float(found.objective or 0) / data.n_samples, 6)
        out[f"gap {alpha}"] = round(float((found.objective or 0) - (found.bound or 0)) / data.n_samples, 6)
        out[f"proved {alpha}"] = int(found.proved)
    return {**out, "cpu": round(time.process_time() - began, 2)}


@table("odd_hyperplanes")
def hyperplanes(rows: Rows) -> Shown:
    """Runs proved, by alpha, and the mean gap of the rest, on the size tables that every version was measured on."""
    every = rows.frame.to_dict("records")
    versions = list(dict.fromkeys(row["version"] for row in every))
    jobs = set.intersection(
        *(
            {(row["set"], row["skeleton"]) for row in every if row["version"] == version}
            for version in versions
        )
    )
    lines = []
    for version in versions:
        own = [row for row in every if row["version"] == version and (row["set"], row["skeleton"]) in jobs]
        proved = [sum(int(row[f"proved {alpha}"]) for row in own) for alpha in ALPHAS]
        runs = len(own) * len(ALPHAS)
        gaps = [float(row[f"gap {a}"]) for row in own for a in ALPHAS if row[f"proved {a}"] == "0"]
        total = f"{sum(proved)}/{runs} ({100 * sum(proved) / runs:.0f} %)"
        shares = [f"{count}/{len(own)}" for count in proved]
        lines.append([version, *shares, total, f"{mean(gaps):.4f}" if gaps else ""])
    columns = ["version", *(f"alpha {alpha}" for alpha in ALPHAS), "proved", "mean gap of the open"]
    note = (
        f"{len(jobs)} size tables, {rows.facts['cpu']} CPU seconds each, all alphas together. "
        "Gaps are shares of the samples."
    )
    return Shown.of("Hyperplanes where there are many rows", columns, lines, note)


def main(cpu: float = 10, min_rows: int = 300, sample: int = 60, draw: int = 1, version: str = "now") -> None:
    """Measure; `version` names the rows."""
    figures = Figures("odd_hyperplanes", ("set", "skeleton", "version"), cpu=f"{cpu:g}")
    for job in jobs_of(min_rows=min_rows, sample=sample, draw=draw):
        if job.splits == MULTIVARIATE:
            figures.measure(partial(one, job, cpu), set=job.set, skeleton=job.skeleton, version=version)
