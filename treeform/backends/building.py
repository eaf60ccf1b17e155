"""Building and loading a model in another thread, so that limits and Ctrl-C hold there as well."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from dataclasses import astuple
from typing import Any, TypeVar

from treeform.backends.watch import Detached
from treeform.model.stopping import BuildingStopped, look_up, stop_building_when
from treeform.utils.progress import Step, observe_steps, report_step

T = TypeVar("T")
POLL = 0.02


def build_beside(work: Callable[[], T], stop: Callable[[], bool]) -> T | None:
    """Run ``work`` in a separate thread; None as soon as ``stop`` returns True.

    Work that is left alone ends when its model is to grow next, when it next reports a step, or with the loading of
    its solver. How far it has come is reported in the caller's thread.

    Raises
    ------
    Exception
        What ``work`` raised.
    """
    news: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    steps: deque[Step] = deque(maxlen=1)

    def take(step: Step) -> None:
        steps.append(step)
        look_up()

    def run() -> None:
        try:
            with stop_building_when(stop), observe_steps(take):
                news.put((work(), None))
        except BaseException as error:  # raised again in the caller's thread
            news.put((None, error))

    Detached("treeform building", run).start()
    while True:
        try:
            value, error = news.get(timeout=POLL)
        except queue.Empty:
            if steps:
                report_step(*astuple(steps.pop()))
            if stop():
                return None
            continue
        if isinstance(error, BuildingStopped):
            return None
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]
