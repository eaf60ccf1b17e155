"""ConTree on each instruction set that this processor has, beside pycontree: user CPU seconds of one thread.

The sets of instructions are run alternately in one process; of each the fastest of several runs counts. The plain path
runs once, and pycontree once in a process of its own.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import geometric_mean
from typing import Any

from benchmarks.contree.compare import alone, load
from benchmarks.harness import Figures, Rows, Shown, named, table, user_seconds
from treeform import _core
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask

PATHS = ("avx512", "avx2", "portable", "plain")


def measure(name: str, depth: int, repeat: int, limit: float) -> dict[str, Any]:
    data = Dataset.from_user(*load(name))
    paths = [path for path in PATHS if _core.simd_available(path)]
    best = dict.fromkeys(paths, math.inf)
    trees = []
    for turn in range(repeat):
        for path in paths if turn == 0 else paths[:-1]:
            start = user_seconds()
            outcome = ConTree(simd=path).run(data, TreeTask(depth), EngineRun())
            best[path] = min(best[path], user_seconds() - start)
            trees.append((outcome.upper, outcome.graph, outcome.counters))
    if any(tree != trees[0] for tree in trees):
        raise SystemExit(f"{name}: the answer depends on the instruction set")
    peer = alone("pycontree", name, depth, limit, 1)
    if peer["proved"] and peer["errors"] != trees[0][0]:
        raise SystemExit(f"{name}: {trees[0][0]} errors here, {peer['errors']} there")
    seconds = {path: f"{best[path]:.4g}" if path in best else "" for path in PATHS}
    return {
        "errors": trees[0][0],
        **seconds,
        "pycontree": f"{peer['user']:.4g}",
        "pycontree proved": peer["proved"],
    }


@table("contree_paths")
def paths(rows: Rows) -> Shown:
    """Seconds, and by how much each is faster than pycontree."""
    frame = rows.frame.copy()
    note = []
    for path in PATHS:
        known = frame[frame[path].astype(str) != ""]
        ratios = (known["pycontree"].astype(float) / known[path].astype(float)).tolist()
        if ratios:
            note.append(f"{path} {geometric_mean(ratios):.1f} times (least {min(ratios):.1f})")
    title = f"ConTree by instruction set, depth {rows.facts['depth']}, user CPU seconds of one thread"
    return Shown(title, frame, f"Faster than pycontree 1.0.8 in geometric mean: {', '.join(note)}.")


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt",
    depth: int = 3,
    repeat: int = 5,
    limit: float = 400,
) -> None:
    """Measure; `limit` are wall seconds of pycontree."""
    figures = Figures("contree_paths", ("set",), depth=depth)
    for name in named("continuous", sets):
        figures.measure(partial(measure, name, depth, repeat, limit), set=name)
