"""What a worker does: it takes up a task once, and answers questions about it.

Everything here runs in the worker's process, and is called by name from the one that searches.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.distribute.notices import Board, FileBoard, Watch
from treeform.engines.distributed import Distributable, Evaluator, Message

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines import TreeTask


@dataclass(frozen=True)
class Work:
    """What all questions of one search are about; it is sent to each worker once.

    Attributes
    ----------
    engine : Distributable
    data : Dataset
    task : TreeTask
    key : str
        Its digest.
    """

    engine: Distributable
    data: Dataset
    task: TreeTask
    key: str


class _Idle:
    """Evaluators that nobody uses at the moment, of the search that was met last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: str | None = None
        self._there: list[Evaluator] = []

    def take(self, key: str, source: Any) -> Evaluator:
        with self._lock:
            if self._key != key:
                self._key, self._there = key, []
            if self._there:
                return self._there.pop()
        work = _load(source)
        return work.engine.evaluator(work.data, work.task)

    def give_back(self, key: str, evaluator: Evaluator) -> None:
        with self._lock:
            if self._key == key:
                self._there.append(evaluator)


_IDLE = _Idle()
READ_EVERY = {True: 0.1, False: 1.0}
"""Seconds between two readings of the notice: of a file, and of a cluster, whose scheduler answers all workers."""
POLL_SECONDS = 1.0
"""Seconds between two readings of the process that started this one."""


def answer(source: Any, key: str, board: Board | None, question: Message) -> tuple[Message, float] | None:
    """The reply to a question, and the seconds of CPU that it took; None when the search has stopped.

    Parameters
    ----------
    source : Work or str
        What the question is about, or the file that holds it.
    key : str
        Its digest.
    board : Board or None
        Where the notice for the workers stands; None: nowhere.
    """
    evaluator = _IDLE.take(key, source)
    try:
        watch = Watch(board, int(question[0]), READ_EVERY[isinstance(board, FileBoard)])
        began = time.process_time()
        reply = evaluator.evaluate(question.astype(np.int64), watch.poll)
        seconds = time.process_time() - began
    finally:
        _IDLE.give_back(key, evaluator)
    if reply is None and not watch.ended:
        raise MemoryError("a worker reached the memory_limit of its engine")
    return None if reply is None else (compact(reply), seconds)


def end_with(parent: int, folder: str) -> None:
    """Let this process end once the one that started it was killed, and remove the folder that it left."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def compact(message: Message) -> Any:
    """The same whole numbers in 32 bits where they fit."""
    small = message.astype(np.int32)
    return small if np.array_equal(small, message) else message


def _load(source: Any) -> Work:
    if isinstance(source, Work):
        return source
    import joblib

    loaded = joblib.load(source, mmap_mode="r")
    assert isinstance(loaded, Work)
    return loaded
