"""What an engine offers whose search can be shared by several processes or machines.

The search itself stays in one place. It hands out *questions*, parts that are independent of each other, and goes on
from the replies. A question and its reply are int64 arrays, and the reply depends on nothing but data, task and
question: so it does not matter who answers, or when, and an answer that was kept is as good as a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines.task import EngineOutcome, EngineRun, TreeTask

Message = NDArray[np.int64]
Ask = Callable[[Message], "Message | None"]
"""The reply to a question; None when the search has to stop. May be called from several threads."""


class Evaluator(Protocol):
    """Answers questions about one task on one table; not from two threads at a time."""

    def evaluate(self, question: Message, poll: Callable[[], bool], /) -> Message | None:
        """The reply; None once ``poll()``, called about twenty times a second, returned true."""


@runtime_checkable
class Distributable(Protocol):
    """An engine whose search can be shared out."""

    def run_distributed(
        self, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask, callers: int
    ) -> EngineOutcome:
        """As `Engine.run`, with parts of the search answered by ``ask``, which ``callers`` threads call."""

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What answers the questions of `run_distributed`, in this or another process."""

    def distributed_settings(self) -> dict[str, object]:
        """The settings that questions and replies depend on."""
