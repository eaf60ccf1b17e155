"""Calls of a Dask cluster that end at a limit, also where its scheduler has died.

A client whose scheduler is gone raises anything, or waits for half a minute for it to come back. Each call is therefore
made in another thread, which is left alone once the search has to stop, and whatever it raises is one error of our own.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from treeform.errors import SolverFailed

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


def reach(call: Callable[[], T], stop: Callable[[], bool], seconds: float = PATIENCE) -> T:
    """What a call of the cluster gives.

    Raises
    ------
    CutShort
        Once ``stop()`` is true.
    SolverFailed
        If the cluster cannot be reached.
    Exception
        What the call raised of its own; see `lost`.
    """
    news: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            news.put((call(), None))
        except Exception as error:  # raised again in the caller's thread
            news.put((None, error))

    here = contextvars.copy_context()  # Dask keeps its current client there
    threading.Thread(name="treeform cluster", target=here.run, args=(run,), daemon=True).start()
    until = time.monotonic() + seconds
    while True:
        try:
            found, error = news.get(timeout=POLL_SECONDS)
        except queue.Empty:
            if stop():
                raise CutShort from None
            if time.monotonic() >= until:
                raise out_of_reach("it does not answer") from None
            continue
        if error is not None:
            raise error
        return found  # type: ignore[no-any-return]


def scatter(client: Any, work: Any, stop: Callable[[], bool]) -> Any:
    """The work as data of the cluster: each worker has it once.

    Raises
    ------
    CutShort, SolverFailed
    """
    for attempt in range(1, MOST_LOST + 1):
        try:
            return reach(lambda: client.scatter(work, broadcast=True, hash=False), stop)
        except (OSError, KeyError) as error:  # a worker died while it was given the data
            if attempt == MOST_LOST:
                raise costs_too_many(error) from error
            time.sleep(1.0)
        except (CutShort, SolverFailed):
            raise
        except Exception as error:
            raise out_of_reach(error) from error
    raise AssertionError


def last_call(call: Callable[[], object]) -> None:
    """Tell a cluster that the work has ended, if it can still be told."""
    try:
        reach(call, lambda: False, LAST_SECONDS)
    except Exception:  # whatever it is: the answer of the search does not depend on it
        return


def out_of_reach(error: Exception | str) -> SolverFailed:
    """The error of a search whose cluster is gone."""
    cause = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    return SolverFailed(
        "the cluster cannot be reached any more",
        cause=cause.rstrip(": "),
        fix="start the scheduler again; a journal keeps what has been found",
    )


def costs_too_many(error: Exception) -> SolverFailed:
    """The error of a part of the search that workers die of."""
    return SolverFailed(
        f"a part of the search has cost {MOST_LOST} workers",
        cause=str(error) or type(error).__name__,
        fix="give workers more memory, or the engine a memory_limit; a journal keeps what has been found",
    )
