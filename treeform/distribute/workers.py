"""Workers that answer the questions of one search: threads or processes of this machine, or a cluster of Dask.

All of them are executors as the standard library defines them: here is what a worker does with a question, and the wait
for its reply. A process that dies costs the question that it had; one that has cost `MOST_LOST` of them ends the
search. A cluster starts what its workers lost again by itself.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from treeform.data import Dataset
from treeform.distribute.executor import (
    CutShort,
    Pulse,
    client_of,
    end_with,
    is_cancelled,
    never,
    shared_folder,
    waited,
)
from treeform.engines import TreeTask
from treeform.engines.distributed import Distributable
from treeform.engines.task import Message
from treeform.errors import SolverFailed, SpecError

MOST_LOST = 3
"""Processes that a question may cost before the search ends."""


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


def answer(source: Work | str, key: str, ended: Callable[[], bool], question: Message) -> Any:
    """What a worker does: the reply to a question, and the seconds of CPU that it took; None once ``ended()`` is true.

    ``source`` is the work, or the file that holds it; ``key`` its digest.
    """
    import joblib

    if getattr(_MINE, "key", None) != key:
        work: Work = joblib.load(source, mmap_mode="r") if isinstance(source, str) else source
        _MINE.evaluator, _MINE.key = work.engine.evaluator(work.data, work.task), key
    began = time.process_time()
    reply = _MINE.evaluator.evaluate(question.copy(), ended)  # it may lie out of alignment in what Dask received
    if reply is None and not ended():
        raise MemoryError("a worker reached the memory_limit of its engine")
    return None if reply is None else (reply, time.process_time() - began)


class Workers:
    """Those who answer the questions of one search: `size` of them, whose executors ``start()`` gives.

    `given` is what `answer` is given with every question; ``check()`` raises an error where they are out of reach.
    `lost` counts executors that broke and were replaced; `seconds` has those of CPU of each answer.
    """

    def __init__(
        self, size: int, start: Callable[[], Any], *given: Any, check: Callable[[], object] = never
    ) -> None:
        self._start, self._given, self._check = start, given, check
        self._idle: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for _ in range(size):
            self._idle.put(start())
        self.size = size
        self.lost = 0
        self.seconds: list[float] = []

    def ask(self, question: Message, stop: Callable[[], bool]) -> Message | None:
        """The reply; None once ``stop()`` is true. May be called from `size` threads at a time.

        Raises SolverFailed if the question has cost too many workers, or these cannot be reached any more.
        """
        executor = self._idle.get()
        try:
            for left in reversed(range(MOST_LOST)):
                try:
                    found = waited(executor.submit(answer, *self._given, question), stop, self._check)
                    break
                except BrokenExecutor:
                    self.lost += 1
                    if not left:
                        raise
                    executor = self._start()
        except CutShort:
            return None
        except Exception as error:
            raise _failure(error) from error
        finally:
            self._idle.put(executor)
        if found is None:
            return None
        reply: Message
        reply, seconds = found
        self.seconds.append(seconds)
        return reply.copy()  # it, too, may lie out of alignment


def _failure(error: Exception, gone: bool = False) -> SolverFailed:
    """The error of a search whose question has no reply; ``gone``: since its cluster is."""
    name = type(error).__name__
    cause = f"{name}: {error}".rstrip(": ")
    if gone or isinstance(error, CancelledError | TimeoutError):
        what, fix = "the cluster cannot be reached any more", "start the scheduler again"
    elif isinstance(error, BrokenExecutor) or name == "KilledWorker":  # of Dask
        what, cause = f"a part of the search has cost {MOST_LOST} workers or more", str(error) or name
        fix = "give workers more memory, or the engine a memory_limit"
    else:
        what = "a worker could not search its part"
        fix = "install the same version of treeform on all workers, and give them memory"
    return SolverFailed(what, cause=cause, fix=f"{fix}; a journal keeps what has been found")


@contextlib.contextmanager
def started(
    executor: Any, workers: int | None, work: Work, stop: Callable[[], bool] = never
) -> Iterator[Workers]:
    """The workers that an executor stands for, with what they work on; ``stop()``: whether the search has to stop.

    Raises SolverFailed if a cluster cannot be reached, CutShort if the search has to stop before it has answered.
    """
    import joblib

    count = joblib.effective_n_jobs(-1) if workers is None else workers
    with contextlib.ExitStack() as stack:
        if executor == "threading":
            threads = stack.enter_context(ThreadPoolExecutor(count))
            yield Workers(count, lambda: threads, work, work.key, stop)
        elif executor == "loky":
            source = str(Path(stack.enter_context(shared_folder())) / "work.joblib")
            joblib.dump(work, source)  # workers map its arrays into memory, and share them
            yield Workers(count, partial(_process, stack), source, work.key, never)
        else:
            client = stack.enter_context(client_of(executor, workers, stop))
            yield _cluster(client, work, stop)


def _process(stack: contextlib.ExitStack) -> Executor:
    """An executor of one process, which ends with the stack: of several processes all are lost when one is killed."""
    from joblib.externals.loky import ProcessPoolExecutor

    made: Executor = ProcessPoolExecutor(1, initializer=partial(_begin_process, os.getpid()))
    stack.callback(partial(made.shutdown, kill_workers=True))  # type: ignore[call-arg]
    return made


def _begin_process(parent: int) -> None:
    """What a worker of loky does first.

    loky ends a worker that has grown by 300 MB, as if memory leaked; what an engine keeps from one part to the next is
    work saved. Ctrl-C reaches all processes of a terminal: the one that started the workers ends them.
    """
    from joblib.externals.loky import process_executor

    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


def _cluster(client: Any, work: Work, stop: Callable[[], bool]) -> Workers:
    """The workers of a cluster: each of its threads has a question in work."""
    import dask.config

    try:
        pulse = Pulse(client)
        threads = sum(waited(pulse.counts, stop, pulse.check).values())
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            # The work as a task, which Dask has done again where the worker that held it is lost.
            taken = client.submit(copy, work, pure=False)
    except CutShort:
        raise
    except Exception as error:
        raise _failure(error, gone=True) from error
    if threads == 0:
        raise SpecError("the cluster has no workers", fix="start some with: dask worker tcp://HOST:PORT")
    executor = client.get_executor(pure=False)
    return Workers(threads, lambda: executor, taken, work.key, is_cancelled, check=pulse.check)
