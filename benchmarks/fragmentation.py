"""Fragmentation of a tree and of a diagram of seven tests: Figure 4 of Florio et al. (AAAI 2023), in our drawing.

Usage: ``python benchmarks/fragmentation.py [CPU seconds per skeleton]``. Data: the folder in ``TREEFORM_DATA``. Writes
the drawings and a table to ``docs/benchmarks``. Both models are the best of seven tests found on the whole set; the
diagram is the one of the skeletons I to IV that makes the fewest errors.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tables import DOCS, HERE, write

import treeform as tf
from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.shape import Shape

DATA = Path(os.environ.get("TREEFORM_DATA", HERE.parent.parent / "shared" / "data")) / "odd"
SET, TESTS = "teaching-assistant-evaluation", 7
SKELETONS = {
    "I": tf.Diagram(1, 2, 4, 8),
    "II": tf.Diagram(1, 2, 4, 4, 4),
    "III": tf.Diagram(1, 2, 3, 3, 3, 3, 3),
    "IV": tf.Diagram(1, 2, 2, 2, 2, 2, 2, 2),
}
HEADER = [
    "model",
    "errors",
    "at least",
    "tests",
    "layers",
    "share of the samples at each test, %",
    "smallest",
    "mean",
]
NOTE = """\
Shares in the order of the layers. *at least*: no model of that kind with seven tests makes fewer errors, as far as the
CPU time allowed to prove. On average a test of a diagram sees more of the samples where its branches meet again."""


def best(data: Dataset, shape: Shape, seconds: float) -> tuple[DecisionGraph, int, int]:
    """The best model found with at most seven tests, its errors and a lower bound."""
    until = time.process_time() + seconds
    ladder = tf.DiagramSearch().size_table(
        data, shape, max_nodes=TESTS, stop=lambda: time.process_time() > until
    )
    graph, errors = ladder.graphs[-1], ladder.upper[-1]
    assert graph is not None
    assert errors is not None
    return graph.with_counts(data), errors, ladder.lower[-1]


def line(name: str, graph: DecisionGraph, errors: int, lower: int, data: Dataset) -> list[Any]:
    tests = np.flatnonzero(graph.feature >= 0)
    shares = 100 * graph.route(data.X)[:, tests].mean(axis=0)
    told = " · ".join(f"{share:.0f}" for share in shares)
    return [
        name,
        errors,
        lower,
        len(tests),
        graph.depth,
        told,
        f"{shares.min():.0f} %",
        f"{shares.mean():.0f} %",
    ]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    path = DATA / f"{SET}.csv.gz"
    if not path.exists():
        print(f"left out: {SET} (not in {DATA}; set TREEFORM_DATA to the folder that holds odd/)")
        return
    frame = pd.read_csv(path)
    data = Dataset.from_user(frame.drop(columns="target"), frame["target"])
    tree = best(data, tf.Tree(depth=4), seconds)
    found = {name: best(data, shape, seconds) for name, shape in SKELETONS.items()}
    chosen = min(found, key=lambda name: found[name][1])
    rows = [line("tree of depth 4", *tree, data)]
    rows += [line(f"diagram, skeleton {name}", *one, data) for name, one in found.items()]
    tree[0].plot().save(DOCS / "fragmentation_tree.svg")
    found[chosen][0].plot().save(DOCS / "fragmentation_diagram.svg")
    write("fragmentation", f"A tree and diagrams of seven tests on {SET}", HEADER, rows, NOTE)
    print("drawn: the tree and skeleton", chosen)


if __name__ == "__main__":
    main()
