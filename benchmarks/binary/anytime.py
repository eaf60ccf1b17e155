"""Errors over time: the average primal integral P(T)/T in percent (Berthold 2013), and the curves.

The reference is the best error of all runs. Draws ``binary_anytime.svg`` (needs matplotlib). ``--minutes 0`` makes the
table from what is measured.
"""

from __future__ import annotations

import math
import re
import statistics
from pathlib import Path
from typing import Any

from benchmarks.binary.runs import (
    BEST,
    LDS,
    OPEN_SETS,
    RELAXATIONS,
    RELAXED,
    SHOWN,
    STRATEGIES,
    Record,
    Store,
    ended,
)
from benchmarks.harness import SESSION, Figures, Rows, Shown, named, table

MARKS = (15, 30, 60, 120, 240, 300)
LEFT_OUT = {("letter", 6)}  # of `anytime`, for the length of the run


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


@table("binary_anytime")
def anytime(rows: Rows) -> Shown:
    """The table of the CA-DL8.5 paper."""
    facts = rows.facts
    beaten = facts.get("beaten")
    note = (
        f"Lower is better. Sets (reference error in brackets): {facts['references']}"
        ". These are the sets that DL85 does not prove within two seconds; CPU seconds of one thread. A run ends "
        f"when it reaches the best error known when it was made, or after its limit, {facts['limit']} s or more; "
        "nothing: some run had reached its limit by then."
        + (
            f" Later runs found better trees than those known first ({beaten}); a run that was ended there counts "
            "with that error from there on, so that its figures are at most too high."
            if beaten
            else ""
        )
    )
    return Shown("Average primal integral, percent", rows.frame, note)


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


def main(
    sets: str = ",".join(OPEN_SETS),
    depths: str = "6,7",
    limit: float = 30,
    only: str = "",
    name: str = "binary_anytime",
) -> None:
    """Measure and draw; `only` are strategies, with semicolons between them; `name` is that of the file."""
    store, deep = Store(), [int(depth) for depth in depths.split(",")]
    pairs = [(n, d) for d in deep for n in named("binary", sets) if (n, d) in BEST and (n, d) not in LEFT_OUT]
    lines = [row for row in strategy_rows() if not only or row[2] in only.split(";")]
    runs: dict[str, dict[tuple[str, int], Record | None]] = {}
    for _, _, solver in lines:
        goal = BEST if solver in STRATEGIES else {}
        runs[solver] = {p: store.get(solver, *p, limit, repeat=False, target=goal.get(p)) for p in pairs}
    # No reference is better than what some run has found.
    reference = {p: BEST[p] for p in pairs}
    for record in store.records():
        key = record["set"], record["depth"]
        if key in reference and record["errors"] is not None:
            reference[key] = min(reference[key], record["errors"])
    rows = []
    for title, relaxation, solver in lines:
        if any(runs[solver][p] is None for p in pairs):
            continue
        row: dict[str, Any] = {"strategy": title, "relaxation": relaxation}
        for depth in deep:
            found = {p: r for p, r in runs[solver].items() if r is not None and p[1] == depth}
            row |= {f"depth {depth}: {m} s": average(found, reference, m) for m in MARKS}
        rows.append(row)
    figures = Figures(name, ("strategy", "relaxation"), limit=f"{limit:g}")
    beaten = [f"{BEST[p]} on {p[0]} at depth {p[1]}" for p in pairs if reference[p] < BEST[p]]
    figures.facts |= {"beaten": ", ".join(beaten)} if beaten else {}
    figures.facts["references"] = "; ".join(
        f"depth {d}: " + ", ".join(f"{n} ({reference[n, d]})" for n, e in pairs if e == d) for d in deep
    )
    figures.add(*rows)
    draw(runs, pairs, limit, SESSION.folder / f"{name}.svg")
