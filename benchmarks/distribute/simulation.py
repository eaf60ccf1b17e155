"""Searches on 8 to 1000 workers, replayed.

Each part of a search is evaluated once, and its CPU seconds and its reply are kept. Then the search itself runs again,
the real one, with workers that sleep for the measured seconds and a round trip, and give the kept reply. Only the
workers are simulated: which parts may be in work at a time, who waits for whom, and the work of the process that
searches are those of the program. ``ahead`` is the number of parts that may be in work at a time; each needs a
recording of its own, since parts that begin earlier know less. Only ConTree is replayed: what the others ask depends on
who has answered by then, so that kept replies would not do.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.distribute.cases import Recording, case_of, record
from benchmarks.harness import Figures, Rows, Shown, table
from treeform.distribute.worker import Work
from treeform.distribute.worker_pool import started
from treeform.engines import EngineRun, TreeTask


def round_trip(case: str, executor: str) -> float:
    """Median seconds that a part takes beyond its CPU seconds, with one worker that has nothing else to do."""
    engine, data, _ = case_of(case)
    task = TreeTask(3)
    over: list[float] = []
    with started(executor, 1, Work(engine, data, task, f"round trip {case}")) as pool:

        def ask(question: Any) -> Any:
            began = time.perf_counter()
            reply = pool.ask(question, lambda: False)
            over.append(time.perf_counter() - began - pool.seconds[-1])
            return reply

        engine.run_distributed(data, task, EngineRun(), ask, 1)
    return float(np.median(over))


def replay(case: str, kept: Recording, workers: int, trip: float, settings: dict[str, Any]) -> float:
    """Wall seconds of the search with workers that sleep."""
    engine, data, task = case_of(case, **settings)
    lock = threading.Lock()

    def ask(question: Any) -> Any:
        key = np.asarray(question).tobytes()
        with lock:
            seconds, reply = kept.seconds[key], kept.replies[key]
        time.sleep(seconds + trip)
        return reply

    began = time.perf_counter()
    outcome = engine.run_distributed(data, task, EngineRun(), ask, workers)
    if outcome.upper != kept.outcome.upper or not outcome.proved:
        raise SystemExit(f"{case}: the replayed search ended otherwise")
    return time.perf_counter() - began


@table("distribute_simulation")
def simulation(rows: Rows) -> Shown:
    """Times as fast as one worker, by the number of workers."""
    frame = rows.frame
    numbers = list(dict.fromkeys(frame["workers"]))
    shown = []
    for (case, ahead), group in frame.groupby(["case", "ahead"], sort=False):
        row = {
            "search": case,
            "ahead": ahead,
            "parts": group["parts"].iloc[0],
            "CPU s": group["CPU s"].iloc[0],
        }
        longest = float(group["longest part, s"].iloc[0]) + float(group["not shared, s"].iloc[0])
        row["most, by longest part"] = f"{float(group['CPU s'].iloc[0]) / longest:.0f}"
        by = dict(zip(group["workers"], group["wall s"], strict=True))
        row |= {
            f"{n} workers": f"{float(row['CPU s']) / float(by[n]):.1f}" if n in by else "" for n in numbers
        }
        shown.append(row)
    trip = rows.frame["round trip, s"].iloc[0]
    note = f"Times as fast as all CPU seconds one after the other; round trip {1000 * float(trip):.1f} ms."
    return Shown("Simulated workers", pd.DataFrame(shown), note)


def main(
    cases: str = "contree:page:4",
    ahead: str = "32,256,2048",
    workers: str = "2,8,32,128,512,1000",
    executor: str = "loky",
    trip: float = 0.0,
) -> None:
    """Record, and replay; `trip` are the seconds of a round trip, measured on the executor where it is 0."""
    figures = Figures("distribute_simulation", ("case", "ahead", "workers"))
    numbers = [int(number) for number in workers.split(",")]
    for case in cases.split(","):
        if not case.startswith("contree:"):
            raise SystemExit(f"{case}: only ConTree is replayed")
        for flight in map(int, ahead.split(",")):
            settings = {"ahead": flight}
            missing = [n for n in numbers if figures.find(case=case, ahead=flight, workers=n) is None]
            if missing:
                trip = trip or round_trip(case, executor)
                kept = record(*case_of(case, **settings))
            for n in missing:
                work = partial(row_of, case, kept, n, trip, settings)
                figures.measure(work, case=case, ahead=flight, workers=n)


def row_of(case: str, kept: Recording, workers: int, trip: float, settings: dict[str, Any]) -> dict[str, Any]:
    """One replay."""
    return {
        "parts": len(kept.seconds),
        "CPU s": f"{sum(kept.seconds.values()) + kept.rest:.2f}",
        "not shared, s": f"{kept.rest:.3f}",
        "longest part, s": f"{max(kept.seconds.values()):.3f}",
        "round trip, s": f"{trip:.4f}",
        "wall s": f"{replay(case, kept, workers, trip, settings):.3f}",
    }
