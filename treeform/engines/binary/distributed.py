"""The search of DL85 in parts: the tests at the root, each with the best trees of its two sides.

A few rule-guided restarts give a good tree first. Then the root tests are taken in the order of their Gini
impurity. Each is asked with the upper bound, and with the bounds of pairs of tests, that are known when a worker is
free for it. Of several tests that attain the least cost the first one of the order counts. Its tree is the one that a
search of both its sides finds at last, below exactly their costs, which is the same whatever was found before: so cost
and tree do not depend on the workers. What a worker does is in ``treeform/native/binary/parts.cpp``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.binary.engine import BinaryEngine, BinarySession
from treeform.engines.distributed import NOTHING, Evaluator
from treeform.engines.native_call import Room
from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.engines.task import Ask, EngineOutcome, EngineRun, Message, TreeTask

MOST_PAIRED = 600
"""Tests up to which bounds of pairs travel with the questions: four numbers of 32 bits for each test, below 10 kB."""
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
TREE_COLUMNS = ("feature", "left", "right", "label")


def evaluator_of(engine: BinaryEngine, session: BinarySession) -> Evaluator:
    """What answers questions about root tests."""
    from treeform import _core

    points = _Points(engine, session)
    given = points.keywords() | {"depth": session.task.depth, "upper": None}
    del given["time_limit"]
    evaluator: Evaluator = _core.BinaryEvaluator(points.bits, points.value, points.weight, **given)
    return evaluator


def in_parts(engine: BinaryEngine, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask) -> EngineOutcome:
    """The search, with its root tests answered by ``ask``.

    Raises SpecError if the tests of both sides of the root share a budget.
    """
    if task.max_nodes is not None and task.max_nodes < 2**task.depth - 1:
        raise SpecError(
            f"{engine.name} cannot share a search with max_nodes={task.max_nodes} between workers",
            cause="both sides of the root draw on one budget of tests",
            fix="solve with tf.ConTree(), which can, or without executor and journal",
        )
    return _Roots(engine, engine.session(data, task, run)).run(ask, run.callers)


class _Points:
    """The points of a task with the costs of each class, and what a native search of some of them needs.

    Attributes
    ----------
    bits : (P, T) uint8
    value : (P, C) int64
        Costs less the least cost of each row, so that rows taken away never cost.
    weight : (P,) int64
    offset : int
        What was subtracted.
    """

    def __init__(self, engine: BinaryEngine, session: BinarySession) -> None:
        self.engine, self.task, self._room = engine, session.task, Room(engine.memory_limit)
        value = session.table.weights @ session.cost
        least = value.min(axis=1)
        self.bits, self.weight = session.table.bits, session.table.weights.sum(axis=1)
        self.value, self.offset = np.ascontiguousarray(value - least[:, None]), int(least.sum())

    def keywords(self) -> dict[str, Any]:
        """Those of a native search on one thread."""
        return self.engine.keywords(self.task, 1, self._room.left())

    def solve(
        self, rows: Any, depth: int, upper: int, stop: Callable[[], bool], use: list[str]
    ) -> dict[str, Any]:
        """A native search of some of the points with these techniques."""
        from treeform import _core

        found: dict[str, Any] = _core.binary(
            np.ascontiguousarray(self.bits[rows]),
            np.ascontiguousarray(self.value[rows]),
            self.weight[rows],
            depth=depth,
            upper=upper,
            poll=lambda *_: (stop(), None),
            **(self.keywords() | {"use": use}),
        )
        return found

    def tree_of_side(self, test: int, side: int, least: int, stop: Callable[[], bool]) -> Any:
        """The best tree of one side of a root test, which costs ``least``, searched without what was found before."""
        # The bound is as good as it can be: a side needs no warm-up of its own.
        use = [part for part in self.keywords()["use"] if part != "warm-up"]
        rows = np.flatnonzero(self.bits[:, test] == side)
        return self.solve(rows, self.task.depth - 1, least + 1, stop, use)["tree"]


class _Roots:
    """The sequence of root tests."""

    def __init__(self, engine: BinaryEngine, session: BinarySession) -> None:
        self.session, self.task = session, session.task
        self.points = _Points(engine, session)
        tests = self.points.bits.shape[1]
        self.lower = np.full(tests, self.task.node_penalty, dtype=np.int64)
        # Bounds of the rows on one side of a test and one side of another: [test, value, other, value].
        self.pairs = np.zeros((tests, 2, tests, 2) if tests <= MOST_PAIRED else (0,), dtype=np.int64)
        self.best: tuple[int, int] | None = None  # place and test of the best tree, if a reply has found it
        self.sides: tuple[int, int] = 0, 0  # what its sides cost
        self.upper = NOTHING if session.upper is None else session.upper - self.points.offset
        self.tree: dict[str, Any] | None = None
        self.news: list[tuple[float, int, int]] = []
        self.counters = dict.fromkeys([*COUNTERS, "root_tests"], 0)
        self.began = time.monotonic()
        self.stopped = False
        self.lock = threading.Lock()

    def run(self, ask: Ask, callers: int) -> EngineOutcome:
        """Warm up, settle one root test after the other, and search the tree of the best one."""
        use = ["cache", "similarity", "warm-up", "only warm-up"]
        found = self.points.solve(slice(None), self.task.depth, self.upper, self._stops, use)
        self._count([found["counters"][name] for name in COUNTERS])
        if found["tree"] is not None:
            self._take(found["tree"])
        with ThreadPoolExecutor(callers) as pool:
            asked = [pool.submit(self._settle, ask, *one) for one in enumerate(self._order())]
            while wait(asked, timeout=0.05).not_done:
                self._stops()
        for one in asked:
            one.result()
        lower = max(self._bound(), min(int(found["lower"]), self.upper))
        complete = not self.stopped and lower >= self.upper
        if complete and self.best is not None:
            self._search_tree(self.best[1])
        native = {
            "complete": complete,
            "memory": False,
            "seconds": time.monotonic() - self.began,
            "counters": self.counters,
            "tree": self.tree,
            "lower": lower + self.points.offset,
        }
        return self.session.outcome(native)

    def _order(self) -> list[int]:
        """Tests that leave enough weight on both sides, the purest first.

        Of tests that part the points in the same way, such as one and its opposite, the first stands for all: two
        workers would search the same.
        """
        bits = self.points.bits
        weights = self.session.table.weights.astype(float)
        one = bits.T.astype(float) @ weights  # (T, K)
        zero = weights.sum(axis=0) - one
        n1, n0 = one.sum(axis=1), zero.sum(axis=1)
        enough = np.minimum(n0, n1) >= max(1, self.task.min_support)
        pure = (one**2).sum(axis=1) / np.maximum(n1, 1) + (zero**2).sum(axis=1) / np.maximum(n0, 1)
        order = np.argsort(-pure, kind="stable")
        parted = np.packbits(bits[:, order] ^ bits[:1, order], axis=0)
        first = np.zeros(len(order), dtype=bool)
        first[np.unique(parted, axis=1, return_index=True)[1]] = True
        asked = first & enough[order]
        self.lower[order[~asked]] = NOTHING
        return [int(test) for test in order[asked]]

    def _settle(self, ask: Ask, place: int, test: int) -> None:
        """Ask about a root test, unless its bound settles it."""
        with self.lock:
            limit = self._limit(place)
            if self.stopped or self.lower[test] >= limit:
                return
            hints = self.pairs[test : test + 1].ravel()
            question = np.concatenate([[limit, len(hints)], hints, [test]]).astype(np.int64)
        reply = ask(question)
        with self.lock:
            if reply is None:
                self.stopped = True
            else:
                self._read(place, test, reply)

    def _limit(self, place: int) -> int:
        """Trees with the test at that place are wanted below it: as cheap as the best one, if that comes later."""
        return self.upper + (self.best is not None and place < self.best[0])

    def _read(self, place: int, test: int, reply: Message) -> None:
        begin = 4 + len(COUNTERS)
        settled, cost, low0, low1, *counts = (int(number) for number in reply[:begin])
        self._count(counts)
        self.counters["root_tests"] += 1
        mine = self.pairs[test : test + 1]
        if mine.size:
            found = reply[begin : begin + mine.size].reshape(mine.shape[1:])
            self.pairs[test] = np.maximum(self.pairs[test], found)
            others = self.pairs[:, :, test, :]  # a view: the same rows, met the other way round
            np.maximum(others, found.transpose(1, 2, 0), out=others)
        self.lower[test] = max(int(self.lower[test]), settled)
        if cost < self._limit(place):
            self.best, self.sides = (place, test), (low0, low1)
            columns = reply[begin + mine.size + 1 :].reshape(len(TREE_COLUMNS), -1).astype(np.int32)
            self._take(dict(zip(TREE_COLUMNS, columns, strict=True)) | {"cost": cost})

    def _search_tree(self, test: int) -> None:
        """Search the tree of the best test here; the one of its reply depends on what its worker had found before."""
        sides = [self.points.tree_of_side(test, side, self.sides[side], self._stops) for side in (0, 1)]
        if all(side is not None for side in sides):
            self.tree = joined(test, *sides) | {"cost": self.upper + self.points.offset}

    def _take(self, tree: dict[str, Any]) -> None:
        self.upper = int(tree["cost"])
        offset = self.points.offset
        self.tree = tree | {"cost": self.upper + offset}
        bound = min(self._bound(), self.upper)
        self.news.append((time.monotonic() - self.began, self.upper + offset, bound + offset))

    def _bound(self) -> int:
        return int(min(self.lower.min(initial=NOTHING), self.upper))

    def _stops(self) -> bool:
        """Report what has been found; whether the search has to stop."""
        with self.lock:
            news, self.news, tree = self.news, [], self.tree
        stop, _ = self.session.poll(news, tree if news else None, self.counters["nodes"])
        self.stopped = self.stopped or stop
        return self.stopped

    def _count(self, counts: list[int]) -> None:
        for name, count in zip(COUNTERS, counts, strict=True):
            self.counters[name] += count


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
