"""Fragmentation of a tree and of a diagram of seven tests: Figure 4 of Florio et al. (AAAI 2023), in our drawing.

Both models are the best of seven tests found on the whole set; the diagram drawn is the one of the skeletons I to IV
that makes the fewest errors.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import treeform as tf
from benchmarks.harness import SESSION, Figures, Rows, Shown, named, read_set, table
from benchmarks.odd.protocol import SKELETONS
from treeform.data import Dataset
from treeform.graph import DecisionGraph
from treeform.shape import parse_shape

SET, TESTS = "teaching-assistant-evaluation", 7
NOTE = """\
Shares in the order of the layers. *at least*: no model of that kind with seven tests makes fewer errors, as far as the
CPU time allowed to prove. On average a test of a diagram sees more of the samples where its branches meet again."""


def best(data: Dataset, shape: str, seconds: float) -> tuple[DecisionGraph, int, int]:
    """The best model found with at most seven tests, its errors and a lower bound."""
    until = time.process_time() + seconds
    sizes = tf.DiagramSearch().size_table(
        data, parse_shape(shape), max_nodes=TESTS, stop=lambda: time.process_time() > until
    )
    graph, errors = sizes.graphs[-1], sizes.upper[-1]
    assert graph is not None
    assert errors is not None
    return graph.with_counts(data), errors, sizes.lower[-1]


def line(graph: DecisionGraph, errors: int, lower: int, data: Dataset) -> dict[str, Any]:
    """The row of one model."""
    tests = np.flatnonzero(graph.feature >= 0)
    shares = 100 * graph.route(data.X)[:, tests].mean(axis=0)
    return {
        "errors": errors, "at least": lower, "tests": len(tests), "layers": graph.depth,
        "share of the samples at each test, %": " · ".join(f"{share:.0f}" for share in shares),
        "smallest": f"{shares.min():.0f} %", "mean": f"{shares.mean():.0f} %",
    }  # fmt: skip


@table("fragmentation")
def fragmentation(rows: Rows) -> Shown:
    """A line for each model."""
    return Shown(f"A tree and diagrams of seven tests on {SET}", rows.frame, NOTE)


def main(seconds: float = 20) -> None:
    """Measure and draw; CPU seconds for each skeleton."""
    figures = Figures("fragmentation", ("model",))
    for name in named("odd", SET):
        data = Dataset.from_user(*read_set("odd", name))
        found = {skeleton: best(data, shape, seconds) for skeleton, shape in SKELETONS.items()}
        figures.add({"model": "tree of depth 4", **line(*found["tree"], data)})
        tree, diagrams = found.pop("tree"), found
        for skeleton, one in diagrams.items():
            figures.add({"model": f"diagram, skeleton {skeleton}", **line(*one, data)})
        tree[0].plot().save(SESSION.folder / "fragmentation_tree.svg")
        fewest = min(diagrams.values(), key=lambda one: one[1])
        fewest[0].plot().save(SESSION.folder / "fragmentation_diagram.svg")
