"""PathSearch: provably optimal trees under rules on paths, over few tests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from threadpoolctl import threadpool_limits

from treeform.data import Dataset
from treeform.engines.checks import check_memory, check_taken, take_plain_numbers
from treeform.engines.native_call import LEAST, Room, Watched, refused
from treeform.engines.paths.pairs import Node
from treeform.engines.paths.search import Search
from treeform.engines.paths.table import Table
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.graph import DecisionGraph
from treeform.utils.out_of_reach import Stopped

MOST_TESTS = 10_000
"""All of them are looked at, and pairs of them are counted."""
MOST_CELLS = 50_000_000
"""Points times tests, held as float64: 400 MB."""
NO_TREE = 2**60
"""The bound when no admissible tree exists: above the cost of any."""
EXACT = 2**53
"""Whole numbers below are exact in float64."""


@dataclass(frozen=True, kw_only=True)
class PathSearch(Engine):
    """Exact search for trees under rules on paths: what may be tested next, by what was tested above.

    It enumerates all distinct tests and counts all pairs of them: it is meant for tables of few tests
    (hundreds), and for depths of up to about four.

    Parameters
    ----------
    pairs : bool
        Whether subtrees of depth two are counted from pairs of tests. The answer is the same without, and takes longer.
    memory_limit : int or None
        Bytes by which the process may grow; fewer pairs of tests are counted at once near it, and the search stops with
        its best tree where that does not suffice. A table that cannot fit is refused before it is built.

    Examples
    --------
    >>> PathSearch().name
    'path-search'
    """

    pairs: bool = True
    memory_limit: int | None = None

    name: ClassVar[str] = "path-search"
    few_tests: ClassVar[int] = 500  # its work grows with their square and more
    few_to_prove: ClassVar[int] = 500
    plain_title: ClassVar[str] = "test by test"
    chosen_for: ClassVar[str] = "proves optima under rules on paths; it enumerates the distinct tests"
    understands: ClassVar[frozenset[str]] = frozenset(
        {"features", "cost", "node_penalty", "min_support", "min_flow", "sample_cost", "paths", "weights"}
    )

    def __post_init__(self) -> None:
        take_plain_numbers(self)
        check_memory("PathSearch", self.memory_limit)

    def plain(self) -> PathSearch:
        """Without its counts of pairs."""
        return PathSearch(pairs=False)

    def unsupported(self, data: Dataset, task: TreeTask) -> str | None:
        if task.widths is not None:
            return "it searches trees, not layered diagrams"
        if data.n_tests > MOST_TESTS:
            return f"it counts pairs of at most {MOST_TESTS} tests, and the table has {data.n_tests}"
        if data.points.n_points * data.n_tests > MOST_CELLS:
            cells = f"{data.points.n_points} distinct rows and {data.n_tests} tests"
            return f"it holds {MOST_CELLS} answers of tests at most, and the table has {cells}"
        dearest = int(task.cost_of_samples(data).max(initial=1))
        if (
            int(data.weights.astype(object).sum()) * max(dearest, 1) + task.node_penalty * 2**task.depth
            >= EXACT
        ):
            return "the costs of all samples together exceed 2**53"
        return None

    def answer(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; `run` takes its sets of features itself, over one table."""
        return self.run(data, task, run)

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, or too large.
        """
        check_taken(self, data, task, "use fewer thresholds, or tf.CPSAT() or tf.HiGHS()")
        room = Room(None if self.memory_limit is None else max(self.memory_limit, LEAST))
        table = 9 * data.points.n_points * data.n_tests  # answers of tests as booleans and as float64
        if not room.has(table):
            return refused(table)
        # One thread: the products are small, and threads that wait for each other take all processors.
        with threadpool_limits(1, user_api="blas"):
            return _Run(data, task, run, self.pairs, room).outcome()


class _Run(Watched):
    """One run: the search at the root, and its outcome."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun, pairs: bool, room: Room) -> None:
        self.data, self.task, self.given, self.pairs, self.room = data, task, run, pairs, room
        self.began = time.monotonic()

    def outcome(self) -> EngineOutcome:
        """The best tree, and what is proved."""
        try:
            self.table = Table(self.data, self.task, self.is_over)
        except Stopped:
            return EngineOutcome(None, None, 0, False, self._limit(), time.monotonic() - self.began, {})
        wanted = self.given.upper() if callable(self.given.upper) else self.given.upper
        best: Node = None
        upper = float(NO_TREE if wanted is None else wanted)
        complete, full = True, False
        for features in self.task.features or (None,):
            search = Search(self.table, self.task, features, self.is_over, self.pairs, self.room)
            try:
                search.root(upper, self._found)
            except (Stopped, MemoryError) as why:
                complete, full = False, isinstance(why, MemoryError)
            except KeyboardInterrupt:
                complete, self.interrupted = False, True
            upper, best = search.best or (upper, best)
            if not complete:
                break
        lower = int(upper) if complete else min(int(upper), self.table.floor())
        return EngineOutcome(
            graph=None if best is None else self._graph(best),
            upper=None if best is None else int(upper),
            lower=lower,
            proved=complete,
            reason=None if complete else "memory" if full else self._limit(),
            seconds=time.monotonic() - self.began,
            counters={"tests": len(self.table.feature), "pairs": self.table.counted},
        )

    def _limit(self) -> str:
        return "interrupted" if self.interrupted else "time"

    def _found(self, cost: float, tree: Node) -> None:
        if self.given.on_incumbent is not None:
            seconds = time.monotonic() - self.began
            self.given.on_incumbent(seconds, int(cost), self.table.floor(), self._graph(tree))

    def _graph(self, tree: Node) -> DecisionGraph:
        def nested(node: Node) -> Any:
            if not isinstance(node, tuple):
                return node
            test, left, right = node
            feature, threshold = int(self.table.feature[test]), float(self.table.threshold[test])
            return (feature, threshold, nested(left), nested(right))

        if not isinstance(tree, tuple):
            return DecisionGraph.leaf(int(tree), self.data)
        return DecisionGraph.from_nested(nested(tree), self.data)
