"""Stopping while a model is being built.

Statements of a model are vectorised, so one of them is quick; a model of many millions of rows is not. Under a
time limit a stop function is set here; the model calls it each time that it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_stop: ContextVar[Callable[[], bool] | None] = ContextVar("treeform_stop_building", default=None)


class BuildingStopped(Exception):
    """Raised when a model grows after its stop function returned True."""


@contextmanager
def stop_building_when(stop: Callable[[], bool]) -> Iterator[None]:
    """Within this context, and this thread, a model that grows calls ``stop`` first."""
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
