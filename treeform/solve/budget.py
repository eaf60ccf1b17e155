"""Time limits and Ctrl-C in one object, which every long computation polls."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from types import FrameType

from treeform.errors import SpecError
from treeform.solve.result import Limit, Progress

MOST_SECONDS = 10**8
"""Three years."""

STRETCH = 10
"""How many times as long as its limit a limit on work may last."""


class Budget:
    """The remaining time, and whether a stop was requested.

    Parameters
    ----------
    time_limit : float or None
        Seconds of wall-clock time; None is no limit.
    parent : Budget or None
        A stop or timeout of the parent is one of the child too.
    """

    def __init__(self, time_limit: float | None = None, parent: Budget | None = None) -> None:
        is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (is_number and time_limit > 0):
            raise SpecError(
                f"a time limit of {time_limit!r} seconds leaves no time to solve"
                if is_number
                else f"{time_limit!r} is no time limit",
                cause="the limit is a positive number of seconds",
                fix="use for example time_limit=60, or None for no limit",
            )
        self._start = time.monotonic()
        # Some solvers hold seconds in 32 bits; a larger number means no limit.
        self._limit = None if time_limit is None or time_limit > MOST_SECONDS else time_limit
        self._parent = parent
        self._interrupted = threading.Event()

    @property
    def seconds(self) -> float:
        """Seconds since this budget began."""
        return time.monotonic() - self._start

    @property
    def limit(self) -> float | None:
        """The seconds that this budget had from the beginning; None when it has no limit of its own."""
        return self._limit

    @property
    def elapsed_limit(self) -> float | None:
        """Elapsed seconds after which work has to end that asks `stop`, too; None when unlimited."""
        return self.remaining

    @property
    def remaining(self) -> float | None:
        """Seconds left, at least 0; None when unlimited."""
        left = None if self._limit is None else max(0.0, self._limit - self.seconds)
        above = self._parent.remaining if self._parent else None
        known = [value for value in (left, above) if value is not None]
        return min(known) if known else None

    def interrupt(self) -> None:
        """Request a stop from everything that holds this budget."""
        self._interrupted.set()

    @property
    def reason(self) -> Limit | None:
        """Why work has to stop now, or None."""
        if self._interrupted.is_set():
            return Limit.INTERRUPTED
        if self._parent is not None and self._parent.reason is Limit.INTERRUPTED:
            return Limit.INTERRUPTED
        left = self.remaining
        return Limit.TIME if left is not None and left <= 0 else None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or whoever holds this budget, asked for a stop."""
        return self.reason is Limit.INTERRUPTED

    def stop(self) -> bool:
        """Whether work has to stop now."""
        return self.reason is not None

    def progress_of(self, part: Progress, phase: str, parts: tuple[int, int] | None = None) -> Progress:
        """The progress of all that this budget is for, from that of the part of it which goes on."""
        phase = f"{phase}: {part.phase}" if part.phase else phase
        return replace(part, seconds=self.seconds, limit=self.limit, phase=phase, parts=parts or part.parts)

    def share(self, seconds: float | None) -> Budget:
        """A part of this budget, at most ``seconds`` long."""
        return type(self)(seconds if seconds is None else max(seconds, 1e-3), parent=self)


class ProcessorBudget(Budget):
    """A budget in seconds of work of this process: what ends in time on an idle machine does so on a busy one.

    Time in which other processes have the processor does not count, up to `STRETCH` times the limit. Seconds are never
    more than have elapsed, however many threads work. The work of child processes is not seen.
    """

    def __init__(self, time_limit: float | None = None, parent: Budget | None = None) -> None:
        super().__init__(time_limit, parent)
        self._worked = time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds of work since this budget began."""
        elapsed = super().seconds
        return min(elapsed, max(time.process_time() - self._worked, elapsed / STRETCH))

    @property
    def elapsed_limit(self) -> float | None:
        """Elapsed seconds after which work has to end that asks `stop`, too; None when unlimited."""
        left = self.remaining
        return None if left is None else left * STRETCH


_interruptible: list[Budget] = []
"""The budgets of the work under way, the outermost first."""


@contextmanager
def interruptible(budget: Budget) -> Iterator[None]:
    """First Ctrl-C: stop and keep the best model. Second: raise KeyboardInterrupt at once.

    Within work that is interruptible itself, such as one bound of a frontier, Ctrl-C stops all of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _interruptible and _interruptible[0].interrupted:
        budget.interrupt()
    _interruptible.append(budget)
    previous = signal.getsignal(signal.SIGINT)

    def handle(signum: int, frame: FrameType | None) -> None:
        if _interruptible[0].interrupted:
            raise KeyboardInterrupt
        for one in _interruptible:
            one.interrupt()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.default_int_handler)
        _interruptible.pop()
