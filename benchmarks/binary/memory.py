"""How much memory the binary engines take: Blossom at depth 10, the cached ones under a limit.

Each run is a process of its own. Counted is the peak of resident memory during the run, less what the process held
before (data set included); the packed data are the distinct rows times features, in bits.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.binary.runs import OPEN_SETS, load
from benchmarks.harness import Figures, Rows, Shown, in_child, named, table, user_seconds
from treeform.utils.budget import Budget

MEGA = 2**20
RUNS = (("Blossom", 10, 0), ("DL85", 7, 32), ("DL85", 7, 256), ("CADL85", 7, 32), ("CADL85", 7, 256))


def resident(field: str) -> int:
    """``VmRSS`` (now) or ``VmHWM`` (peak) in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def child(engine: str, name: str, depth: int, limit: int, seconds: float) -> dict[str, Any]:
    """One measurement, in this process."""
    import treeform as tf
    from treeform.data import Dataset
    from treeform.engines import EngineRun, TreeTask

    X, y = load(name)
    data = Dataset.from_user(X, y)
    given = {} if limit == 0 else {"memory_limit": limit}
    made = {"Blossom": tf.Blossom, "DL85": tf.DL85, "CADL85": tf.CADL85}[engine](**given)
    made.run(Dataset.from_user(np.array([[0.0], [1.0]]), np.array([0, 1])), TreeTask(depth=1), EngineRun())
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before, began = resident("VmRSS"), user_seconds()
    run = EngineRun(Budget().until(lambda: user_seconds() - began > seconds))
    outcome = made.run(data, TreeTask(depth=depth), run)
    grown = resident("VmHWM") - before
    rows = len(np.unique(X, axis=0))
    answer = {"grown": grown, "packed": rows * X.shape[1] // 8, "errors": outcome.upper}
    answer |= {"seconds": user_seconds() - began, "proved": outcome.proved}
    return answer | {"forgotten": outcome.counters["cache_evictions"]}


def measure(engine: str, name: str, depth: int, limit: int, seconds: float) -> dict[str, Any]:
    """The row of one run, made in a process of its own."""
    done = in_child(child, engine, name, depth, limit * MEGA, seconds)
    if done.answer is None:
        raise SystemExit(f"{engine} on {name}: {done.how}")
    got = done.answer
    allowed = limit * MEGA or 2 * got["packed"] + 64 * MEGA
    return {
        "packed, MB": f"{got['packed'] / MEGA:.2f}", "allowed, MB": f"{allowed / MEGA:.1f}",
        "peak, MB": f"{got['grown'] / MEGA:.2f}", "forgotten": got["forgotten"],
        "within": "yes" if got["grown"] <= allowed else "NO",
    }  # fmt: skip


@table("binary_memory")
def memory(rows: Rows) -> Shown:
    """The rows, without the limit, which is what is allowed."""
    note = (
        f"At most {rows.facts['seconds']} CPU seconds each. Allowed: twice the packed data and 64 MB for Blossom, the "
        "memory limit for the others. Forgotten: cache entries that made room for others. The cached engines on the "
        f"sets that take long: {', '.join(OPEN_SETS)}."
    )
    return Shown("Memory of the binary engines", rows.frame.drop(columns="limit"), note)


def main(sets: str = "", seconds: float = 5) -> None:
    """Measure; CPU seconds for each run."""
    figures = Figures("binary_memory", ("engine", "depth", "set", "limit"), seconds=f"{seconds:g}")
    for engine, depth, limit in RUNS:
        for name in named("binary", sets):
            if engine == "Blossom" or name in OPEN_SETS:
                work = partial(measure, engine, name, depth, limit, seconds)
                figures.measure(work, engine=engine, depth=depth, set=name, limit=limit)
