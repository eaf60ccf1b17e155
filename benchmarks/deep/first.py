"""The first model of a deep tree beside CART: seconds and errors.

The first model is the first with fewer errors than CART's tree of the same depth, or CART's tree where none comes.
Both run in one process; each has the least of some runs, in user CPU seconds of one thread, from arrays to model.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import CURVE, cart, treeform
from benchmarks.deep.sets import named_sets, split_rows
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

RUNS = 5
WITHIN = 8.0
"""In so many times CART's seconds, and at least a tenth of a second, the first model has to come."""
LEAST = 0.005
"""Seconds of CART: where it takes less, seconds are not compared."""


def run(name: str, depth: int) -> dict[str, Any]:
    """One set, in a fresh process."""
    X, _, y, _ = split_rows(name)
    greedy, seconds, times, errors = 0, np.inf, [], []
    treeform(X[:40], np.arange(40) % 2, 3, 1.0)  # imports and first calls
    for _ in range(RUNS):
        before = user_seconds()
        tree = cart("gini")(X, y, depth, 1.0)
        seconds = min(seconds, user_seconds() - before)
        greedy = int((tree(X) != y).sum())
    for _ in range(RUNS):
        treeform(X, y, depth, max(WITHIN * seconds, 0.1))
        at, least = next(((t, e) for t, e in CURVE if e < greedy), (0.0, greedy))
        times.append(at)
        errors.append(least)
    return {
        "CART, s": round(seconds, 4),
        "CART": greedy,
        "first, s": round(min(times), 4),
        "first": max(errors),
        "version": commit(),
    }


@table("deep_first")
def first(rows: Rows) -> Shown:
    """Depths: seconds and errors in parts of CART's."""
    lines = []
    for depth, found in rows.frame[rows.frame["CART"] != ""].groupby("depth"):
        ours, greedy = found["first"].astype(int), found["CART"].astype(int)
        seconds = found["first, s"].astype(float) / found["CART, s"].astype(float)
        timed = seconds[(found["CART, s"].astype(float) >= LEAST) & (ours < greedy)]
        lines.append(
            {
                "depth": depth,
                "sets": len(found),
                "errors": f"{geometric_mean((ours + 1) / (greedy + 1)):.2f}",
                "more errors": int((ours > greedy).sum()),
                "seconds": f"{geometric_mean(timed):.2f}" if len(timed) else "",
                "at most": f"{timed.max():.1f} ({found['set'][timed.idxmax()]})" if len(timed) else "",
                "sets with seconds": len(timed),
            }
        )
    note = (
        "The first model that is better than CART's tree, in parts of CART's errors (plus one) and seconds. Seconds "
        f"are compared where CART takes at least {LEAST * 1000:g} milliseconds."
    )
    return Shown("The first model beside CART", pd.DataFrame(lines), note)


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt", depths: str = "5,6,8"
) -> None:
    """Measure."""
    figures = Figures("deep_first", ("set", "depth"))
    empty = dict.fromkeys(("CART, s", "CART", "first, s", "first", "version"), "")
    for depth in map(int, depths.split(",")):
        for name in named_sets(sets):
            figures.measure(
                lambda n=name, d=depth: in_child(run, n, d, seconds=120).answer or empty,
                set=name,
                depth=depth,
            )
