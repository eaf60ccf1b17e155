"""What each switch of SatDepth is worth: user CPU of the least depth, one switch changed at a time.

Usage: ``python benchmarks/sat_ablation.py``. Data: folder in ``TREEFORM_DATA``. Runs are kept in ``build/bench``.
"""

from __future__ import annotations

from typing import Any

from sat_runs import run
from tables import write

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
    ("examples forgotten from depth to depth", {"keep": False}, "sat"),
    ("at most one feature, pairwise (the paper)", {"at_most_one": "pairwise"}, "sat"),
    ("at most one feature, sequential", {"at_most_one": "sequential"}, "sat"),
    ("ordered thresholds", {"tests": "ordered"}, "sat"),
    ("one literal per test", {"tests": "each"}, "sat"),
    ("symmetry broken", {"symmetry": True}, "sat"),
    ("phases of a greedy tree", {"phases": "greedy"}, "sat"),
    ("no bound before the first call", {"bounds": "none"}, "sat"),
    ("native bounds before the first call", {"bounds": "native"}, "sat"),
]
NOTE = """\
User CPU seconds, one thread, from the table to the tree of least depth without errors, all by SAT
(``warm_start="none"``); median of three runs. "> s": stopped after {limit} s of wall time on a busy machine,
with so much user CPU. In brackets: examples in the last formula. Read differences below a third as noise. On
car, too long for this table, one run of a search that ends with a model may take half or twice as long as
another."""


def cell(result: dict[str, Any]) -> str:
    if result["status"] != "optimal":
        return f"> {result.get('seconds', LIMIT):.1f}"
    return f"{result['seconds']:.2f} ({result['examples']})"


def main() -> None:
    rows = []
    for name, options, solver in VARIANTS:
        found = []
        for data in SETS:
            task = {"set": data, "kind": "depth", "options": options, "solver": solver, "limit": LIMIT}
            found.append(cell(run({**task, "repeat": 3})))
        rows.append([name, *found])
    header = ["variant", *(data.split("/")[-1] for data in SETS)]
    write("sat_ablation", "What each switch of SatDepth is worth", header, rows, NOTE.format(limit=LIMIT))


if __name__ == "__main__":
    main()
