"""The client of a Dask cluster, and calls of it that end at a limit, also where the scheduler has died."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

from treeform.errors import SolverFailed, SpecError

T = TypeVar("T")
POLL_SECONDS = 0.05
PATIENCE = 60.0
"""Seconds for a call that nothing else ends: Dask itself gives up after about half of them."""
LAST_SECONDS = 1.0
"""For calls that end the work on a cluster."""
MOST_LOST = 3
"""Workers that a question may cost before the search ends."""


class CutShort(Exception):
    """The search has to stop before the cluster has answered."""


def is_client(executor: Any) -> bool:
    """Whether it is a client of Dask distributed."""
    return hasattr(executor, "scheduler") and hasattr(executor, "submit")


@contextlib.contextmanager
def client_of(executor: Any, workers: int | None) -> Iterator[Any]:
    """The client of a cluster: the one given, one at the address, or one of workers that are started here.

    Raises SpecError if Dask distributed is not installed, or the cluster cannot be reached.
    """
    if is_client(executor):
        yield executor
        return
    require_package("distributed")
    import distributed

    connect: Any = distributed.Client
    address = str(executor).removeprefix("dask").removeprefix(":")
    local = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = connect(address) if address else connect(**local)
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        raise SpecError(
            f"the workers of executor={executor!r} could not be started",
            cause=f"{error}; in a script they import it again",
            fix='check the address, and put what the script does under if __name__ == "__main__":',
        ) from error
    try:
        yield client
    finally:
        # Without its scheduler a client waits for half a minute before it closes.
        closes = client.close if client.status == "running" else partial(last_call, client.close)
        closes()


def require_package(name: str) -> None:
    """Refuse an executor whose package is not there. Raises SpecError."""
    if find_spec(name) is None:
        raise SpecError(f"the executor needs {name}, which is not installed", fix=f"pip install {name}")


def reach(call: Callable[[], T], stop: Callable[[], bool], seconds: float = PATIENCE) -> T:
    """What a call of the cluster gives, made in another thread, which is left alone once the search has to stop.

    Raises
    ------
    CutShort
        Once ``stop()`` is true.
    SolverFailed
        If the cluster does not answer.
    Exception
        What the call raised.
    """
    given: Future[T] = Future()

    def run() -> None:
        try:
            given.set_result(call())
        except Exception as error:  # raised again in the caller's thread
            given.set_exception(error)

    here = contextvars.copy_context()  # Dask keeps its current client there
    threading.Thread(name="treeform cluster", target=here.run, args=(run,), daemon=True).start()
    until = time.monotonic() + seconds
    while not wait([given], POLL_SECONDS).done:
        if stop():
            raise CutShort
        if time.monotonic() >= until:
            raise out_of_reach("it does not answer")
    return given.result()


@contextlib.contextmanager
def within_reach() -> Iterator[None]:
    """Turn errors of a client without a cluster into SolverFailed; errors of lost workers pass."""
    try:
        yield
    except (CutShort, SolverFailed, BrokenExecutor):
        raise
    except Exception as error:
        raise out_of_reach(error) from error


@within_reach()
def scatter(client: Any, work: Any, stop: Callable[[], bool]) -> Any:
    """The work as data of the cluster: each worker has it once. Raises CutShort or SolverFailed."""
    for attempt in range(1, MOST_LOST + 1):
        try:
            return reach(lambda: client.scatter(work, broadcast=True, hash=False), stop)
        except (OSError, KeyError) as error:  # a worker died while it was given the data
            if attempt == MOST_LOST:
                raise costs_too_many(error) from error
            time.sleep(1.0)
    raise AssertionError


def last_call(call: Callable[[], object]) -> None:
    """Tell a cluster that the work has ended, if it can still be told: the answer does not depend on it."""
    with contextlib.suppress(Exception):
        reach(call, lambda: False, LAST_SECONDS)


def is_cancelled() -> bool:
    """In a task of Dask: whether it was cancelled, or its client is gone."""
    import distributed

    worker = distributed.get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"


def out_of_reach(error: Exception | str) -> SolverFailed:
    """The error of a search whose cluster is gone."""
    cause = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    return SolverFailed(
        "the cluster cannot be reached any more",
        cause=cause.rstrip(": "),
        fix="start the scheduler again; a journal keeps what has been found",
    )


def costs_too_many(error: BaseException) -> SolverFailed:
    """The error of a part of the search that workers die of."""
    return SolverFailed(
        f"a part of the search has cost {MOST_LOST} workers",
        cause=str(error) or type(error).__name__,
        fix="give workers more memory, or the engine a memory_limit; a journal keeps what has been found",
    )
