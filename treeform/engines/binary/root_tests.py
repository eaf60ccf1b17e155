"""What a worker of DL85 does: it answers questions about root tests, each with the best trees of its two sides.

Costs are those of the points less the least cost of each point (``value``), so that rows taken away never cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.distributed import Message
from treeform.engines.native_call import Room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.engines.binary.binarize import Binarised
    from treeform.engines.binary.engine import BinaryEngine
    from treeform.engines.task import TreeTask

COUNTERS = (
    "nodes",
    "depth_two",
    "depth_three",
    "rows",
    "cache_hits",
    "pruned_similarity",
    "pruned_bound",
    "work",
)


class Points:
    """The points of a task with the costs of each class, and what a native search of some of them needs.

    Attributes
    ----------
    bits : (P, T) uint8
    value : (P, C) int64
        Less the least of each row.
    weight : (P,) int64
    offset : int
        What was subtracted.
    """

    def __init__(
        self, engine: BinaryEngine, table: Binarised, cost: NDArray[np.int64], task: TreeTask
    ) -> None:
        self.engine, self.task, self._room = engine, task, Room(engine.memory_limit)
        value = table.weights @ cost
        least = value.min(axis=1)
        self.bits, self.weight = table.bits, table.weights.sum(axis=1)
        self.value, self.offset = np.ascontiguousarray(value - least[:, None]), int(least.sum())

    def solve(
        self, rows: Any, depth: int, upper: int, stop: Callable[[], bool], without: str = "", **more: Any
    ) -> dict[str, Any]:
        """A native search of some of the points, on one thread, without one of the techniques of the engine."""
        from treeform import _core

        asked = self.engine.keywords(self.task, 1, self._room.left())
        asked["use"] = [part for part in asked["use"] if part != without]
        found: dict[str, Any] = _core.binary(
            np.ascontiguousarray(self.bits[rows]),
            np.ascontiguousarray(self.value[rows]),
            self.weight[rows],
            depth=depth,
            upper=upper,
            poll=lambda *_: (stop(), None),
            **(asked | more),
        )
        return found

    def evaluator(self) -> Any:
        """What answers questions about root tests; see `Evaluator` and ``treeform/native/binary/parts.hpp``."""
        from treeform import _core

        given = self.engine.keywords(self.task, 1, self._room.left())
        del given["time_limit"]
        given |= {"depth": self.task.depth, "upper": None}
        return _core.BinaryEvaluator(self.bits, self.value, self.weight, **given)

    def tree_of_side(self, test: int, side: int, least: int, stop: Callable[[], bool]) -> Any:
        """The best tree of one side of a root test, which costs ``least``, searched without what was found before."""
        rows = np.flatnonzero(self.bits[:, test] == side)
        # The bound is as good as it can be: a side needs no warm-up of its own.
        return self.solve(rows, self.task.depth - 1, least + 1, stop, "warm-up")["tree"]


TREE_COLUMNS = ("feature", "left", "right", "label")


def tree_of(numbers: Message, cost: int) -> dict[str, Any]:
    """The tree of a reply: the number of its nodes, and its columns."""
    columns = numbers[1:].reshape(len(TREE_COLUMNS), int(numbers[0])).astype(np.int32)
    return dict(zip(TREE_COLUMNS, columns, strict=True)) | {"cost": cost}


def joined(test: int, zero: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """A tree with that test at the root and these trees on its sides; children come after their parents."""
    begin = 1 + len(zero["feature"])
    shifts = [(zero, 1), (one, begin)]
    joined: dict[str, Any] = {}
    for name, root in zip(TREE_COLUMNS, (test, 1, begin, -1), strict=True):
        moved = [
            np.where(tree[name] >= 0, tree[name] + shift, -1) if name in ("left", "right") else tree[name]
            for tree, shift in shifts
        ]
        joined[name] = np.concatenate([[root], *moved]).astype(np.int32)
    return joined
