"""The journal of a search: replies that have come, so that a search that was killed goes on from them.

A folder holds the journals of one problem: ``problem.json``, which names it, and a file of JSON lines for each search
that its solve ran. A line is appended by one write and carries a checksum; what a kill or a power cut left of the
last line is cut off. A reply is found by the digest of its question, which says all that the reply depends on: the
order of lines means nothing, and two searches may write at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
import zlib
from pathlib import Path

import numpy as np

from treeform.engines.distributed import part_of, settles
from treeform.engines.task import Ask, Message
from treeform.errors import SpecError
from treeform.utils.files import parse_json, read_text, reason, write_text

FORMAT = "treeform.journal/1"
SYNC_EVERY = 1.0
"""Seconds of replies that a power cut may cost; a kill costs none."""


def open_folder(folder: str | os.PathLike[str], problem: str) -> Path:
    """Make the folder of a problem's journals, or enter it.

    Raises SpecError if it cannot be written, or holds the journals of another problem.

    Parameters
    ----------
    problem : str
        The digest of the problem.
    """
    path = Path(folder)
    name = path / "problem.json"
    try:
        path.mkdir(parents=True, exist_ok=True)
        known = parse_json(read_text(name)) if name.exists() else None
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error
    if known is None:
        write_text(name, json.dumps({"format": FORMAT, "problem": problem}))
    elif known != {"format": FORMAT, "problem": problem}:
        raise SpecError(
            f"the journal {path} is that of another problem",
            cause="data, shape, objective, requirements or the version of treeform differ",
            fix="name another folder, or delete this one",
        )
    return path


def _unusable(path: Path, error: Exception) -> SpecError:
    return SpecError(
        f"the journal {path} cannot be used",
        cause=reason(error),
        fix="name a folder that may be written to",
    )


class Journal:
    """The replies of one search.

    Raises SpecError if the file cannot be read or written.

    Parameters
    ----------
    search : str
        The digest of what is searched.
    bounded : bool
        Whether its questions are. A reply then answers questions about its part with any bound that it settles.

    Attributes
    ----------
    found : int
        Questions that were answered from the journal.
    """

    def __init__(self, folder: Path, search: str, bounded: bool = False) -> None:
        self._bounded = bounded
        self.path = folder / f"{search[:24]}.jsonl"
        self.found = 0
        self._lock = threading.Lock()
        self._replies: dict[str, list[int]] = {}
        try:
            self._read()
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise _unusable(self.path, error) from error
        self._synced = time.monotonic()

    def before(self, answer: Ask) -> Ask:
        """The same answers, from the journal where it has them; a reply that settles its question is stored."""

        def ask(question: Message) -> Message | None:
            known = self.read(question)
            reply = answer(question) if known is None else known
            settled = reply is not None and (not self._bounded or settles(reply, question))
            if known is None and reply is not None and settled:
                self.write(question, reply)
            return reply

        return ask

    def read(self, question: Message) -> Message | None:
        """The reply to a question that was answered before."""
        with self._lock:
            numbers = self._replies.get(self._name(question))
            reply = None if numbers is None else np.array(numbers, dtype=np.int64)
            if reply is not None and self._bounded and not settles(reply, question):
                reply = None
            self.found += reply is not None
        return reply

    def write(self, question: Message, reply: Message) -> None:
        """Keep a reply.

        Raises SpecError if it cannot be written.
        """
        name, numbers = self._name(question), reply.tolist()
        body = json.dumps([name, numbers], separators=(",", ":"))
        line = f"{_sum(body)} {body}\n".encode()
        with self._lock:
            self._replies[name] = numbers
            try:
                # One write: another process that appends to the same file cannot come between.
                if os.write(self._file, line) != len(line):
                    raise OSError(0, "the disk is full")
                if time.monotonic() - self._synced > SYNC_EVERY:
                    os.fsync(self._file)
                    self._synced = time.monotonic()
            except OSError as error:
                raise _unusable(self.path, error) from error

    def _name(self, question: Message) -> str:
        about = part_of(question) if self._bounded else question
        return hashlib.sha256(np.ascontiguousarray(about, dtype="<i8").tobytes()).hexdigest()[:32]

    def close(self) -> None:
        """Write what the system still holds."""
        with contextlib.suppress(OSError):
            os.fsync(self._file)
        os.close(self._file)

    def _read(self) -> None:
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(self.path, whole)
        for line in content[:whole].decode("ascii", "replace").splitlines():
            check, _, body = line.partition(" ")
            if check == _sum(body):
                name, numbers = json.loads(body)
                self._replies[name] = numbers


def _sum(body: str) -> str:
    return f"{zlib.crc32(body.encode()):08x}"
