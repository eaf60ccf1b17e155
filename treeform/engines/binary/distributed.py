"""The search of DL85 in parts: the tests at the root, each with the best trees of its two sides.

A few rule-guided restarts give a good tree first. Then the root tests are taken in the order of their Gini
impurity. Each is asked with the upper bound, and with the bounds by similarity, that are known when a worker is
free for it; a test that these bounds exclude is not asked about. Of several tests that attain the least cost the
first one of the order counts. Its tree is the one that a search of both its sides finds below exactly their costs,
which is the same whatever was found before: so cost and tree do not depend on the workers.

Costs are those of the points less the least cost of each point (``value``), so that rows taken away never cost. For
the sides A and B of two tests then ``opt(A) >= opt(B) - mass(B without A)``, as in ``treeform/native/binary``.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.binary.engine import BinaryEngine, BinarySession
from treeform.engines.distributed import NOTHING, Ask, Message, Poll
from treeform.engines.memory import Room
from treeform.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.engines.binary.binarize import Binarised
    from treeform.engines.task import EngineOutcome, EngineRun, TreeTask

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
NEVER = NOTHING
MOST_PRODUCTS = 2**32
"""Products of numbers for the masses of all pairs of tests: about a second."""
MOST_PAIRED = 600
"""Tests up to which bounds of pairs travel with the questions: four numbers of 32 bits for each test, below 10 kB."""


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
        cost = settled if None not in trees else NEVER
        out = [settled, cost, *low, *counters.tolist()]
        out += question[5:-2].tolist()
        zero, one = trees
        if zero is not None and one is not None:
            out += _numbers(_joined(test, zero, one))
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
        self.both = _joint_mass(p.bits, self.mass)
        self.lower = np.full(p.bits.shape[1], task.node_penalty, dtype=np.int64)
        tests = p.bits.shape[1]
        # Bounds of the rows on one side of a test and one side of another: [test, value, other, value].
        self.pairs = np.zeros((tests, 2, tests, 2) if tests <= MOST_PAIRED else (0,), dtype=np.int64)
        self.sides: dict[int, tuple[int, int]] = {}  # bounds of the sides of tests that were asked for
        self.place: dict[int, int] = {}  # of the tests in their order
        self.best: int | None = None  # the test of the best tree, if it is not that of the warm-up or given
        self.upper = NEVER if session.upper is None else session.upper - p.offset
        self.tree: dict[str, Any] | None = None
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.began = time.monotonic()
        self.stopped = False

    def run(self) -> EngineOutcome:
        """Warm up, settle one root test after the other, and take the tree of the best one."""
        least = self._warm_up()
        order = self._order()
        self.place = {test: place for place, test in enumerate(order)}
        flight: dict[Future[Message | None], int] = {}
        with ThreadPoolExecutor(self.callers) as pool:
            for test in order:
                while len(flight) >= self.callers and not self.stopped:
                    self._settle(flight)
                if self.stopped:
                    break
                question = self._question(test)
                if question is not None:
                    flight[pool.submit(self.ask, question)] = test
            while flight:
                self._settle(flight)
        if self.best is not None and not self.stopped:
            self._take_tree(self.best)
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
            lambda: (self._stops(), None),
            use=["cache", "similarity", "warm-up", "only warm-up"],
        )
        self._add([found["counters"][name] for name in COUNTERS])
        if found["tree"] is not None:
            self._take(found["tree"])
        return int(found["lower"])

    def _order(self) -> list[int]:
        """Tests that leave enough weight on both sides, the purest first.

        Of tests that part the points in the same way, such as one and its opposite, the first stands for all: two
        workers would search the same.
        """
        p = self.points
        weights = self.session.table.weights.astype(float)
        one = p.bits.T.astype(float) @ weights  # (T, K)
        zero = weights.sum(axis=0) - one
        n1, n0 = one.sum(axis=1), zero.sum(axis=1)
        enough = np.minimum(n0, n1) >= max(1, self.task.min_support)
        pure = (one**2).sum(axis=1) / np.maximum(n1, 1) + (zero**2).sum(axis=1) / np.maximum(n0, 1)
        order = np.argsort(-pure, kind="stable")
        parted = np.packbits(p.bits[:, order] ^ p.bits[:1, order], axis=0)
        first = np.zeros(len(order), dtype=bool)
        first[np.unique(parted, axis=1, return_index=True)[1]] = True
        asked = first & enough[order]
        self.lower[order[~asked]] = NEVER
        return [int(test) for test in order[asked]]

    def _similar(self, test: int) -> tuple[int, int]:
        """Bounds of both sides from those of the tests that are settled."""
        if self.task.min_support > 1 or not self.sides:
            return 0, 0
        settled = np.fromiter(self.sides, dtype=np.int64)
        low = np.array([self.sides[one] for one in settled.tolist()], dtype=np.int64)
        both = self._mass_of_both(test, settled)
        m1, mine = self.ones[settled], int(self.ones[test])
        # Side 1 of `test` against side 1 of the other: the rows that only the other has; and against its side 0.
        one = np.maximum(low[:, 1] - (m1 - both), low[:, 0] - (self.total - m1 - mine + both))
        # Side 0 of `test` against side 0 of the other: rows 0 there and 1 here; and against its side 1: rows 1 and 1.
        zero = np.maximum(low[:, 0] - (mine - both), low[:, 1] - both)
        return max(0, int(zero.max())), max(0, int(one.max()))

    def _mass_of_both(self, test: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """The mass of the points for which that test and each of the others is 1."""
        bits = self.points.bits
        joint: NDArray[np.int64]
        if self.both is None:
            joint = (self.mass * bits[:, test]) @ bits[:, others]
        else:
            joint = self.both[test, others]
        return joint

    def _limit(self, test: int) -> int:
        """Trees with that root test are wanted below it: as cheap as the best one, if that comes later."""
        return self.upper + (self.best is not None and self.place[test] < self.place[self.best])

    def _question(self, test: int) -> Message | None:
        """What to ask about a root test; None where its bounds settle it."""
        low = self._similar(test)
        self.lower[test] = max(int(self.lower[test]), sum(low) + self.task.node_penalty)
        limit = self._limit(test)
        if self.lower[test] >= limit:
            return None
        pairs = self.pairs[test : test + 1].ravel()
        head = [0, limit, 2 + len(pairs), *low]
        return np.concatenate([head, pairs, [test, SEARCH]]).astype(np.int64)

    def _settle(self, flight: dict[Future[Message | None], int]) -> None:
        """Take the replies that have come; wait for one."""
        while not (done := wait(flight, timeout=0.05, return_when=FIRST_COMPLETED).done):
            self._stops()
        for future in done:
            self._read(flight.pop(future), future.result())
        self._stops()

    def _read(self, test: int, reply: Message | None) -> None:
        if reply is None:
            self.stopped = True
            return
        settled, cost, low0, low1, *counts = (int(number) for number in reply[: 4 + len(COUNTERS)])
        self._add(counts)
        self.sides[test] = low0, low1
        rest = self._without_pairs(test, reply[4 + len(COUNTERS) :])
        self.lower[test] = max(int(self.lower[test]), settled)
        if cost < self._limit(test):
            self.best = test
            self._take(_tree(rest, cost))

    def _without_pairs(self, test: int, numbers: Message) -> Message:
        """The end of a reply, after what it states of pairs has been entered."""
        mine = self.pairs[test : test + 1]
        if mine.size:
            found = numbers[: mine.size].reshape(mine.shape[1:])
            self.pairs[test] = np.maximum(self.pairs[test], found)
            others = self.pairs[:, :, test, :]  # a view: the same rows, met the other way round
            np.maximum(others, found.transpose(1, 2, 0), out=others)
        return numbers[mine.size :]

    def _take_tree(self, test: int) -> None:
        """The tree of a root test that is known to attain the least cost."""
        question = np.array([1, self.upper + 1, 2, *self.sides[test], test, TREE], dtype=np.int64)
        reply = self.ask(question)
        if reply is not None and int(reply[1]) == self.upper:
            self.tree = _tree(reply[4 + len(COUNTERS) :], self.upper + self.points.offset)

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


def _joint_mass(bits: NDArray[np.uint8], mass: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The mass for which both tests of each pair are 1; None where that takes long, or floats could round it.

    One product of matrices takes far less time than a product of a vector for each question.
    """
    points, tests = bits.shape
    if points * tests**2 > MOST_PRODUCTS or int(mass.sum()) >= 2**53:
        return None
    one = bits.astype(np.float64)
    return np.rint((one * mass[:, None]).T @ one).astype(np.int64)


TREE_COLUMNS = ("feature", "left", "right", "label")


def _numbers(tree: dict[str, Any]) -> list[int]:
    """The number of nodes, and the columns of a tree."""
    columns = [np.asarray(tree[name]).tolist() for name in TREE_COLUMNS]
    return [len(columns[0]), *(number for column in columns for number in column)]


def _tree(numbers: Message, cost: int) -> dict[str, Any]:
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
