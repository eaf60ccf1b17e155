"""The binary engines side by side with pystreed and pydl8.5, in one run: proofs, and quality over time.

    python benchmarks/binary.py proofs --depths 3,4,5 --limit 60
    python benchmarks/binary.py best --depths 6,7 --limit 30
    python benchmarks/binary.py anytime --depths 6,7 --limit 300 --checkpoints 15,30,60,120,240,300

Every measurement is a process of its own. `proofs` reports user CPU seconds of ``fit`` from a NumPy array
(for treeform: `Dataset.from_user` and the engine), short ones repeated and the median taken. `anytime` reports
the average primal integral P(T)/T in percent (Berthold 2013) over the sets, against the best error of all
runs, strategies in rows, T in columns; sets that DL85 proves within a second are left out. Writes ``binary_*.csv``,
and for `anytime` the curves as ``binary_anytime.svg``. The sets are read from the folder in TREEFORM_DATA
(``../shared/data`` unless given).
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
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("TREEFORM_DATA", ROOT / ".." / "shared" / "data")) / "binary"
SETS = sorted(path.name.removesuffix(".csv.gz") for path in DATA.glob("*.csv.gz"))
PEERS = ("pystreed", "pydl85")
RELAXED = ("gain", "discrepancy", "top-k", "top-k*")
STRATEGIES = {
    "DL85": {},
    "Blossom": {},
    "Blossom, depth-two": {"exact_depth": 2},
    "CA-purity": {"rule": "purity"},
    **{
        f"CA-{r} {x}": {"rule": r, "relaxation": x}
        for r in RELAXED
        for x in ("exponential", "luby", "monotonic")
    },
    "CA-discrepancy monotonic, depth-two": {"rule": "discrepancy", "exact_depth": 2},
    "CA-gain+discrepancy monotonic": {"rule": ("gain", "discrepancy")},
}
ENOUGH = 0.3  # seconds of repetitions of a short fit


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 of zeros and ones, and class codes (n,)."""
    table = pd.read_csv(DATA / f"{name}.csv.gz")
    y = np.unique(table["target"], return_inverse=True)[1]
    return np.ascontiguousarray(table.drop(columns="target").to_numpy(float)), y


def engine(strategy: str) -> Any:
    import treeform as tf

    made = tf.DL85 if strategy == "DL85" else tf.Blossom if strategy.startswith("Blossom") else tf.CADL85
    return made(**STRATEGIES[strategy])


def fit_treeform(strategy: str, X: Any, y: Any, depth: int, limit: float) -> dict[str, Any]:
    from treeform.data import Dataset
    from treeform.dp import EngineRun, TreeTask

    trace: list[tuple[float, int]] = []
    run = EngineRun(time_limit=limit, on_incumbent=lambda s, upper, *_: trace.append((s, upper)))
    outcome = engine(strategy).run(Dataset.from_user(X, y), TreeTask(depth=depth), run)
    return {"errors": outcome.upper, "proved": outcome.proved, "trace": trace}


def fit_pystreed(X: Any, y: Any, depth: int, limit: float) -> dict[str, Any]:
    from pystreed import STreeDClassifier

    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)
    model.fit(X.astype(np.int32), y.astype(np.int32))
    errors = int((model.predict(X.astype(np.int32)) != y).sum())
    return {"errors": errors, "proved": bool(model.fit_result.is_optimal()), "trace": []}


def fit_pydl85(X: Any, y: Any, depth: int, limit: float) -> dict[str, Any]:
    from pydl85 import DL85Classifier

    model = DL85Classifier(max_depth=depth, time_limit=int(limit))
    model.fit(X.astype(np.int32), y.astype(np.int32))
    errors = None if model.tree_ is None else int((model.predict(X.astype(np.int32)) != y).sum())
    return {"errors": errors, "proved": not model.timeout_, "trace": []}


def child(solver: str, name: str, depth: int, limit: float, repeat: bool) -> None:
    """One measurement; prints JSON."""
    X, y = load(name)
    peers = {"pystreed": fit_pystreed, "pydl85": fit_pydl85}
    fit = peers.get(solver) or (lambda *given: fit_treeform(solver, *given))
    fit(np.array([[0.0], [1.0]]), np.array([0, 1]), 1, 5.0)  # imports are not part of the measurement
    seconds: list[float] = []
    while not seconds or (repeat and sum(seconds) < ENOUGH and len(seconds) < 15):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        answer = fit(X, y, depth, limit)
        seconds.append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
    answer["seconds"] = max(statistics.median(seconds), 1e-4)
    answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(answer))


def measure(solver: str, name: str, depth: int, limit: float, repeat: bool = True) -> dict[str, Any]:
    """Run a measurement in a process of its own."""
    command = [sys.executable, __file__, "child", "--solvers", solver, "--sets", name, "--depths", str(depth)]
    command += ["--limit", str(limit)] + (["--repeat"] if repeat else [])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * limit + 60, check=False)
    except subprocess.TimeoutExpired:
        return {"errors": None, "proved": False, "trace": [], "seconds": limit, "memory": None}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return dict(json.loads(line))
    sys.stderr.write(done.stderr[-800:])
    return {"errors": None, "proved": False, "trace": [], "seconds": math.nan, "memory": None}


def compare(mode: str, solvers: list[str], sets: list[str], depths: list[int], limit: float) -> None:
    """`proofs` and `best`: one line per set, then the summary per solver."""
    rows = []
    for depth in depths:
        found: dict[str, list[dict[str, Any]]] = {solver: [] for solver in solvers}
        for name in sets:
            cells = []
            for solver in solvers:
                answer = measure(solver, name, depth, limit, repeat=mode == "proofs")
                found[solver].append(answer)
                rows.append(
                    [
                        name,
                        depth,
                        solver,
                        answer["seconds"],
                        answer["errors"],
                        answer["proved"],
                        answer["memory"],
                    ]
                )
                cells.append(
                    f"{answer['seconds']:9.4f} s {answer['errors']!s:>5}{'' if answer['proved'] else ' open'}"
                )
            print(f"{name:18s} {depth} " + " | ".join(cells), flush=True)
        for solver in solvers:
            both = zip(found[solver], found[solvers[0]], strict=True)
            ratio = [math.log(a["seconds"] / b["seconds"]) for a, b in both]
            times = [math.log(a["seconds"]) for a in found[solver]]
            proved = sum(bool(a["proved"]) for a in found[solver])
            print(
                f"depth {depth} {solver}: {proved} of {len(sets)} proved, geometric mean "
                f"{math.exp(statistics.fmean(times)):.4f} s, {math.exp(statistics.fmean(ratio)):.1f} x {solvers[0]}",
                flush=True,
            )
    with open(f"binary_{mode}.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["set", "depth", "solver", "user_seconds", "errors", "proved", "peak_bytes"], *rows]
        )


def primal_integral(trace: list[list[float]], best: int, until: float) -> float:
    """Mean primal gap |x - best| / |x| over [0, until] in percent; 1 before the first tree."""
    total, at, gap = 0.0, 0.0, 1.0
    for seconds, upper in trace:
        if seconds >= until:
            break
        total += gap * (seconds - at)
        at, gap = seconds, (0.0 if upper == best else abs(upper - best) / abs(upper))
    return 100 * (total + gap * (until - at)) / until


def anytime(
    strategies: list[str], sets: list[str], depths: list[int], limit: float, marks: list[float]
) -> None:
    """The table of the CA-DL8.5 paper, and the curves."""
    rows, curves = [], {}
    for depth in depths:
        traces: dict[str, dict[str, list[list[float]]]] = {}
        for name in sets:
            if measure("DL85", name, depth, 1.0, repeat=False)["proved"]:
                continue
            traces[name] = {s: measure(s, name, depth, limit, repeat=False)["trace"] for s in strategies}
            best = min((t[-1][1] for t in traces[name].values() if t), default=0)
            print(
                f"{name} {depth}: best {best} "
                + str({s: t[-1][1] if t else None for s, t in traces[name].items()}),
                flush=True,
            )
        print(f"\nAverage primal integral, depth {depth}, {len(traces)} sets: {', '.join(traces)}")
        print(f"{'':40s}" + "".join(f"{mark:>8g}" for mark in marks))
        for strategy in strategies:
            line = []
            for mark in marks:
                each = []
                for of_set in traces.values():
                    best = min(t[-1][1] for t in of_set.values() if t)
                    each.append(primal_integral(of_set[strategy], int(best), mark))
                line.append(statistics.fmean(each) if each else math.nan)
            print(f"{strategy:40s}" + "".join(f"{value:8.2f}" for value in line), flush=True)
            rows.append([depth, strategy, *line])
        curves[depth] = traces
    with open("binary_anytime.csv", "w", newline="") as file:
        csv.writer(file).writerows([["depth", "strategy", *marks], *rows])
    draw(curves, limit)


def draw(curves: dict[int, dict[str, dict[str, list[list[float]]]]], limit: float) -> None:
    """Errors over time, one panel per set and depth."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    panels = [(depth, name, t) for depth, of in curves.items() for name, t in of.items()]
    if not panels:
        return
    figure, axes = plt.subplots(len(panels), 1, figsize=(7, 3 * len(panels)), squeeze=False)
    for axis, (depth, name, of_set) in zip(axes[:, 0], panels, strict=True):
        for strategy, trace in of_set.items():
            if trace:
                times, errors = zip(*trace, strict=True)
                axis.step([*times, limit], [*errors, errors[-1]], where="post", label=strategy)
        axis.set(title=f"{name}, depth {depth}", xlabel="seconds", ylabel="errors", xscale="log")
    axes[0, 0].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig("binary_anytime.svg")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mode", choices=("proofs", "best", "anytime", "child"))
    parser.add_argument("--solvers", default="")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--depths", default="3,4")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--checkpoints", default="15,30,60,120,240,300")
    parser.add_argument("--repeat", action="store_true")
    given = parser.parse_args()
    depths, sets = [int(d) for d in given.depths.split(",")], given.sets.split(",")
    if given.mode == "child":
        child(given.solvers, sets[0], depths[0], given.limit, given.repeat)
        return
    print(time.strftime("%Y-%m-%d"), os.cpu_count(), "cpus, load", os.getloadavg()[0])
    if given.mode == "anytime":
        marks = [float(m) for m in given.checkpoints.split(",") if float(m) <= given.limit]
        anytime(
            given.solvers.split(";") if given.solvers else list(STRATEGIES), sets, depths, given.limit, marks
        )
    else:
        usual = (
            ["DL85", *PEERS]
            if given.mode == "proofs"
            else ["DL85", "CA-discrepancy monotonic", "Blossom", *PEERS]
        )
        compare(given.mode, given.solvers.split(";") if given.solvers else usual, sets, depths, given.limit)


if __name__ == "__main__":
    main()
