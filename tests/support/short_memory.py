"""Native engines in a process that may map little more memory: ``python short_memory.py`` prints how each run ends.

A run ends with a limit and the model it began with, wherever memory runs out: for a thread's stack, in Python, or in
the search.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import treeform as tf
from treeform.errors import SolverFailed

SPARE = (0, 4, 10)
"""Megabytes that may be mapped beside what is: a thread's stack takes eight."""
AT_ONCE = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "0",
    "GLIBC_TUNABLES": "glibc.pthread.stack_cache_size=0",
}
"""Settings of glibc with which what is freed goes back to the system at once, and is not there for the next run."""


@contextmanager
def short_of_memory(megabytes: int) -> Iterator[None]:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def problems(rows: int) -> Iterator[tuple[Any, tf.Problem]]:
    """Each engine, with a problem that it takes; those of many rows need far more than there is."""
    pick = np.random.default_rng(0)
    X = pick.normal(size=(rows, 12)).round(3)
    y = (X[:, 0] * X[:, 1] + pick.normal(size=rows) > 0).astype(int)
    bits = np.hstack([cut < X for cut in (-1, -0.5, 0, 0.5, 1)]).astype(float)
    parity = tf.StatisticalParity(groups=np.arange(rows) % 2, difference=0.001)
    for threads in (1, 2):
        yield tf.ConTree(threads=threads), tf.Problem(X, y, shape="tree:3")
        yield tf.DL85(threads=threads), tf.Problem(bits, y, shape="tree:5")
        yield tf.Blossom(threads=threads), tf.Problem(bits, y, shape="tree:5")
        yield tf.TotalsSearch(threads=threads), tf.Problem(bits, y, shape="tree:4") + parity
        yield tf.ContinuousTotals(threads=threads), tf.Problem(X, y, shape="tree:3") + parity
        target = np.round(X[:, 0] * X[:, 1] * 10)
        stated = tf.Problem(X, target, shape="tree:3").minimize("squared_error")
        yield tf.RegressionSearch(threads=threads), stated
    yield tf.DiagramSearch(), tf.Problem(X.round(1), y, shape="diagram:1,2,4")


def main() -> None:
    for engine, stated in problems(40):  # all that is imported or made once
        stated.solve(engine, time_limit=5)
    for engine, stated in problems(30_000):
        assert len(stated.data.points.weights) > 1  # equal rows are found once, in more memory than there is below
        assert stated.data.n_tests  # counted once, by pandas, which does not look whether it got memory
        start = None if isinstance(engine, tf.RegressionSearch) else tf.DecisionGraph.leaf(0, stated.data)
        for megabytes in SPARE:
            with short_of_memory(megabytes):
                try:
                    result = stated.solve(engine, warm_start=start, time_limit=10)
                    told = (str(result.status), str(result.limit), result.graph is not None)
                except SolverFailed as error:
                    told = ("error", "memory" if "memory ran out" in str(error) else str(error), False)
            print(type(engine).__name__, getattr(engine, "threads", 1), megabytes, *told, flush=True)


def ended() -> list[list[str]]:
    """How each run ended: engine, threads, megabytes, status, limit, whether there is a model."""
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | AT_ONCE,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split() for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
