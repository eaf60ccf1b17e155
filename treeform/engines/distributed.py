"""What an engine offers whose search can be shared by several processes or machines.

The search itself stays in one place. It hands out *questions*, parts that are independent of each other, and goes on
from the replies. A question and its reply are int64 arrays. What a reply states is true for any worker and any time: so
an answer that was kept is as good as a new one.

Engines differ in what they ask. The questions of ConTree say all that a reply depends on. Those of the others are
*bounded*. They begin with an upper bound, only what costs less is wanted, and hints, which save work and change
nothing that is found. The reply begins with `settled` and `cost`. Either `cost` is the least cost in the part, or it is
at least `NOTHING`, and nothing in the part costs less than `settled`.
"""

from __future__ import annotations

import queue
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask

if TYPE_CHECKING:
    from treeform.data import Dataset

Message = NDArray[np.int64]
Ask = Callable[[Message], "Message | None"]
"""The reply to a question; None when the search has to stop. May be called from several threads."""
NOTHING = (2**63 - 1) // 4
"""The cost of a reply that found nothing below the upper bound."""


def part_of(question: Message) -> Message:
    """What a bounded question is about, whatever its bound and its hints."""
    return question[2 + int(question[1]) :]


def settles(reply: Message, question: Message) -> bool:
    """Whether the reply, maybe to a question with another bound, answers a bounded question."""
    return bool(reply[1] < NOTHING or reply[0] >= question[0])


@runtime_checkable
class Desk(Protocol):
    """Questions that are handed out by one thread, and replies that come back in any order."""

    def send(self, ticket: int, question: Message, /) -> None:
        """Hand out a question; at once, also where all workers are busy."""

    def receive(self) -> tuple[int, Message | None]:
        """Wait for the reply to any question; None when the search has to stop."""


@contextmanager
def desk_of(ask: Ask | Desk, callers: int) -> Iterator[Desk]:
    """What was given, if it is a desk; otherwise one with threads that call ``ask``."""
    if isinstance(ask, Desk):
        yield ask
        return
    with ThreadPoolExecutor(callers) as pool:
        desk = _Threads(ask, pool)
        try:
            yield desk
        finally:
            pool.shutdown(cancel_futures=True)


class _Threads:
    """A desk with a thread for each question in work."""

    def __init__(self, ask: Ask, pool: ThreadPoolExecutor) -> None:
        self._ask, self._pool = ask, pool
        self._replies: queue.SimpleQueue[tuple[int, Future[Message | None]]] = queue.SimpleQueue()

    def send(self, ticket: int, question: Message, /) -> None:
        asked = self._pool.submit(self._ask, question)
        asked.add_done_callback(lambda reply: self._replies.put((ticket, reply)))

    def receive(self) -> tuple[int, Message | None]:
        ticket, reply = self._replies.get()
        return ticket, reply.result()


class Evaluator(Protocol):
    """Answers questions about one task on one table; not from two threads at a time."""

    def evaluate(self, question: Message, stop: Callable[[], bool], /) -> Message | None:
        """The reply; None, or a reply that does not settle the question, once ``stop()`` is true.

        It is asked about twenty times a second.
        """


class Distributable(Engine):
    """An engine whose search can be shared out."""

    bounded: ClassVar[bool]
    """Whether its questions are bounded."""

    @abstractmethod
    def run_distributed(
        self, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask, callers: int
    ) -> EngineOutcome:
        """As `Engine.run`, with parts of the search answered by ``ask``, which ``callers`` threads call."""

    @abstractmethod
    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What answers the questions of `run_distributed`, in this or another process."""

    @abstractmethod
    def distributed_settings(self) -> dict[str, object]:
        """The settings that questions and replies depend on."""


class OneSearch(Distributable):
    """An engine with one search, whether parts of it are answered elsewhere or not."""

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, or whole numbers would leave the range in which the search is
        exact.
        """
        return self._search(data, task, run, None, 1)

    def run_distributed(
        self, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask, callers: int
    ) -> EngineOutcome:
        """As `run`, with tests at the root answered by ``ask``: cost and bound are the same.

        Raises SpecError as `run`.
        """
        return self._search(data, task, run, ask, callers)

    @abstractmethod
    def _search(
        self, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask | None, callers: int
    ) -> EngineOutcome:
        """Solve `task` on `data`; with ``ask``, in parts."""
