"""One measurement of one solver on one binary set, in a process of its own.

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
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import SESSION, Figures, in_child, read_set, repeated, user_seconds

RELAXATIONS = ("exponential", "luby", "monotonic")
RELAXED = ("purity", "gain", "discrepancy", "top-k", "top-k*")
STRATEGIES: dict[str, dict[str, Any]] = {
    "DL85": {},
    "DL85 bare": {"parts": ("cache", "similarity")},
    "Blossom": {},
    **{f"CA-{r} {x}": {"rule": r, "relaxation": x} for r in RELAXED for x in RELAXATIONS},
    **{f"CA-gain+discrepancy {x}": {"rule": ("gain", "discrepancy"), "relaxation": x} for x in RELAXATIONS},
}
PEER_NAMES = ("pystreed", "pydl85", "pytrees")
LDS = "pytrees-lds"
SHOWN = {"pystreed": "pystreed 1.4.0", "pydl85": "pydl8.5 0.1.8", "pytrees": "pytrees-rs 2.0.0, DL8.5"}
SHOWN |= {LDS: "pytrees-rs 2.0.0, LDS"}
# The best errors known when the runs were made: one that gets there is ended.
BEST = {
    ("german-credit", 6): 101, ("letter", 6): 93, ("splice-1", 6): 62,
    ("german-credit", 7): 36, ("kr-vs-kp", 7): 17, ("letter", 7): 32, ("splice-1", 7): 21,
}  # fmt: skip
OPEN_SETS = ("german-credit", "kr-vs-kp", "letter", "splice-1")
Record = dict[str, Any]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, F) float64 of zeros and ones, and class codes (n,)."""
    X, y = read_set("binary", name)
    return np.ascontiguousarray(X.to_numpy(float)), np.unique(y, return_inverse=True)[1]


def engine(strategy: str) -> Any:
    import treeform as tf

    made = tf.DL85 if strategy.startswith("DL85") else tf.Blossom if strategy == "Blossom" else tf.CADL85
    return made(**STRATEGIES[strategy])


def fit_treeform(strategy: str, X: Any, y: Any, depth: int, limit: float, target: int | None) -> Record:
    """Run an engine; incumbents are stamped with CPU seconds, interpolated between polls."""
    from treeform.data import Dataset
    from treeform.engines import EngineRun, TreeTask
    from treeform.utils.budget import Budget

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
    run = EngineRun(Budget().until(stop), on_incumbent=lambda s, upper, *_: found.append((s + offset, upper)))
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


def child(solver: str, name: str, depth: int, limit: float, repeat: bool, target: int | None) -> Record:
    """One measurement, in this process."""
    X, y = load(name)
    fit = PEERS.get(solver) or (lambda *given: fit_treeform(solver, *given))
    fit(np.array([[0.0], [1.0]]), np.array([0, 1]), 1, 5.0, None)  # imports are not part of the measurement
    answer, seconds = repeated(lambda: fit(X, y, depth, limit, target), most=15 if repeat else 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**answer, "seconds": max(statistics.median(seconds), 1e-4), "memory": memory}


def measure(solver: str, name: str, depth: int, limit: float, repeat: bool, target: int | None) -> Record:
    """The same in a process of its own; a trace is text."""
    clock = {"LD_PRELOAD": os.environ["CPU_CLOCK"]} if solver in PEERS and "CPU_CLOCK" in os.environ else {}
    done = in_child(child, solver, name, depth, limit, repeat, target, seconds=8 * limit + 60, **clock)
    failed = {"proved": False, "trace": [], "seconds": limit if done.how == "time" else math.nan}
    record = failed if done.answer is None else done.answer
    return {**record, "trace": json.dumps(record["trace"])}


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
    """The measurements; what is there is not measured again."""

    def __init__(self) -> None:
        self.figures = Figures("binary_runs", ("solver", "set", "depth", "limit", "target"), raw=True)

    def records(self) -> list[Record]:
        """All of them, the last first."""
        return [_typed(row) for row in reversed(list(self.figures))]

    def find(
        self, solver: str, name: str, depth: int, limit: float, target: int | None = None
    ) -> Record | None:
        """The last record of that run that tells what happened within `limit`.

        That is a run with that limit; a longer one with a trace; or any that ended before, with a proof or at the
        target. An open run that got much less than its limit in CPU seconds was disturbed, and does not count.
        """
        for record in self.records():
            if (record["solver"], record["set"], record["depth"]) == (solver, name, depth):
                over = ended(record, target)
                whole = over or record["seconds"] >= 0.85 * record["limit"]
                reaches = record["limit"] >= limit or over
                if whole and reaches and (record["trace"] or record["limit"] == limit or over):
                    return record
        return None

    def get(
        self, solver: str, name: str, depth: int, limit: float, repeat: bool = True, target: int | None = None
    ) -> Record | None:
        """A record; None when it is not there and the session's time is over (``--minutes 0``: measure nothing)."""
        known = self.find(solver, name, depth, limit, BEST.get((name, depth)))
        if known is not None or SESSION.over():
            return known
        key = {"solver": solver, "set": name, "depth": depth, "limit": limit, "target": target}
        self.figures.add({**key, **measure(solver, name, depth, limit, repeat, target)})
        return _typed(self.figures.rows[self.figures.key_of(key)])


def _typed(row: dict[str, str]) -> Record:
    """A record from the text of its cells."""
    numbers = {column: float(row[column]) for column in ("limit", "seconds")}
    whole = {c: int(float(row[c])) if row.get(c) else None for c in ("depth", "target", "errors")}
    return {**row, **numbers, **whole, "proved": row["proved"] == "True", "trace": json.loads(row["trace"])}
