"""Solves side by side, in threads, forks, spawned and joblib's processes, and one after the other by the hundred."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from process_memory import needs_proc, resident

import treeform as tf

SOLVERS = ("contree", "dl85", "diagram-search", "totals-search", "continuous-totals", "highs", "cp-sat")


def problem(seed: int, solver: str = "contree", rows: int = 14) -> tf.Problem:
    rng = np.random.default_rng(seed)
    binary = solver in ("dl85", "totals-search")
    X = rng.integers(0, 2 if binary else 4, (rows, 4)).astype(float)
    shape = "diagram:1,2" if solver == "diagram-search" else "tree:2"
    return tf.Problem(X, rng.integers(0, 2, rows), shape=shape)


def answer(seed: int, solver: str = "contree") -> tuple[str, str, str]:
    """What must not depend on where it is solved."""
    warm = {} if solver not in ("highs", "cp-sat") else {"warm_start": None, "formulation": "odd"}
    result = problem(seed, solver).solve(solver, **warm)
    assert result.graph is not None
    same = result.graph.rules() if not warm else ""
    return str(result.status), str(result.objective), str(same)


def answer_of(task: tuple[int, str]) -> tuple[str, str, str]:
    return answer(*task)


TASKS = [(seed, solver) for seed in range(1) for solver in SOLVERS]


@pytest.fixture(scope="module")
def expected() -> list[tuple[str, str, str]]:
    return [answer_of(task) for task in TASKS]


def test_two_solves_at_once_in_threads(expected: list[Any]) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answer_of, TASKS)) == expected


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_start_methods(method: str, expected: list[Any]) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    native = [i for i, (_, solver) in enumerate(TASKS) if solver not in ("highs", "cp-sat")][:5]
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.map_async(answer_of, [TASKS[i] for i in native]).get(60)
    assert found == [expected[i] for i in native]


def test_nested_in_joblib(expected: list[Any]) -> None:
    joblib = pytest.importorskip("joblib")

    def study(folder: str) -> list[str]:
        found = tf.sweep(problem(0), {"shape": ["tree:1", "tree:2"]}, executor="loky", workers=2)
        return [str(row) for row in found.table["objective"]]

    inner = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(study)(name) for name in "ab")
    assert inner[0] == inner[1] == [str(problem(0).solve().objective) if shape == "tree:2" else inner[0][0]
                                    for shape in ("tree:1", "tree:2")]  # fmt: skip


def test_within_an_event_loop_as_jupyter_has_one(expected: list[Any]) -> None:
    async def cell() -> tuple[str, str, str]:
        return answer_of(TASKS[0])

    assert asyncio.run(cell()) == expected[0]


def test_a_clock_that_jumps_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(10**6))
    monkeypatch.setattr(time, "time", lambda: 1e9 - 1e5 * next(now))
    result = problem(3).solve("highs", formulation="odd", warm_start=None, time_limit=60.0)
    assert result.status is tf.Status.OPTIMAL
    assert 0 <= result.seconds < 60


def test_no_deadline_reads_the_clock_of_the_day() -> None:
    root = Path(tf.__file__).parent
    sources = {path: path.read_text() for path in root.rglob("*.py")}
    assert not [str(path) for path, text in sources.items() if "time.time()" in text]


ENGINES = (
    *("contree", "dl85", "cadl85", "blossom", "diagram-search"),
    *("totals-search", "continuous-totals", "path-search", "regression-search"),
)


def small_solve(number: int) -> None:
    """A solve with the native engine whose turn it is; every twenty-fourth goes to a solver of rows."""
    seed = number % 40
    if number % 24 == 23:
        solver = ("highs", "cp-sat", "cadical195")[number // 24 % 3]
        assert problem(seed, solver, rows=5).solve(solver, warm_start=None).graph is not None
        return
    engine = ENGINES[number % len(ENGINES)]
    rng = np.random.default_rng(seed)
    binary = engine in ("dl85", "cadl85", "blossom", "totals-search")
    X = rng.integers(0, 2 if binary else 4, (14, 4)).astype(float)
    shape = "diagram:1,2" if engine.startswith("diagram") else "tree:2"
    numbers = engine == "regression-search"
    y = rng.integers(0, 9, 14).astype(float) if numbers else rng.integers(0, 2, 14)
    one = tf.Problem(X, y, shape=shape)
    if numbers:
        one.minimize(tf.SquaredError())
    assert one.solve(engine).graph is not None


def usage() -> tuple[int, int, int]:
    """Kilobytes of memory in use, threads of the system, open files."""
    gc.collect()
    return resident() // 1024, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


@needs_proc
def test_many_small_solves_leave_nothing(nightly: bool, record_property: Any) -> None:
    solves = 24_000 if nightly else 48
    for number in range(72):  # what is loaded once, by each engine and solver
        small_solve(number)
    before = usage()
    for number in range(solves):
        small_solve(number)
        if number % 3000 == 2999:
            print(
                f"{number + 1} solves: memory, threads, files {usage()}, {time.process_time():.0f} s",
                flush=True,
            )
    after, until = usage(), time.monotonic() + 30
    while (
        any(now > then for now, then in zip(after[1:], before[1:], strict=True)) and time.monotonic() < until
    ):
        time.sleep(0.1)  # threads that read from children which were closed end a moment later
        after = usage()
    record_property("usage", f"{solves} solves: {before} -> {after}")
    print(
        f"{solves} solves: memory {before[0]} -> {after[0]} kB, threads and files {before[1:]} -> {after[1:]}"
    )
    # A thread of an earlier test may end meanwhile; nothing may be added.
    assert all(now <= then for now, then in zip(after[1:], before[1:], strict=True))
    assert after[0] - before[0] < 20_000
