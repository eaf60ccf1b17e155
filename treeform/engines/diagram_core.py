"""The call of the native core for diagrams, and its callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.engines.distributed import Evaluator
from treeform.engines.native_call import (
    NO_FEATURE,
    Room,
    Session,
    Start,
    admissible_diagram,
    counters_of,
    time_limit_of,
    to_diagram,
)
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.utils.text import count_of

NEVER = 2**61
LARGEST_PRICED = 2**60
"""Of an objective: costs at their rate, and tests at their price, all together."""
MOST_PARTS = 64
USUAL_MEMORY = 2**30
USUAL_START_SECONDS = 5.0
SMALL_TABLE = 8_000_000
"""Bytes of a table, up to which a search may take `USUAL_MEMORY` whatever the size of the table."""
ALL_TESTS, SOME_TESTS, KEPT = 1.0, 0.75, 0.5
"""Of the bytes of a larger table, what all tests may take as sets of rows, those of a round, and what is kept."""
LEAST_TESTS = 4
"""Searches for fewer tests than that stay in one process: they take less time than communication."""
_MOST_CLASSES = 256


def usual_memory(data: Dataset, part: float) -> int:
    """Bytes that a search may take where none are given: that part of a large table."""
    return USUAL_MEMORY if data.X.nbytes <= SMALL_TABLE else min(USUAL_MEMORY, int(part * data.X.nbytes))


def has_room(data: Dataset, limit: int | None = None) -> bool:
    """Whether there is room for all tests as sets of rows."""
    bytes_of_one = (data.points.n_points + 63) // 64 * 8
    return not data.has_more_tests_than((limit or usual_memory(data, ALL_TESTS)) // bytes_of_one)


def memory_of_round(data: Dataset, limit: int | None) -> int:
    """Bytes for the tests of some thresholds, where there is no room for all."""
    return min(limit or usual_memory(data, SOME_TESTS), (limit or USUAL_MEMORY) // 4)


@dataclass(frozen=True)
class CoreCall:
    """The input of the native core, beyond the task."""

    thresholds: Sequence[np.ndarray] | None = None
    """By column those to be tried, ascending; None: all there are."""
    prices: Sequence[tuple[int, int]] = ()
    """sequence of (rate, price): objectives ``rate * cost + price * tests`` to prove, one after the other."""
    free: int = 0
    """Tests that have no price."""
    every_number: bool = False
    """Prove the least cost for every number of tests as well."""
    known: Sequence[int] = ()
    """The least known cost, by number of tests."""
    start: DecisionGraph | None = None
    """A model of a known cost, in normal form: the search for better ones begins with it."""
    refuted: Sequence[int] = ()
    """Lower bounds known already, by number of tests."""
    upper: int | None = None
    """With one objective: only models below this are wanted."""
    use: tuple[str, ...] = ()
    """Techniques of the search."""
    memory: int | None = None
    simd: str = "auto"
    seed: int = 0
    start_seconds: float = USUAL_START_SECONDS
    starts: int = -1
    """Of the diagrams built by information gain before the search; -1 starts: a fraction of a second."""

    def run(
        self, data: Dataset, task: TreeTask, session: DiagramSession, time_limit: float | None
    ) -> dict[str, Any]:
        """The core's answer; with ``ask`` of the run, ranges of tests at the root are asked of others."""
        answer: dict[str, Any] = _core.diagram(
            *_arrays(data, task, self.thresholds),
            **self._keywords(data, task),
            upper=self.upper,
            time_limit=time_limit_of(time_limit),
            poll=session.poll,
            ask=session.given.ask,
            callers=session.given.callers,
        )
        return answer

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What answers for ranges of tests at the root."""
        evaluator: Evaluator = _core.DiagramEvaluator(
            *_arrays(data, task, self.thresholds), **self._keywords(data, task)
        )
        return evaluator

    def _check_prices(self, data: Dataset, task: TreeTask, most: int) -> None:
        dearest = data.total_weight * int(cost_matrix(task, data).max())
        if any(rate * dearest + price * most > LARGEST_PRICED for rate, price in self.prices):
            raise SpecError(
                "the price of a test has too many digits, or is too large, for exact 64-bit arithmetic",
                cause=f"costs of {dearest} and {count_of(most, 'test')} at that price sum to more than 2**60",
                fix="use a price with fewer digits, or a smaller one: at the cost of all samples no test pays",
            )

    def _keywords(self, data: Dataset, task: TreeTask) -> dict[str, Any]:
        widths, most = skeleton(task, data)
        self._check_prices(data, task, most)
        return {
            "widths": widths,
            "is_tree": task.widths is None,
            "max_nodes": most,
            "min_support": task.min_support,
            "min_flow": task.min_flow,
            "rates": [rate for rate, _ in self.prices],
            "prices": [price for _, price in self.prices],
            "free_tests": self.free,
            "known": list(self.known)[: most + 1],
            **_start_keywords(self.start, data),
            "refuted": list(self.refuted)[: most + 1],
            "seed": self.seed,
            "start_seconds": self.start_seconds,
            "starts": self.starts,
            "memory": self.memory or USUAL_MEMORY,
            "kept": self.memory or usual_memory(data, KEPT),
            "memory_limit": Room(self.memory).left(),
            "use": [*self.use, *(["every number"] if self.every_number else [])],
            "simd": self.simd,
            "least_tests": LEAST_TESTS,
        }


def _arrays(data: Dataset, task: TreeTask, thresholds: Sequence[np.ndarray] | None) -> tuple[Any, ...]:
    """Rows, costs, weights and order of the points, and thresholds; what came in a message may be out of alignment.

    Points with the same cheapest class are neighbours, so that few words of a bit set hold those of one class.
    """
    points = data.points
    costs = points.weights @ cost_matrix(task, data)
    order = np.argsort(costs.argmin(axis=1), kind="stable")
    given: tuple[np.ndarray, ...] = (np.zeros(0), np.zeros(0, dtype=np.int64))
    if thresholds is not None:
        given = np.concatenate([*thresholds, np.zeros(0)]), np.cumsum([0, *map(len, thresholds)])
    arrays = (points.X, costs[order], points.weights.sum(axis=1)[order], order, *given)
    return tuple(np.require(array, requirements=["C", "A"]) for array in arrays)


def _start_keywords(graph: DecisionGraph | None, data: Dataset) -> dict[str, list[Any]]:
    """The tests of a model as the core takes them to begin with, each after those that lead to it."""
    nodes: list[int] = [] if graph is None else np.flatnonzero(graph.feature >= 0).tolist()
    place = {node: at for at, node in enumerate(nodes)}
    found: dict[str, list[Any]] = {"feature": [], "threshold": [], "left": [], "right": []}
    for node in nodes:
        assert graph is not None
        feature = int(graph.feature[node])
        passes = feature >= data.n_features
        found["feature"].append(NO_FEATURE if passes else feature)
        found["threshold"].append(0.0 if passes else float(graph.threshold[node]))
        for side, heads in (("left", graph.left), ("right", graph.right)):
            found[side].append(place.get(int(heads[node]), -1))
    return {f"start_{name}": values for name, values in found.items()}


def cost_matrix(task: TreeTask, data: Dataset) -> np.ndarray:
    """(K, K) int64: the task's costs, or those of errors."""
    if task.cost is None:
        return 1 - np.eye(data.n_classes, dtype=np.int64)
    return np.ascontiguousarray(task.cost, dtype=np.int64)


def skeleton(task: TreeTask, data: Dataset) -> tuple[list[int], int]:
    """The widths of the layers, and the most tests that can be of use.

    Raises SpecError if a layer is wider than the search can hold, or there are too many classes.
    """
    if data.n_classes > _MOST_CLASSES:
        raise SpecError(
            f"DiagramSearch holds {_MOST_CLASSES} classes, and the data have {data.n_classes}",
            fix="use another solver",
        )
    points = data.points.n_points
    if task.widths is None:
        # Every test of a tree parts its points, so there are fewer tests than points.
        most = min(2**task.depth - 1, max(points - 1, 0))
        most = most if task.max_nodes is None else min(most, task.max_nodes)
        return [min(2**level, max(most, 1)) for level in range(task.depth)], most
    most = sum(task.widths) if task.max_nodes is None else min(sum(task.widths), task.max_nodes)
    if max(min(width, most) for width in task.widths) > MOST_PARTS:
        raise SpecError(
            f"DiagramSearch holds {MOST_PARTS} tests in a layer, and the widths are {task.widths}",
            fix="use narrower layers or bound the tests by tf.MaxNodes",
        )
    return list(task.widths), most


def known_costs(starts: Sequence[Start], task: TreeTask, data: Dataset) -> list[int]:
    """The least known cost, by number of tests."""
    _, most = skeleton(task, data)
    known = [NEVER] * (most + 1)
    for one in starts:
        if one.tests <= most:
            known[one.tests] = min(known[one.tests], one.cost)
    return known


class DiagramSession(Session):
    """A session whose core reports diagrams by number of tests, and bounds for every number."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        super().__init__(data, task, run)
        self.is_tree = task.widths is None
        self.known: list[int] = []
        start = None if run.start is None else admissible_diagram(run.start, data, task)
        if start is not None and self.begin_with(start.graph, start.cost + task.node_penalty * start.tests):
            self.known = known_costs([start], task, data)
        self.best = NEVER if self.start_cost is None else self.start_cost

    def report(self, news: list[Any], bounds: Any) -> None:
        """Pass on the best of the diagrams (seconds, tests, cost, diagram), and the least of the bounds by tests."""
        assert self.given.on_incumbent is not None
        price, seconds, graph = self.task.node_penalty, 0.0, None
        for at, tests, cost, native in news:
            seconds = at
            if cost + price * tests < self.best:
                self.best, graph = cost + price * tests, native
        if (graph is None and bounds is None) or self.best >= NEVER:
            return
        lower = 0 if bounds is None else min(low + price * k for k, low in enumerate(bounds[0]))
        diagram = None if graph is None else to_diagram(graph, self.data, self.is_tree)
        self.given.on_incumbent(seconds, self.best, min(lower, self.best), diagram)

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        price, graph, cost = self.task.node_penalty, self.start, self.start_cost
        upper = self.upper
        for k, (found_cost, diagram) in enumerate(zip(native["upper"], native["diagrams"], strict=True)):
            if diagram is not None and (upper is None or found_cost + price * k < upper):
                graph, cost = to_diagram(diagram, self.data, self.is_tree), found_cost + price * k
                upper = cost
        lower = min((low + price * k for k, low in enumerate(native["lower"])), default=0)
        counters = counters_of(native) | {"splits": int(native["splits"]), "points": int(native["points"])}
        return self.outcome_with(native, graph, cost, lower, counters=counters)
