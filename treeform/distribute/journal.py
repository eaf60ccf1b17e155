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


def kept(folder: Path, answer: Ask, found: list[Path], bounded: bool = False) -> Ask:
    """The same answers, from the folder of a search where it has them; a reply that settles its question is stored.

    Where questions are `bounded`, a reply answers those about its part with any bound that it settles. The files that
    were there are entered in ``found``. Raises SpecError if the folder cannot be made or used.
    """
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)

    def ask(question: Message) -> Message | None:
        about = part_of(question) if bounded else question
        file = folder / hashlib.sha256(about.astype("<i8").tobytes()).hexdigest()[:32]
        reply = _read(file)
        if reply is not None and (not bounded or settles(reply, question)):
            found.append(file)
            return reply
        reply = answer(question)
        if reply is not None and (not bounded or settles(reply, question)):
            write_bytes(file, zlib.compress(reply.astype("<i8").tobytes()))
        return reply

    return ask


def _read(file: Path) -> Message | None:
    """The reply that a file holds; None if there is none, or it is damaged."""
    with _usable(file.parent), contextlib.suppress(FileNotFoundError, zlib.error):
        return np.frombuffer(zlib.decompress(file.read_bytes()), "<i8").astype(np.int64)
    return None


def _usable(folder: Path) -> AbstractContextManager[None]:
    return making(f"the journal {folder.parent} cannot be used", "name a folder that may be read and written to")
