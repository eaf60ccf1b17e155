"""How far a long step has come: told where the work is done, heard where it is shown.

A loop that may take more than a second tells so, wherever it stands; nobody has to pass a callback down to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """How far a step has come.

    Attributes
    ----------
    done : int
        So many of the units are done.
    unit : str
        What is counted, in the plural: ``nodes``, ``rows``.
    total : int or None
        How many there are; None where that is not known.
    """

    done: int
    unit: str
    total: int | None = None

    def __str__(self) -> str:
        return f"{self.done:,} {'' if self.total is None else f'of {self.total:,} '}{self.unit}"


_hear: ContextVar[Callable[[Step], None] | None] = ContextVar("treeform_steps", default=None)


@contextmanager
def heard_by(hear: Callable[[Step], None]) -> Iterator[None]:
    """Within this context, and this thread, ``hear`` is called with what is told; of nested ones, the innermost."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


def tell(done: int, unit: str, total: int | None = None) -> None:
    """Tell how far the current step has come; see `Step`."""
    hear = _hear.get()
    if hear is not None:
        hear(Step(done, unit, total))
