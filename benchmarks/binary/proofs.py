"""How much the binary engine proves, and how fast, beside the peers: all sets, depths 3 to 5.

User CPU seconds of fit; the geometric mean takes the limit for what is still open then, which favours the slower
solver. ``--minutes 0`` makes the tables from what is measured.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from benchmarks.binary.runs import PEER_NAMES, SHOWN, Record, Store, proved_at
from benchmarks.harness import Figures, Rows, Shown, named, table


def cell(record: Record | None, limit: float) -> str | None:
    """Seconds, or that it is open; a run that failed has no seconds."""
    if record is None or math.isnan(record["seconds"]):
        return record and "failed"
    return f"{record['seconds']:.4f}" if proved_at(record, limit) else f"> {limit:g}"


def compared(
    solver: str, found: dict[str, Record | None], ours: dict[str, Record | None], limit: float
) -> dict[str, Any]:
    """Name, sets measured, proved, geometric mean, ratio; nothing where no run has seconds."""
    pairs = [(found[n], ours[n]) for n in found]
    both = [pair for pair in pairs if all(r is not None and not math.isnan(r["seconds"]) for r in pair)]
    if not both:
        return {}
    name = SHOWN.get(solver, solver)
    logs = [[math.log(r["seconds"] if proved_at(r, limit) else limit) for r in pair if r] for pair in both]
    proved = sum(proved_at(r, limit) for r, _ in both if r)
    mean = math.exp(statistics.fmean(log for log, _ in logs))
    ratio = math.exp(statistics.fmean(log - own for log, own in logs))
    return {
        "solver": name, "sets": len(both), "proved": proved, "geometric mean, s": f"{mean:.4f}",
        "times DL85": f"{ratio:.1f}",
    }  # fmt: skip


@table("binary_proofs")
def proofs(rows: Rows) -> Shown:
    """A line for each depth and solver."""
    note = (
        f"All {rows.facts['sets']} sets of the folder; one thread; user CPU seconds from NumPy arrays to the tree, "
        f"open runs counted with the limit of {rows.facts['limit']} s. The last column is the geometric mean of the "
        "ratio to DL85 on the sets of that line."
    )
    return Shown("Proofs on binary features", rows.frame, note)


@table("binary_sets")
def by_set(rows: Rows) -> Shown:
    """A line for each depth and set."""
    note = f"User CPU seconds to the proof; > {rows.facts['limit']}: open then; nothing: not measured."
    return Shown("Proofs, set by set", rows.frame, note)


def main(sets: str = "", depths: str = "3,4,5", limit: float = 60) -> None:
    """Measure; `limit` seconds for each run."""
    store, names = Store(), named("binary", sets)
    facts = {"limit": f"{limit:g}"}
    summary = Figures("binary_proofs", ("depth", "solver"), sets=len(names), **facts)
    lines = Figures("binary_sets", ("set", "depth"), **facts)
    for depth in map(int, depths.split(",")):
        runs = {s: {n: store.get(s, n, depth, limit) for n in names} for s in ("DL85", *PEER_NAMES)}
        for name in names:
            cells = {SHOWN.get(s, s): cell(runs[s][name], limit) for s in runs}
            proved = [r[name] for r in runs.values() if r[name] is not None and r[name]["proved"]]
            if any(cells.values()):
                lines.add(
                    {"set": name, "depth": depth, "errors": proved[0]["errors"] if proved else None, **cells}
                )
        for solver, found in runs.items():
            if line := compared(solver, found, runs["DL85"], limit):
                summary.add({"depth": depth, **line})
