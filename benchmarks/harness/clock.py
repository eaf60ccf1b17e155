"""CPU seconds: other work on the machine matters less to them than to the wall clock."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any


def user_seconds() -> float:
    """User CPU of this process and of the children that have ended."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def cpu_seconds() -> float:
    """CPU of this process, whose clock tells milliseconds apart, and of its children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def repeated(
    work: Callable[[], Any],
    enough: float = 0.3,
    most: int = 15,
    before_each: Callable[[], Any] = lambda: None,
    clock: Callable[[], float] = user_seconds,
) -> tuple[Any, list[float]]:
    """The last answer and the seconds by `clock` of each call: one, or as many as fill `enough` seconds.

    `before_each` prepares a call and is not counted.
    """
    seconds: list[float] = []
    while not seconds or (sum(seconds) < enough and len(seconds) < most):
        before_each()
        before = clock()
        answer = work()
        seconds.append(clock() - before)
    return answer, seconds
