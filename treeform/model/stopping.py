"""Giving up a model that is still being built.

Statements of a model are vectorised, so one of them is quick; a model of many millions of rows is not. Who builds
one under a time limit sets a stop function here; the model asks it whenever it is to grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_stop: ContextVar[Callable[[], bool] | None] = ContextVar("treeform_stop_building", default=None)


class BuildingStopped(Exception):
    """Raised inside a model that grows although its stop function said stop."""


@contextmanager
def stop_building_when(stop: Callable[[], bool]) -> Iterator[None]:
    """Within this context, and this thread, a model that grows asks ``stop`` first."""
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def look_up() -> None:
    """Raise `BuildingStopped` when it is time."""
    stop = _stop.get()
    if stop is not None and stop():
        raise BuildingStopped
