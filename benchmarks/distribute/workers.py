"""Two local workers beside one: wall seconds of whole searches, from the first question to the last.

The processes are started and have the data before the clock begins. Beside them stand the same search undivided, on
one thread, and the CPU seconds of the workers: on a machine that does other things too, only these can be compared.
"Times faster by CPU" takes those of the busiest worker and of this process in place of wall seconds. The last column is
CPU over wall of the run with two workers: well below 2 means that a core was not ours, and "times faster" stays empty.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import psutil

from benchmarks.distribute.cases import case_of
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from treeform.distribute.search import with_bounds_of_pairs
from treeform.distribute.workers import Work, started
from treeform.engines import EngineRun

CASES = (
    "contree:page:4,contree:avila:4,contree:htru:4,contree:raisin:5,contree:skin:5,dl85:german-credit:5,dl85:german-credit:6,dl85:letter:5,"
    "totals:german-credit:5,diagram:raisin:1-2-3"
)


def measure(case: str, workers: int) -> dict[str, Any]:
    """One search; 0 workers: undivided."""
    engine, data, task = case_of(case)
    if workers == 0:
        before, wall = user_seconds(), time.perf_counter()
        outcome = engine.run(data, task, EngineRun())
        user = user_seconds() - before
        return {
            "cost": outcome.upper,
            "wall s": f"{time.perf_counter() - wall:.2f}",
            "here, CPU s": f"{user:.2f}",
        }
    parts = 0
    with started("loky", workers, Work(engine, data, task, f"{case} {workers}")) as pool:

        def ask(question: Any) -> Any:
            nonlocal parts
            parts += 1
            return pool.ask(question, lambda: False)

        # The same first questions to all workers, so that they have started and hold the data.
        _begin(engine, data, task, pool)
        pool.seconds.clear()
        before = _used()
        here, wall = time.process_time(), time.perf_counter()
        asked = with_bounds_of_pairs(ask) if engine.bounded else ask
        outcome = engine.run(data, task, EngineRun(ask=asked, callers=workers))
        here, wall = time.process_time() - here, time.perf_counter() - wall
        seconds, used = np.array(pool.seconds), _used()
    return {
        "cost": outcome.upper,
        "wall s": f"{wall:.2f}",
        "here, CPU s": f"{here:.2f}",
        "workers, CPU s": f"{seconds.sum():.2f}",
        "busiest worker, CPU s": f"{max(used[pid] - before.get(pid, 0.0) for pid in used):.2f}",
        "parts": len(seconds),
        "longest part, CPU s": f"{seconds.max():.3f}",
    }


def _used() -> dict[int, float]:
    """CPU seconds of each worker so far."""
    here = psutil.Process().children(recursive=True)
    workers = [one for one in here if any("popen_loky" in part for part in one.cmdline())]
    return {one.pid: sum(one.cpu_times()[:2]) for one in workers}


def _begin(engine: Any, data: Any, task: Any, pool: Any) -> None:
    """Ask until every worker has answered once."""
    first: list[Any] = []

    def keep(question: Any) -> None:
        first.append(question)

    engine.run(data, task, EngineRun(ask=keep))
    with ThreadPoolExecutor(pool.size) as threads:
        list(threads.map(lambda q: pool.ask(q, lambda: False), [first[0]] * pool.size))


@table("distribute_workers")
def workers(rows: Rows) -> Shown:
    """The undivided search, one worker and two, side by side."""
    frame = rows.frame
    by = {(row["case"], row["workers"]): row for row in frame.to_dict("records")}
    shown = []
    for case in dict.fromkeys(frame["case"]):
        alone, one, two = (by.get((case, number)) for number in ("0", "1", "2"))
        if one is None or two is None:
            continue
        wall = [float(row["wall s"]) for row in (one, two)]
        busiest = two.get("busiest worker, CPU s")
        alone_cpu = float(one["workers, CPU s"]) + float(one["here, CPU s"])
        busy = float(two["workers, CPU s"]) + float(two["here, CPU s"])
        shown.append(
            {
                "search": case,
                "parts": two["parts"],
                "undivided, CPU s": "" if alone is None else alone["here, CPU s"],
                "one worker, CPU s": one["workers, CPU s"],
                "one worker, wall s": f"{wall[0]:.1f}",
                "two workers, wall s": f"{wall[1]:.1f}",
                "times faster": f"{wall[0] / wall[1]:.2f}" if busy > 1.5 * wall[1] else "",
                "times faster by CPU": f"{alone_cpu / (float(busiest) + float(two['here, CPU s'])):.2f}"
                if busiest
                else "",
                "CPU over wall, two": f"{busy / wall[1]:.2f}",
            }
        )
    note = (
        "CPU over wall well below 2 means that other work had the second core; times faster, by wall seconds, is left "
        "out there. By CPU it is the ratio of the CPU seconds of one worker to those of the busiest of two, with those "
        "of the searching process in both."
    )
    return Shown("Two local workers beside one", pd.DataFrame(shown), note)


def main(cases: str = CASES, workers: str = "0,1,2") -> None:
    """Measure."""
    figures = Figures("distribute_workers", ("case", "workers"))
    for case in cases.split(","):
        for number in map(int, workers.split(",")):
            figures.measure(partial(measure, case, number), case=case, workers=number)
