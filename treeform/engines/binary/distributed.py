"""The search of DL85 in parts: the tests at the root, each with the best trees of its two sides.

A few rule-guided restarts give a good tree first. Then the root tests are taken in the order of their Gini
impurity. Each is asked with the upper bound, and with the bounds by similarity, that are known when a worker is
free for it; a test that these bounds exclude is not asked about. Of several tests that attain the least cost the
first one of the order counts. Its tree is the one that a search of both its sides finds at last, below exactly their
costs, which is the same whatever was found before: so cost and tree do not depend on the workers. What a worker does is
in `root_tests`.

Costs are those of the points less the least cost of each point (``value``), so that rows taken away never cost. For
the sides A and B of two tests then ``opt(A) >= opt(B) - mass(B without A)``, as in ``treeform/native/binary``.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.binary.engine import BinaryEngine, BinarySession
from treeform.engines.binary.root_tests import COUNTERS, Points, joined, tree_of
from treeform.engines.distributed import NOTHING, Ask, Message
from treeform.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.engines.task import EngineOutcome, EngineRun, TreeTask

MOST_PRODUCTS = 2**32
"""Products of numbers for the masses of all pairs of tests: about a second."""
MOST_PAIRED = 600
"""Tests up to which bounds of pairs travel with the questions: four numbers of 32 bits for each test, below 10 kB."""


def run_distributed(
    engine: BinaryEngine, data: Dataset, task: TreeTask, run: EngineRun, ask: Ask, callers: int
) -> EngineOutcome:
    """The search, with its root tests answered by ``ask``.

    Raises SpecError if the tests of both sides of the root share a budget.
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
    return _Roots(engine, session, task, ask, callers).run()


class _Roots:
    """The sequence of root tests."""

    def __init__(
        self,
        engine: BinaryEngine,
        session: BinarySession,
        task: TreeTask,
        ask: Ask,
        callers: int,
    ) -> None:
        self.session, self.task, self.ask, self.callers = session, task, ask, callers
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
        self.upper = NOTHING if session.upper is None else session.upper - p.offset
        self.tree: dict[str, Any] | None = None
        self.flight: dict[Future[Message | None], int] = {}  # the test that each is about
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.began = time.monotonic()
        self.stopped = False

    def run(self) -> EngineOutcome:
        """Warm up, settle one root test after the other, and search the tree of the best one."""
        least = self._warm_up()
        order = self._order()
        self.place = {test: place for place, test in enumerate(order)}
        with ThreadPoolExecutor(self.callers) as pool:
            for test in order:
                while len(self.flight) >= self.callers and not self.stopped:
                    self._settle()
                question = None if self.stopped else self._question(test)
                if question is not None:
                    self.flight[pool.submit(self.ask, question)] = test
            while self.flight:
                self._settle()
        lower = max(self._bound(), min(least, self.upper))
        complete = not self.stopped and lower >= self.upper
        if complete and self.best is not None:
            self._search_tree(self.best)
        native = {
            "complete": complete,
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
        self.lower[order[~asked]] = NOTHING
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
        return np.concatenate([[limit, 2 + len(pairs), *low], pairs, [test]]).astype(np.int64)

    def _settle(self) -> None:
        """Take the replies that have come; wait for one."""
        while not (done := wait(self.flight, timeout=0.05, return_when=FIRST_COMPLETED).done):
            self._stops()
        for future in done:
            self._read(self.flight.pop(future), future.result())
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
            self._take(tree_of(rest, cost))

    def _without_pairs(self, test: int, numbers: Message) -> Message:
        """The end of a reply, after what it states of pairs has been entered."""
        mine = self.pairs[test : test + 1]
        if mine.size:
            found = numbers[: mine.size].reshape(mine.shape[1:])
            self.pairs[test] = np.maximum(self.pairs[test], found)
            others = self.pairs[:, :, test, :]  # a view: the same rows, met the other way round
            np.maximum(others, found.transpose(1, 2, 0), out=others)
        return numbers[mine.size :]

    def _search_tree(self, test: int) -> None:
        """Search the tree of the best test here; the one of its reply depends on what its worker had found before."""
        search = self.points.tree_of_side
        with ThreadPoolExecutor(2) as pool:
            least, stop = self.sides[test], lambda: self.stopped
            sides = [pool.submit(search, test, side, least[side], stop) for side in (0, 1)]
            while wait(sides, timeout=0.05).not_done:
                self._stops()
        zero, one = (side.result() for side in sides)
        if zero is not None and one is not None:
            self.tree = joined(test, zero, one) | {"cost": self.upper + self.points.offset}

    def _take(self, tree: dict[str, Any]) -> None:
        self.upper = int(tree["cost"])
        self.tree = tree | {"cost": self.upper + self.points.offset}
        seconds, cost = time.monotonic() - self.began, self.upper + self.points.offset
        self.session.poll(
            [(seconds, cost, min(self._bound(), self.upper) + self.points.offset)], self.tree, 0
        )

    def _bound(self) -> int:
        return int(min(self.lower.min(initial=NOTHING), self.upper))

    def _stops(self) -> bool:
        stop, _ = self.session.poll([], None, self.counters["nodes"])
        self.stopped = self.stopped or stop
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
