"""The call of the native core for diagrams, and what goes on beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.conversion import Start, admissible_diagram, to_diagram
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

NEVER = 2**61
MOST_PARTS = 64
USUAL_MEMORY = 2**30
USUAL_START_SECONDS = 5.0
_MOST_CLASSES = 256


@dataclass(frozen=True)
class CoreCall:
    """What the native core is asked, beyond the task.

    Attributes
    ----------
    prices : sequence of (rate, price)
        Objectives ``rate * cost + price * tests`` to prove, one after the other.
    free : int
        Tests that have no price.
    every_number : bool
        Prove the least cost for every number of tests as well.
    known : list of int
        The least cost in hand, by number of tests.
    refuted : sequence of int
        Lower bounds known already, by number of tests.
    upper : int or None
        With one objective: only models below this are wanted.
    use : tuple of str
        Aids of the search.
    seed, start_seconds, starts
        Of the diagrams built by information gain before the search; -1 starts: a fraction of a second.
    """

    prices: Sequence[tuple[int, int]] = ()
    free: int = 0
    every_number: bool = False
    known: Sequence[int] = ()
    refuted: Sequence[int] = ()
    upper: int | None = None
    use: tuple[str, ...] = ()
    memory: int | None = None
    simd: str = "auto"
    seed: int = 0
    start_seconds: float = USUAL_START_SECONDS
    starts: int = -1

    def run(self, data: Dataset, task: TreeTask, time_limit: float | None, poll: Any) -> dict[str, Any]:
        """The core's answer."""
        from treeform import _core

        widths, most = skeleton(task, data)
        points = data.points
        answer: dict[str, Any] = _core.diagram(
            x=np.ascontiguousarray(points.X),
            value=np.ascontiguousarray(points.weights @ cost_matrix(task, data)),
            weight=np.ascontiguousarray(points.weights.sum(axis=1)),
            widths=widths,
            is_tree=task.widths is None,
            max_nodes=most,
            min_support=task.min_support,
            min_flow=task.min_flow,
            upper=self.upper,
            rates=[rate for rate, _ in self.prices],
            prices=[price for _, price in self.prices],
            free_tests=self.free,
            known=list(self.known)[: most + 1],
            refuted=list(self.refuted)[: most + 1],
            seed=self.seed,
            start_seconds=self.start_seconds,
            starts=self.starts,
            memory=self.memory or USUAL_MEMORY,
            use=[*self.use, *(["every number"] if self.every_number else [])],
            simd=self.simd,
            time_limit=math.inf if time_limit is None else max(0.0, time_limit),
            poll=poll,
        )
        return answer


def cost_matrix(task: TreeTask, data: Dataset) -> np.ndarray:
    """(K, K) int64: the task's costs, or those of errors."""
    if task.cost is None:
        return 1 - np.eye(data.n_classes, dtype=np.int64)
    return np.ascontiguousarray(task.cost, dtype=np.int64)


def skeleton(task: TreeTask, data: Dataset) -> tuple[list[int], int]:
    """The widths of the layers, and the most tests that can be of use.

    Raises
    ------
    SpecError
        If a layer is wider than the search can hold, or there are too many classes.
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


def known_costs(found: Sequence[Start], task: TreeTask, data: Dataset) -> list[int]:
    """The least cost in hand, by number of tests."""
    _, most = skeleton(task, data)
    known = [NEVER] * (most + 1)
    for one in found:
        if one.tests <= most:
            known[one.tests] = min(known[one.tests], one.cost)
    return known


class Session:
    """One run: the bounds that go in, the polls in between, and the answer that comes out."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        self.data, self.task, self.given = data, task, run
        self.is_tree = task.widths is None
        self.interrupted = False
        self.start: tuple[DecisionGraph, int] | None = None
        self.known: list[int] = []
        self.upper = self._asked_upper()
        self.best = NEVER
        found = None if run.start is None else admissible_diagram(run.start, data, task)
        if found is not None:
            value = found.cost + task.node_penalty * found.tests
            if self.upper is None or value < self.upper:
                self.start, self.best = (found.graph, value), value
                self.known = known_costs([found], task, data)
                if run.on_incumbent is not None:
                    run.on_incumbent(0.0, value, 0, found.graph)

    def _asked_upper(self) -> int | None:
        upper = self.given.upper
        return upper() if callable(upper) else upper

    def poll(
        self, news: list[tuple[float, int, int, dict[str, Any]]], bounds: tuple[list[int], list[int]] | None
    ) -> tuple[bool, int | None]:
        """Pass improvements on; say whether to stop, and the upper bound if it moves."""
        try:
            if self.given.on_incumbent is not None and (news or bounds):
                self._tell(news, bounds, self.given.on_incumbent)
            self.interrupted = self.interrupted or bool(self.given.stop())
            return self.interrupted, self._asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupted = True
            return True, None

    def _tell(self, news: list[Any], bounds: tuple[list[int], list[int]] | None, tell: Any) -> None:
        price, seconds = self.task.node_penalty, 0.0
        graph = None
        for at, tests, cost, found in news:
            seconds = at
            if cost + price * tests < self.best:
                self.best = cost + price * tests
                graph = found
        lower = 0
        if bounds is not None:
            lower = min(min(low + price * k for k, low in enumerate(bounds[0])), self.best)
        if (graph is not None or bounds is not None) and self.best < NEVER:
            tell(
                seconds,
                self.best,
                lower,
                None if graph is None else to_diagram(graph, self.data, self.is_tree),
            )

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """Put the answer together; a complete search that found nothing better proves the start."""
        price, complete = self.task.node_penalty, bool(native["complete"])
        graph, cost = self.start if self.start is not None else (None, None)
        wanted = self.upper if cost is None else cost
        for k, (upper, found) in enumerate(zip(native["upper"], native["diagrams"], strict=True)):
            if found is not None and (wanted is None or upper + price * k < wanted):
                graph, cost = to_diagram(found, self.data, self.is_tree), upper + price * k
                wanted = cost
        lower = min((low + price * k for k, low in enumerate(native["lower"])), default=0)
        early = "memory" if native["memory"] else "interrupted" if self.interrupted else "time"
        counters = {name: int(count) for name, count in native["counters"].items()}
        return EngineOutcome(
            graph=graph,
            upper=cost,
            lower=lower if cost is None else min(lower, cost),
            proved=complete and (cost is None or lower >= cost),
            reason=None if complete else early,
            seconds=float(native["seconds"]),
            counters=counters | {"splits": int(native["splits"]), "points": int(native["points"])},
        )
