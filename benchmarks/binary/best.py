"""The best trees on deep problems: errors after the limit, where DL85 has no proof by then.

A proved optimum needs no comparison. ``--minutes 0`` makes the table from what is measured.
"""

from __future__ import annotations

from typing import Any

from benchmarks.binary.runs import BEST, LDS, PEER_NAMES, SHOWN, Store, errors_at, proved_at
from benchmarks.harness import Figures, Rows, Shown, named, table

OURS = ("CA-discrepancy exponential", "Blossom")


@table("binary_best")
def best(rows: Rows) -> Shown:
    """The rows as they are."""
    facts = rows.facts
    note = (
        f"The best errors after {facts['limit']} CPU seconds. The sets that are not here are proved by then: "
        f"{facts['proved']}."
    )
    return Shown("The best trees on deep problems", rows.frame, note)


def main(sets: str = "", depths: str = "6,7", limit: float = 30) -> None:
    """Measure; `limit` seconds for each run."""
    store, names, rows = Store(), named("binary", sets), []
    proved = dict.fromkeys(map(int, depths.split(",")), 0)
    for depth in proved:
        for name in names:
            target = BEST.get((name, depth))
            first = store.get("DL85", name, depth, limit, repeat=False, target=target)
            if first is None:
                continue
            if proved_at(first, limit):
                proved[depth] += 1
                continue
            row: dict[str, Any] = {"set": name, "depth": depth, "DL85": errors_at(first, limit)}
            for solver in (*OURS, *PEER_NAMES, LDS):
                goal = target if solver in OURS else None
                other = store.get(solver, name, depth, limit, repeat=False, target=goal)
                row[SHOWN.get(solver, solver)] = None if other is None else errors_at(other, limit)
            rows.append(row)
    figures = Figures("binary_best", ("set", "depth"), limit=f"{limit:g}")
    counts = [f"{count} of {len(names)} at depth {depth}" for depth, count in proved.items()]
    figures.facts["proved"] = ", ".join(counts)
    figures.add(*rows)
