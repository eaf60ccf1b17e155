"""Lower bounds on the errors of deep trees: of the proof, and of disjoint parts of the rows, whose errors add up.

Each run is a process of its own, of so many user CPU seconds of one thread: the proof alone has them all, the parts
have equal shares. Parts are drawn by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import interrupted_after
from benchmarks.deep.sets import named_sets, read_rows
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, table, user_seconds

SETS = "continuous/magic,continuous/eeg,continuous/bean,continuous/page,odd/statlog-german-credit,binary/german-credit"


def run(name: str, depth: int, parts: int, seconds: float) -> dict[str, Any]:
    """The bound of the proof, or the sum of those of some parts; called in a fresh process."""
    import treeform as tf

    X, y = read_rows(name)
    part_of = np.random.default_rng(0).permutation(len(X)) % parts
    bounds, models, proved = [], [], 0
    began = user_seconds()
    for part in range(parts):
        rows = part_of == part
        if len(np.unique(y[rows])) < 2:
            continue
        problem = tf.Problem(X[rows], y[rows], shape=tf.Tree(depth))
        with interrupted_after(seconds / parts):
            result = problem.solve(tf.ConTree(threads=1))
        bounds.append(int(result.bound))
        models.append(int(result.objective or 0))
        proved += str(result.status) == "optimal"
    return {
        "rows": len(X),
        "bound": sum(bounds),
        "errors": sum(models),
        "proved": proved,
        "seconds": round(user_seconds() - began, 2),
        "version": commit(),
    }


@table("deep_bounds")
def bounds(rows: Rows) -> Shown:
    """Sets and depths by numbers of parts."""
    found = rows.frame[rows.frame["bound"] != ""]
    lines = []
    for (name, depth, limit), case in found.groupby(["set", "depth", "limit"], sort=False):
        by_parts = {r["parts"]: r for r in case.to_dict("records")}
        line: dict[str, Any] = {"set": name, "depth": depth, "limit, s": limit, "rows": case["rows"].iloc[0]}
        line["errors"] = by_parts["1"]["errors"] if "1" in by_parts else ""
        for parts, r in by_parts.items():
            said = f"{r['bound']} ({r['proved']} proved)"
            line[f"{parts} parts" if parts != "1" else "proof"] = r["bound"] if parts == "1" else said
        lines.append(line)
    note = (
        "Lower bounds on errors after so many user CPU seconds, and the errors of the best tree of all rows. Bounds "
        "of parts are added up; in brackets the parts whose optimum is proved."
    )
    return Shown("Bounds of deep trees by parts of the rows", pd.DataFrame(lines), note)


def main(sets: str = SETS, depths: str = "5", parts: str = "1,2,4,16", seconds: float = 10) -> None:
    """Measure."""
    figures = Figures("deep_bounds", ("set", "depth", "parts", "limit"))
    for name in named_sets(sets):
        for depth in map(int, depths.split(",")):
            for count in map(int, parts.split(",")):
                figures.measure(
                    lambda n=name, d=depth, p=count: in_child(run, n, d, p, seconds, seconds=3 * seconds + 60).answer
                    or {"bound": ""},
                    set=name, depth=depth, parts=count, limit=f"{seconds:g}",
                )  # fmt: skip
