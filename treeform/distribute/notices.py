"""What the process that searches tells its workers while they work: that the search goes on, and the upper bound.

Workers of one machine read a small file, those of a cluster a variable of Dask. A worker that reads late loses time,
and nothing else: what it states in its reply is true with any bound.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from treeform.distribute.cluster import last_call
from treeform.engines.distributed import NOTHING


@dataclass(frozen=True)
class Notice:
    """An upper bound, and the round that it is of; `ended`: the search has stopped."""

    round: int = 0
    upper: int = NOTHING
    ended: bool = False


class Board(Protocol):
    """Where the notice stands; it is sent to the workers."""

    def read(self) -> Notice:
        """The notice as of now."""

    def write(self, notice: Notice) -> None:
        """Put another one in its place."""


@dataclass(frozen=True)
class FileBoard:
    """A file; once it is gone the search has ended."""

    path: str

    def read(self) -> Notice:
        try:
            text = Path(self.path).read_text()
        except OSError:
            return Notice(ended=True)
        numbers = text.split()
        return Notice(int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else Notice()

    def write(self, notice: Notice) -> None:
        path = Path(self.path)
        if notice.ended:
            path.unlink(missing_ok=True)
            return
        beside = path.with_suffix(".new")
        beside.write_text(f"{notice.round} {notice.upper}")
        os.replace(beside, path)


@dataclass(frozen=True)
class DaskBoard:
    """A variable of a Dask cluster."""

    name: str

    def read(self) -> Notice:
        import distributed

        with contextlib.suppress(TimeoutError, OSError, ValueError):
            return Notice(*self._variable(distributed.get_client()).get(timeout="2s"))
        return Notice()

    def write(self, notice: Notice, client: Any = None) -> None:
        last_call(lambda: self._variable(client).set([notice.round, notice.upper, notice.ended]))

    def _variable(self, client: Any) -> Any:
        import distributed

        return distributed.Variable(self.name, client=client)  # type: ignore[no-untyped-call]


class Announcer:
    """Keeps the notice up to date from the replies; may be called from several threads."""

    def __init__(self, board: Board | None) -> None:
        self._board = board
        self._lock = threading.Lock()
        self._notice = Notice()

    def found(self, in_round: int, cost: int) -> None:
        """A reply of that round found that cost: another one that costs as much may still be the answer."""
        with self._lock:
            now = self._notice
            if now.ended or in_round < now.round or (in_round == now.round and cost + 1 >= now.upper):
                return
            self._write(Notice(in_round, cost + 1))

    def end(self) -> None:
        """The search has stopped."""
        with self._lock:
            if not self._notice.ended:
                self._write(Notice(ended=True))

    def _write(self, notice: Notice) -> None:
        self._notice = notice
        if self._board is not None:
            self._board.write(notice)


class Watch:
    """The notice as a worker knows it, read anew every `seconds`."""

    def __init__(self, board: Board | None, in_round: int | None, seconds: float) -> None:
        self._board, self._round, self._every = board, in_round, seconds
        self._next = time.monotonic() + seconds
        self._notice = Notice()

    @property
    def ended(self) -> bool:
        """Whether the search has stopped."""
        return self._notice.ended

    def poll(self) -> tuple[bool, int | None]:
        """Whether to stop, and the upper bound of the round if there is one."""
        if self._board is not None and time.monotonic() >= self._next:
            self._notice = self._board.read()
            self._next = time.monotonic() + self._every
        same = self._notice.round == self._round and self._notice.upper < NOTHING
        return self.ended, self._notice.upper if same else None
