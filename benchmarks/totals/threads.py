"""One thread of ContinuousTotals against two on the slowest questions: wall seconds, measured alternately.

Of each number of threads the fastest of several runs counts, since anything else on the machine only adds. Where user
CPU over wall of the run with two threads is well below 2, the cores were not ours: then the longest path is what
counts. It is the CPU time of what one thread does alone, and of the busier of two threads where they share the
work, sampled from the system (Linux). Time in which a thread waits for the other is not in it.
"""

from __future__ import annotations

import math
import os
import statistics
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import treeform as tf
from benchmarks.harness import Figures, Rows, Shown, table, user_seconds
from benchmarks.totals.continuous import problem_of
from treeform.engines import EngineRun
from treeform.engines.relaxation import relax

QUESTIONS = (
    ("magic", "equal opportunity .05", 3),
    ("magic", "ratio .8", 3),
    ("htru", "ratio .8", 3),
    ("eeg", "ratio .8", 3),
    ("raisin", "parity .05", 4),
)
KEY = ("set", "rule", "depth")
SAME = ("prices", "splits", "alive", "walks", "fronts", "kept", "pairs", "guesses")
"""Counters that do not depend on the number of threads."""


def longest_path(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns, and the CPU seconds of its longest path on two threads."""
    ended, seconds, tick = threading.Event(), {}, os.sysconf("SC_CLK_TCK")
    before = {task.name for task in Path("/proc/self/task").iterdir()}

    def watch() -> None:
        while not ended.wait(0.01):
            for task in Path("/proc/self/task").iterdir():
                try:
                    fields = (task / "stat").read_text().rpartition(")")[2].split()
                except OSError:  # it has just ended
                    continue
                seconds[task.name] = (int(fields[11]) + int(fields[12])) / tick

    watcher = threading.Thread(target=watch)
    watcher.start()
    answer = work()
    ended.set()
    watcher.join()
    own = sorted((int(name), spent) for name, spent in seconds.items() if name not in before)
    own = [(name, spent) for name, spent in own if name != watcher.native_id]
    (_, alone), shared = own[0], [spent for _, spent in own[1:]]  # the search, then two threads for each pass
    pairs = list(zip(shared[::2], shared[1::2], strict=False))
    return answer, alone + sum(max(pair) for pair in pairs)


def measure(name: str, rule: str, depth: int, repeat: int) -> dict[str, Any]:
    """Both numbers of threads on one question."""
    problem = problem_of(name, rule, depth)
    relaxation = relax(problem.question, tf.ContinuousTotals())
    assert relaxation is not None and relaxation.exact
    best: dict[int, tuple[float, float]] = {1: (math.inf, 0.0), 2: (math.inf, 0.0)}
    answers, paths = [], []
    for _ in range(repeat):
        for threads in best:
            user, wall = user_seconds(), time.perf_counter()
            search = partial(
                tf.ContinuousTotals(threads=threads).run, problem.data, relaxation.task, EngineRun()
            )
            if threads == 1:
                answer = search()
            else:
                answer, path = longest_path(search)
                paths.append(path)
            wall = time.perf_counter() - wall
            best[threads] = min(best[threads], (wall, user_seconds() - user))
            counters = [answer.counters[name] for name in SAME]
            answers.append((answer.upper, answer.lower, answer.graph, counters))
    if any(answer != answers[0] for answer in answers):
        raise SystemExit(f"{name}: the answer depends on the number of threads")
    (one, alone), (two, user) = best[1], best[2]
    return {
        "errors": answers[0][0], "splits": answer.counters["splits"], "alive": answer.counters["alive"],
        "one thread, CPU s": f"{alone:.2f}", "two threads, CPU s": f"{user:.2f}",
        "one thread, wall s": f"{one:.2f}", "two threads, wall s": f"{two:.2f}",
        "CPU over wall, two": f"{user / two:.2f}", "longest path, CPU s": f"{min(paths):.2f}",
        "times faster": f"{max(one / two, alone / min(paths)):.2f}",
    }  # fmt: skip


@table("continuous_threads")
def shown(rows: Rows) -> Shown:
    """The rows as they are."""
    mean = statistics.geometric_mean(rows.frame["times faster"].astype(float))
    note = (
        f"{mean:.2f} times in geometric mean, by wall time or by the longest path, whichever says more (the machine "
        "was shared); trees, bounds and counters are the same."
    )
    return Shown("ContinuousTotals on two threads", rows.frame, note)


def main(repeat: int = 3) -> None:
    """Measure."""
    figures = Figures("continuous_threads", KEY)
    for name, rule, depth in QUESTIONS:
        figures.measure(partial(measure, name, rule, depth, repeat), set=name, rule=rule, depth=depth)
