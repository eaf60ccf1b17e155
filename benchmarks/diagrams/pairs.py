"""Counts of pairs of splits in place of searches for single tests: CPU seconds until numbers of tests are proved.

Training halves (seed 0); the least errors with at most so many tests, and with every smaller number.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import treeform as tf
from benchmarks.diagrams.search import Clock, training
from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.odd.protocol import SKELETONS
from treeform.engines.diagram import TECHNIQUES
from treeform.shape import parse_shape

PROBLEMS = (
    ("tic-tac-toe", "II", 6),
    ("breast-cancer-wisconsin", "II", 6),
    ("mammographic-mass", "IV", 6),
    ("blood-transfusion-service", "III", 5),
    ("statlog-german-credit", "II", 4),
)
WAYS = {"pairs": TECHNIQUES, "no pairs": tuple(one for one in TECHNIQUES if one != "pairs")}


def one(name: str, skeleton: str, tests: int, way: str, limit: float) -> dict[str, Any]:
    """CPU seconds until all is proved; more than the limit where it is not."""
    data, shape = training(name), parse_shape(SKELETONS[skeleton])
    clock, began = Clock(limit), time.process_time()
    sizes = tf.DiagramSearch(parts=WAYS[way]).size_table(data, shape, max_nodes=tests, stop=clock.stop)
    spent = time.process_time() - began
    return {"proved": int(sizes.reason is None), "CPU s": max(round(spent, 3), 0.001)}


@table("diagram_pairs")
def pairs(rows: Rows) -> Shown:
    """Both ways side by side, and the ratio."""
    every = {(row["set"], row["skeleton"], row["way"]): row for row in rows.frame.to_dict("records")}
    lines = []
    for name, skeleton, tests in PROBLEMS:
        own = [every.get((name, skeleton, way)) for way in WAYS]
        if own[0] is None or own[1] is None:
            continue
        ratio = float(own[1]["CPU s"]) / float(own[0]["CPU s"])
        cells = [row["CPU s"] if row["proved"] == "1" else f"open after {row['CPU s']}" for row in own if row]
        more = "" if own[1]["proved"] == "1" else "more than "
        lines.append([name, skeleton, tests, *cells, f"{more}{ratio:.1f}"])
    return Shown.of(
        "Trees of two levels by counts of pairs",
        ["set", "skeleton", "tests", *(f"CPU s, {way}" for way in WAYS), "ratio"],
        lines,
        f"At most {rows.facts['limit']} CPU seconds each.",
    )


def main(limit: float = 20) -> None:
    """Measure."""
    figures = Figures("diagram_pairs", ("set", "skeleton", "way"), limit=f"{limit:g}")
    for name, skeleton, tests in PROBLEMS:
        for way in WAYS:
            figures.measure(
                partial(one, name, skeleton, tests, way, limit), set=name, skeleton=skeleton, way=way
            )
