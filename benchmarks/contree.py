"""ConTree side by side with pycontree, in one run: user CPU time, peak memory, errors.

    python benchmarks/contree.py                      # depths 2, 3 and 4 of the continuous sets
    python benchmarks/contree.py --depths 3 --sets avila,page --threads 2 --limit 120

Every measurement is a process of its own: ``fit`` from a NumPy array, short ones repeated and the median
taken. User CPU seconds, so that other work on the machine matters little; peak memory is what a process grew
by during ``fit``. Writes ``contree.csv`` and ``contree.md`` and prints the latter. The sets are read from the
folder in TREEFORM_DATA (``../shared/data`` unless given). A line is marked when the number of errors is not
the known optimum.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("TREEFORM_DATA", ROOT / ".." / "shared" / "data")) / "continuous"
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
ENOUGH = 0.5  # seconds of repetitions of a short fit


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 and labels (n,) of a set."""
    table = pd.read_csv(DATA / f"{name}.csv.gz")
    return np.ascontiguousarray(table.drop(columns="target").to_numpy(float)), table["target"].to_numpy()


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit_treeform(x: np.ndarray, y: np.ndarray, depth: int, limit: float, threads: int) -> dict[str, Any]:
    from treeform.data import Dataset
    from treeform.dp import ConTree, EngineRun, TreeTask

    data = Dataset.from_user(x, y)
    outcome = ConTree(threads=threads).run(data, TreeTask(depth=depth), EngineRun(time_limit=limit))
    return {"errors": outcome.upper, "lower": outcome.lower, "proved": outcome.proved, **outcome.counters}


def fit_pycontree(x: np.ndarray, y: np.ndarray, depth: int, limit: float, threads: int) -> dict[str, Any]:
    from pycontree import ConTree

    begun = time.perf_counter()
    model = ConTree(max_depth=depth, time_limit=limit).fit(x, y)
    spent = time.perf_counter() - begun
    return {"errors": int((model.predict(x) != y).sum()), "lower": None, "proved": spent < limit}


FITS = {"treeform": fit_treeform, "pycontree": fit_pycontree}


def measure(solver: str, name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """Fit in this process and report; called in a fresh one."""
    x, y = load(name)
    FITS[solver](x[:50], y[:50] * 0 + np.arange(50) % 2, 1, 10.0, 1)  # imports and first-call costs
    before, seconds, walls = peak_megabytes(), [], []
    while not seconds or (sum(seconds) < ENOUGH and len(seconds) < 25):
        user, wall = user_seconds(), time.perf_counter()
        answer = FITS[solver](x, y, depth, limit, threads)
        seconds.append(user_seconds() - user)
        walls.append(time.perf_counter() - wall)
        if len(seconds) == 1:
            answer_memory = peak_megabytes() - before
    return answer | {
        "user": statistics.median(seconds), "wall": statistics.median(walls), "memory": answer_memory,
        "rows": len(y), "features": x.shape[1], "classes": len(np.unique(y)),
    }  # fmt: skip


def in_a_process(solver: str, name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """`measure` in a fresh process; a crash or a run far over its limit becomes an empty answer."""
    words = [sys.executable, __file__, "--measure", solver, name, str(depth), str(limit), str(threads)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20 * limit + 60, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
        print(f"  {solver} {name} depth {depth}: {failure}", file=sys.stderr)
        return {"user": math.nan, "wall": math.nan, "memory": math.nan, "errors": None, "proved": False}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def compare(name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """One line of the table."""
    ours = in_a_process("treeform", name, depth, limit, threads)
    theirs = in_a_process("pycontree", name, depth, limit, 1)
    optimum = OPTIMA[name].get(depth)
    wrong = bool(ours["proved"]) and optimum is not None and ours["errors"] != optimum
    return {
        "set": name, "depth": depth, "rows": ours.get("rows"), "features": ours.get("features"),
        "classes": ours.get("classes"), "errors": ours["errors"], "proved": ours["proved"], "known": optimum,
        "wrong": wrong, "user": ours["user"], "wall": ours["wall"], "memory": ours["memory"],
        "pycontree errors": theirs["errors"], "pycontree proved": theirs["proved"],
        "pycontree user": theirs["user"], "pycontree memory": theirs["memory"],
        "speed-up": theirs["user"] / max(ours["user"], 1e-6), "nodes": ours.get("nodes"),
        "splits": ours.get("splits"), "scans": ours.get("scans"),
    }  # fmt: skip


def as_markdown(lines: list[dict[str, Any]], threads: int) -> str:
    """The table for people, and the geometric means per depth."""
    head = ["set", "depth", "errors", "proved", "treeform s", "pycontree s", "speed-up", "MB", "pycontree MB"]
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for one in lines:
        over = "" if one["pycontree proved"] else "> "
        mark = " (known: " + str(one["known"]) + ")" if one["wrong"] else ""
        cells = [
            one["set"], one["depth"], f"{one['errors']}{mark}", "yes" if one["proved"] else "no",
            f"{one['user']:.4g}", f"{over}{one['pycontree user']:.4g}", f"{over}{one['speed-up']:.1f}",
            f"{one['memory']:.1f}", f"{one['pycontree memory']:.1f}",
        ]  # fmt: skip
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    text = [f"User CPU seconds, {threads} thread(s), {processor()}, {date.today()}.", "", *rows, ""]
    for depth in sorted({one["depth"] for one in lines}):
        ratios = [
            one["speed-up"]
            for one in lines
            if one["depth"] == depth and one["pycontree proved"] and one["proved"]
        ]
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            text.append(
                f"Depth {depth}: {mean:.1f} times in geometric mean over {len(ratios)} sets, least {min(ratios):.1f}."
            )
    return "\n".join(text) + "\n"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> int:
    """Run the comparison; returns 1 when some proved error count is not the known optimum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depths", default="2,3,4")
    parser.add_argument("--sets", default=",".join(OPTIMA))
    parser.add_argument("--limit", type=float, default=600.0, help="wall seconds per fit")
    parser.add_argument("--threads", type=int, default=1, help="of treeform")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "out")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        solver, name, depth, limit, threads = asked.measure
        print(json.dumps(measure(solver, name, int(depth), float(limit), int(threads))))
        return 0
    asked.out.mkdir(parents=True, exist_ok=True)
    lines = []
    for depth in map(int, asked.depths.split(",")):
        for name in asked.sets.split(","):
            lines.append(compare(name, depth, asked.limit, asked.threads))
            print(as_markdown(lines[-1:], asked.threads).splitlines()[4], flush=True)
            with (asked.out / "contree.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(lines[0]))
                writer.writeheader()
                writer.writerows(lines)
            (asked.out / "contree.md").write_text(as_markdown(lines, asked.threads), encoding="utf-8")
    print(as_markdown(lines, asked.threads))
    return int(any(one["wrong"] for one in lines))


if __name__ == "__main__":
    sys.exit(main())
