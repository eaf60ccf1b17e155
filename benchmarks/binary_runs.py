"""One measurement of one solver on one binary set, in a process of its own, and the file that keeps them.

Solvers are the strategies of ``treeform``'s binary engine (`STRATEGIES`) and the peers of PyPI: ``pystreed``,
``pydl85``, ``pytrees`` (DL8.5 of pytrees-rs) and ``pytrees-lds`` (its limited discrepancy search). What is measured
is ``fit`` from a NumPy array in user CPU seconds; for treeform that is `Dataset.from_user` and the engine, short fits
are repeated and the median taken. The time limit of treeform's engines counts CPU seconds of the process (the engine
is asked to stop when they are spent), so that a busy machine changes nothing; the peers' own limits are wall seconds.
They need a core for themselves, or a wall clock that shows CPU seconds: see ``cpu_clock.c``.

A run may have a target: it ends when its error is reached. From there on the primal gap is zero, whatever happens.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("TREEFORM_DATA", ROOT / ".." / "shared" / "data")) / "binary"
SETS = sorted(path.name.removesuffix(".csv.gz") for path in DATA.glob("*.csv.gz"))
RELAXATIONS = ("exponential", "luby", "monotonic")
KEPT = ROOT / "build" / "bench" / "binary.jsonl"
RELAXED = ("purity", "gain", "discrepancy", "top-k", "top-k*")
STRATEGIES: dict[str, dict[str, Any]] = {
    "DL85": {},
    "DL85 bare": {"warm_up": False},
    "Blossom": {},
    **{f"CA-{r} {x}": {"rule": r, "relaxation": x} for r in RELAXED for x in RELAXATIONS},
    **{f"CA-gain+discrepancy {x}": {"rule": ("gain", "discrepancy"), "relaxation": x} for x in RELAXATIONS},
}
ENOUGH = 0.3  # seconds of repetitions of a short fit
Record = dict[str, Any]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 of zeros and ones, and class codes (n,)."""
    table = pd.read_csv(DATA / f"{name}.csv.gz")
    y = np.unique(table["target"], return_inverse=True)[1]
    return np.ascontiguousarray(table.drop(columns="target").to_numpy(float)), y


def user_seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def engine(strategy: str) -> Any:
    import treeform as tf

    made = tf.DL85 if strategy.startswith("DL85") else tf.Blossom if strategy == "Blossom" else tf.CADL85
    return made(**STRATEGIES[strategy])


def fit_treeform(strategy: str, X: Any, y: Any, depth: int, limit: float, target: int | None) -> Record:
    """Run an engine; incumbents are stamped with CPU seconds, interpolated between polls."""
    from treeform.data import Dataset
    from treeform.engines import EngineRun, TreeTask

    trace: list[tuple[float, int]] = []
    began, began_cpu = time.perf_counter(), user_seconds()
    clock = [(0.0, 0.0)]  # wall and CPU of the last poll
    found: list[tuple[float, int]] = []

    def stop() -> bool:
        wall, cpu = time.perf_counter() - began, user_seconds() - began_cpu
        (wall0, cpu0), rate = clock[0], 0.0
        rate = (cpu - cpu0) / max(wall - wall0, 1e-9)
        trace.extend((cpu0 + max(0.0, at - wall0) * rate, upper) for at, upper in found)
        found.clear()
        clock[0] = wall, cpu
        return cpu >= limit or (target is not None and bool(trace) and trace[-1][1] <= target)

    data = Dataset.from_user(X, y)
    offset = time.perf_counter() - began
    run = EngineRun(
        time_limit=None, stop=stop, on_incumbent=lambda s, upper, *_: found.append((s + offset, upper))
    )
    outcome = engine(strategy).run(data, TreeTask(depth=depth), run)
    stop()
    return {"errors": outcome.upper, "proved": outcome.proved, "trace": trace, "lower": outcome.lower}


def fit_pystreed(X: Any, y: Any, depth: int, limit: float, target: int | None) -> Record:
    from pystreed import STreeDClassifier

    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=limit)
    model.fit(X.astype(np.int32), y.astype(np.int32))
    errors = int((model.predict(X.astype(np.int32)) != y).sum())
    return {"errors": errors, "proved": bool(model.fit_result.is_optimal()), "trace": []}


def fit_pydl85(X: Any, y: Any, depth: int, limit: float, target: int | None) -> Record:
    from pydl85 import DL85Classifier

    model = DL85Classifier(max_depth=depth, time_limit=max(1, int(limit)))
    model.fit(X.astype(np.int32), y.astype(np.int32))
    errors = None if model.tree_ is None else int((model.predict(X.astype(np.int32)) != y).sum())
    return {"errors": errors, "proved": not model.timeout_, "trace": []}


def fit_pytrees(lds: bool, X: Any, y: Any, depth: int, limit: float, target: int | None) -> Record:
    from pytrees import DL85Classifier
    from pytrees.rules import DiscrepancyRule

    trace: list[tuple[float, int]] = []
    rule = DiscrepancyRule() if lds else None
    model = DL85Classifier(max_depth=depth, max_time=limit, heuristic="information_gain", discrepancy=rule)
    if lds:
        model.fit_anytime(X, y, callback=lambda error, seconds, status: trace.append((seconds, int(error))))
    else:
        model.fit(X, y)
    return {"errors": int(model.train_error_), "proved": model.status_ == "optimal", "trace": trace}


PEERS: dict[str, Callable[..., Record]] = {
    "pystreed": fit_pystreed,
    "pydl85": fit_pydl85,
    "pytrees": lambda *given: fit_pytrees(False, *given),
    "pytrees-lds": lambda *given: fit_pytrees(True, *given),
}


def child(solver: str, name: str, depth: int, limit: float, repeat: bool, target: int | None) -> None:
    """One measurement; prints JSON."""
    X, y = load(name)
    fit = PEERS.get(solver) or (lambda *given: fit_treeform(solver, *given))
    fit(np.array([[0.0], [1.0]]), np.array([0, 1]), 1, 5.0, None)  # imports are not part of the measurement
    before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds: list[float] = []
    while not seconds or (repeat and sum(seconds) < ENOUGH and len(seconds) < 15):
        before = user_seconds()
        answer = fit(X, y, depth, limit, target)
        seconds.append(user_seconds() - before)
    answer["seconds"] = max(statistics.median(seconds), 1e-4)
    answer["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    answer["grown"] = answer["memory"] - before_bytes
    print(json.dumps(answer))


def measure(solver: str, name: str, depth: int, limit: float, repeat: bool, target: int | None) -> Record:
    """Run a measurement in a process of its own."""
    command = [sys.executable, __file__, solver, name, str(depth), str(limit), str(int(repeat)), str(target)]
    clock = {"LD_PRELOAD": os.environ["CPU_CLOCK"]} if solver in PEERS and "CPU_CLOCK" in os.environ else {}
    empty: Record = {"errors": None, "proved": False, "trace": [], "memory": None}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=8 * limit + 60,
            check=False,
            env=os.environ | clock,
        )
    except subprocess.TimeoutExpired:
        return {**empty, "seconds": limit}
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return dict(json.loads(line))
    sys.stderr.write(done.stderr[-800:])
    return {**empty, "seconds": math.nan}


def errors_at(record: Record, seconds: float) -> int | None:
    """The errors of the best tree at that moment; of solvers that tell nothing before the end, those of the end."""
    if record["seconds"] <= seconds or not record["trace"]:
        return record["errors"]
    return min((upper for at, upper in record["trace"] if at <= seconds), default=None)


def ended(record: Record, target: int | None) -> bool:
    """Whether it ended by itself, with a proof or at the target: no longer run would tell more."""
    reached = target is not None and record["errors"] is not None and record["errors"] <= target
    return bool(record["proved"]) or reached


def proved_at(record: Record, seconds: float) -> bool:
    """Whether it was proved by then."""
    return bool(record["proved"]) and record["seconds"] <= seconds


class Store:
    """Measurements in a file of JSON lines: what is there is not measured again.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.records: list[Record] = [json.loads(line) for line in lines]

    def find(
        self, solver: str, name: str, depth: int, limit: float, target: int | None = None
    ) -> Record | None:
        """The last record of that run that tells what happened within `limit`.

        That is a run with that limit; a longer one with a trace; or any that ended before, with a proof or at the
        target. An open run that got much less than its limit in CPU seconds was disturbed, and does not count.
        """
        for record in reversed(self.records):
            if (record["solver"], record["set"], record["depth"]) == (solver, name, depth):
                over = ended(record, target)
                whole = over or record["seconds"] >= 0.85 * record["limit"]
                reaches = record["limit"] >= limit or over
                if whole and reaches and (record["trace"] or record["limit"] == limit or over):
                    return record
        return None

    def measure(
        self,
        solver: str,
        name: str,
        depth: int,
        limit: float,
        *,
        repeat: bool = True,
        target: int | None = None,
    ) -> Record:
        """Look it up, or measure it and write it down."""
        known = self.find(solver, name, depth, limit, target)
        if known is not None:
            return known
        answer = measure(solver, name, depth, limit, repeat, target)
        record = {"solver": solver, "set": name, "depth": depth, "limit": limit, "target": target, **answer}
        self.records.append(record)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        state = "" if record["proved"] else " open"
        print(f"{name} {depth} {solver}: {record['seconds']:.4f} s {record['errors']}{state}", flush=True)
        return record


if __name__ == "__main__":
    _, solver_, name_, depth_, limit_, repeat_, target_ = sys.argv
    goal = None if target_ == "None" else int(target_)
    child(solver_, name_, int(depth_), float(limit_), repeat_ == "1", goal)
