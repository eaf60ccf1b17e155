"""Workers that are killed: while they get the data, and while they search a part."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import Any

import distributed
import numpy as np
import pandas as pd
import psutil
import pytest
from joblib.externals.loky import process_executor

import treeform as tf
from treeform.data import Dataset
from treeform.distribute.workers import Work, _process, started
from treeform.engines import DL85, ConTree, DiagramSearch, EngineRun, TotalsSearch, TreeTask, totals
from treeform.engines.relaxation import relax


def data_of(n: int, features: int = 9, top: int = 2) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.integers(0, top, (n, features))
    return Dataset.from_user(X, (X[:, 0] ^ X[:, 1] ^ X[:, 2]) % 2 ^ (rng.random(n) < 0.2))


def never() -> bool:
    return False


def first_question_and_reply(data: Dataset, depth: int) -> tuple[Any, Any]:
    first: list[Any] = []
    ConTree().run(data, TreeTask(depth), EngineRun(ask=first.append))
    return first[0], ConTree().evaluator(data, TreeTask(depth)).evaluate(first[0], never)


@pytest.mark.slow
def test_a_worker_of_dask_killed_while_it_holds_the_data() -> None:
    """The data die with it, and are given to the one that takes its place."""
    data = data_of(50, 4)
    question, expected = first_question_and_reply(data, 3)
    with (
        distributed.Client(n_workers=1, threads_per_worker=1, dashboard_address=None) as client,
        started(client, None, Work(ConTree(), data, TreeTask(3), "held")) as pool,
    ):
        replies = [pool.ask(question, never)]
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        replies += [pool.ask(question, never)]
    for reply in replies:
        assert reply is not None
        assert np.array_equal(reply, expected)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.02, 0.2, 0.6])
def test_a_worker_of_dask_killed_while_it_gets_the_data(seconds: float) -> None:
    data = data_of(200_000)
    work = Work(ConTree(), data, TreeTask(3), f"killed after {seconds}")
    question, expected = first_question_and_reply(data, 3)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        pid = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(seconds, os.kill, [pid, signal.SIGKILL])
        timer.start()
        with started(client, None, work) as pool:
            replies = [pool.ask(question, never) for _ in range(3)]
        timer.join()
    for reply in replies:
        assert reply is not None
        assert np.array_equal(reply, expected)


def test_a_worker_that_keeps_much_is_not_ended() -> None:
    """What an engine keeps between parts may exceed the growth that loky takes for a leak."""
    with contextlib.ExitStack() as stack:
        most = _process(stack).submit(getattr, process_executor, "_MAX_MEMORY_LEAK_SIZE").result()
    assert most == sys.maxsize


def _totals_task() -> tuple[TotalsSearch, Dataset, TreeTask]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (90, 6)), columns=list("abcdef"))
    problem = tf.Problem(X, (X["a"] ^ X["b"]) ^ (rng.random(90) < 0.2), shape=tf.Tree(4))
    problem += tf.StatisticalParity(groups=rng.choice(["m", "f"], 90), positive=1, difference="0.05")
    relaxation = relax(problem.question, TotalsSearch())
    assert relaxation is not None
    return TotalsSearch(), problem.data, relaxation.task


@pytest.mark.parametrize(
    "name",
    ["dl85", pytest.param("diagram", marks=pytest.mark.slow), pytest.param("totals", marks=pytest.mark.slow)],
)
def test_a_worker_killed_in_a_bounded_search_costs_its_part_only(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totals, "LEAST_STEPS", 0.0)
    engine: Any
    if name == "totals":
        engine, data, task = _totals_task()
    elif name == "diagram":
        engine, data = DiagramSearch(parts=("trees", "transpositions")), data_of(60, 4, 6)
        task = TreeTask(3, widths=(1, 2, 3))
    else:
        engine, data, task = DL85(exact_depth=2), data_of(120), TreeTask(4)
    asked = 0
    before = set(psutil.Process().children(recursive=True))
    with started("loky", 1, Work(engine, data, task, f"killed {name}")) as pool:

        def ask(question: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 3:
                for worker in set(psutil.Process().children(recursive=True)) - before:
                    if any("popen_loky" in part for part in worker.cmdline()):
                        os.kill(worker.pid, signal.SIGKILL)
            return pool.ask(question, lambda: False)

        shared = engine.run(data, task, EngineRun(ask=ask, callers=pool.size))
    alone = engine.run(data, task, EngineRun())
    assert (shared.upper, shared.lower, shared.proved) == (alone.upper, alone.lower, True)
    assert asked >= 3
    assert pool.lost <= 1
    assert len(pool.seconds) == asked
