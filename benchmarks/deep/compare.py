"""Errors of deep trees after some CPU seconds, on rows learnt from and on others.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=0)``). Each run is a process of
its own; its seconds are user CPU seconds from arrays to model, thresholds as columns included. A program that does not
stop by itself counts from the moment when it ends. A program that limits itself sees a clock of CPU time.

The primal integral (Berthold, Operations Research Letters 41, 2013) is the mean over the time of (errors - best) /
(errors + 1), where best is the least of all programs and times, and 1 before the first model.
"""

from __future__ import annotations

import re
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import ANYTIME, CURVE, OURS, PROGRAMS, version_of
from benchmarks.harness import (
    SESSION,
    Figures,
    Rows,
    Shown,
    in_child,
    named,
    on_cpu_time,
    read_set,
    table,
    user_seconds,
)

GREEDY = "CART, gini"
SLACK = 1.25
"""A run that takes longer than its limit by this factor does not count there."""


PICTURED = 6
"""The depth of the picture."""


def split_rows(name: str, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and others, features as float64: X, X_test, y, y_test."""
    from sklearn.model_selection import train_test_split

    X, y = read_set("continuous", name)
    parts = train_test_split(X.to_numpy(float), y.to_numpy(), test_size=0.3, random_state=seed)
    return tuple(np.ascontiguousarray(part) for part in parts)  # type: ignore[return-value]


def run(program: str, name: str, depth: int, limit: float, seed: int) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    X, X_test, y, y_test = split_rows(name, seed)
    PROGRAMS[program](X[:60], np.arange(60) % 2, 2, 1.0)  # imports and first calls
    before = user_seconds()
    predict = PROGRAMS[program](X, y, depth, limit)
    spent = user_seconds() - before
    wrong, wrong_test = predict(X) != y, predict(X_test) != y_test
    return {
        "seconds": round(spent, 3),
        "errors": int(wrong.sum()),
        "test": round(100 * float(wrong_test.mean()), 2),
        "version": version_of(program),
        "curve": " ".join(f"{t:g}:{errors}" for t, errors in CURVE) if program == OURS else "",
    }


def best_at(rows: list[dict[str, str]], limit: float, programs: set[str]) -> tuple[int, str] | None:
    """The least errors of some programs within a limit, and whose they are."""
    found = [
        (int(r["errors"]), r["program"])
        for r in rows
        if r["program"] in programs and r["errors"] and float(r["seconds"]) <= max(SLACK * limit, limit + 0.1)
    ]
    return min(found, default=None)


@table("deep")
def compared(rows: Rows) -> Shown:
    """Sets and depths by limit: ours, the greedy tree, the best of the others."""
    by_case: dict[tuple[int, str], list[dict[str, str]]] = {}
    for row in rows.frame.to_dict("records"):
        if row["seed"] == "0":
            by_case.setdefault((int(row["depth"]), row["set"]), []).append(row)
    limits = sorted({float(r["limit"]) for case in by_case.values() for r in case if r["program"] == OURS})
    others = set(PROGRAMS) - {OURS}
    lines, ratios = [], {}
    for (depth, name), case in sorted(by_case.items()):
        greedy = best_at(case, 1e9, {GREEDY})
        line: dict[str, Any] = {"depth": depth, "set": name, "CART": "" if greedy is None else greedy[0]}
        for limit in limits:
            own = best_at([r for r in case if float(r["limit"]) == limit], 1e9, {OURS})
            other = best_at(case, limit, others)
            line[f"{limit:g} s"] = "" if own is None else own[0]
            line[f"best other, {limit:g} s"] = "" if other is None else f"{other[0]} ({other[1]})"
            if own and other and greedy:
                ratios.setdefault((depth, limit), []).append(
                    ((own[0] + 1) / (other[0] + 1), (own[0] + 1) / (greedy[0] + 1))
                )
        lines.append(line)
    means = "; ".join(
        f"depth {depth} after {limit:g} s: {geometric_mean(r[0] for r in pairs):.2f} and "
        f"{geometric_mean(r[1] for r in pairs):.2f} on {len(pairs)} sets"
        for (depth, limit), pairs in sorted(ratios.items())
    )
    note = (
        "Errors on the rows that were learnt from, 70 % of each set. Seconds are user CPU seconds of one thread. "
        f"Geometric mean of (errors + 1) as ratios to the best other program and to CART: {means}."
    )
    return Shown("Errors of deep trees", pd.DataFrame(lines), note)


def integral(curve: list[tuple[float, int]], best: int, until: float) -> float:
    """The primal integral of the errors at some times."""
    total, at, gap = 0.0, 0.0, 1.0
    for moment, errors in sorted(curve):
        if moment >= until:
            break
        total += gap * (moment - at)
        at, gap = moment, min(gap, (errors - best) / (errors + 1))
    return (total + gap * (until - at)) / until


def curve_of(rows: list[dict[str, str]]) -> list[tuple[float, int]]:
    """Seconds and errors of the runs of one program, of the longest run with all that it found."""
    longest = max(rows, key=lambda r: float(r["limit"]))
    if longest.get("curve"):
        return [(float(t), int(errors)) for t, errors in (p.split(":") for p in longest["curve"].split(" "))]
    return [(float(r["seconds"]), int(r["errors"])) for r in rows]


@table("deep_integral", source="deep")
def integrals(rows: Rows) -> Shown:
    """Programs by depth: the mean over the sets of their primal integrals."""
    found = [r for r in rows.frame.to_dict("records") if r["seed"] == "0" and r["errors"]]
    until = max(float(r["limit"]) for r in found)
    cases: dict[tuple[str, int], dict[str, list[dict[str, str]]]] = {}
    for row in found:
        cases.setdefault((row["set"], int(row["depth"])), {}).setdefault(row["program"], []).append(row)
    values: dict[str, dict[int, list[float]]] = {}
    for (_, depth), programs in cases.items():
        best = min(int(r["errors"]) for each in programs.values() for r in each)
        for program, each in programs.items():
            values.setdefault(program, {}).setdefault(depth, []).append(integral(curve_of(each), best, until))
    depths = sorted({depth for _, depth in cases})
    lines = [
        {"program": program}
        | {f"depth {d}": f"{np.mean(by[d]):.3f} ({len(by[d])})" if d in by else "" for d in depths}
        for program, by in sorted(
            values.items(), key=lambda item: np.mean([v for e in item[1].values() for v in e])
        )
    ]
    note = (
        f"Mean of the primal integrals over {until:g} CPU seconds, and on how many sets: "
        "0 is the best there is, 1 no model."
    )
    return Shown("Primal integrals", pd.DataFrame(lines), note)


def draw(frame: Any, path: Any, sets: tuple[str, ...], depth: int) -> None:
    """Errors over CPU seconds, a panel for each set; a point for a program that runs once."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "treeform", "font.size": 9})
    figure, axes = plt.subplots(1, len(sets), figsize=(3.1 * len(sets), 2.9), squeeze=False)
    for axis, name in zip(axes[0], sets, strict=True):
        chosen = frame[(frame["set"] == name) & (frame["depth"] == str(depth)) & (frame["seed"] == "0")]
        for program, found in chosen[chosen["errors"] != ""].groupby("program", sort=False):
            seconds, errors = found["seconds"].astype(float).clip(lower=0.01), found["errors"].astype(int)
            ours = program == OURS
            style = {"color": "black", "lw": 2, "zorder": 3} if ours else {"lw": 1}
            axis.plot(seconds, errors, marker="o" if ours else ".", label=program, **style)
        axis.set(title=f"{name}, depth {depth}", xlabel="CPU seconds", xscale="log")
    axes[0][0].set_ylabel("training errors")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0.22, 1, 1))
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(re.sub(r"(\d\.\d)\d+", r"\1", path.read_text()))


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt",
    depths: str = "5,6,8",
    limits: str = "0.1,1,10",
    programs: str = "",
    seeds: str = "0",
    pictures: str = "magic,eeg,bean,avila",
) -> None:
    """Measure and draw `deep.svg`; `programs` have semicolons between them, all when there are none."""
    chosen = [one for one in programs.split(";") if one] or list(PROGRAMS)
    figures = Figures("deep", ("program", "set", "depth", "limit", "seed"))
    for seed in seeds.split(","):
        for depth in map(int, depths.split(",")):
            for name in named("continuous", sets):
                for program in chosen:
                    given = limits.split(",") if program in ANYTIME else limits.split(",")[-1:]
                    for limit in given:
                        figures.measure(
                            lambda p=program, n=name, d=depth, t=float(limit), s=int(seed): _alone(p, n, d, t, s),
                            program=program, set=name, depth=depth, limit=limit, seed=seed,
                        )  # fmt: skip
    shown = tuple(name for name in pictures.split(",") if name in sets.split(","))
    rows = list(figures)
    if rows and shown and PICTURED in map(int, depths.split(",")):
        draw(pd.DataFrame(rows), SESSION.folder / "deep.svg", shown, PICTURED)


def _alone(program: str, name: str, depth: int, limit: float, seed: int) -> dict[str, Any]:
    clock = on_cpu_time() if program in ANYTIME - {OURS} else {}
    done = in_child(run, program, name, depth, limit, seed, seconds=4 * limit + 60, **clock)
    return done.answer or dict.fromkeys(("seconds", "errors", "test", "version", "curve"), "")
