"""Bounds of pairs of tests: replies state them, and later questions contain them. Both tests lead to the same rows."""

from __future__ import annotations

import threading

import numpy as np

from treeform.engines.distributed import part_of
from treeform.engines.task import Ask, Message


class PairBounds:
    """Bounds of each side of one test together with each side of another.

    They hold for questions about the same but for the test, which stands first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._about: list[int] | None = None
        self._known: Message | None = None  # [test, its side, other test, its side]

    def before(self, answer: Ask) -> Ask:
        """The same answers; questions bring the bounds that are known."""

        def ask(question: Message) -> Message | None:
            reply = answer(self._with_bounds(question))
            if reply is not None and reply[2]:
                self._note(part_of(question), reply[3 : 3 + int(reply[2])])
            return reply

        return ask

    def _with_bounds(self, question: Message) -> Message:
        test, *about = part_of(question).tolist()
        with self._lock:
            if about != self._about:
                self._about, self._known = about, None
            hints = [] if self._known is None else self._known[test].ravel()
        stated = [question[0], len(hints), *hints, 1 + len(about), test, *about]
        return np.array(stated, dtype=np.int64)

    def _note(self, part: Message, pairs: Message) -> None:
        test, found = part[0], pairs[1:].reshape(2, -1, 2)
        with self._lock:
            if part[1:].tolist() != self._about:
                return
            if self._known is None:
                self._known = np.full((found.shape[1], 2) * 2, pairs[0])
            mine, theirs = self._known[test], self._known[:, :, test].transpose(2, 0, 1)
            mine[...] = theirs[...] = np.maximum(found, np.maximum(mine, theirs))
