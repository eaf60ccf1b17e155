"""The time of a run: what is left of it, whether it was stopped, and how it is divided.

A part is a share of the time that remains when the step begins, so that unused time of an earlier step goes to all
later ones. Shares affect no answers, only how long each step may run; each stands here with its reason.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from types import FrameType

from treeform.data.rows import setting_text
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
                fix=f"use for example {setting_text('time_limit', 60)}, or no limit (in Python None)",
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
        """Whether Ctrl-C, or the holder of this budget, asked for a stop."""
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


@dataclass(frozen=True)
class Share:
    """A part of the remaining time."""

    part: float
    """The fraction of the remaining time."""
    most: float | None = None
    """Seconds that it never exceeds."""
    least: float = 0.0
    """Seconds that it has at least, so that a short run still tries each step once."""
    unlimited: float | None = None
    """Seconds where the run has no limit; None for no limit there either."""

    def seconds(self, remaining: float | None) -> float | None:
        """Seconds of so many that are left; None stands for no limit."""
        if remaining is None:
            return self.unlimited
        seconds = max(self.part * remaining, self.least)
        return seconds if self.most is None else min(seconds, self.most)

    def of(self, budget: Budget) -> Budget:
        """This part of a budget."""
        return budget.share(self.seconds(budget.remaining))


# -- one solve --------------------------------------------------------------------------------------

FIRST_MODELS = Share(0.1, unlimited=5.0)
"""The formulation's own starting models: they have no bound, and the heuristics of the solver follow."""

WARM_START = Share(0.3, unlimited=60.0)
"""A native engine before the solver: its bound and models often complete the run; if not, the solver needs the rest."""

ENGINE_ALONE = Share(0.49, unlimited=60.0)
"""The same engine where no solver takes the table: the rest is for better models by its neighbourhoods."""

WITHOUT_VALUES = Share(0.4)
"""Regression without what is required of values: its trees get other values then, and its bound is the weakest one."""

PROOF_OF_FEW_TESTS = Share(0.49, least=0.5)
"""A search that proves, on a table of few tests, before trees of depth four and more are searched for in the rest of a
limited run: up to depth six it ends within seconds on many tables. ConTree shares its time with that search by work
(``treeform/native/contree``)."""

PROOF_OF_DEPTH_FOUR = Share(0.45, least=0.5)
"""The same on a table of many tests at depth four: its proof comes early or not at all."""

PROOF_OF_DEEPER_TREES = Share(0.15, least=0.5)
"""The same from depth five on, where few tables are proved; it searches smaller depths first."""

FIRST_DEEP_TREES = Share(0.1, most=10.0, unlimited=10.0)
"""Deep trees at several prices of what is required, before that proof: its bound cannot do without a model."""

LOW_SUBTREE = Share(0.05, least=0.1, unlimited=5.0)
"""One small subtree of a deep tree: most take some milliseconds, and one that does not must not stop the others."""

NEIGHBOURHOODS = Share(0.1, most=10.0, unlimited=10.0)
"""Better models than those of an engine that does not support all requirements: most are found in the first second."""

WITHIN_GAP = Share(0.45, unlimited=60.0)
"""The search with totals through the diagrams within the Lagrangian gap: it proves more than the solver after it."""

BEFORE_TREES = Share(0.1, most=1.0, unlimited=1.0)
"""The search for diagrams, before trees bound them: most small tables are proved by then."""

UNROLLED_TREES = Share(0.15, most=5.0, unlimited=5.0)
"""The best tree of the depth of a diagram, as its bound: where it is found, mostly within a second."""

SEARCH_OVER_TESTS = Share(0.3, unlimited=30.0)
"""A native search that supports the whole problem, on a table of more tests than it is meant for: its models are better
than the solver's there, and it seldom proves them."""

COUNTED_PAIRS = Share(0.45, unlimited=300.0)
"""The same search of two layers, which counts pairs of tests once: it mostly ends, where the solver would not."""

SMALLER_SHAPE = Share(0.3)
"""The same question on a shape of fewer layers, requirements and all, for each number of layers in turn: its best model
is a model of the larger shapes, which are never worse than what a smaller one answers in this time."""

PRICES_OF_ROWS = Share(0.4, unlimited=60.0)
"""A linear program over a graph, whose prices leave most of it out: the solver gets what they leave."""

PART_OF_GRAPH = Share(0.2, most=20.0, unlimited=20.0)
"""A solver on a part of a graph, for a model of the value of the bound: it is found soon, or not there."""

CORES = Share(0.1, most=10.0, unlimited=10.0)
"""Lower bounds from cores before a SAT solver descends: they grow fast at first, and slowly later."""

EACH_DEPTH = Share(0.1, most=10.0, unlimited=10.0)
"""A native engine on one depth before its formula is built: an engine that has not finished by then rarely does."""

# -- tables over numbers of tests -------------------------------------------------------------------

TABLE_ENGINE = Share(0.4, most=60.0, least=0.1, unlimited=60.0)
"""The search over tests of one feature for a whole table, where it is a bound or a start and not the answer."""

TABLE_ENGINE_FIRST = Share(0.15, least=0.1)
"""Its first turn on trees with prices, before trees with a price per test have theirs."""

TREES_AT_PRICE = Share(0.3, least=0.1)
"""The tree search with one price per test, for each price."""

ONE_FEATURE = Share(0.05, most=2.0, least=0.1, unlimited=2.0)
"""Models with tests of one feature, as starts for hyperplanes."""

TABLE_MODELS = Share(0.2, most=10.0, least=0.1, unlimited=10.0)
"""The formulation's own starting models for a whole table."""

FIRST_BOUNDS = Share(0.2, most=10.0, least=0.1, unlimited=10.0)
"""The formulation's own bounds for a whole table: what they prove saves a solver, and they end soon or not at all."""

EACH_ROW = Share(0.4, least=0.1)
"""The solver on one number of tests, before the next has its turn."""

ROW_OF_ONE = Share(0.49, least=0.1)
"""The solver on a single test: every price needs it, and of all rows it is the one that is most often proved."""

FRONTIER_STEP = Share(0.25, least=0.1)
"""One bound of a frontier: a hard one must not take the time of all tighter ones."""

CONFLICT_STEP = Share(0.25, least=0.1)
"""One question about a conflict, of several that have to be answered."""

NEAR_OPTIMUM = Share(0.3, least=0.1)
"""The optimum, before the models next to it are counted."""

# -- a report ---------------------------------------------------------------------------------------

REPORT = Share(0.1, most=10.0, least=1.0, unlimited=10.0)
"""The curves of a report, and again the cost of its joint parities: some tens of proved solves, each about as long as
the first. Where no limit was given it is ten times the solve, so that each of the two takes at most as long again."""

# -- the check of a certificate ---------------------------------------------------------------------

PROVER = Share(0.45)
"""One of several ways to prove a claim again: what it leaves goes to the next ones."""

LISTING = Share(0.15)
"""The list of all trees near the least price, before the engines: where it is short, it needs no more."""

FIRST_PROVER = Share(0.3, most=10.0, unlimited=10.0)
"""The first of two provers, where a second of another family may do better."""


def equal_part(remaining: float | None, turns: int) -> float | None:
    """Seconds of each of so many turns that are left, such as the depths of a curve; at least 0.1."""
    return None if remaining is None else max(0.1, remaining / turns)
