"""The search of DL85 in parts: the tests at the root, each with the best trees of its two sides.

A few rule-guided restarts give a good tree first. Then the root tests are taken in the order of their Gini impurity, as
a sequence that is the same for any number of workers: test k gets its upper bound, and its bounds by similarity, from
what the tests up to k - `AHEAD` came to. A worker solves the two sides by itself; it has a cache of its own, so that a
subproblem that two root tests share may be solved twice.

Costs are those of the points less the least cost of each point (``value``), so that rows taken away never cost. For
the sides A and B of two tests then ``opt(A) >= opt(B) - mass(B without A)``, as in ``treeform/native/binary``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.binary.engine import BinaryEngine, BinarySession
from treeform.engines.distributed import Ask, Message
from treeform.engines.memory import Room
from treeform.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.engines.binary.binarize import Binarised
    from treeform.engines.task import EngineOutcome, EngineRun, TreeTask

AHEAD = 64
"""Root tests that may be in work at a time, whoever has them."""
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
NEVER = 2**60


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
        self, rows: Any, depth: int, upper: int, stop: Callable[[], bool], **more: Any
    ) -> dict[str, Any]:
        """A native search of some of the points, on one thread."""
        from treeform import _core

        found: dict[str, Any] = _core.binary(
            np.ascontiguousarray(self.bits[rows]),
            np.ascontiguousarray(self.value[rows]),
            self.weight[rows],
            depth=depth,
            upper=upper,
            poll=lambda *_: (stop(), None),
            **(self.engine.keywords(self.task, 1, self._room.left()) | more),
        )
        return found

    def leaf(self, rows: Any) -> int:
        """The least cost of a leaf for these points."""
        return int(self.value[rows].sum(axis=0).min())


@dataclass
class SideSearch:
    """Answers questions: the best trees of both sides of a root test; see `Evaluator`."""

    points: Points

    def evaluate(self, question: Message, poll: Callable[[], bool]) -> Message | None:
        """[test, upper, bound of side 0, of side 1] -> [their bounds, cost or NEVER, counters, both trees]."""
        test, upper, *low = (int(number) for number in question)
        p = self.points
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
            found = p.solve(sides[side], p.task.depth - 1, cap, poll, use=use)
            counters += [found["counters"][name] for name in COUNTERS]
            if found["memory"] or not found["complete"]:
                return None
            tree = trees[side] = found["tree"]
            low[side] = max(low[side], cap if tree is None else int(tree["cost"]))
            if tree is None:
                break
        cost = sum(low) + p.task.node_penalty if None not in trees else NEVER
        out = [*low, cost, *counters.tolist()]
        if cost < NEVER:
            out += [number for tree in trees for number in _numbers(tree)]
        return np.array(out, dtype=np.int64)


def run_distributed(
    engine: BinaryEngine, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask, callers: int
) -> EngineOutcome:
    """The search, with its root tests answered by ``ask``.

    Raises
    ------
    SpecError
        If the tests of both sides of the root share a budget.
    """
    if task.max_nodes is not None and task.max_nodes < 2**task.depth - 1:
        raise SpecError(
            f"{engine.name} cannot share a search with max_nodes={task.max_nodes} between workers",
            cause="both sides of the root draw on one budget of tests",
            fix="solve with tf.ConTree(), which can, or without executor and journal",
        )
    if task.depth <= engine.exact_depth:
        return engine.run(data, task, run)
    session = engine.session(data, task, run)
    return _Roots(engine, session, task, run, ask, callers).run()


class _Roots:
    """The sequence of root tests."""

    def __init__(
        self,
        engine: BinaryEngine,
        session: BinarySession,
        task: TreeTask,
        run: EngineRun,
        ask: Ask,
        callers: int,
    ) -> None:
        self.session, self.task, self.asked, self.ask, self.callers = session, task, run, ask, callers
        self.points = Points(engine, session.table, session.cost, task)
        p = self.points
        self.mass = p.value.max(axis=1)
        self.total = int(self.mass.sum())
        self.ones = self.mass @ p.bits  # (T,) mass of side 1
        self.lower = np.full(p.bits.shape[1], task.node_penalty, dtype=np.int64)
        self.sides: dict[int, tuple[int, int]] = {}  # bounds of the sides of settled tests
        self.upper = NEVER if session.upper is None else session.upper - p.offset
        self.tree: dict[str, Any] | None = None
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.began = time.monotonic()
        self.stopped = False

    def run(self) -> EngineOutcome:
        """Warm up, and settle one root test after the other."""
        least = self._warm_up()
        flight: deque[tuple[int, Future[Message | None]]] = deque()
        with ThreadPoolExecutor(self.callers) as pool:
            for test in self._order():
                while len(flight) >= AHEAD and not self.stopped:
                    self._settle(*flight.popleft())
                if self.stopped:
                    break
                low = self._similar(test)
                self.lower[test] = max(int(self.lower[test]), sum(low) + self.task.node_penalty)
                if self.lower[test] < self.upper:
                    question = np.array([test, self.upper, *low], dtype=np.int64)
                    flight.append((test, pool.submit(self.ask, question)))
            while flight and not self.stopped:
                self._settle(*flight.popleft())
        lower = max(self._bound(), min(least, self.upper))
        native = {
            "complete": not self.stopped and lower >= self.upper,
            "memory": False,
            "seconds": time.monotonic() - self.began,
            "counters": self.counters | {"root_tests": len(self.sides)},
            "tree": self.tree,
            "lower": lower + self.points.offset,
        }
        return self.session.outcome(native)

    def _warm_up(self) -> int:
        """A good tree, the one without a test included; returns a bound."""
        found = self.points.solve(
            slice(None),
            self.task.depth,
            self.upper,
            self._stops,
            use=["cache", "similarity", "warm-up", "only warm-up"],
        )
        self._add([found["counters"][name] for name in COUNTERS])
        if found["tree"] is not None:
            self._take(found["tree"])
        return int(found["lower"])

    def _order(self) -> list[int]:
        """Tests that leave enough weight on both sides, the purest first."""
        p = self.points
        weights = self.session.table.weights.astype(float)
        one = p.bits.T.astype(float) @ weights  # (T, K)
        zero = weights.sum(axis=0) - one
        n1, n0 = one.sum(axis=1), zero.sum(axis=1)
        enough = np.minimum(n0, n1) >= max(1, self.task.min_support)
        pure = (one**2).sum(axis=1) / np.maximum(n1, 1) + (zero**2).sum(axis=1) / np.maximum(n0, 1)
        self.lower[~enough] = NEVER
        return [int(test) for test in np.argsort(-pure, kind="stable") if enough[test]]

    def _similar(self, test: int) -> tuple[int, int]:
        """Bounds of both sides from those of the tests that are settled."""
        if self.task.min_support > 1 or not self.sides:
            return 0, 0
        settled = np.fromiter(self.sides, dtype=np.int64)
        low = np.array([self.sides[one] for one in settled.tolist()], dtype=np.int64)
        both = (self.mass * self.points.bits[:, test]) @ self.points.bits[
            :, settled
        ]  # mass with both tests 1
        m1, mine = self.ones[settled], int(self.ones[test])
        # Side 1 of `test` against side 1 of the other: the rows that only the other has; and against its side 0.
        one = np.maximum(low[:, 1] - (m1 - both), low[:, 0] - (self.total - m1 - mine + both))
        # Side 0 of `test` against side 0 of the other: rows 0 there and 1 here; and against its side 1: rows 1 and 1.
        zero = np.maximum(low[:, 0] - (mine - both), low[:, 1] - both)
        return max(0, int(zero.max())), max(0, int(one.max()))

    def _settle(self, test: int, future: Future[Message | None]) -> None:
        while not wait([future], timeout=0.05).done:
            self._stops()
        reply = future.result()
        if reply is None:
            self.stopped = True
            return
        low0, low1, cost, *rest = (int(number) for number in reply[: 3 + len(COUNTERS)])
        self._add(rest)
        self.sides[test] = low0, low1
        self.lower[test] = max(int(self.lower[test]), low0 + low1 + self.task.node_penalty)
        if cost < self.upper:
            zero, one = _trees(reply[3 + len(COUNTERS) :].tolist())
            self._take(_joined(test, zero, one, cost))
        self._stops()

    def _take(self, tree: dict[str, Any]) -> None:
        self.upper = int(tree["cost"])
        self.tree = tree | {"cost": self.upper + self.points.offset}
        seconds, cost = time.monotonic() - self.began, self.upper + self.points.offset
        self.session.poll(
            [(seconds, cost, min(self._bound(), self.upper) + self.points.offset)], self.tree, 0
        )

    def _bound(self) -> int:
        return int(min(self.lower.min(initial=NEVER), self.upper))

    def _stops(self) -> bool:
        stop, _ = self.session.poll([], None, self.counters["nodes"])
        late = self.asked.time_limit is not None and time.monotonic() - self.began >= self.asked.time_limit
        self.stopped = self.stopped or stop or late
        return self.stopped

    def _add(self, counts: list[int]) -> None:
        for name, count in zip(COUNTERS, counts, strict=True):
            self.counters[name] += count


def _numbers(tree: dict[str, Any] | None) -> list[int]:
    assert tree is not None
    columns = [np.asarray(tree[name]).tolist() for name in ("feature", "left", "right", "label")]
    return [len(columns[0]), *(number for column in columns for number in column)]


def _trees(numbers: list[int]) -> list[list[list[int]]]:
    """The columns feature, left, right and label of each tree."""
    out = []
    while numbers:
        n = numbers[0]
        out.append([numbers[1 + k * n : 1 + (k + 1) * n] for k in range(4)])
        numbers = numbers[1 + 4 * n :]
    return out


def _joined(test: int, zero: list[list[int]], one: list[list[int]], cost: int) -> dict[str, Any]:
    """A tree with that test at the root and these trees on its sides; children come after their parents."""
    begin = 1 + len(zero[0])
    columns = [[test], [1], [begin], [-1]]
    for tree, shift in ((zero, 1), (one, begin)):
        columns[0] += tree[0]
        for side in (1, 2):
            columns[side] += [child + shift if child >= 0 else -1 for child in tree[side]]
        columns[3] += tree[3]
    names = ("feature", "left", "right", "label")
    arrays = {name: np.array(column, dtype=np.int32) for name, column in zip(names, columns, strict=True)}
    return arrays | {"cost": cost}
