"""Fair trees and diagrams: least errors under the four-fifths rule, constraint (19) of Florio et al. (AAAI 2023).

Usage: ``python benchmarks/fairness.py [--rows FILE] [set:shape ...]``, a shape as on the command line, ``tree:3`` or
``diagram:1,2,3``. Data: the folder in ``TREEFORM_DATA``; a set that is not there is left out, and said so. With
``--rows`` a run that was cut goes on where it stopped. Every run has 60 wall seconds on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
from pathlib import Path
from typing import Any

import pandas as pd
from tables import HERE, write

import treeform as tf

DATA = Path(os.environ.get("TREEFORM_DATA", HERE.parent.parent / "shared" / "data")) / "fairness"
SENSITIVE = {
    "student-mat": ("sex:M", 1),
    "german-credit": ("Gender=Male", 1),
    "compas": ("Race=African-American", 0),
    "adult": ("Sex=Male", 1),
}
"""The column whose groups are compared, and the favourable class."""
SHAPES = ("tree:3", "diagram:1,2,3")
RATIO = "0.8"
SECONDS = 60.0
HEADER = [
    "set", "rows", "groups by", "shape", "errors without the rule", "ratio without", "errors", "bound", "gap",
    "status", "rates", "ratio", "seconds", "CPU s",
]  # fmt: skip
NOTE = f"""\
*errors without the rule*, *ratio without*: the best model that ignores it, proved by the native engine unless marked
with an asterisk (20 s), and the smaller of its two rates over the larger. Then the best model found with a ratio of at
least {RATIO}, from ``formulation="odd"`` on HiGHS with the native engine for warm start and bounds, 60 s. *rates*:
share of each group (column 0 / 1) that is predicted the favourable class; *bound*: no admissible model makes fewer
errors; *gap*: (errors - bound) / errors."""


def cpu_seconds() -> float:
    """User CPU of this process and its children."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def rates_of(parity: tf.StatisticalParity, problem: tf.Problem, graph: Any) -> tuple[str, str]:
    """The groups' rates and the ratio of the smaller to the larger, as text."""
    bound = parity.bind(problem.data)
    rates = [
        float(row.rate) for row in sorted(bound.report(graph, problem.data), key=lambda row: str(row.group))
    ]
    ratio = min(rates) / max(rates) if max(rates) > 0 else 1.0
    return " / ".join(f"{100 * rate:.1f} %" for rate in rates), f"{ratio:.3f}"


def measure(name: str, shape: str) -> list[Any]:
    """One line of the table."""
    frame = pd.read_csv(DATA / f"{name}.csv.gz")
    X, y = frame.drop(columns="target"), frame["target"]
    column, favourable = SENSITIVE[name]
    engine = "contree" if shape.startswith("tree") else "diagram-search"
    parity = tf.StatisticalParity(column, ratio=RATIO, favourable=favourable)
    free = tf.Problem(X, y, shape=shape)
    unruled = free.solve(engine, time_limit=20)
    problem = tf.Problem(X, y, shape=shape)
    problem += parity
    began = cpu_seconds()
    result = problem.solve("highs", formulation="odd", warm_start=engine, time_limit=SECONDS)
    spent = cpu_seconds() - began
    star = "" if unruled.status is tf.Status.OPTIMAL else "*"
    line = [name, len(y), column, shape, f"{unruled.errors}{star}", rates_of(parity, free, unruled.graph)[1]]
    if result.graph is None:
        return [*line, None, float(result.bound or 0), None, str(result.status), None, None, round(result.seconds, 1),
                round(spent, 1)]  # fmt: skip
    rates, ratio = rates_of(parity, problem, result.graph)
    bound = int(result.bound or 0)
    gap = (result.errors - bound) / result.errors if result.errors else 0.0
    return [*line, result.errors, bound, f"{100 * gap:.1f} %", str(result.status), rates, ratio,
            round(result.seconds, 1), round(spent, 1)]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("jobs", nargs="*", metavar="set:shape")
    parser.add_argument("--rows", type=Path, help="keep finished lines here, and go on from them")
    given = parser.parse_args()
    jobs = [job.split(":", 1) for job in given.jobs] or [[s, shape] for s in SENSITIVE for shape in SHAPES]
    done: dict[str, list[Any]] = {}
    if given.rows is not None and given.rows.exists():
        done = {f"{row[0]}:{row[3]}": row for row in map(json.loads, given.rows.read_text().splitlines())}
    rows = []
    for name, shape in jobs:
        if not (DATA / f"{name}.csv.gz").exists():
            print(f"left out: {name} (not in {DATA}; set TREEFORM_DATA to the folder that holds fairness/)")
            continue
        if f"{name}:{shape}" not in done:
            done[f"{name}:{shape}"] = measure(name, shape)
            if given.rows is not None:
                with given.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(done[f"{name}:{shape}"]) + "\n")
        rows.append(done[f"{name}:{shape}"])
        print(rows[-1], flush=True)
    if rows:
        write("fairness", f"The four-fifths rule on every set, ratio {RATIO}", HEADER, rows, NOTE)


if __name__ == "__main__":
    main()
