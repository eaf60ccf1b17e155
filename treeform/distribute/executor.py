"""Who does the work: this process, one of joblib's backends, or the client of a Dask cluster."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from importlib.util import find_spec
from typing import Any

from treeform.errors import SpecError, TreeformWarning, did_you_mean
from treeform.utils.rows import setting_text

LOCAL = ("loky", "threading", "multiprocessing")
NAMES = (*LOCAL, "dask", "ray")
POLL_SECONDS = 1.0
"""Between two looks of a worker for the process that started it."""
WAIT_SECONDS = 0.05
"""Between two looks of who waits for a reply."""
LAST_SECONDS = 1.0
"""For closing a client, which without its scheduler waits for half a minute."""
SILENT_SECONDS = 10.0
"""Without an answer of a scheduler, after which a warning says so; it is asked as often."""
GONE_SECONDS = 60.0
"""Without an answer of a scheduler, after which it counts as gone."""


class CutShort(Exception):
    """The search has to stop before a worker has answered."""


def never() -> bool:
    """A search that ends with its worker, or is asked nothing more."""
    return False


def waited(future: Future[Any], stop: Callable[[], bool], check: Callable[[], object]) -> Any:
    """What it comes to. Raises CutShort once ``stop()`` is true, and what ``check()`` raises."""
    while not wait([future], WAIT_SECONDS).done:
        check()
        if stop():
            future.cancel()
            raise CutShort
    return future.result()


@contextlib.contextmanager
def shared_folder() -> Iterator[str]:
    """A folder for this process and its workers, which joblib's tracker removes where these were killed."""
    from joblib.externals.loky.backend import resource_tracker

    with tempfile.TemporaryDirectory(prefix="treeform-", ignore_cleanup_errors=True) as folder:
        resource_tracker.register(folder, "folder")
        try:
            yield folder
        finally:
            resource_tracker.unregister(folder, "folder")


@functools.cache
def end_with(parent: int) -> None:
    """Let this process end once the one that started it was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def check_executor(executor: Any, names: tuple[str, ...] = NAMES) -> None:
    """Refuse an executor that is none of these, no address of a cluster and no client of one. Raises SpecError."""
    if is_client(executor) or executor in names or str(executor).startswith("dask:"):
        return
    if executor in NAMES:
        raise SpecError(
            f"executor={executor!r} takes many solves, and no single one",
            cause="it has no futures to wait for one by one",
            fix="use executor='loky' or 'dask'; tf.sweep takes every executor",
        )
    raise SpecError(
        f"there is no executor {executor!r}",
        cause=f"executors are {', '.join(names)}, dask:tcp://HOST:PORT, and clients of Dask distributed",
        fix=did_you_mean(str(executor), names) or f"use {setting_text('executor', 'loky')}",
    )


def is_client(executor: Any) -> bool:
    """Whether it is a client of Dask distributed."""
    return hasattr(executor, "scheduler") and hasattr(executor, "submit")


class Pulse:
    """Whether the scheduler of a client still answers: it is asked how many threads its workers have."""

    def __init__(self, client: Any) -> None:
        self._client, self._warned = client, False
        self._ask()

    def _ask(self) -> None:
        """`counts` becomes its answer: the threads of each worker."""
        self._since = time.monotonic()  # first, as several threads check
        loop = self._client.loop.asyncio_loop
        self.counts: Any = asyncio.run_coroutine_threadsafe(self._client.scheduler.ncores(), loop)

    def check(self) -> None:
        """Ask it again, and warn once where it is silent. Raises TimeoutError where it has been for too long."""
        seconds = time.monotonic() - self._since
        if seconds < SILENT_SECONDS:
            return
        if self.counts.done():
            self._ask()
        elif not self._warned:  # before it counts as gone, however seldom this is asked
            self._warned = True
            what = f"the scheduler of the cluster has not answered for {SILENT_SECONDS:g} s; "
            what += f"the search ends if it does not in {GONE_SECONDS - SILENT_SECONDS:g} s more"
            warnings.warn(what, TreeformWarning, stacklevel=2)
        elif seconds > GONE_SECONDS:
            raise TimeoutError(f"its scheduler has not answered for {GONE_SECONDS:g} s")


def _connected(connect: Callable[[], Any], stop: Callable[[], bool], endless: bool) -> Any:
    """The client that ``connect()`` makes, in a thread of its own; this process ends without it if it may be `endless`.

    Raises CutShort once ``stop()`` is true, TimeoutError after `GONE_SECONDS`; a client that is made later is closed.
    """
    made: Future[Any] = Future()
    made.set_running_or_notify_cancel()

    def make() -> None:
        try:
            made.set_result(connect())
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=make, daemon=endless).start()
    until = time.monotonic() + GONE_SECONDS

    def check() -> None:
        if time.monotonic() > until:
            raise TimeoutError(f"it has not answered for {GONE_SECONDS:g} s")

    try:
        return waited(made, stop, check)
    except BaseException:
        made.add_done_callback(lambda late: late.exception() or late.result().close())
        raise


@contextlib.contextmanager
def client_of(executor: Any, workers: int | None, stop: Callable[[], bool] = never) -> Iterator[Any]:
    """The client of a cluster: the one given, one at the address, or one of workers that are started here.

    Raises SpecError if Dask distributed is not installed, or the cluster cannot be reached; CutShort once ``stop()`` is
    true before.
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
        start = functools.partial(connect, address) if address else functools.partial(connect, **local)
        client = _connected(start, stop, bool(address))
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        raise SpecError(
            f"the workers of executor={executor!r} could not be started",
            cause=f"{error}; in a script they import it again",
            fix='check the address, and put what the script does under if __name__ == "__main__":',
        ) from error
    try:
        yield client
    finally:
        client.close(*() if client.status == "running" else (LAST_SECONDS,))


def require_package(name: str) -> None:
    """Refuse an executor whose package is not there. Raises SpecError."""
    if find_spec(name) is None:
        raise SpecError(f"the executor needs {name}, which is not installed", fix=f"pip install {name}")


def is_cancelled() -> bool:
    """In a task of Dask: whether it was cancelled, or its client is gone."""
    import distributed

    worker = distributed.get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is None or task.state == "cancelled"
