"""Searches on 2 to 1000 workers, of which only the workers are simulated (`benchmarks.distribute.virtual`).

The search is the real one: which parts may be in work at a time, who waits for whom, and the work of the process that
searches are those of the program. The seconds of a round trip, and those that handling a part takes here, are measured
on an executor with one worker that has nothing else to do. ``ahead:side_parts`` are the settings of ConTree; each needs
its parts evaluated once, since parts that begin earlier know less. Only ConTree is simulated: what the others ask, and
what their replies cost, depends on which worker has answered what by then.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.distribute.cases import case_of
from benchmarks.distribute.virtual import Parts, VirtualWorkers
from benchmarks.harness import Figures, Rows, Shown, table
from treeform.distribute.workers import Work, started
from treeform.engines import EngineRun, TreeTask


def overheads(case: str, executor: str) -> tuple[float, float]:
    """Median seconds of a part beyond its CPU seconds, and mean CPU seconds of a part in this process."""
    engine, data, _ = case_of(case)
    task = TreeTask(3)
    over: list[float] = []
    here: list[float] = []
    with started(executor, 1, Work(engine, data, task, f"round trip {case}")) as pool:

        def ask(question: Any) -> Any:
            began, used = time.perf_counter(), time.thread_time()
            reply = pool.ask(question, lambda: False)
            over.append(time.perf_counter() - began - pool.seconds[-1])
            here.append(time.thread_time() - used)
            return reply

        engine.run_distributed(data, task, EngineRun(), ask, 1)
    return float(np.median(over)), float(np.median(here))


@table("distribute_simulation")
def simulation(rows: Rows) -> Shown:
    """Times as fast as one worker, by the number of workers."""
    frame = rows.frame
    numbers = list(dict.fromkeys(frame["workers"]))
    alone = {
        case: float(group["workers, CPU s"].iloc[0]) for case, group in frame.groupby("case", sort=False)
    }
    shown = []
    for (case, settings), group in frame.groupby(["case", "ahead:side_parts"], sort=False):
        first = group.iloc[0]
        row = {
            "search": case,
            "ahead:side_parts": settings,
            "parts": first["parts"],
            "workers, CPU s": first["workers, CPU s"],
            "here, CPU s": first["here, CPU s"],
            "longest part, ms": f"{1000 * float(first['longest part, s']):.0f}",
        }
        by = dict(zip(group["workers"], group["wall s"], strict=True))
        row |= {f"{n} workers": f"{alone[case] / float(by[n]):.1f}" if n in by else "" for n in numbers}
        shown.append(row)
    trip, handling = (1000 * float(frame[name].iloc[0]) for name in ("round trip, s", "handling, s"))
    note = (
        "Times as fast as the CPU seconds of the first settings of a search, one after the other; "
        f"a round trip takes {trip:.1f} ms, handling a part {handling:.2f} ms."
    )
    return Shown("Simulated workers", pd.DataFrame(shown), note)


def main(
    cases: str = "contree:page:4,contree:avila:4,contree:htru:4",
    settings: str = "32:1,2048:1,2048:16",
    workers: str = "2,8,32,128,512,1000",
    executor: str = "loky",
) -> None:
    """Evaluate the parts of each search once, and simulate."""
    figures = Figures("distribute_simulation", ("case", "ahead:side_parts", "workers"))
    numbers = [int(number) for number in workers.split(",")]
    measured: tuple[float, float] | None = None
    for case in cases.split(","):
        if not case.startswith("contree:"):
            raise SystemExit(f"{case}: only ConTree is simulated")
        for pair in settings.split(","):
            names = {"case": case, "ahead:side_parts": pair}
            missing = [n for n in numbers if figures.find(**names, workers=n) is None]
            if not missing:
                continue
            measured = measured or overheads(case, executor)
            ahead, side_parts = map(int, pair.split(":"))
            engine, data, task = case_of(case, ahead=ahead, side_parts=side_parts)
            parts = Parts(engine.evaluator(data, task))
            for n in missing:
                work = partial(row_of, engine, data, task, parts, n, *measured)
                figures.measure(work, **names, workers=n)


def row_of(
    engine: Any, data: Any, task: TreeTask, parts: Parts, workers: int, trip: float, handling: float
) -> dict[str, Any]:
    """One search in virtual time."""
    desk = VirtualWorkers(parts, workers, trip, handling)
    outcome = engine.run_distributed(data, task, EngineRun(), desk, workers)
    desk.finish()
    if not outcome.proved:
        raise SystemExit(f"{engine.name}: the simulated search was not completed")
    return {
        "cost": outcome.upper,
        "parts": desk.asked,
        "workers, CPU s": f"{desk.busy:.2f}",
        "here, CPU s": f"{desk.here:.3f}",
        "longest part, s": f"{desk.longest:.3f}",
        "round trip, s": f"{trip:.5f}",
        "handling, s": f"{handling:.5f}",
        "wall s": f"{desk.clock:.3f}",
    }
