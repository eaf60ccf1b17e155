"""One thread of ConTree against two."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from benchmarks.contree.compare import load
from benchmarks.harness import Figures, Rows, Shown, named, one_and_two, table
from treeform.data import Dataset
from treeform.engines import ConTree, EngineRun, TreeTask


def measure(name: str, depth: int, repeat: int) -> dict[str, Any]:
    data = Dataset.from_user(*load(name))
    outcomes, seconds = one_and_two(
        lambda threads: ConTree(threads=threads).run(data, TreeTask(depth), EngineRun()), repeat
    )
    trees = [(outcome.upper, outcome.graph) for outcome in outcomes]
    if any(tree != trees[0] for tree in trees):
        raise SystemExit(f"{name}: the tree depends on the number of threads")
    return {"errors": trees[0][0], **seconds}


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
