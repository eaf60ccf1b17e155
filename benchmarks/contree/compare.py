"""ConTree side by side with pycontree: user CPU time, peak memory, errors.

Every measurement is a process of its own: fit from a NumPy array, short ones repeated. Peak memory is what a process
grew by during the first fit. The table shows one thread; a line is marked when the errors are not the known optimum.
"""

from __future__ import annotations

import math
import time
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

from benchmarks.faults.memory import status
from benchmarks.harness import Figures, Rows, Shown, in_child, named, read_set, repeated, table
from treeform.utils.budget import Budget

OPTIMA: dict[str, dict[int, int]] = {
    "avila": {2: 4781, 3: 4329, 4: 3731},
    "bank": {2: 82, 3: 19, 4: 0},
    "bean": {2: 3667, 3: 1406},
    "eeg": {2: 4012, 3: 3495},
    "htru": {2: 300, 3: 275},
    "magic": {2: 2971, 3: 2567},
    "occupancy": {2: 86, 3: 47, 4: 26},
    "page": {2: 200, 3: 125, 4: 91},
    "raisin": {2: 91, 3: 76, 4: 59},
    "wilt": {2: 37, 3: 18, 4: 2},
    "skin": {},
}
SETS = ",".join(OPTIMA)
ENOUGH = {"enough": 0.5, "most": 25}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 and labels (n,) of a set."""
    X, y = read_set("continuous", name)
    return np.ascontiguousarray(X.to_numpy(float)), y.to_numpy()


def fit_treeform(x: np.ndarray, y: np.ndarray, depth: int, limit: float, threads: int) -> dict[str, Any]:
    from treeform.data import Dataset
    from treeform.engines import ConTree, EngineRun, TreeTask

    data = Dataset.from_user(x, y)
    outcome = ConTree(threads=threads).run(data, TreeTask(depth=depth), EngineRun(Budget(limit)))
    counters = {name: outcome.counters.get(name) for name in ("nodes", "splits", "scans")}
    return {"errors": outcome.upper, "lower": outcome.lower, "proved": outcome.proved, **counters}


def fit_pycontree(x: np.ndarray, y: np.ndarray, depth: int, limit: float, threads: int) -> dict[str, Any]:
    from pycontree import ConTree

    begun = time.perf_counter()
    model = ConTree(max_depth=depth, time_limit=limit).fit(x, y)
    spent = time.perf_counter() - begun
    return {"errors": int((model.predict(x) != y).sum()), "proved": spent < limit}


FITS = {"treeform": fit_treeform, "pycontree": fit_pycontree}


def measure(solver: str, name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """Fit in this process; called in a fresh one."""
    x, y = load(name)
    FITS[solver](x[:50], y[:50] * 0 + np.arange(50) % 2, 1, 10.0, 1)  # imports and first-call costs
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before, peaks, walls = status("VmRSS"), [], []

    def fit() -> dict[str, Any]:
        begun = time.perf_counter()
        answer = FITS[solver](x, y, depth, limit, threads)
        walls.append(time.perf_counter() - begun)
        peaks.append(status("VmHWM"))
        return answer

    answer, seconds = repeated(fit, **ENOUGH)
    return answer | {
        "user": sum(seconds) / len(seconds), "wall": median(walls), "memory": (peaks[0] - before) / 2**20,
        "rows": len(y), "features": x.shape[1], "classes": len(np.unique(y)),
    }  # fmt: skip


def alone(solver: str, name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """`measure` in a fresh process; a crash or a run far over its limit leaves the figures empty."""
    done = in_child(measure, solver, name, depth, limit, threads, seconds=3 * limit + 60)
    empty = {
        "user": math.nan,
        "wall": math.nan,
        "memory": math.nan,
        "errors": None,
        "lower": None,
        "proved": False,
    }
    return {"limit": limit, **(done.answer or empty)}


@table("contree")
def compared(rows: Rows) -> Shown:
    """One thread, by depth; "> " marks what the reference had not finished at its limit."""
    found = {
        (r["solver"], r["set"], int(r["depth"])): r
        for r in rows.frame.to_dict("records")
        if r["threads"] == "1"
    }
    lines, ratios = [], {}
    order = [key for key in found if key[0] == "treeform"]
    for key in sorted(order, key=lambda key: (key[2], [*OPTIMA].index(key[1]))):
        (_, name, depth), ours = key, found[key]
        theirs = found.get(("pycontree", name, depth))
        proved, optimum = ours["proved"] == "True", OPTIMA[name].get(depth)
        bound = "" if proved else f", at least {ours['lower']}"
        wrong = f" (known: {optimum})" if proved and optimum not in (None, int(ours["errors"])) else ""
        line = [name, ours["rows"], depth, f"{ours['errors']}{bound}{wrong}", "yes" if proved else "no"]
        line.append(f"{float(ours['user']):.3g}")
        if theirs is None:
            line += ["", ""]
        else:
            over = "" if theirs["proved"] == "True" else "> "
            ratio = f"{float(theirs['user']) / max(float(ours['user']), 1e-6):.1f}"
            ratios.setdefault(depth, {})[name] = (float(ratio), bool(over))
            line += [f"{over}{float(theirs['user']):.3g}", f"{over}{ratio}"]
        line += [f"{float(one['memory']):.1f}" if one else "" for one in (ours, theirs)]
        lines.append(line)
    columns = [
        "set", "rows", "depth", "errors", "proved", "treeform s", "pycontree s", "ratio", "treeform MB", "pycontree MB",
    ]  # fmt: skip
    note = ["User CPU seconds of one thread."]
    for depth, of in ratios.items():
        values = [ratio for name, (ratio, _) in of.items() if name != "skin"]
        if values:
            word = "at least " if any(over for name, (_, over) in of.items() if name != "skin") else ""
            note.append(
                f"Depth {depth}: {word}{geometric_mean(values):.1f} times faster in geometric mean over {len(values)} "
                f"sets (all but skin), the least {min(values):.1f}."
            )
    return Shown.of("ConTree beside pycontree 1.0.8", columns, lines, "\n".join(note))


def main(
    depths: str = "2,3,4",
    sets: str = SETS,
    solvers: str = ",".join(FITS),
    limit: float = 600,
    threads: int = 1,
) -> None:
    """Measure; `limit` are wall seconds for each fit, `threads` are treeform's."""
    figures = Figures("contree", ("solver", "set", "depth", "threads"))
    for depth in map(int, depths.split(",")):
        for name in named("continuous", sets):
            for solver in solvers.split(","):
                own = threads if solver == "treeform" else 1
                work = partial(alone, solver, name, depth, limit, own)
                row = figures.measure(work, solver=solver, set=name, depth=depth, threads=own)
                optimum = OPTIMA[name].get(depth)
                if row["proved"] == "True" and optimum not in (None, int(row["errors"])):
                    raise SystemExit(
                        f"{solver} on {name}, depth {depth}: {row['errors']} is not the optimum {optimum}"
                    )
