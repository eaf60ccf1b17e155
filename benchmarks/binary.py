"""The binary engines beside pystreed, pydl8.5 and pytrees-rs: proofs, best trees, and quality over time.

    python benchmarks/binary.py proofs  --depths 3,4,5 --limit 60
    python benchmarks/binary.py best    --depths 6,7 --limit 30
    python benchmarks/binary.py anytime --depths 6,7 --limit 30
    python benchmarks/binary.py anytime --sets german-credit,letter --depths 7 --limit 300 --name binary_anytime_long

Every measurement is a process of its own (see ``binary_runs.py``) and is kept in ``build/bench/binary.jsonl``: a
job that was stopped goes on where it was, ``--minutes`` ends it in time, and ``--measured`` writes the tables from
what is there. The tables go to ``docs/benchmarks``. The sets are read from the folder in TREEFORM_DATA
(``../shared/data`` unless given).

`proofs` reports user CPU seconds of ``fit``; the geometric mean takes the limit for what is still open then, which
favours the slower solver. `best` compares the errors where DL85 has no proof within the limit (a proved optimum needs
no comparison). `anytime` reports the average primal integral P(T)/T in percent (Berthold 2013), against the best error
of all runs, and draws the curves.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import time
from pathlib import Path
from typing import Any

from binary_runs import (
    KEPT,
    RELAXATIONS,
    RELAXED,
    SETS,
    STRATEGIES,
    Record,
    Store,
    ended,
    errors_at,
    proved_at,
)
from tables import DOCS, write

PEERS = ("pystreed", "pydl85", "pytrees")
LDS = "pytrees-lds"
SHOWN = {"pystreed": "pystreed 1.4.0", "pydl85": "pydl8.5 0.1.8", "pytrees": "pytrees-rs 2.0.0, DL8.5"}
SHOWN |= {LDS: "pytrees-rs 2.0.0, LDS"}
MARKS = (15, 30, 60, 120, 240, 300)
# The best errors known when the runs were made: one that gets there is ended.
BEST = {
    ("german-credit", 6): 101, ("letter", 6): 93, ("splice-1", 6): 62,
    ("german-credit", 7): 36, ("kr-vs-kp", 7): 17, ("letter", 7): 32, ("splice-1", 7): 21,
}  # fmt: skip
LEFT_OUT = {("letter", 6)}  # of `anytime`, for the length of the run
OPEN_SETS = ("german-credit", "kr-vs-kp", "letter", "splice-1")


class Bench:
    """The store, and how much may still be measured.

    Parameters
    ----------
    given : argparse.Namespace
        The command line.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self.store = Store(given.store)
        self.until = time.monotonic() + 60 * given.minutes
        self.measured = given.measured

    def get(self, solver: str, name: str, depth: int, limit: float, **how: Any) -> Record | None:
        """A record; None when it is not there and there is no time to measure it."""
        known = self.store.find(solver, name, depth, limit, BEST.get((name, depth)))
        if known is not None or self.measured or time.monotonic() + limit > self.until:
            return known
        return self.store.measure(solver, name, depth, limit, **how)


def proofs(bench: Bench, sets: list[str], depths: list[int], limit: float) -> None:
    """How much is proved, and how fast: a line per depth and solver, and a line per depth and set."""
    summary, lines = [], []
    for depth in depths:
        runs = {s: {n: bench.get(s, n, depth, limit) for n in sets} for s in ("DL85", *PEERS)}
        for name in sets:
            cells = [cell(runs[s][name], limit) for s in runs]
            proved = [r[name] for r in runs.values() if r[name] is not None and r[name]["proved"]]
            lines.append([name, depth, proved[0]["errors"] if proved else None, *cells])
        for solver, found in runs.items():
            if any(found.values()):
                summary.append([depth, *compared(solver, found, runs["DL85"], limit)])
    note = (
        f"All {len(sets)} sets of the folder; one thread; user CPU seconds from NumPy arrays to the tree, open runs "
        f"counted with the limit of {limit:g} s. The last column is the geometric mean of the ratio to DL85 on the "
        "sets of that line."
    )
    header = ["depth", "solver", "sets", "proved", "geometric mean, s", "times DL85"]
    write("binary_proofs", "Proofs on binary features", header, summary, note)
    titles = ["DL85", *(SHOWN[s] for s in PEERS)]
    note = f"User CPU seconds to the proof; > {limit:g}: open then; nothing: not measured."
    write("binary_sets", "Proofs, set by set", ["set", "depth", "errors", *titles], lines, note)


def cell(record: Record | None, limit: float) -> str | None:
    """Seconds, or that it is open."""
    if record is None:
        return None
    return f"{record['seconds']:.4f}" if proved_at(record, limit) else f"> {limit:g}"


def compared(
    solver: str, found: dict[str, Record | None], ours: dict[str, Record | None], limit: float
) -> list[Any]:
    """Name, sets measured, proved, geometric mean, ratio."""
    both = [(found[n], ours[n]) for n in found if found[n] is not None and ours[n] is not None]
    name = SHOWN.get(solver, solver)
    logs = [[math.log(r["seconds"] if proved_at(r, limit) else limit) for r in pair if r] for pair in both]
    proved = sum(proved_at(r, limit) for r, _ in both if r)
    mean = math.exp(statistics.fmean(log for log, _ in logs))
    ratio = math.exp(statistics.fmean(log - own for log, own in logs))
    return [name, len(both), proved, f"{mean:.4f}", f"{ratio:.1f}"]


def best(bench: Bench, sets: list[str], depths: list[int], limit: float) -> None:
    """Errors after the limit, where DL85 has no proof by then."""
    rows, proved = [], dict.fromkeys(depths, 0)
    peers = (*PEERS, LDS)
    ours = ("CA-discrepancy exponential", "Blossom")
    for depth in depths:
        for name in sets:
            target = BEST.get((name, depth))
            first = bench.get("DL85", name, depth, limit, repeat=False, target=target)
            if first is None:
                continue
            if proved_at(first, limit):
                proved[depth] += 1
                continue
            row: list[Any] = [name, depth, errors_at(first, limit)]
            for solver in (*ours, *peers):
                goal = target if solver in ours else None
                other = bench.get(solver, name, depth, limit, repeat=False, target=goal)
                row.append(None if other is None else errors_at(other, limit))
            rows.append(row)
    counts = ", ".join(f"{count} of {len(sets)} at depth {d}" for d, count in proved.items())
    note = f"The best errors after {limit:g} CPU seconds. The sets that are not here are proved by then: {counts}."
    header = ["set", "depth", "DL85", *ours, *(SHOWN[s] for s in peers)]
    write("binary_best", "The best trees on deep problems", header, rows, note)


def primal_integral(trace: list[list[float]], reference: int, until: float) -> float:
    """Mean primal gap |x - x*| / |x| over [0, until] in percent; 1 before the first tree."""
    total, at, gap = 0.0, 0.0, 1.0
    for seconds, upper in trace:
        if seconds >= until:
            break
        total += gap * (seconds - at)
        at, gap = seconds, (0.0 if upper <= reference else (upper - reference) / upper)
    return 100 * (total + gap * (until - at)) / until


def average(
    found: dict[tuple[str, int], Record], reference: dict[tuple[str, int], int], until: float
) -> str | None:
    """The mean over sets; None when a run is not known for so long.

    A run that was ended at the best error known then is counted with that error from there on.
    """
    if any(until > r["limit"] and not ended(r, BEST[p]) for p, r in found.items()):
        return None
    return (
        f"{statistics.fmean(primal_integral(r['trace'], reference[p], until) for p, r in found.items()):.2f}"
    )


def strategy_rows() -> list[tuple[str, str, str]]:
    """(strategy, relaxation, solver), in the order of the paper's table."""
    rows = [("DL85: guides and proof in turns", "", "DL85")]
    rows += [(f"CA, {r}", x, f"CA-{r} {x}") for r in (*RELAXED, "gain+discrepancy") for x in RELAXATIONS]
    return [*rows, ("Blossom", "", "Blossom"), (SHOWN[LDS], "", LDS)]


def anytime(
    bench: Bench, sets: list[str], depths: list[int], limit: float, name: str, only: list[str]
) -> None:
    """The table of the CA-DL8.5 paper, and the curves."""
    pairs = [(n, d) for d in depths for n in sets if (n, d) in BEST and (n, d) not in LEFT_OUT]
    lines = [row for row in strategy_rows() if not only or row[2] in only]
    runs: dict[str, dict[tuple[str, int], Record | None]] = {}
    for _, _, solver in lines:
        goal = BEST if solver in STRATEGIES else {}
        runs[solver] = {p: bench.get(solver, *p, limit, repeat=False, target=goal.get(p)) for p in pairs}
    # No reference is better than what some run has found.
    reference = {p: BEST[p] for p in pairs}
    for record in bench.store.records:
        key = record["set"], record["depth"]
        if key in reference and record["errors"] is not None:
            reference[key] = min(reference[key], record["errors"])
    rows: list[list[Any]] = []
    for title, relaxation, solver in lines:
        if any(runs[solver][p] is None for p in pairs):
            continue
        row: list[Any] = [title, relaxation]
        for depth in depths:
            found = {p: r for p, r in runs[solver].items() if r is not None and p[1] == depth}
            row += [average(found, reference, m) for m in MARKS]
        rows.append(row)
    told = "; ".join(
        f"depth {d}: " + ", ".join(f"{n} ({reference[n, d]})" for n, e in pairs if e == d) for d in depths
    )
    beaten = ", ".join(f"{BEST[p]} on {p[0]} at depth {p[1]}" for p in pairs if reference[p] < BEST[p])
    note = (
        "Lower is better. Sets (reference error in brackets): "
        + told
        + ". These are the sets that DL85 does not prove within two seconds; CPU seconds of one thread. A run ends "
        f"when it reaches the best error known when it was made, or after its limit, {limit:g} s or more; nothing: "
        "some run had reached its limit by then."
        + (
            f" Later runs found better trees than those known first ({beaten}); a run that was ended there counts "
            "with that error from there on, so that its figures are at most too high."
            if beaten
            else ""
        )
    )
    header = ["strategy", "relaxation", *(f"depth {d}: {m} s" for d in depths for m in MARKS)]
    write(name, "Average primal integral, percent", header, rows, note)
    draw(runs, pairs, limit, DOCS / f"{name}.svg")


def outline(trace: list[list[float]], top: int) -> tuple[list[float], list[float]]:
    """Times and errors of a curve: what is above the picture, or too close together to be seen, is left out."""
    kept: list[list[float]] = []
    for seconds, errors in trace:
        at = max(0.01, seconds)
        if kept and kept[-1][1] > 1.5 * top:
            kept.pop()
        if kept and at < 1.03 * kept[-1][0]:
            at = kept.pop()[0]
        kept.append([at, errors])
    return [at for at, _ in kept], [errors for _, errors in kept]


def draw(
    runs: dict[str, dict[tuple[str, int], Record | None]],
    pairs: list[tuple[str, int]],
    limit: float,
    path: Path,
) -> None:
    """Errors over time, one panel per set and depth: a colour per rule, a dash per relaxation."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "treeform", "font.size": 8})
    dashes = dict(zip(RELAXATIONS, ("--", ":", "-"), strict=True))
    rules = [*RELAXED, "gain+discrepancy"]
    colours = {f"CA-{r}": f"C{i}" for i, r in enumerate(rules)}
    colours |= {"DL85": "black", "Blossom": "C8", LDS: "C9"}
    columns = 2
    height = math.ceil(len(pairs) / columns)
    figure, axes = plt.subplots(height, columns, figsize=(9, 2.6 * height), squeeze=False)
    for axis in axes.ravel()[len(pairs) :]:
        axis.set_visible(False)
    for axis, (name, depth) in zip(axes.ravel(), pairs, strict=False):
        for solver, found in runs.items():
            record = found[name, depth]
            if record is None or not record["trace"]:
                continue
            plain, _, relaxation = solver.partition(" ")
            times, errors = outline(record["trace"], 4 * BEST[name, depth])
            axis.step(
                [*times, limit], [*errors, errors[-1]], where="post", lw=1 + (solver == "DL85"),
                color=colours.get(plain, "grey"), ls=dashes.get(relaxation, "-"), label=solver,
                zorder=2 + (solver == "DL85"),
            )  # fmt: skip
        axis.set(title=f"{name}, depth {depth}", xlabel="CPU seconds", ylabel="errors", xscale="log")
        axis.set_ylim(0.9 * BEST[name, depth], 4 * BEST[name, depth])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=5, fontsize=6.5, frameon=False)
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1))
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(re.sub(r"(\d\.\d)\d+", r"\1", path.read_text()))  # a tenth of a point is enough


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=("proofs", "best", "anytime"))
    parser.add_argument("--sets", default="")
    parser.add_argument("--depths", default="")
    parser.add_argument("--limit", type=float, default=0)
    parser.add_argument("--only", default="", help="strategies of `anytime`, with semicolons between them")
    parser.add_argument("--name", default="binary_anytime", help="of the table of `anytime`")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--measured", action="store_true", help="measure nothing")
    parser.add_argument("--store", type=Path, default=KEPT)
    given = parser.parse_args()
    shallow = given.mode == "proofs"
    depths = [int(d) for d in (given.depths or ("3,4,5" if shallow else "6,7")).split(",")]
    limit = given.limit or (60 if shallow else 30)
    usual = OPEN_SETS if given.mode == "anytime" else SETS
    sets = given.sets.split(",") if given.sets else list(usual)
    bench = Bench(given)
    if given.mode == "anytime":
        anytime(bench, sets, depths, limit, given.name, [s for s in given.only.split(";") if s])
    else:
        {"proofs": proofs, "best": best}[given.mode](bench, sets, depths, limit)


if __name__ == "__main__":
    main()
