"""Bounds of pairs of tests: replies state them, and later questions contain them. Both tests lead to the same rows."""

from __future__ import annotations

import threading

import numpy as np

from treeform.engines.distributed import part_of
from treeform.engines.task import Ask, Message


def with_bounds_of_pairs(answer: Ask) -> Ask:
    """The same answers; questions bring the bounds that are known of each side of one test with each side of another.

    They hold for questions about the same but for the test, which stands first.
    """
    lock = threading.Lock()
    known: dict[tuple[int, ...], Message] = {}  # about what: [test, its side, other test, its side]

    def ask(question: Message) -> Message | None:
        test, *about = map(int, part_of(question))
        key = tuple(about)
        with lock:
            hints = known[key][test].ravel() if key in known else ()
        stated = [question[0], len(hints), *hints, 1 + len(about), test, *about]
        reply = answer(np.array(stated, dtype=np.int64))
        if reply is not None and reply[2]:
            unknown, found = reply[3], reply[4 : 3 + int(reply[2])].reshape(2, -1, 2)
            with lock:
                if key not in known:
                    known.clear()
                    known[key] = np.full((found.shape[1], 2) * 2, unknown)
                mine, theirs = known[key][test], known[key][:, :, test].transpose(2, 0, 1)
                mine[...] = theirs[...] = np.maximum(found, np.maximum(mine, theirs))
        return reply

    return ask
