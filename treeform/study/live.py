"""Rows of a sweep as its runs end, by any executor.

A worker hands its rows back when its chain of runs has ended, which may be hours after the first one. So it also
leaves each row in a folder, as a file, where the process that waits finds it.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from treeform.distribute.executor import shared_folder
from treeform.errors import SpecError
from treeform.utils.files import write_text

EVERY = 0.25
"""Seconds between two looks into the folder."""


@dataclass(frozen=True)
class Board:
    """A folder of rows; it is sent to the workers. One that does not see it leaves nothing there."""

    folder: str

    def put(self, row: Mapping[str, Any]) -> None:
        """Leave the row of a run that has ended."""
        with contextlib.suppress(SpecError, OSError):
            write_text(Path(self.folder) / f"{row['run']}.json", json.dumps(row))


class Collector:
    """Rows that have ended, each once, from the files of the workers and from the workers themselves.

    ``told`` is called with the number of rows so far and each new row, one call at a time; if rows come from other
    processes too (``watch``), it may be called from another thread.
    """

    def __init__(self, told: Callable[[int, dict[str, Any]], None], watch: bool) -> None:
        self.rows: dict[int, dict[str, Any]] = {}
        self._folder = contextlib.ExitStack()
        self.board = Board(self._folder.enter_context(shared_folder())) if watch else None
        self._told, self._lock, self._failed = told, threading.Lock(), list[BaseException]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Collector:
        if self.board is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self.board is not None:
            self._thread.join()
            if kind is not None:  # what has ended by now
                self._look()
        self._folder.close()

    def add(self, row: dict[str, Any]) -> None:
        """Take note of a row; what the caller's function raised elsewhere is raised here."""
        if self._failed:
            raise self._failed[0]
        with self._lock:
            if row["run"] not in self.rows:
                self.rows[row["run"]] = row
                self._told(len(self.rows), row)

    def _watch(self) -> None:
        while not self._failed and not self._ended.wait(EVERY):
            self._look()

    def _look(self) -> None:
        assert self.board is not None
        for path in sorted(Path(self.board.folder).glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
            try:
                self.add(json.loads(path.read_text()))
                path.unlink()
            except BaseException as error:
                self._failed.append(error)
                return
