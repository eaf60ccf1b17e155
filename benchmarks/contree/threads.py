"""One thread of ConTree against two: wall seconds, measured alternately in one process.

Of each number of threads the fastest of several runs counts, since anything else on the machine only adds. The last
column is user CPU over wall of the run with two threads: well below 2 means that a core was not ours.
"""

from __future__ import annotations

import math
import statistics
import time
from functools import partial
from typing import Any

from benchmarks.contree.compare import load
from benchmarks.harness import Figures, Rows, Shown, named, table, user_seconds
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask


def measure(name: str, depth: int, repeat: int) -> dict[str, Any]:
    data = Dataset.from_user(*load(name))
    best: dict[int, tuple[float, float]] = {1: (math.inf, 0.0), 2: (math.inf, 0.0)}
    trees = []
    for _ in range(repeat):
        for threads in best:
            user, wall = user_seconds(), time.perf_counter()
            outcome = ConTree(threads=threads).run(data, TreeTask(depth), EngineRun())
            wall = time.perf_counter() - wall
            best[threads] = min(best[threads], (wall, user_seconds() - user))
            trees.append((outcome.upper, outcome.graph))
    if any(tree != trees[0] for tree in trees):
        raise SystemExit(f"{name}: the tree depends on the number of threads")
    (one, _), (two, user) = best[1], best[2]
    return {
        "errors": trees[0][0], "one thread, wall s": f"{one:.3f}", "two threads, wall s": f"{two:.3f}",
        "times faster": f"{one / two:.2f}", "CPU over wall, two": f"{user / two:.2f}",
    }  # fmt: skip


@table("contree_threads")
def threads(rows: Rows) -> Shown:
    """The rows as they are."""
    mean = statistics.geometric_mean(rows.frame["times faster"].astype(float))
    note = f"{mean:.2f} times in geometric mean; the trees are the same."
    return Shown(f"Two threads at depth {rows.facts['depth']}", rows.frame, note)


def main(sets: str = "eeg,htru,avila,magic,bean", depth: int = 3, repeat: int = 5) -> None:
    """Measure."""
    figures = Figures("contree_threads", ("set",), depth=depth)
    for name in named("continuous", sets):
        figures.measure(partial(measure, name, depth, repeat), set=name)
