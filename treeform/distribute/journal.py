"""The journal of searches: the replies received, from which a search that was killed continues.

A journal is a folder with a folder for each search, named by the digest of all that its replies depend on. Each reply
is a file with its question, written as a whole and named by the digest of the question. So problems may share a
journal, and searches may write at the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from treeform.engines.distributed import part_of, settles
from treeform.engines.task import Ask, Message
from treeform.utils.files import making, write_bytes


@dataclass(frozen=True)
class Parts:
    """The files of a journal that were there: those whose reply was used, and those that cannot be read."""

    found: list[Path] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)


def kept(folder: Path, answer: Ask, parts: Parts, bounded: bool = False) -> Ask:
    """The same answers, from the folder of a search where it has them; a reply that settles its question is stored.

    Where questions are `bounded`, a reply answers those about its part with any bound that it settles. The files that
    were there are entered in ``parts``. Raises SpecError if the folder cannot be made or used.
    """
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)

    def ask(question: Message) -> Message | None:
        about = (part_of(question) if bounded else question).astype("<i8").tobytes()
        file = folder / hashlib.sha256(about).hexdigest()[:32]
        content = _content(file)
        if content is not None and not content.startswith(about):
            parts.damaged.append(file)
        elif content is not None:
            reply = np.frombuffer(content[len(about) :], "<i8").astype(np.int64)
            if not bounded or settles(reply, question):
                parts.found.append(file)
                return reply
        found = answer(question)
        if found is not None and (not bounded or settles(found, question)):
            write_bytes(file, zlib.compress(about + found.astype("<i8").tobytes()))
        return found

    return ask


def _content(file: Path) -> bytes | None:
    """A question and its reply; nothing where the file was torn, None where there is none."""
    with _usable(file.parent), contextlib.suppress(FileNotFoundError):
        try:
            return zlib.decompress(file.read_bytes())
        except zlib.error:
            return b""
    return None


def _usable(folder: Path) -> AbstractContextManager[None]:
    return making(f"the journal {folder.parent} cannot be used", "name a folder that may be read and written to")
