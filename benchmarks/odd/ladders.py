"""The effect of each technique of the native search on large tables: size tables under a limit of CPU time.

The size tables with tests of one feature among those that ``benchmarks odd runs`` draws from the sets with many rows
for training. A size table ends after so many seconds of CPU time, which a busy machine does not change. The search with
all techniques, with single ones left out, and with those of the first version.
"""

from __future__ import annotations

import time
from functools import partial
from statistics import mean
from typing import Any

import treeform as tf
from benchmarks.diagrams.search import Clock, prices_of, training
from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.odd.protocol import ALPHAS, SKELETONS, Job, jobs_of
from treeform.engines.diagram import TECHNIQUES
from treeform.shape import UNIVARIATE, parse_shape

WAYS = {
    "all": TECHNIQUES,
    "no annealing": tuple(one for one in TECHNIQUES if one != "annealing"),
    "no alternation": tuple(one for one in TECHNIQUES if one != "alternation"),
    "no regions": tuple(one for one in TECHNIQUES if one != "regions"),
    "no conflicts": tuple(one for one in TECHNIQUES if one != "conflicts"),
    "no pairs": tuple(one for one in TECHNIQUES if one != "pairs"),
    "first version": ("trees", "transpositions"),
}


def one(job: Job, way: str, cpu: float) -> dict[str, Any]:
    """One size table: how many alphas are proved, and the gaps that are left, as shares of the samples."""
    data, shape = training(job.set), parse_shape(SKELETONS[job.skeleton])
    prices = prices_of(data, shape)
    clock = Clock(cpu)
    began = time.process_time()
    sizes = tf.DiagramSearch(parts=WAYS[way]).size_table(
        data, shape, list(prices.values()), free=1, stop=clock.stop
    )
    out: dict[str, Any] = {"n": data.n_samples}
    for alpha, price in prices.items():
        value, _ = sizes.best(price)
        bound = min(low + price * max(0, k - 1) for k, low in enumerate(sizes.lower))
        out[f"value {alpha}"] = round(float(value) / data.n_samples, 6)
        out[f"gap {alpha}"] = round(max(0.0, float(value - bound)) / data.n_samples, 6)
        out[f"proved {alpha}"] = int(sizes.proved(price))
    return {**out, "cpu": round(time.process_time() - began, 2)}


@table("odd_ladders")
def ladders(rows: Rows) -> Shown:
    """Runs proved, by alpha, and the mean gap of the rest."""
    every = rows.frame.to_dict("records")
    jobs = {(row["set"], row["skeleton"]) for row in every}
    lines = []
    for way in WAYS:
        own = [row for row in every if row["way"] == way]
        if {(row["set"], row["skeleton"]) for row in own} != jobs:
            continue
        proved = [sum(int(row[f"proved {alpha}"]) for row in own) for alpha in ALPHAS]
        runs = len(own) * len(ALPHAS)
        gaps = [float(row[f"gap {a}"]) for row in own for a in ALPHAS if row[f"proved {a}"] == "0"]
        values = [float(row[f"value {a}"]) for row in own for a in ALPHAS]
        total = f"{sum(proved)}/{runs} ({100 * sum(proved) / runs:.0f} %)"
        lines.append(
            [
                way,
                *(f"{count}/{len(own)}" for count in proved),
                total,
                f"{mean(gaps):.4f}",
                f"{mean(values):.4f}",
            ]
        )
    columns = [
        "techniques",
        *(f"alpha {alpha}" for alpha in ALPHAS),
        "proved",
        "mean gap of the open",
        "mean value",
    ]
    note = (
        f"{len(jobs)} size tables, {rows.facts['cpu']} CPU seconds each, all alphas together. Gaps and values are "
        "shares of the samples. *First version*: bounds from trees, transpositions, models by information gain alone."
    )
    return Shown.of("The effect of each technique where there are many rows", columns, lines, note)


def main(
    cpu: float = 5, min_rows: int = 300, sample: int = 60, draw: int = 1, ways: str = ";".join(WAYS)
) -> None:
    """Measure; `ways` with semicolons between them."""
    figures = Figures("odd_ladders", ("set", "skeleton", "way"), cpu=f"{cpu:g}")
    jobs = [job for job in jobs_of(min_rows=min_rows, sample=sample, draw=draw) if job.splits == UNIVARIATE]
    for job in jobs:
        for way in ways.split(";"):
            figures.measure(partial(one, job, way, cpu), set=job.set, skeleton=job.skeleton, way=way)
