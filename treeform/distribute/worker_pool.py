"""Workers that answer the questions of one search: processes of this machine, or a cluster of Dask.

All of them are executors as the standard library defines them, so that this file only waits for futures: it starts no
queue and speaks no protocol of its own. A worker that dies costs the question that it had: it goes to another worker,
and one that has cost `MOST_LOST` workers ends the search.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from treeform.distribute.cluster import (
    MOST_LOST,
    CutShort,
    costs_too_many,
    out_of_reach,
    reach,
    scatter,
)
from treeform.distribute.executor import NAMES, client_of, is_client
from treeform.distribute.notices import Announcer, Board, DaskBoard, FileBoard, Notice
from treeform.distribute.worker import Work, answer, compact, end_with
from treeform.engines.distributed import Message, cost_of, round_of
from treeform.errors import SolverFailed, SpecError, did_you_mean

POLL_SECONDS = 0.05
STOP_SECONDS = 1.0
"""For parts that are stopped, to state how far they came."""
LOST_SECONDS = 0.5
"""After a worker was lost, before its question is asked again: a cluster takes note of it by then."""
ONE_SEARCH = ("loky", "threading", "dask")
"""The executors for one search, of those in `NAMES`."""


class WorkerPool:
    """Executors, and who of them has nothing to do.

    Parameters
    ----------
    source : callable
        ``source(again)`` is what each question is about, for `answer`; `again` where the question cost a worker, which
        may have taken the data with it.
    key : str
        Its digest.
    board : Board or None
        Where workers read that the search goes on, and the upper bound.
    executors : list of Executor
        One entry for each question that may be in work at a time.
    renew : callable
        Makes a new executor in place of a broken one, or raises.
    bounded : bool
        Whether questions are; then what one worker finds is an upper bound for the others at once.

    Attributes
    ----------
    lost : int
        Workers that died.
    seconds : list of float
        Of CPU, of each answer.
    """

    def __init__(
        self,
        source: Callable[[bool], Any],
        key: str,
        board: Board | None,
        executors: list[Executor],
        renew: Callable[[Executor], Executor],
        bounded: bool = False,
    ) -> None:
        self._source, self._key, self._board = source, key, board
        self._announcer = Announcer(board)
        self._renew, self._bounded = renew, bounded
        self._idle: queue.SimpleQueue[Executor] = queue.SimpleQueue()
        for executor in executors:
            self._idle.put(executor)
        self.size = len(executors)
        self.lost = 0
        self.seconds: list[float] = []

    def ask(self, question: Message, stop: Callable[[], bool]) -> Message | None:
        """The reply; None once ``stop()`` is true. May be called from as many threads as there are executors.

        A bounded question that is stopped may have a reply that does not settle it, but states a lower bound.

        Raises
        ------
        SolverFailed
            If the question has cost too many workers, or these cannot be reached any more.
        """
        lost = 0
        while not stop():
            try:
                future = self._submit(question, lost > 0)
            except queue.Empty:
                continue
            except CutShort:
                break
            except (SolverFailed, SpecError):
                raise
            except Exception as error:  # whatever an executor raises that is gone
                raise out_of_reach(error) from error
            while not wait([future], POLL_SECONDS).done:
                if stop():
                    return self._stopped(question, future)
            try:
                found = future.result()
            except Exception as error:
                if not _is_lost(error):
                    raise _failed(error) from error
                lost += 1
                self.lost += 1
                if lost >= MOST_LOST:
                    raise costs_too_many(error) from error
                time.sleep(LOST_SECONDS)
                continue
            if found is not None:
                return self._taken(question, found)
        self._announcer.end()
        return None

    def _taken(self, question: Message, found: tuple[Any, float]) -> Message:
        self.seconds.append(found[1])
        reply = np.asarray(found[0], dtype=np.int64)
        cost = cost_of(reply) if self._bounded else None
        if cost is not None:
            self._announcer.found(round_of(question), cost)
        return reply

    def _stopped(self, question: Message, future: Future[Any]) -> Message | None:
        """What a part states that was stopped."""
        self._announcer.end()
        if not self._bounded or not wait([future], STOP_SECONDS).done:
            future.cancel()
        elif not future.cancelled() and future.exception() is None and future.result() is not None:
            return self._taken(question, future.result())
        return None

    def _submit(self, question: Message, again: bool) -> Future[Any]:
        executor = self._idle.get(timeout=POLL_SECONDS)
        given = (self._source(again), self._key, self._board, compact(question))
        try:
            future = executor.submit(answer, *given)
        except (BrokenExecutor, RuntimeError):  # it broke while it had nothing to do
            executor = self._renew(executor)
            future = executor.submit(answer, *given)
        except Exception:  # other questions wait for it, and have to meet the same
            self._idle.put(executor)
            raise
        future.add_done_callback(partial(self._give_back, executor))
        return future

    def _give_back(self, executor: Executor, future: Future[Any]) -> None:
        broken = not future.cancelled() and _is_lost(future.exception())
        self._idle.put(self._renew(executor) if broken else executor)


def _is_lost(error: BaseException | None) -> bool:
    """Whether the worker is gone, and not the question wrong."""
    return isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ in (
        "KilledWorker",
        "FutureCancelledError",
        "FuturesCancelledError",
    )


def _failed(error: Exception) -> SolverFailed:
    return SolverFailed(
        "a worker could not search its part",
        cause=f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        fix="install the same version of treeform on all workers, and give them memory; a journal keeps what was found",
    )


@contextlib.contextmanager
def started(
    executor: Any, workers: int | None, work: Work, stop: Callable[[], bool] = lambda: False
) -> Iterator[WorkerPool]:
    """The workers that an executor stands for, with what they work on.

    Parameters
    ----------
    executor : str, client of Dask distributed, or Executor
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
    check_executor(executor)
    with tempfile.TemporaryDirectory(prefix="treeform-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        stop_file = folder / "goes-on"
        stop_file.touch()
        try:
            if executor == "loky":
                with _processes(workers, work, folder, stop_file) as pool:
                    yield pool
            elif executor == "threading":
                with _threads(workers, work, stop_file) as pool:
                    yield pool
            else:
                with client_of(executor, workers) as client, _cluster(client, work, stop) as pool:
                    yield pool
        finally:
            stop_file.unlink(missing_ok=True)


def check_executor(executor: Any) -> None:
    """Refuse what no search can be given to.

    Raises
    ------
    SpecError
    """
    if is_client(executor) or executor in ONE_SEARCH:
        return
    if isinstance(executor, str) and executor.startswith("dask:"):
        return
    if executor in NAMES:
        raise SpecError(
            f"executor={executor!r} takes many solves, and no single one",
            cause="it has no futures to wait for one by one",
            fix="use executor='loky' or 'dask'; tf.sweep takes every executor",
        )
    raise SpecError(
        f"there is no executor {executor!r}",
        cause=f"for one solve executors are {', '.join(ONE_SEARCH)}, dask:tcp://HOST:PORT, and clients of Dask "
        "distributed",
        fix=did_you_mean(str(executor), ONE_SEARCH) or "use executor='loky'",
    )


@contextlib.contextmanager
def _processes(workers: int | None, work: Work, folder: Path, stop_file: Path) -> Iterator[WorkerPool]:
    """Processes of this machine, each in an executor of its own: the death of one breaks no other."""
    import joblib
    from joblib.externals.loky import ProcessPoolExecutor

    count = joblib.effective_n_jobs(-1) if workers is None else workers
    source = folder / "work.joblib"
    joblib.dump(work, source)  # workers map its arrays into memory, and share them
    made: list[Executor] = []

    def start() -> Executor:
        one: Executor = ProcessPoolExecutor(
            max_workers=1, initializer=end_with, initargs=(os.getpid(), str(folder))
        )
        made.append(one)
        return one

    def renew(broken: Executor) -> Executor:
        broken.shutdown(wait=False)
        return start()

    try:
        executors = [start() for _ in range(count)]
        yield WorkerPool(
            lambda _: str(source),
            work.key,
            FileBoard(str(stop_file)),
            executors,
            renew,
            work.engine.bounded,
        )
    finally:
        stop_file.unlink(missing_ok=True)
        for one in made:
            one.shutdown(wait=True, kill_workers=True)  # type: ignore[call-arg]
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _threads(workers: int | None, work: Work, stop_file: Path) -> Iterator[WorkerPool]:
    from concurrent.futures import ThreadPoolExecutor

    import joblib

    count = joblib.effective_n_jobs(-1) if workers is None else workers
    with ThreadPoolExecutor(count) as threads:
        try:
            yield WorkerPool(
                lambda _: work,
                work.key,
                FileBoard(str(stop_file)),
                [threads] * count,
                lambda executor: executor,
                work.engine.bounded,
            )
        finally:
            stop_file.unlink(missing_ok=True)


@contextlib.contextmanager
def _cluster(client: Any, work: Work, stop: Callable[[], bool]) -> Iterator[WorkerPool]:
    """A cluster of Dask; each thread of its workers has a question in work."""
    try:
        threads = sum(reach(client.nthreads, stop).values())
    except (CutShort, SolverFailed):
        raise
    except Exception as error:
        raise out_of_reach(error) from error
    if threads == 0:
        raise SpecError("the cluster has no workers", fix="start some with: dask worker tcp://HOST:PORT")
    scattered = scatter(client, work, stop)

    def source(again: bool) -> Any:
        nonlocal scattered
        if again:
            scattered = scatter(client, work, stop)
        return scattered

    # Dask starts a task again elsewhere when its worker is lost.
    executors = [client.get_executor(pure=False)] * threads
    board = DaskBoard(f"treeform-{uuid.uuid4().hex}")
    board.write(Notice())
    try:
        yield WorkerPool(source, work.key, board, executors, lambda executor: executor, work.engine.bounded)
    finally:
        board.write(Notice(ended=True))
