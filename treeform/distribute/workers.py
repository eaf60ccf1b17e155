"""Workers that answer the questions of one search: threads or processes of this machine, or a cluster of Dask.

All of them are executors as the standard library defines them: here is what a worker does with a question, and a loop
that waits for its reply. A worker that dies costs the question that it had; one that has cost `MOST_LOST` workers ends
the search.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeform.distribute.cluster import (
    MOST_LOST,
    POLL_SECONDS,
    CutShort,
    client_of,
    costs_too_many,
    is_cancelled,
    is_client,
    reach,
    scatter,
    within_reach,
)
from treeform.distribute.executor import NAMES, end_with, unknown_executor
from treeform.engines.distributed import Distributable
from treeform.errors import SolverFailed, SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask
    from treeform.engines.task import Message

LOST_SECONDS = 0.5
"""After a worker was lost, before its question is asked again: a cluster takes note of it by then."""
LOST_BY_DASK = ("KilledWorker", "FutureCancelledError", "FuturesCancelledError")
"""Errors of Dask for a lost worker."""
ONE_SEARCH = ("loky", "threading", "dask")
"""The executors for one search, of those in `NAMES`."""


@dataclass(frozen=True)
class Work:
    """What all questions of one search are about; each worker takes it up once."""

    engine: Distributable
    data: Dataset
    task: TreeTask
    key: str
    """Its digest."""


_MINE = threading.local()
"""What this thread of a worker took up last: the key of a search, and what answers its questions."""


def never() -> bool:
    """A search that ends with its worker, or is asked nothing more."""
    return False


def answer(
    source: Any, key: str, ended: Callable[[], bool], question: Message
) -> tuple[Message, float] | None:
    """What a worker does: the reply to a question, and the seconds of CPU that it took; None once the search ended.

    Parameters
    ----------
    source : Work or str
        What the question is about, or the file that holds it.
    key : str
        Its digest.
    ended : callable
        Whether nobody waits for the reply any more.
    question : array of int64
    """
    import joblib

    if getattr(_MINE, "key", None) != key:
        work: Work = joblib.load(source, mmap_mode="r") if isinstance(source, str) else source
        _MINE.evaluator, _MINE.key = work.engine.evaluator(work.data, work.task), key
    began = time.process_time()
    reply = _MINE.evaluator.evaluate(question, ended)
    if reply is None and not ended():
        raise MemoryError("a worker reached the memory_limit of its engine")
    return None if reply is None else (reply, time.process_time() - began)


class Workers:
    """Those who answer the questions of one search.

    Parameters
    ----------
    executors : list
        One entry for each question that may be in work at a time.
    source : callable
        ``source(again)`` is what each question is about, for `answer`; `again` where the question cost a worker, which
        may have taken the data with it.
    key : str
        Its digest.
    ended : callable
        Where workers read that nobody waits for a reply any more.

    Attributes
    ----------
    lost : int
        Workers that died.
    seconds : list of float
        Of CPU, of each answer.
    """

    def __init__(
        self, executors: list[Any], source: Callable[[bool], Any], key: str, ended: Callable[[], bool] = never
    ) -> None:
        self._source, self._key, self._ended = source, key, ended
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for executor in executors:
            self._idle.put(executor)
        self.size = len(executors)
        self.lost = 0
        self.seconds: list[float] = []

    def ask(self, question: Message, stop: Callable[[], bool]) -> Message | None:
        """The reply; None once ``stop()`` is true. May be called from as many threads as there are executors.

        Raises SolverFailed if the question has cost too many workers, or these cannot be reached any more.
        """
        executor = self._idle.get()
        try:
            for lost in range(1, MOST_LOST + 1):
                try:
                    found = self._asked(executor, question, stop, lost > 1)
                except CutShort:
                    return None
                except (BrokenExecutor, CancelledError) as error:
                    self.lost += 1
                    if lost == MOST_LOST:
                        raise costs_too_many(error) from error
                    time.sleep(LOST_SECONDS)
                    continue
                if found is None:
                    return None
                reply: Message = found[0]
                self.seconds.append(found[1])
                return reply
        finally:
            self._idle.put(executor)
        raise AssertionError

    def _asked(self, executor: Any, question: Message, stop: Callable[[], bool], again: bool) -> Any:
        """The worker's result. BrokenExecutor or CancelledError: it is lost; CutShort: ``stop()`` is true."""
        with within_reach():
            future = executor.submit(answer, self._source(again), self._key, self._ended, question)
        while not wait([future], POLL_SECONDS).done:
            if stop():
                future.cancel()
                raise CutShort
        try:
            return future.result()
        except (BrokenExecutor, CancelledError):
            raise
        except Exception as error:
            if type(error).__name__ in LOST_BY_DASK:
                raise BrokenExecutor(str(error)) from error
            raise SolverFailed(
                "a worker could not search its part",
                cause=f"{type(error).__name__}: {error}".rstrip(": "),
                fix="install the same version of treeform on all workers, and give them memory; "
                "a journal keeps what was found",
            ) from error


def check_executor(executor: Any) -> None:
    """Refuse what no search can be given to. Raises SpecError."""
    if is_client(executor) or executor in ONE_SEARCH or str(executor).startswith("dask:"):
        return
    if executor in NAMES:
        raise SpecError(
            f"executor={executor!r} takes many solves, and no single one",
            cause="it has no futures to wait for one by one",
            fix="use executor='loky' or 'dask'; tf.sweep takes every executor",
        )
    raise unknown_executor(executor, ONE_SEARCH)


@contextlib.contextmanager
def started(
    executor: Any, workers: int | None, work: Work, stop: Callable[[], bool] = never
) -> Iterator[Workers]:
    """The workers that an executor stands for, with what they work on.

    Parameters
    ----------
    workers : int or None
        Of ``"loky"``, ``"threading"`` and a local ``"dask"``; None takes one for each processor.
    stop : callable
        Whether the search has to stop; asked while a cluster is given the data.

    Raises
    ------
    SpecError
        If there is no such executor.
    SolverFailed
        If the cluster cannot be reached.
    CutShort
        If the search has to stop before a cluster has the data.
    """
    import joblib

    check_executor(executor)
    with contextlib.ExitStack() as stack:
        if executor in ("loky", "threading"):
            count = joblib.effective_n_jobs(-1) if workers is None else workers
            start = _processes(count, work) if executor == "loky" else _threads(count, work, stop)
            yield stack.enter_context(start)
        else:
            yield stack.enter_context(_cluster(stack.enter_context(client_of(executor, workers)), work, stop))


def _begin_process(parent: int, folder: str) -> None:
    """What a worker of loky does first.

    loky ends a worker that has grown by 300 MB, as if memory leaked; what an engine keeps from one part to the next is
    work saved.
    """
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    end_with(parent, folder)


class _Process:
    """A process in an executor of its own: its death breaks no other, and it is started again for the next question."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._executor = self._start()

    def _start(self) -> Executor:
        from joblib.externals.loky import ProcessPoolExecutor

        begin = partial(_begin_process, os.getpid(), self._folder)
        executor: Executor = ProcessPoolExecutor(max_workers=1, initializer=begin)
        return executor

    def submit(self, *given: Any) -> Future[Any]:
        try:
            return self._executor.submit(*given)
        except (BrokenExecutor, RuntimeError):
            self.end()
            self._executor = self._start()
            return self._executor.submit(*given)

    def end(self) -> None:
        self._executor.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]


@contextlib.contextmanager
def _processes(count: int, work: Work) -> Iterator[Workers]:
    import joblib

    with tempfile.TemporaryDirectory(prefix="treeform-", ignore_cleanup_errors=True) as folder:
        source = str(Path(folder) / "work.joblib")
        joblib.dump(work, source)  # workers map its arrays into memory, and share them
        made = [_Process(folder) for _ in range(count)]
        try:
            yield Workers(made, lambda _: source, work.key)
        finally:
            for one in made:
                one.end()


@contextlib.contextmanager
def _threads(count: int, work: Work, stop: Callable[[], bool]) -> Iterator[Workers]:
    with ThreadPoolExecutor(count) as threads:
        yield Workers([threads] * count, lambda _: work, work.key, stop)


@contextlib.contextmanager
def _cluster(client: Any, work: Work, stop: Callable[[], bool]) -> Iterator[Workers]:
    """A cluster of Dask, which starts a task elsewhere when its worker is lost; each thread has a question in work."""
    with within_reach():
        threads = sum(reach(client.nthreads, stop).values())
    if threads == 0:
        raise SpecError("the cluster has no workers", fix="start some with: dask worker tcp://HOST:PORT")
    scattered = scatter(client, work, stop)

    def source(again: bool) -> Any:
        nonlocal scattered
        if again:
            scattered = scatter(client, work, stop)
        return scattered

    yield Workers([client.get_executor(pure=False)] * threads, source, work.key, is_cancelled)
