"""A clock that ends a limit, or presses Ctrl-C, at its k-th reading: every phase of a search can be the last one.

Engines and verbs read ``time.monotonic`` before and between phases, and in the callbacks of native searches. No time
passes and no answer depends on the machine's speed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

SECONDS = 1000.0
"""The limit that is asked for; the jump is beyond it."""


@dataclass
class Readings:
    """What the clock saw."""

    count: int = 0
    phase: str = ""
    """Who read it when it struck; empty when it did not."""


@contextmanager
def striking(at: int, press: bool) -> Iterator[Readings]:
    """Jump beyond the limit, or press Ctrl-C, at the reading ``at`` (from 1)."""
    real, seen = time.monotonic, Readings()
    beyond = [0.0]

    def reading() -> float:
        seen.count += 1
        if seen.count == at:
            seen.phase = _phase()
            if press:
                os.kill(os.getpid(), signal.SIGINT)
            else:
                beyond[0] = 2 * SECONDS
        return real() + beyond[0]

    time.monotonic = reading
    try:
        yield seen
    finally:
        time.monotonic = real


def _phase() -> str:
    """The innermost function that is not the budget's own."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.endswith("budget.py"):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)[:-3]}.{frame.f_code.co_name}"
