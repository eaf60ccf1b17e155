"""One thread of ConTree against two: wall seconds at depth three, measured alternately in one process.

    python benchmarks/contree_threads.py [--sets eeg,htru] [--depth 3] [--repeat 5]

Of each number of threads the fastest of several runs counts, since anything else on the machine only adds. The
last column is user CPU over wall of the run with two threads: well below 2 means that a core was not ours. Writes
``contree_threads`` in ``docs/benchmarks``.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from typing import Any

from contree import load, user_seconds
from tables import write


def measure(name: str, depth: int, repeat: int) -> list[Any]:
    from treeform.data import Dataset
    from treeform.engines import ConTree, EngineRun, TreeTask

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
    return [name, trees[0][0], f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}", f"{user / two:.2f}"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default="eeg,htru,avila,magic,bean")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    rows = [measure(name, asked.depth, asked.repeat) for name in asked.sets.split(",")]
    mean = statistics.geometric_mean(float(row[4]) for row in rows)
    write(
        "contree_threads",
        f"Two threads at depth {asked.depth}",
        ["set", "errors", "one thread, wall s", "two threads, wall s", "times faster", "CPU over wall, two"],
        rows,
        f"{mean:.2f} times in geometric mean; the trees are the same.",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
