"""Errors of the search for deep trees after some CPU seconds, beside the errors that are aimed at.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=0)``). Each run is a process of
its own, one thread, without a proof; seconds are user CPU seconds from arrays to model.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import CURVE, cart, treeform
from benchmarks.deep.sets import split_rows
from benchmarks.deep.standing import curve_of
from benchmarks.harness import Figures, Rows, Shown, commit, in_child, named, table

ASKED = {
    "magic": {5: 1400, 6: 1205, 8: 780},
    "bean": {5: 525, 6: 430, 8: 192},
    "eeg": {5: 1660, 6: 1340, 8: 680},
    "avila": {5: 2190, 6: 1680, 8: 400},
}
"""Errors that are aimed at, by set and depth."""
LIMIT = 10.0
"""The CPU seconds after which they are aimed at."""
MOMENTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)
"""CPU seconds at which the errors are shown."""
SECOND, COMPARED = 1.0, (5, 6)
"""After so many seconds errors are compared with those after the last moment, at these depths."""


def run(name: str, depth: int, seed: int, seconds: float) -> dict[str, Any]:
    """One run in this process; called in a fresh one."""
    import treeform as tf

    X, X_test, y, y_test = split_rows(name)
    greedy = int((cart("gini")(X, y, depth, seconds)(X) != y).sum())
    search = tf.DeepTreeSearch(seed=seed)
    treeform(X[:40], np.arange(40) % 2, 3, 1.0, search)  # imports and first calls
    predict = treeform(X, y, depth, seconds, search)
    return {
        "CART": greedy,
        "errors": int((predict(X) != y).sum()),
        "test": round(100 * float((predict(X_test) != y_test).mean()), 2),
        "curve": " ".join(f"{t:g}:{errors}" for t, errors in CURVE),
        "version": commit(),
    }


def errors_after(row: dict[str, str], seconds: float) -> int | None:
    """Errors of the best model that a run had by then."""
    found = [errors for moment, errors in curve_of([row]) if moment <= seconds]
    return min(found + [int(row["errors"])] * (float(row["limit"]) <= seconds), default=None)


@table("deep_targets")
def targets(rows: Rows) -> Shown:
    """Limits, sets and depths; the figures of all seeds, of the runs that are as long as the aim."""
    frame = rows.frame[rows.frame["errors"] != ""]
    found = frame[frame["limit"].astype(float) >= LIMIT]
    lines, met = [], []
    ratios: dict[tuple[float, str], list[float]] = {}
    for (limit, name, depth), case in found.groupby(["limit", "set", "depth"], sort=False):
        runs = case.sort_values("seed").to_dict("records")
        greedy, asked = int(runs[0]["CART"]), ASKED.get(name, {}).get(int(depth), "")
        line: dict[str, Any] = {"limit, s": limit, "set": name, "depth": depth, "CART": greedy}
        for moment in MOMENTS:
            errors = [errors_after(r, moment) for r in runs if moment <= float(limit)]
            line[f"{moment:g} s"] = " / ".join("" if e is None else str(e) for e in errors)
            ratios.setdefault((moment, limit), []).extend(
                (e + 1) / (greedy + 1) for e in errors if e is not None
            )
            met += [
                asked and e is not None and e <= asked
                for e in errors
                if asked and moment == float(limit) == LIMIT
            ]
        lines.append(line | {f"asked, {LIMIT:g} s": asked})
    means = "; ".join(
        f"{geometric_mean(found):.3f} after {moment:g} s (runs of {limit} s: {len(found)})"
        for (moment, limit), found in ratios.items()
        if found
    )
    note = (
        "Training errors after so many user CPU seconds, a figure for each seed. Geometric mean of (errors + 1) in "
        f"parts of CART's: {means}. After {LIMIT:g} s {sum(met)} of {len(met)} runs have what is asked."
    )
    frame = pd.DataFrame(lines)
    return Shown("Errors of the search for deep trees", frame.loc[:, (frame != "").any()], note)


@table("deep_second", source="deep_targets")
def after_a_second(rows: Rows) -> Shown:
    """Sets and depths: errors after a second, a figure for each seed, beside the fewest of a minute."""
    frame = rows.frame[(rows.frame["errors"] != "") & rows.frame["depth"].astype(int).isin(COMPARED)]
    early = [errors_after(r, SECOND) for r in frame.to_dict("records")]
    frame = frame.astype({"limit": float, "errors": int}).assign(early=early).sort_values("limit", kind="stable")
    case = ["set", "depth"]
    least = frame[frame["limit"] == MOMENTS[-1]].groupby(case, sort=False)["errors"].min()
    shortest = frame[frame["limit"] >= SECOND].drop_duplicates([*case, "seed"])
    by_seed = shortest.pivot(index=case, columns="seed", values="early").reindex(least.index)
    more = by_seed.add(1).div(least + 1, axis=0).astype(float).map(np.log)
    lines = [
        {
            "set": name,
            "depth": depth,
            f"{MOMENTS[-1]:g} s": errors,
            f"{SECOND:g} s": " / ".join(f"{e:.0f}" for e in by_seed.loc[name, depth].dropna()),
            "more, per cent": f"{100 * np.expm1(more.loc[name, depth].mean()):.1f}",
        }
        for (name, depth), errors in least.items()
    ]
    whole = more.dropna(axis="columns")
    means = 100 * np.expm1(whole.mean())
    error = 100 * whole.mean(axis="columns").sem(ddof=min(1, len(whole) - 1))
    note = (
        f"Training errors after {SECOND:g} user CPU second, a figure for each seed, and the fewest of the runs of "
        f"{MOMENTS[-1]:g}. Errors + 1 after a second are {100 * np.expm1(whole.mean().mean()):.1f} per cent more "
        f"(geometric mean of {len(whole)} cases and {len(means)} seeds; one standard error over cases {error:.1f} per "
        f"cent; by seed {means.min():.1f} to {means.max():.1f})."
    )
    return Shown("Errors after a second and after a minute", pd.DataFrame(lines), note)


def main(
    sets: str = "magic,bean,eeg,avila", depths: str = "5,6,8", seeds: str = "0,1", seconds: float = LIMIT
) -> None:
    """Measure."""
    figures = Figures("deep_targets", ("set", "depth", "seed", "limit"))
    empty = dict.fromkeys(("CART", "errors", "test", "curve", "version"), "")
    for name in named("continuous", sets):
        for depth in map(int, depths.split(",")):
            for seed in map(int, seeds.split(",")):
                figures.measure(
                    lambda n=name, d=depth, s=seed: in_child(run, n, d, s, seconds, seconds=3 * seconds + 60).answer
                    or empty,
                    set=name, depth=depth, seed=seed, limit=f"{seconds:g}",
                )  # fmt: skip
