"""Progress of a long step: reported where the work is done, observed where it is shown.

A loop that may take more than a second reports its progress, wherever it stands; no callback is passed down to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


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
