"""One thread against two: wall seconds, measured alternately in one process.

Of each number of threads the fastest of several runs counts, since anything else on the machine only adds. The last
column is user CPU over wall of the run with two threads: well below 2 means that a core was not ours.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from benchmarks.harness.clock import user_seconds


def one_and_two(run: Callable[[int], Any], repeat: int) -> tuple[list[Any], dict[str, str]]:
    """The answers of ``run(threads)``, and the columns of the table."""
    best: dict[int, tuple[float, float]] = {1: (math.inf, 0.0), 2: (math.inf, 0.0)}
    answers = []
    for _ in range(repeat):
        for threads in best:
            user, wall = user_seconds(), time.perf_counter()
            answers.append(run(threads))
            wall = time.perf_counter() - wall
            best[threads] = min(best[threads], (wall, user_seconds() - user))
    (one, _), (two, user) = best[1], best[2]
    return answers, {
        "one thread, wall s": f"{one:.3f}", "two threads, wall s": f"{two:.3f}",
        "times faster": f"{one / two:.2f}", "CPU over wall, two": f"{user / two:.2f}",
    }  # fmt: skip
