"""A cluster that is gone: whatever its client raises or waits for, the search ends with what it had found."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import distributed
import numpy as np
import pytest

import treeform as tf
from treeform.distribute import executor
from treeform.errors import SpecError


@pytest.fixture
def loop() -> Iterator[Any]:
    """As a client's, in a thread of its own."""
    runs = asyncio.new_event_loop()
    thread = threading.Thread(target=runs.run_forever)
    thread.start()
    yield SimpleNamespace(asyncio_loop=runs)
    runs.call_soon_threadsafe(runs.stop)
    thread.join()
    runs.close()


async def gone() -> None:
    raise AttributeError("'NoneType' object has no attribute 'ncores'")


async def waits() -> None:
    await asyncio.sleep(60)


class Dies:
    """A client, its scheduler and its executor, that count threads as ``ncores`` does, and lose what they are given."""

    status = "running"

    def __init__(self, ncores: Callable[[], Any], loop: Any) -> None:
        self.scheduler = self
        self.ncores, self.loop = ncores, loop

    def get_executor(self, **_: Any) -> Any:
        return self

    def submit(self, *_: Any, **__: Any) -> Any:
        lost: Future[Any] = Future()
        lost.cancel()
        lost.set_running_or_notify_cancel()
        return lost


async def one_thread() -> dict[str, int]:
    return {"worker": 1}


def problem() -> tf.Problem:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (60, 4)).astype(float)
    return tf.Problem(X, (X[:, 0] > 4) ^ (rng.random(60) < 0.3), shape="tree:3")


@pytest.mark.parametrize(("ncores", "error"), [(gone, "AttributeError"), (one_thread, "CancelledError")])
def test_the_incumbent_is_kept(loop: Any, ncores: Any, error: str) -> None:
    start = problem().solve(warm_start=None).graph
    result = problem().solve("contree", executor=Dies(ncores, loop), warm_start=start)
    assert result.graph is not None
    assert result.errors == problem().solve().errors
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.SOLVER)
    assert any(f"the cluster cannot be reached any more ({error}" in note for note in result.notes)


def test_a_client_that_waits_is_left_alone_at_the_limit(loop: Any) -> None:
    result = problem().solve("contree", executor=Dies(waits, loop), time_limit=0.2)
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.TIME)
    assert result.graph is not None


def test_a_silent_scheduler_is_named_and_counts_as_gone_later(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(executor, "GONE_SECONDS", 0.4)
    with pytest.warns(tf.errors.TreeformWarning, match=r"has not answered for 0.1 s; .* in 0.3 s more"):
        result = problem().solve("contree", executor=Dies(waits, loop))
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.SOLVER)
    assert any("(TimeoutError: its scheduler has not answered for 0.4 s)" in note for note in result.notes)


def test_a_scheduler_that_falls_silent_while_a_part_is_searched(
    loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts its threads, and then answers nothing any more."""
    answers = [one_thread, waits]

    class Freezes(Dies):
        def submit(self, *_: Any, **__: Any) -> Any:
            return Future()

    monkeypatch.setattr(executor, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(executor, "GONE_SECONDS", 0.4)
    with pytest.warns(tf.errors.TreeformWarning, match="has not answered"):
        result = problem().solve("contree", executor=Freezes(lambda: answers.pop(0)(), loop))
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.SOLVER)


def test_a_connection_that_waits_is_left_alone_and_closed_when_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    comes, closed = threading.Event(), threading.Event()

    def connect(_: str) -> Any:
        comes.wait()
        return SimpleNamespace(close=closed.set)

    monkeypatch.setattr(distributed, "Client", connect)
    result = problem().solve("contree", executor="dask:tcp://frozen:1", time_limit=0.2)
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.TIME)
    monkeypatch.setattr(executor, "GONE_SECONDS", 0.1)
    with pytest.raises(SpecError, match=r"could not be started[^$]*it has not answered for 0.1 s"):
        problem().solve("contree", executor="dask:tcp://frozen:1")
    assert not closed.is_set()
    comes.set()
    assert closed.wait(60)


def test_a_scheduler_that_was_killed_ends_the_search() -> None:
    """The client of a real one."""
    cluster = distributed.LocalCluster(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    )
    start = problem().solve(warm_start=None).graph
    with distributed.Client(cluster) as client:
        cluster.close()
        result = problem().solve("contree", executor=client, warm_start=start)
    assert result.graph is not None
    assert (result.status, result.limit) == (tf.Status.FEASIBLE, tf.Limit.SOLVER)
    assert any("the cluster cannot be reached any more" in note for note in result.notes)
