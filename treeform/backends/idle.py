"""Children that wait for the next session of the same solver: starting one takes half a second of imports.

A process keeps a few of them, for some seconds. A fork has none: those of its parent stay its parent's.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable

from treeform.backends.child import INSIDE, Child, surroundings

MOST = 2
"""Children that wait at the same time."""
SECONDS = 30.0
"""A child that waited so long is ended."""


class IdleChildren:
    """Processes of this process that have no task, by what they can be used for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[Hashable, Child, float]] = []
        self._timer: threading.Timer | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, purpose: Hashable) -> Child:
        """A child that waits for this purpose and still fits this process, or a new one that is not yet started."""
        while True:
            with self._lock:
                at = [i for i, (kept, _, _) in enumerate(self._waiting) if kept == purpose]
                if not at:
                    return Child()
                _, child, _ = self._waiting.pop(at[-1])
            if child.alive and child.surroundings == surroundings():
                return child
            child.close()

    def keep(self, purpose: Hashable, child: Child) -> None:
        """Let a child wait; the one that has waited longest ends where there are too many."""
        if INSIDE in os.environ or not child.alive:
            child.close()
            return
        with self._lock:
            self._waiting.append((purpose, child, time.monotonic()))
            over = [child for _, child, _ in self._waiting[:-MOST]]
            del self._waiting[:-MOST]
            self._watch()
        for one in over:
            one.close()

    def close(self) -> None:
        """End all that wait."""
        with self._lock:
            over = [child for _, child, _ in self._waiting]
            self._waiting.clear()
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
        for one in over:
            one.close()

    def forget(self) -> None:
        """Have none, without ending any: in a fork they are the parent's."""
        self._lock, self._waiting, self._timer = threading.Lock(), [], None

    def _watch(self) -> None:
        """Look again when the first of them has waited too long; the lock is held."""
        if self._timer is None and self._waiting:
            left = self._waiting[0][2] + SECONDS - time.monotonic()
            self._timer = threading.Timer(max(0.1, left), self._end_old)
            self._timer.daemon = True
            self._timer.start()

    def _end_old(self) -> None:
        with self._lock:
            now = time.monotonic()
            over = [child for _, child, since in self._waiting if now - since >= SECONDS]
            self._waiting = [one for one in self._waiting if now - one[2] < SECONDS]
            self._timer = None
            self._watch()
        for one in over:
            one.close()


idle_children = IdleChildren()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=idle_children.forget)
