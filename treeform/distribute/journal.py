"""The journal of searches: the replies received, from which a search that was killed continues.

A journal is a folder with a folder for each search, named by the digest of all that its replies depend on. Each reply
is a file, written as a whole and named by the digest of its question. So problems may share a journal, and searches
may write at the same time.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from treeform.engines.distributed import part_of, settles
from treeform.engines.task import Ask, Message
from treeform.utils.files import making, write_bytes


class Journal:
    """The replies of one search.

    Raises SpecError if its folder cannot be made.

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
        self.path = folder / search[:24]
        self.found = 0
        self._lock = threading.Lock()
        with self._usable():
            self.path.mkdir(parents=True, exist_ok=True)

    def before(self, answer: Ask) -> Ask:
        """The same answers, from the journal where it has them; a reply that settles its question is stored."""

        def ask(question: Message) -> Message | None:
            reply = self.read(question)
            if reply is None:
                reply = answer(question)
                if reply is not None and self._settles(reply, question):
                    self.write(question, reply)
            return reply

        return ask

    def read(self, question: Message) -> Message | None:
        """The reply to a question that was answered before; None if there is none, or its file is damaged.

        Raises SpecError if the file cannot be read.
        """
        file = self._file(question)
        with self._usable():
            if not file.exists():
                return None
            content = file.read_bytes()
        try:
            numbers = zlib.decompress(content)
        except zlib.error:
            return None
        reply = np.frombuffer(numbers, "<i8").astype(np.int64)
        if not self._settles(reply, question):
            return None
        with self._lock:
            self.found += 1
        return reply

    def write(self, question: Message, reply: Message) -> None:
        """Keep a reply.

        Raises SpecError if it cannot be written.
        """
        write_bytes(self._file(question), zlib.compress(reply.astype("<i8").tobytes()))

    def _usable(self) -> AbstractContextManager[None]:
        return making(
            f"the journal {self.path.parent} cannot be used", "name a folder that may be read and written to"
        )

    def _settles(self, reply: Message, question: Message) -> bool:
        return not self._bounded or settles(reply, question)

    def _file(self, question: Message) -> Path:
        about = part_of(question) if self._bounded else question
        return self.path / hashlib.sha256(about.astype("<i8").tobytes()).hexdigest()[:32]
