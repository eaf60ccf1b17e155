"""Wrong predictions on unseen rows at a fixed depth, without a choice of depth or penalty, beside quick programs.

Seven tenths of each set are learnt from (``train_test_split(test_size=0.3, random_state=SEED)``). All runs
of a set are in one process; ours ends after so many user CPU seconds, the others by themselves.
"""

from __future__ import annotations

from itertools import product
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import OURS, PROGRAMS, version_of
from benchmarks.deep.sets import named_sets, split_rows
from benchmarks.deep.standing import GREEDY
from benchmarks.harness import SESSION, Figures, Rows, Shown, in_child, table, user_seconds

BESIDE = ("CART, gini", "CART, entropy", "licketysplit, thresholds of 10 trees", "LGDT, 20 quantiles")
KEY = ("program", "set", "depth", "limit", "seed")


def runs(
    name: str, seeds: list[int], depths: list[int], limits: list[float], programs: list[str]
) -> list[dict[str, Any]]:
    """All programs on one set in this process; called in a fresh one."""
    rows = []
    for seed, program in product(seeds, programs):
        X, X_test, y, y_test = split_rows(name, seed)
        PROGRAMS[program](X[:40], np.arange(40) % 2, 2, 1.0)  # imports and first calls
        for depth, limit in product(depths, limits if program == OURS else [0.0]):
            before = user_seconds()
            predict = PROGRAMS[program](X, y, depth, limit)
            spent = user_seconds() - before
            key = dict(zip(KEY, (program, name, depth, f"{limit:g}" if limit else "", seed), strict=True))
            rows.append(
                key
                | {"seconds": round(spent, 3), "errors": int((predict(X) != y).sum())}
                | {"wrong": int((predict(X_test) != y_test).sum()), "rows": len(y_test)}
                | {"version": version_of(program)}
            )
    return rows


def _by_program(rows: Rows) -> pd.DataFrame:
    """Rows of depths and sets, columns of programs: wrong predictions and rows of all seeds."""
    frame = rows.frame.astype({"depth": int, "wrong": int, "rows": int, "seconds": float})
    limited = frame["program"] + ", " + frame["limit"] + " s"
    frame["program"] = frame["program"].where(frame["limit"] == "", limited)
    order = [*sorted(limited[frame["limit"] != ""].unique()), *frame["program"][frame["limit"] == ""].unique()]
    sums = frame.groupby(["depth", "set", "program"])[["wrong", "rows", "seconds"]].sum().unstack()
    return sums.reindex(columns=order, level=1)


@table("deep_fixed")
def fixed(rows: Rows) -> Shown:
    """Depths: wrong predictions in parts of CART's, on how many sets there are fewer and more, and seconds."""
    sums = _by_program(rows)
    lines = []
    for depth, case in sums["wrong"].groupby(level="depth"):
        line: dict[str, Any] = {"depth": depth, "sets": len(case)}
        for program, wrong in case.drop(columns=GREEDY).dropna(axis="columns").items():
            ratio, difference = (wrong + 1) / (case[GREEDY] + 1), wrong - case[GREEDY]
            line[str(program)] = f"{geometric_mean(ratio):.3f} ({(difference < 0).sum()} / {(difference > 0).sum()})"
        lines.append(line)
    note = (
        "(wrong + 1) of all seeds in parts of that of CART by Gini impurity: geometric means over the sets, and on how "
        "many sets there are fewer / more wrong predictions."
    )
    return Shown("Unseen rows at a fixed depth, beside CART", pd.DataFrame(lines).fillna(""), note)


@table("deep_fixed_sets", source="deep_fixed")
def by_set(rows: Rows) -> Shown:
    """Depths and sets: per cent wrong of each program, all seeds together."""
    sums = _by_program(rows)
    per_cent = (100 * sums["wrong"] / sums["rows"]).map(lambda value: "" if np.isnan(value) else f"{value:.2f}")
    seeds = rows.frame["seed"].nunique()
    longest = sums["seconds"].max() / seeds
    mean = "; ".join(f"{program} {longest[program]:.1f}" for program in sums["seconds"])
    note = f"Per cent wrong on unseen rows, mean of {seeds} seeds. Most user CPU seconds, in the mean of seeds: {mean}."
    return Shown("Unseen rows at a fixed depth", per_cent.reset_index(), note)


def main(
    sets: str = "avila,bank,bean,eeg,htru,magic,occupancy,page,raisin,skin,wilt",
    depths: str = "3,4,5,6,7,8",
    limits: str = "0.1,1",
    seeds: str = "0,1,2,3,4",
    programs: str = "",
) -> None:
    """Measure; `programs` have semicolons between them."""
    chosen = [one for one in programs.split(";") if one] or [OURS, *BESIDE]
    numbers = [*map(int, seeds.split(","))]
    given = [*map(int, depths.split(","))], [*map(float, limits.split(","))]
    last = {"program": chosen[-1], "depth": given[0][-1], "limit": f"{given[1][-1]:g}" if chosen == [OURS] else ""}
    figures = Figures("deep_fixed", KEY)
    for name in named_sets(sets):
        if figures.find(set=name, seed=numbers[-1], **last) is None:
            SESSION.check_time()
            figures.add(*(in_child(runs, name, numbers, *given, chosen, seconds=3600).answer or []))
