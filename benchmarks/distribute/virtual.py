"""Workers in virtual time: a desk that answers questions at once, and keeps a clock of when that would have been.

Every question is evaluated once, in this process, and its CPU seconds and reply are kept. The clock moves on by the CPU
seconds of the process that searches, by a measured cost of handling each question, and to the end of the question that
is waited for. So the figures do not depend on what else the machine does, or on how many workers it could start.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Parts:
    """Bounds of the questions of one search.

    Attributes
    ----------
    evaluator : Evaluator
    seconds, replies : dict
        CPU seconds and reply of each question.
    """

    evaluator: Any
    seconds: dict[bytes, float] = field(default_factory=dict)
    replies: dict[bytes, Any] = field(default_factory=dict)

    def evaluate(self, question: Any) -> tuple[float, Any]:
        """Seconds and reply, measured at the first time."""
        key = np.asarray(question).tobytes()
        if key not in self.seconds:
            began = time.process_time()
            self.replies[key] = self.evaluator.evaluate(question, lambda: False)
            self.seconds[key] = time.process_time() - began
        return self.seconds[key], self.replies[key]


class VirtualWorkers:
    """A desk; see `treeform.engines.distributed.Desk`.

    Parameters
    ----------
    parts : Parts
    workers : int
    trip : float
        Seconds of a question beyond its CPU seconds: there and back, and until the worker has the next one.
    handling : float
        CPU seconds of a question in the process that searches.

    Attributes
    ----------
    clock : float
        Seconds since the beginning.
    here : float
        CPU seconds of the process that searches, handling included.
    asked : int
        Questions.
    busy : float
        CPU seconds of all workers.
    longest : float
        Of one question.
    """

    def __init__(self, parts: Parts, workers: int, trip: float, handling: float) -> None:
        self._parts, self._trip, self._handling = parts, trip, handling
        self._free = [0.0] * workers  # when each worker has nothing to do
        self._ends: list[tuple[float, int, Any]] = []
        self.clock = self.here = self.busy = self.longest = 0.0
        self.asked = 0
        self._mark = time.process_time()

    def send(self, ticket: int, question: Any) -> None:
        self._pass()
        self._spend(self._handling)
        seconds, reply = self._parts.evaluate(question)
        end = max(self.clock, heapq.heappop(self._free)) + seconds + self._trip
        heapq.heappush(self._free, end)
        heapq.heappush(self._ends, (end, ticket, reply))
        self.asked, self.busy, self.longest = self.asked + 1, self.busy + seconds, max(self.longest, seconds)
        self._mark = time.process_time()

    def receive(self) -> tuple[int, Any]:
        self._pass()
        end, ticket, reply = heapq.heappop(self._ends)
        self.clock = max(self.clock, end)
        self._mark = time.process_time()
        return ticket, reply

    def finish(self) -> None:
        """Count what was done since the last question."""
        self._pass()

    def _pass(self) -> None:
        self._spend(time.process_time() - self._mark)

    def _spend(self, seconds: float) -> None:
        self.clock, self.here = self.clock + seconds, self.here + seconds
