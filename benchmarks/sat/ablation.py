"""The effect of each switch of SatDepth: user CPU of the least depth, one switch changed at a time."""

from __future__ import annotations

from typing import Any

from benchmarks.harness import Figures, Rows, Shown, table
from benchmarks.sat.runs import run

SETS = ["sat/mouse-onehot", "sat/monks-3"]
LIMIT = 60
VARIANTS: list[tuple[str, dict[str, Any], str]] = [
    ("default", {}, "sat"),
    ("solver cadical195", {}, "cadical195"),
    ("solver cadical153", {}, "cadical153"),
    ("solver minisat22", {}, "minisat22"),
    ("one example a round", {"counterexamples": 1}, "sat"),
    ("three a round", {"counterexamples": 3}, "sat"),
    ("thirty a round", {"counterexamples": 30}, "sat"),
    ("the first ones, one a round (the paper)", {"counterexamples": 1, "choice": "first"}, "sat"),
    ("the first ones, ten a round", {"choice": "first"}, "sat"),
    ("at most one feature, pairwise (the paper)", {"at_most_one": "pairwise"}, "sat"),
    ("ordered thresholds", {"tests": "ordered"}, "sat"),
    ("one literal per test", {"tests": "each"}, "sat"),
]
NOTE = """\
User CPU seconds, one thread, from the table to the tree of least depth without errors, all by SAT
(``warm_start="none"``); median of three runs. "> s": stopped after 60 s of wall time on a busy machine,
with so much user CPU. In brackets: examples in the last formula. Read differences below a third as noise. On
car, too long for this table, one run of a search that ends with a model may take half or twice as long as
another."""


@table("sat_ablation")
def ablation(rows: Rows) -> Shown:
    """A line for each variant, a column for each set: seconds, and examples in brackets."""
    cells: dict[str, dict[str, str]] = {}
    for row in rows.frame.to_dict("records"):
        done = f"{float(row['seconds']):.2f} ({row['examples']})"
        cell = done if row["status"] == "optimal" else f"> {float(row['seconds']):.1f}"
        cells.setdefault(row["variant"], {})[row["set"]] = cell
    names = [data.split("/")[-1] for data in SETS]
    lines = [[variant, *(of.get(name) for name in names)] for variant, of in cells.items()]
    return Shown.of("The effect of each switch of SatDepth", ["variant", *names], lines, NOTE)


def main(sets: str = ",".join(SETS)) -> None:
    """Measure."""
    figures = Figures("sat_ablation", ("variant", "set"))
    for name, options, solver in VARIANTS:
        for data in sets.split(","):
            task = {
                "set": data,
                "kind": "depth",
                "options": options,
                "solver": solver,
                "limit": LIMIT,
                "repeat": 3,
            }
            result = run(task)
            row = {column: result[column] for column in ("seconds", "examples", "status")}
            figures.add({"variant": name, "set": data.split("/")[-1], **row})
