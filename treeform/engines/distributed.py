"""What an engine offers whose search can be shared by several processes or machines.

The search itself stays in one place. It hands out *questions*, parts that are independent of each other, and goes on
from the replies. A question and its reply are int64 arrays. What a reply states is true for any worker and any time: so
an answer that was kept is as good as a new one.

Engines differ in what they ask. The questions of ConTree say all that a reply depends on. Those of the others are
*bounded*. They begin with an upper bound, only what costs less is wanted, and hints, which save work and change
nothing that is found. The reply begins with `settled` and `cost`. Either `cost` is the least cost in the part, or it is
at least `NOTHING`, and nothing in the part costs less than `settled`. Bounds of pairs of tests may follow, which are
hints of later questions (`treeform.distribute.search`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Protocol

from treeform.data import Dataset
from treeform.engines.task import Engine, Message, TreeTask

NOTHING = (2**63 - 1) // 4
"""The cost of a reply that found nothing below the upper bound."""


def part_of(question: Message) -> Message:
    """What a bounded question is about, whatever its bound and its hints."""
    return question[3 + int(question[1]) :]


def settles(reply: Message, question: Message) -> bool:
    """Whether a reply about the same part, possibly with another bound, answers a bounded question."""
    return bool(reply[1] < NOTHING or reply[0] >= question[0])


class Evaluator(Protocol):
    """Answers questions about one task on one table; not from two threads at a time."""

    def evaluate(self, question: Message, stop: Callable[[], bool], /) -> Message | None:
        """The reply to a question.

        ``stop()`` is called about twenty times a second. Once it returns True the answer is not needed: then it is
        None, or does not settle the question.
        """


class Distributable(Engine):
    """An engine that has parts of its search answered by ``ask`` of its run: cost and bound are the same."""

    bounded: ClassVar[bool]
    """Whether its questions are bounded."""

    @abstractmethod
    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What answers the questions of a run with this table and task, in this or another process.

        It may keep what it found for later questions; its replies have to be true for every question.
        """
