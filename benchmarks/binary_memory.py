"""How much memory the binary engines take: Blossom at depth 10, the cached ones under a limit.

    python benchmarks/binary_memory.py --seconds 10

Each run is a process of its own. Counted is the peak of resident memory during the run, less what the process held
before (data set included); the packed data are the distinct rows times features, in bits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from binary import OPEN_SETS
from binary_runs import SETS, load, user_seconds
from tables import write

MEGA = 2**20


def resident(field: str) -> int:
    """``VmRSS`` (now) or ``VmHWM`` (peak) in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def child(engine: str, name: str, depth: int, limit: int, seconds: float) -> None:
    """One measurement; prints JSON."""
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
    run = EngineRun(stop=lambda: user_seconds() - began > seconds)
    outcome = made.run(data, TreeTask(depth=depth), run)
    grown = resident("VmHWM") - before
    rows = len(np.unique(X, axis=0))
    answer = {"grown": grown, "packed": rows * X.shape[1] // 8, "errors": outcome.upper}
    answer |= {"seconds": user_seconds() - began, "proved": outcome.proved}
    print(json.dumps(answer | {"forgotten": outcome.counters["cache_evictions"]}))


def measure(*given: Any) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--child", *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--child", nargs=5)
    given = parser.parse_args()
    if given.child:
        engine, name, depth, limit, seconds = given.child
        child(engine, name, int(depth), int(limit), float(seconds))
        return
    rows, sets = [], given.sets.split(",")
    runs = [("Blossom", 10, 0), ("DL85", 7, 32), ("DL85", 7, 256), ("CADL85", 7, 32), ("CADL85", 7, 256)]
    for engine, depth, limit in runs:
        for name in sets if engine == "Blossom" else [n for n in sets if n in OPEN_SETS]:
            got = measure(engine, name, depth, limit * MEGA, given.seconds)
            allowed = limit * MEGA or 2 * got["packed"] + 64 * MEGA
            sizes = [f"{got[key] / MEGA:.2f}" for key in ("packed", "grown")]
            row = [engine, depth, name, sizes[0], f"{allowed / MEGA:.1f}", sizes[1], got["forgotten"]]
            rows.append([*row, "yes" if got["grown"] <= allowed else "NO"])
            print(*rows[-1], flush=True)
    header = ["engine", "depth", "set", "packed, MB", "allowed, MB", "peak, MB", "forgotten", "within"]
    note = (
        f"At most {given.seconds:g} CPU seconds each. Allowed: twice the packed data and 64 MB for Blossom, the memory "
        "limit for the others. Forgotten: cache entries that made room for others. The cached engines on the sets "
        f"that take long: {', '.join(OPEN_SETS)}."
    )
    write("binary_memory", "Memory of the binary engines", header, rows, note)


if __name__ == "__main__":
    main()
