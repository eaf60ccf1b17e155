"""What a worker of DL85 does: it answers questions about root tests, each with the best trees of its two sides.

Costs are those of the points less the least cost of each point (``value``), so that rows taken away never cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.distributed import NOTHING, Message, Poll
from treeform.engines.session import Room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.engines.binary.binarize import Binarised
    from treeform.engines.binary.engine import BinaryEngine
    from treeform.engines.task import TreeTask

SEARCH, TREE = 0, 1
"""What is asked about a root test: its least cost, or the tree that has it."""
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

    def solve(self, rows: Any, depth: int, upper: int, poll: Poll, **more: Any) -> dict[str, Any]:
        """A native search of some of the points, on one thread; ``poll`` may lower the upper bound."""
        from treeform import _core

        found: dict[str, Any] = _core.binary(
            np.ascontiguousarray(self.bits[rows]),
            np.ascontiguousarray(self.value[rows]),
            self.weight[rows],
            depth=depth,
            upper=upper,
            poll=lambda *_: poll(),
            **(self.engine.keywords(self.task, 1, self._room.left()) | more),
        )
        return found

    def part_keywords(self) -> dict[str, Any]:
        """The keywords of the native search of root tests."""
        given = self.engine.keywords(self.task, 1, self._room.left())
        del given["time_limit"]
        return given | {"depth": self.task.depth, "upper": None}

    def leaf(self, rows: Any) -> int:
        """The least cost of a leaf for these points."""
        return int(self.value[rows].sum(axis=0).min())


class RootTests:
    """Answers questions: the best trees that begin with a root test; see `Evaluator`.

    A search for the least cost keeps its cache and its bounds by similarity from one question to the next. The tree
    is searched without them, so that it does not depend on what was asked before.
    """

    def __init__(self, points: Points) -> None:
        from treeform import _core

        self.points = points
        self._native = _core.BinaryEvaluator(
            points.bits, points.value, points.weight, **points.part_keywords()
        )

    def evaluate(self, question: Message, poll: Poll) -> Message | None:
        """[round, upper, number of hints, bound of side 0, of side 1, bounds of pairs, test, what] ->
        [settled, cost or NOTHING, bounds of the sides, counters, bounds of pairs, the tree]."""
        test, what = question[-2:].tolist()
        if what == SEARCH and self._native.has(test):
            reply: Message | None = self._native.evaluate(question, poll)
            return reply
        return self._afresh(question, poll)

    def _afresh(self, question: Message, poll: Poll) -> Message | None:
        """Each side by a search of its own."""
        (_, upper, _, low0, low1), test = question[:5].tolist(), int(question[-2])
        p, low = self.points, [low0, low1]

        def capped(side: int) -> Poll:
            def polled() -> tuple[bool, int | None]:
                stops, fallen = poll()
                return stops, None if fallen is None else fallen - p.task.node_penalty - low[1 - side]

            return polled

        sides = [np.flatnonzero(p.bits[:, test] == side) for side in (0, 1)]
        counters = np.zeros(len(COUNTERS), dtype=np.int64)
        trees: list[dict[str, Any] | None] = [None, None]
        first = int(p.leaf(sides[0]) < p.leaf(sides[1]))
        for side in (first, 1 - first):
            cap = upper - p.task.node_penalty - low[1 - side]
            if low[side] >= cap:
                break
            # The whole tree's warm-up has given a good bound: the sides need none of their own.
            use = [part for part in p.engine.keywords(p.task, 1, 0)["use"] if part != "warm-up"]
            found = p.solve(sides[side], p.task.depth - 1, cap, capped(side), use=use)
            counters += [found["counters"][name] for name in COUNTERS]
            if found["memory"]:
                return None
            low[side] = max(low[side], min(int(found["lower"]), cap))
            # A bound that fell on the way may have ended the search above the least cost.
            if found["tree"] is None or int(found["tree"]["cost"]) > found["lower"]:
                break
            trees[side] = found["tree"]
        settled = sum(low) + p.task.node_penalty
        cost = settled if None not in trees else NOTHING
        out = [settled, cost, *low, *counters.tolist()]
        out += question[5:-2].tolist()
        zero, one = trees
        if zero is not None and one is not None:
            out += _numbers(_joined(test, zero, one))
        return np.array(out, dtype=np.int64)


TREE_COLUMNS = ("feature", "left", "right", "label")


def _numbers(tree: dict[str, Any]) -> list[int]:
    """The number of nodes, and the columns of a tree."""
    columns = [np.asarray(tree[name]).tolist() for name in TREE_COLUMNS]
    return [len(columns[0]), *(number for column in columns for number in column)]


def tree_of(numbers: Message, cost: int) -> dict[str, Any]:
    """The tree of such numbers."""
    columns = numbers[1:].reshape(len(TREE_COLUMNS), int(numbers[0])).astype(np.int32)
    return dict(zip(TREE_COLUMNS, columns, strict=True)) | {"cost": cost}


def _joined(test: int, zero: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
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
