"""The journal of searches: the replies received, from which a search that was killed continues.

A journal is a folder with a folder for each search, named by the digest of all that its replies depend on. Each reply
is a file, written as a whole and named by the digest of its question. So problems may share a journal, and searches
may write at the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from treeform.engines.distributed import part_of, settles
from treeform.engines.task import Ask, Message
from treeform.utils.files import making, write_bytes


class Journal:
    """The replies of one search, which goes by the digest of what is searched.

    Where its questions are `bounded`, a reply answers questions about its part with any bound that it settles. Raises
    SpecError if the folder cannot be made or used.
    """

    def __init__(self, folder: Path, search: str, bounded: bool = False) -> None:
        self._bounded = bounded
        self.path = folder / search[:24]
        self.found: list[Path] = []
        """The files of questions that were answered from the journal."""
        with _usable(self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def before(self, answer: Ask) -> Ask:
        """The same answers, from the journal where it has them; a reply that settles its question is stored."""

        def ask(question: Message) -> Message | None:
            about = part_of(question) if self._bounded else question
            file = self.path / hashlib.sha256(about.astype("<i8").tobytes()).hexdigest()[:32]
            reply = self._read(file)
            if reply is not None and self._settles(reply, question):
                self.found.append(file)
                return reply
            reply = answer(question)
            if reply is not None and self._settles(reply, question):
                write_bytes(file, zlib.compress(reply.astype("<i8").tobytes()))
            return reply

        return ask

    def _read(self, file: Path) -> Message | None:
        """The reply that a file holds; None if there is none, or it is damaged."""
        with _usable(file.parent), contextlib.suppress(FileNotFoundError, zlib.error):
            return np.frombuffer(zlib.decompress(file.read_bytes()), "<i8").astype(np.int64)
        return None

    def _settles(self, reply: Message, question: Message) -> bool:
        return not self._bounded or settles(reply, question)


def _usable(path: Path) -> AbstractContextManager[None]:
    return making(f"the journal {path.parent} cannot be used", "name a folder that may be read and written to")
