"""Running a search in a separate thread, supervised by the caller's thread.

Solvers block in C++ code. Were they called directly, Ctrl-C would wait for them, and callbacks would run in
whatever thread a solver likes. Here the search gets a thread; the thread that called ``solve`` polls the stop
function, takes signals, and runs the user's callbacks, so that their exceptions surface where they belong.
"""

from __future__ import annotations

import atexit
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import astuple
from typing import Any, Literal, TypeVar

import numpy as np

from treeform.backends.checker import SolutionChecker, source_point
from treeform.backends.run import Answer, Run
from treeform.bridges import Lowered
from treeform.model.lower import BuildingStopped, look_up, stop_building_when
from treeform.utils.budget import Limit, Step, observe_steps, report_step

#: Seconds between two calls of the stop function.
POLL = 0.05
#: Seconds that the end of the process waits for detached searches.
LAST_WAIT = 30.0


class Detached(threading.Thread):
    """A thread that may outlive its caller's interest, and is remembered from before its start until its end."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        # Not is_alive(): Python takes a thread for ended when Ctrl-C comes while it is joined.
        self._ended = threading.Event()
        _detached.add(self)

    @property
    def going_on(self) -> bool:
        """Whether it has begun and has not ended."""
        return self.ident is not None and not self._ended.is_set()

    def run(self) -> None:
        """Do the work."""
        try:
            self._work()
        finally:
            del self._work  # it holds the model
            self._ended.set()

    def wait(self, seconds: float) -> None:
        """Wait for its end, if it has begun."""
        if self.going_on:
            self._ended.wait(seconds)


_detached: weakref.WeakSet[Detached] = weakref.WeakSet()


@atexit.register
def _join_detached() -> None:
    """Wait for detached searches: a thread that is still in C++ code aborts an interpreter that ends."""
    deadline = time.monotonic() + LAST_WAIT
    for thread in list(_detached):
        thread.wait(max(0.0, deadline - time.monotonic()))


def any_detached() -> bool:
    """Whether a detached search goes on."""
    return any(thread.going_on for thread in list(_detached))


class Watch:
    """Limits, stops and reports between a search and its caller.

    ``run`` has limits and callbacks; ``checker`` checks the points that arrive, which are read back from ``lowered``,
    the model that the search sees. The search may exceed its time limit by ``grace`` seconds before a stop is
    requested, and then take ``patience`` seconds before it is left alone.
    """

    def __init__(
        self, run: Run, checker: SolutionChecker, lowered: Lowered, grace: float, patience: float
    ) -> None:
        self.run = run
        self.checker = checker
        self.lowered = lowered
        self.grace = grace
        self.patience = patience
        self.reason: Literal["time", "interrupted"] | None = None
        self.best_bound: float | None = None
        self._nodes: int | None = None
        self._late_since: float | None = None
        self._asked_at: float | None = None
        self._events: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._ending = threading.Event()

    # -- for the search -------------------------------------------------------------------------

    @property
    def ending(self) -> bool:
        """Whether the search has to return now."""
        return self._ending.is_set()

    @property
    def remaining(self) -> float | None:
        """Seconds left, at least 0; None when unlimited."""
        return self.run.budget.remaining

    def solution(self, x: np.ndarray) -> None:
        """Report a point over the columns of the lowered model."""
        self._events.put(("solution", source_point(self.lowered, x)))

    def nodes(self, count: int) -> None:
        """Report how many nodes the search has opened so far."""
        self._nodes = count

    def bound(self, value: float) -> None:
        """Report a lower bound of the objective."""
        self._events.put(("bound", value))

    # -- for the caller -------------------------------------------------------------------------

    def run_supervised(self, search: Callable[[], Answer], cancel: Callable[[], None]) -> Answer | None:
        """Run ``search`` in a thread of its own to its end, to the limits, or until it is stopped by ``cancel``, which
        is called from the caller's thread; None if it does not respond.

        A search that does not respond continues in a daemon thread, and ends when its solver polls its stop. The end of
        the process waits for that, up to `LAST_WAIT` seconds.

        Raises what the search or a callback raised; KeyboardInterrupt on Ctrl-C when a stop was already requested.
        """
        thread = Detached("treeform search", lambda: self._work(search))
        try:
            thread.start()
            while True:
                try:
                    kind, value = self._next(cancel)
                except KeyboardInterrupt:
                    if self.reason == "interrupted":
                        raise
                    self._end("interrupted")
                    continue
                if kind == "failed":
                    raise value
                if kind in ("done", "unresponsive"):
                    answer: Answer | None = value
                    return answer
        except BaseException as error:
            self._end("interrupted")
            cancel()
            # After a second Ctrl-C no solver is waited for.
            thread.wait(POLL if isinstance(error, KeyboardInterrupt) else self.patience)
            raise

    def _work(self, search: Callable[[], Answer]) -> None:
        try:
            self._events.put(("done", search()))
        except BaseException as error:  # raised again in the caller's thread
            self._events.put(("failed", error))

    def _next(self, cancel: Callable[[], None]) -> tuple[str, Any]:
        """Wait for the next event, at most one polling interval, and handle it."""
        events = self._gather()
        if self._nodes is not None:
            report_step(self._nodes, "nodes")
        last = events[-1] if events and events[-1][0] in ("done", "failed") else None
        for kind, value in reversed(events):
            # Later points are better; earlier ones matter only if the later fail the check.
            if kind == "solution" and (x := self.checker.take(value)) is not None:
                if self.run.on_solution is not None:
                    self.run.on_solution(x)
                break
        self._relay_bound([value for kind, value in events if kind == "bound"])
        if last is not None:
            return last
        self._look_at_limits()
        if self._asked_at is not None:
            # Repeated, since a request that comes before the solver is ready may be lost.
            cancel()
            if time.monotonic() - self._asked_at > self.patience:
                return ("unresponsive", None)
        return ("news", None)

    def _gather(self) -> list[tuple[str, Any]]:
        try:
            events = [self._events.get(timeout=POLL)]
        except queue.Empty:
            return []
        while not self._events.empty() and events[-1][0] not in ("done", "failed"):
            events.append(self._events.get())
        return events

    def _relay_bound(self, values: list[float]) -> None:
        believed = [value for value in values if not self.checker.contradicts(value)]
        clipped = [b for b in (self.checker.clip_bound(value) for value in believed) if b is not None]
        if clipped and (self.best_bound is None or max(clipped) > self.best_bound):
            self.best_bound = max(clipped)
            if self.run.on_bound is not None:
                self.run.on_bound(self.best_bound)

    def _look_at_limits(self) -> None:
        if self._asked_at is not None:
            return
        reason = self.run.budget.reason
        if reason is Limit.INTERRUPTED:
            self._end("interrupted")
        elif reason is Limit.TIME:
            self._late_since = self._late_since or time.monotonic()
            if time.monotonic() - self._late_since > self.grace:
                self._end("time")

    def _end(self, reason: Literal["time", "interrupted"]) -> None:
        if self._asked_at is None:
            self._asked_at = time.monotonic()
        self.reason = reason
        self._ending.set()


T = TypeVar("T")
BUILDING_POLL = 0.02


def build_beside(work: Callable[[], T], stop: Callable[[], bool]) -> T | None:
    """Run ``work``, which builds and loads a model, in a separate thread; None as soon as ``stop`` returns True.

    ``stop`` is called again and again in the caller's thread, and so are steps reported there; what ``work`` raised is
    raised there. Work that is left alone ends when its model is to grow next, when it next reports a step, or with the
    loading of its solver.
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
            value, error = news.get(timeout=BUILDING_POLL)
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
