"""Time limits in CPU seconds of the process: other work on the machine does not shorten them, as it does the clock's.

treeform's limits are seconds of the clock. Here the clock that Python's side reads is the process's CPU time, and the
native searches and the solvers, which have clocks of their own, get no limit: they are stopped when they ask whether
to go on. A solver in a child process is not counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import PropertyMock, patch

from treeform.backends.watch import Watch
from treeform.engines.native_call import Session, time_limit_of


@contextmanager
def limits_in_cpu_seconds() -> Iterator[None]:
    """Every limit within is in CPU seconds of this process. For one thread: the limit of the last search holds."""
    until = math.inf
    poll = Session.poll

    def unlimited(seconds: float | None) -> float:
        nonlocal until
        until = time.process_time() + time_limit_of(seconds)
        return math.inf

    def polled(session: Session, *news: Any) -> tuple[bool, int | None]:
        stop, upper = poll(session, *news)
        return stop or time.process_time() >= until, upper

    with ExitStack() as patches:
        patches.enter_context(patch("treeform.utils.budget.time.monotonic", time.process_time))
        for engine in ("diagram_core", "contree"):
            patches.enter_context(patch(f"treeform.engines.{engine}.time_limit_of", unlimited))
        patches.enter_context(patch.object(Session, "poll", polled))
        patches.enter_context(patch.object(Watch, "remaining", PropertyMock(return_value=None)))
        yield
