"""The limits of a run: what ends it, what is left of its time and how that is divided, and how far a step has come.

One `Budget` is made where a run begins and handed down; `Budget.stop` is the one place that says whether the run is
over. A part of it is a share of the time that remains when the step begins, so that unused time of an earlier step goes
to all later ones.

A loop that may take more than a second reports its progress, wherever it stands; no callback is passed down to it.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from numbers import Real
from types import FrameType

from treeform.errors import SpecError
from treeform.utils.rows import setting_text

MOST_SECONDS = 10**8
"""Three years."""

SHORTEST = 1e-3
"""Seconds of a part of a budget that is spent: no limit is of no time at all."""

STRETCH = 10
"""How many times as long as its limit a limit on work may last."""


class Limit(Enum):
    """Why a solve stopped before it had proved its answer."""

    TIME = "time"  #: the time limit was reached
    MEMORY = "memory"  #: a memory limit was reached
    SOLVER = "solver"  #: the solver ended without a proof, at one of its own limits or with an error
    INTERRUPTED = "interrupted"  #: Ctrl-C, or ``stop()``

    def __str__(self) -> str:
        return self.value


def limit_of(error: BaseException) -> Limit:
    """What a stage that broke down with this was stopped by."""
    return Limit.MEMORY if isinstance(error, MemoryError) else Limit.SOLVER


def why_stopped(limit: Limit | None) -> str:
    """The limit as the beginning of a sentence about what it cut short."""
    if limit is Limit.INTERRUPTED:
        return "Ctrl-C came"
    return "the memory was spent" if limit is Limit.MEMORY else "the time was spent"


class Budget:
    """The remaining time, and whether a stop was requested.

    ``time_limit``: seconds of wall-clock time; None is no limit. A stop or timeout of ``parent`` is one of the child
    too. ``over()`` is asked with every `stop`; true ends the work, as `interrupt` does.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        parent: Budget | None = None,
        over: Callable[[], bool] | None = None,
    ) -> None:
        is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
        if time_limit is not None and not (is_number and time_limit > 0):
            raise SpecError(
                f"a time limit of {time_limit!r} seconds leaves no time to solve"
                if is_number
                else f"{time_limit!r} is no time limit",
                cause="the limit is a positive number of seconds",
                fix=f"use for example {setting_text('time_limit', 60)}, or no limit (in Python None)",
            )
        self._begin()
        # Some solvers hold seconds in 32 bits; a larger number means no limit.
        self._limit = None if time_limit is None or time_limit > MOST_SECONDS else time_limit
        self._parent = parent
        self._over = over
        self._interrupted = threading.Event()

    def _begin(self) -> None:
        """Read the clocks."""
        self._start = time.monotonic()

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
        if self._interrupted.is_set() or (self._over is not None and self._over()):
            return Limit.INTERRUPTED
        if self._parent is not None and self._parent.reason is Limit.INTERRUPTED:
            return Limit.INTERRUPTED
        left = self.remaining
        return Limit.TIME if left is not None and left <= 0 else None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or the holder of this budget, asked for a stop."""
        return self.reason is Limit.INTERRUPTED

    def stop(self) -> bool:
        """Whether work has to stop now."""
        return self.reason is not None

    def share(self, seconds: float | None) -> Budget:
        """A part of this budget, at most ``seconds`` long."""
        return type(self)(seconds if seconds is None else max(seconds, SHORTEST), parent=self)

    def until(self, over: Callable[[], bool]) -> Budget:
        """All of this budget, for work that is over earlier where ``over()`` says so."""
        return type(self)(parent=self, over=over)


class ProcessorBudget(Budget):
    """A budget in seconds of work of this process: what ends in time on an idle machine does so on a busy one.

    Time in which other processes have the processor does not count, up to `STRETCH` times the limit. Seconds are never
    more than have elapsed, however many threads work. The work of child processes is not seen.
    """

    def _begin(self) -> None:
        super()._begin()
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
_begun = threading.Event()


def has_begun() -> bool:
    """Whether any work that is `interruptible` has begun in this process."""
    return _begun.is_set()


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
    _begun.set()
    previous = signal.getsignal(signal.SIGINT)

    def handle(signum: int, frame: FrameType | None) -> None:
        if _interruptible[0].interrupted:
            raise KeyboardInterrupt("a second time: ended at once, without an answer")
        for one in _interruptible:
            one.interrupt()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.default_int_handler)
        _interruptible.pop()


@dataclass(frozen=True)
class Share:
    """A part of the remaining time."""

    part: float
    """The fraction of the remaining time."""
    most: float | None = None
    """Seconds that it never exceeds."""
    least: float = 0.0
    """Seconds that it has at least, so that a short run still tries each step once: at most half of what is left."""
    unlimited: float | None = None
    """Seconds where the run has no limit; None for no limit there either."""

    def seconds(self, remaining: float | None) -> float | None:
        """Seconds of so many that are left; None stands for no limit."""
        if remaining is None:
            return self.unlimited
        seconds = max(self.part * remaining, min(self.least, remaining / 2), SHORTEST)
        return seconds if self.most is None else min(seconds, self.most)

    def of(self, budget: Budget) -> Budget:
        """This part of a budget."""
        return budget.share(self.seconds(budget.remaining))


@dataclass(frozen=True)
class Step:
    """How far a step has come."""

    done: int
    """So many of the units are done."""
    unit: str
    """What is counted, in the plural: ``nodes``, ``rows``."""
    total: int | None = None
    """How many there are; None where that is not known."""

    def __str__(self) -> str:
        return f"{self.done:,} {'' if self.total is None else f'of {self.total:,} '}{self.unit}"


REPORT_EVERY = 1.0
"""Seconds between reports while neither model nor bound changes."""


class Pace:
    """How far a phase has come, and how fast."""

    def __init__(self) -> None:
        self.step: Step | None = None
        self.rate: float | None = None
        self._from: tuple[float, Step] | None = None

    def advance(self, step: Step, seconds: float) -> bool:
        """Take note of a step; whether it is time to report it."""
        self.step = step
        if self._from is None or self._from[1].unit != step.unit or step.done < self._from[1].done:
            # Another run of an engine counts from the beginning.
            self._from, self.rate = (seconds, step), None
            return False
        since, before = self._from
        if seconds - since < REPORT_EVERY:
            return False
        self.rate = (step.done - before.done) / (seconds - since)
        self._from = (seconds, step)
        return True


_observer: ContextVar[Callable[[Step], None] | None] = ContextVar("treeform_steps", default=None)


@contextmanager
def observe_steps(on_step: Callable[[Step], None]) -> Iterator[None]:
    """Within this context, and this thread, steps are reported to ``on_step``; of nested ones, to the innermost."""
    token = _observer.set(on_step)
    try:
        yield
    finally:
        _observer.reset(token)


def report_step(done: int, unit: str, total: int | None = None) -> None:
    """Report how far the current step has come; see `Step`."""
    on_step = _observer.get()
    if on_step is not None:
        on_step(Step(done, unit, total))
