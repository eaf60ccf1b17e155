"""What the improvement search costs a proof: CPU seconds of ConTree until proof, with it and without.

Alternate runs in one process, the fastest of those that fit into some seconds; sets that are proved without it within
the limit.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import interrupted_after
from benchmarks.harness import Figures, Rows, Shown, commit, cpu_seconds, in_child, named, read_set, table

LEAST = 0.02
"""Seconds: shorter proofs are not compared."""
TOGETHER, FEWEST, MOST = 4.0, 3, 40
"""Seconds that the runs of each kind take together, and how many they are at least and at most."""
PATIENCE = 3
"""Times the limit: a proof that takes longer with the search is given up."""
UNKNOWN = ("without", "with", "errors", "version")


def compared(family: str, name: str, depth: int, limit: float) -> dict[str, Any]:
    """One set, in a fresh process."""
    X, y = read_set(family, name)
    table_of_numbers, labels = np.ascontiguousarray(X.to_numpy(float)), y.to_numpy()
    empty = dict.fromkeys(UNKNOWN, "")
    _proved(table_of_numbers[:60], labels[:60], 2, limit, True)  # imports
    errors, seconds = _proved(table_of_numbers, labels, depth, limit, False)
    if errors is None or seconds < LEAST:
        return empty
    runs: dict[bool, list[float]] = {False: [seconds], True: []}
    for _ in range(max(FEWEST, min(MOST, round(TOGETHER / seconds)))):
        for improve in (True, False):
            other, seconds = _proved(table_of_numbers, labels, depth, PATIENCE * limit, improve)
            if other is None:
                return empty | {"without": round(min(runs[False]), 4), "errors": errors, "version": commit()}
            assert other == errors
            runs[improve].append(seconds)
    found = {"without": round(min(runs[False]), 4), "with": round(min(runs[True]), 4), "errors": errors}
    return found | {"version": commit()}


def _proved(X: Any, y: Any, depth: int, limit: float, improve: bool) -> tuple[int | None, float]:
    import treeform as tf

    problem = tf.Problem(X, y, shape=tf.Tree(depth))
    began = cpu_seconds()
    with interrupted_after(limit):
        result = problem.solve(tf.ConTree(improve=improve))
    return (int(result.objective or 0) if str(result.status) == "optimal" else None), cpu_seconds() - began


@table("deep_overhead")
def overhead(rows: Rows) -> Shown:
    """Depths: how many sets, mean and largest ratio."""
    lines, limit = [], float(rows.facts["limit"])
    proved = rows.frame[rows.frame["errors"] != ""]
    given_up = proved[proved["with"] == ""]
    for depth, found in proved[proved["with"] != ""].groupby("depth"):
        ratio = found["with"].astype(float) / found["without"].astype(float)
        worst, longer = ratio.idxmax(), ratio[ratio > 1]
        lines.append(
            {
                "depth": depth,
                "sets": len(found),
                "mean": f"{geometric_mean(ratio):.3f}",
                "least": f"{ratio.min():.2g}",
                "longer": f"{len(longer)}, mean {np.exp(np.log(longer).mean()):.3f}",
                "largest": f"{ratio.max():.2f} ({found['set'][worst]}, {found['without'][worst]} s)",
                f"not in {PATIENCE * limit:g} s": ", ".join(given_up["set"][given_up["depth"] == depth]),
            }
        )
    note = (
        "CPU seconds until proof with the improvement search, in parts of those without it; "
        f"sets that are proved without it within {limit:g} s; longer: those that take longer with it."
    )
    return Shown("What the improvement search costs a proof", pd.DataFrame(lines), note)


def main(families: str = "continuous,odd", sets: str = "", depths: str = "3,4", limit: float = 10) -> None:
    """Measure all sets of some families, or those of such names."""
    figures = Figures("deep_overhead", ("family", "set", "depth"), limit=f"{limit:g}")
    for depth in map(int, depths.split(",")):
        for family in families.split(","):
            for name in named(family, sets):
                figures.measure(
                    lambda f=family, n=name, d=depth: in_child(compared, f, n, d, limit, seconds=20 * limit).answer
                    or dict.fromkeys(UNKNOWN, ""),
                    family=family, set=name, depth=depth,
                )  # fmt: skip
