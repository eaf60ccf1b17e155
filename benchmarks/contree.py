"""ConTree side by side with pycontree: user CPU time, peak memory, errors.

    python benchmarks/contree.py                      # depths 2, 3 and 4 of the continuous sets, and the table
    python benchmarks/contree.py --depths 3 --sets avila,page --again
    python benchmarks/contree.py --depths 5 --sets bank,wilt --solvers treeform --limit 600

Every measurement is a process of its own: ``fit`` from a NumPy array, short ones repeated and the median
taken. User CPU seconds, so that other work on the machine matters little; peak memory is what a process grew
by during ``fit``. Measurements are kept in ``docs/benchmarks/contree_runs.csv``: what is there is not measured
again unless ``--again`` is given, so a long comparison can be made in parts. The table of all of them is printed
and written as ``contree.csv``, ``.md`` and ``.inc`` beside it. The sets are read from the folder in
TREEFORM_DATA (``../shared/data`` unless given). A line is marked when the errors are not the known optimum.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
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
from tables import DOCS, machine, markdown, part

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
KEY = ["solver", "set", "depth", "threads"]
FIELDS = [
    *KEY, "user", "wall", "memory", "errors", "lower", "proved", "limit", "rows", "features", "classes",
    "nodes", "splits", "scans", "date",
]  # fmt: skip
Runs = dict[tuple[str, ...], dict[str, Any]]


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
    from treeform.engines import ConTree, EngineRun, TreeTask

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
        "user": sum(seconds) / len(seconds), "wall": statistics.median(walls), "memory": answer_memory,
        "rows": len(y), "features": x.shape[1], "classes": len(np.unique(y)),
    }  # fmt: skip


def in_a_process(solver: str, name: str, depth: int, limit: float, threads: int) -> dict[str, Any]:
    """`measure` in a fresh process; a crash or a run far over its limit becomes an empty answer."""
    words = [sys.executable, __file__, "--measure", solver, name, str(depth), str(limit), str(threads)]
    known = {"solver": solver, "set": name, "depth": depth, "threads": threads, "limit": limit}
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=3 * limit + 60, check=True)
        answer = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as failure:
        print(f"  {solver} {name} depth {depth}: {failure}", file=sys.stderr)
        answer = {"user": math.nan, "wall": math.nan, "memory": math.nan, "errors": "", "proved": False}
    return {field: (known | answer | {"date": date.today()}).get(field, "") for field in FIELDS}


def read_runs(path: Path) -> Runs:
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {tuple(line[key] for key in KEY): line for line in csv.DictReader(file)}


def write_lines(path: Path, fields: list[str], lines: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(lines)


def number(line: dict[str, Any] | None, field: str, digits: str) -> str:
    return "" if line is None or line[field] in ("", None) else format(float(line[field]), digits)


def compare(ours: dict[str, Any], theirs: dict[str, Any] | None) -> dict[str, str]:
    """One line of the table; "> " marks what the reference had not finished at its limit."""
    optimum = OPTIMA[ours["set"]].get(int(ours["depth"]))
    proved = str(ours["proved"]) == "True"
    wrong = proved and optimum is not None and int(ours["errors"]) != optimum
    open_end = "" if theirs is None or str(theirs["proved"]) == "True" else "> "
    ratio = "" if theirs is None else f"{float(theirs['user']) / max(float(ours['user']), 1e-6):.1f}"
    bound = "" if proved else f", at least {ours['lower']}"
    return {
        "set": ours["set"], "rows": str(ours["rows"]), "depth": str(ours["depth"]),
        "errors": f"{ours['errors']}{bound}" + (f" (known: {optimum})" if wrong else ""),
        "proved": "yes" if proved else "no", "treeform s": number(ours, "user", ".3g"),
        "pycontree s": open_end + number(theirs, "user", ".3g") if theirs else "",
        "ratio": open_end + ratio if theirs else "", "treeform MB": number(ours, "memory", ".1f"),
        "pycontree MB": number(theirs, "memory", ".1f"),
    }  # fmt: skip


def table_of(runs: Runs) -> list[dict[str, str]]:
    """All compared lines of one thread, by depth."""
    lines = []
    for key, ours in runs.items():
        if key[0] == "treeform" and key[3] == "1":
            lines.append(compare(ours, runs.get(("pycontree", *key[1:]))))
    order = list(OPTIMA)
    return sorted(lines, key=lambda line: (int(line["depth"]), order.index(line["set"])))


def means(lines: list[dict[str, str]]) -> list[str]:
    """Geometric means per depth, without skin; an unfinished reference counts with what it had used."""
    text = []
    for depth in sorted({line["depth"] for line in lines}):
        cells = [
            line["ratio"]
            for line in lines
            if line["depth"] == depth and line["ratio"] and line["set"] != "skin"
        ]
        ratios = [float(cell.removeprefix("> ")) for cell in cells]
        if not ratios:
            continue
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        word = "at least " if any(cell.startswith(">") for cell in cells) else ""
        text.append(
            f"Depth {depth}: {word}{mean:.1f} times faster in geometric mean over {len(ratios)} sets (all but skin), "
            f"the least {min(ratios):.1f}."
        )
    return text


def write_table(runs: Runs, folder: Path) -> list[dict[str, str]]:
    """Print the table, and write it as CSV, as Markdown and as a part of the documentation."""
    lines = table_of(runs)
    if not lines:
        return lines
    title, command = "ConTree beside pycontree 1.0.8", "python benchmarks/contree.py"
    head = list(lines[0])
    cells = [list(line.values()) for line in lines]
    days = sorted({str(run["date"]) for run in runs.values()})
    facts = f"user CPU seconds of one thread, {machine()}, {days[0]}" + (
        f" to {days[-1]}" if len(days) > 1 else ""
    )
    note = "\n".join(means(lines))
    write_lines(folder / "contree.csv", head, lines)
    text = markdown(title, f"`{command}`, {facts}.", head, cells, note)
    (folder / "contree.md").write_text(text, encoding="utf-8")
    (folder / "contree.inc").write_text(
        part(title, f"``{command}``, {facts}.", head, cells, note), encoding="utf-8"
    )
    print(text)
    return lines


def main() -> int:
    """Run the comparison; returns 1 when some proved error count is not the known optimum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depths", default="2,3,4", help="empty: only write the table")
    parser.add_argument("--sets", default=",".join(OPTIMA))
    parser.add_argument("--solvers", default=",".join(FITS))
    parser.add_argument("--limit", type=float, default=600.0, help="wall seconds per fit")
    parser.add_argument("--threads", type=int, default=1, help="of treeform; the table shows one thread")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--out", type=Path, default=DOCS)
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        solver, name, depth, limit, threads = asked.measure
        print(json.dumps(measure(solver, name, int(depth), float(limit), int(threads))))
        return 0
    asked.out.mkdir(parents=True, exist_ok=True)
    store = asked.out / "contree_runs.csv"
    runs = read_runs(store)
    for depth in filter(None, asked.depths.split(",")):
        for name in asked.sets.split(","):
            for solver in asked.solvers.split(","):
                threads = asked.threads if solver == "treeform" else 1
                key = (solver, name, depth, str(threads))
                if key in runs and not asked.again:
                    continue
                runs[key] = in_a_process(solver, name, int(depth), asked.limit, threads)
                print(
                    *(f"{word}={runs[key][word]}" for word in (*KEY, "user", "errors", "proved")), flush=True
                )
                write_lines(store, FIELDS, list(runs.values()))
    return int(any("known" in line["errors"] for line in write_table(runs, asked.out)))


if __name__ == "__main__":
    sys.exit(main())
