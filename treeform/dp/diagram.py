"""DiagramSearch: exact layered decision diagrams by branch and bound, layer by layer.

Diagrams are those of Florio, Martins, Schiffer, Serra and Vidal, Optimal Decision Diagrams for Classification,
AAAI 2023: a skeleton of layers, arcs from one layer to the next and from every layer to one terminal per class,
here with univariate tests. The search itself is in ``treeform/native/diagram``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.dp.base import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.dp.contree import PATHS, _check_path, _check_task
from treeform.dp.laying import admissible_diagram, to_diagram
from treeform.dp.rungs import NodeLadder
from treeform.errors import SpecError
from treeform.shape import UNIVARIATE, Shape, Tree

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

NEVER = 2**61
MOST_PARTS = 64
AIDS = ("trees", "transpositions")
_USUAL_MEMORY = 2**30
_MOST_CLASSES = 256


@dataclass(frozen=True)
class DiagramSearch(Engine):
    """The exact engine for layered decision diagrams with univariate tests; it takes tree shapes as well.

    Parameters
    ----------
    threads : int
        1; the search runs on one thread.
    memory_limit : int or None
        Bytes for the tables of what is known; the engine forgets beyond that, and stays exact. None for 1 GiB.
    aids : tuple of str
        What speeds the search up: bounds by ``trees``, and ``transpositions`` (partitions met before). Both
        are exact; leave one out only to study its effect.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same diagram at different speeds.

    Raises
    ------
    SpecError
        If a setting is not possible, or this processor lacks the instruction set.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Diagram(1, 2))
    >>> problem.solve(tf.DiagramSearch()).errors
    0
    """

    threads: int = 1
    memory_limit: int | None = None
    aids: tuple[str, ...] = AIDS
    simd: str = "auto"

    name: ClassVar[str] = "diagram-search"
    understands: ClassVar[frozenset[str]] = frozenset(
        {"cost", "node_penalty", "min_support", "min_flow", "max_nodes", "weights", "widths"}
    )

    def __post_init__(self) -> None:
        if self.threads != 1 or isinstance(self.threads, bool):
            raise SpecError(
                f"DiagramSearch(threads={self.threads!r}) is not possible",
                cause="the search runs on one thread",
                fix="leave out threads",
            )
        limit = self.memory_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise SpecError(
                f"DiagramSearch(memory_limit={limit!r}) is not possible",
                cause="it is a whole number of bytes",
                fix="give bytes, for example 2**30, or None",
            )
        aids = (self.aids,) if isinstance(self.aids, str) else tuple(self.aids)
        unknown = [aid for aid in aids if aid not in AIDS]
        if unknown:
            raise SpecError(
                f"DiagramSearch knows no aid {unknown[0]!r}",
                cause=f"the aids are {', '.join(AIDS)}",
                fix="leave it out",
            )
        object.__setattr__(self, "aids", tuple(aid for aid in AIDS if aid in aids))
        assert "auto" in PATHS
        _check_path(self.simd)

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises
        ------
        SpecError
            If the task is not possible, or its costs exceed 2**60.
        """
        _check_task(data, task)
        session = _Session(data, task, run)
        native = self._native(
            data,
            task,
            prices=[(1, task.node_penalty)],
            known=session.known,
            upper=session.upper,
            time_limit=run.time_limit,
            poll=session.poll,
        )
        return session.outcome(native)

    def ladder(
        self,
        data: Dataset,
        shape: Shape,
        prices: Sequence[Fraction | int] | None = None,
        *,
        cost: np.ndarray | None = None,
        min_support: int = 0,
        min_flow: int = 0,
        max_nodes: int | None = None,
        start: Sequence[DecisionGraph] = (),
        time_limit: float | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> NodeLadder:
        """The least cost with at most k tests, for every k: one run that answers every price of a test.

        Parameters
        ----------
        data : Dataset
        shape : Diagram or Tree
            With univariate splits.
        prices : sequence of Fraction or int, optional
            Prices of a test in weight units, to be proved one after the other in descending order: a number of
            tests is looked at only as far as it matters for one of them. Left out, every number is solved.
        cost : (K, K) int64 array, optional
            ``cost[true, predicted]``; left out, errors count.
        min_support, min_flow, max_nodes : int
            As in `TreeTask`.
        start : sequence of DecisionGraph
            Models to begin with.
        time_limit : float, optional
            Seconds for all together.
        stop : callable
            Asked about twenty times a second; true ends the run.

        Returns
        -------
        NodeLadder
        """
        if shape.splits != UNIVARIATE:
            raise SpecError(
                "DiagramSearch makes univariate tests only",
                cause=f"the shape is {shape}",
                fix="use a shape with splits='univariate', or the formulation ODD",
            )
        widths = None if isinstance(shape, Tree) else shape.widths
        task = TreeTask(shape.depth, cost, 0, min_support, max_nodes, widths, min_flow)
        _check_task(data, task)
        wanted = sorted({Fraction(price) for price in prices or ()}, reverse=True)
        begin = [found for graph in start if (found := admissible_diagram(graph, data, task))]
        session = _Session(data, task, EngineRun(stop=stop))
        native = self._native(
            data,
            task,
            prices=[(price.denominator, price.numerator) for price in wanted],
            known=_known(begin, task, data),
            upper=None,
            time_limit=time_limit,
            poll=session.poll,
            every_number=prices is None,
        )
        models = {tests: graph for graph, (tests, _) in zip(start, begin, strict=False)}
        return NodeLadder.of(native, data, wanted, models, session.interrupted)

    def _native(
        self,
        data: Dataset,
        task: TreeTask,
        *,
        prices: list[tuple[int, int]],
        known: list[int],
        upper: int | None,
        time_limit: float | None,
        poll: Any,
        every_number: bool = False,
    ) -> dict[str, Any]:
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
            upper=upper,
            rates=[rate for rate, _ in prices],
            prices=[price for _, price in prices],
            known=known[: most + 1],
            memory=self.memory_limit or _USUAL_MEMORY,
            use=[*self.aids, *(["every number"] if every_number else [])],
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


def _known(found: Sequence[tuple[int, int]], task: TreeTask, data: Dataset) -> list[int]:
    """The least cost in hand, by number of tests."""
    _, most = skeleton(task, data)
    known = [NEVER] * (most + 1)
    for tests, cost in found:
        known[tests] = min(known[tests], cost)
    return known


class _Session:
    """One run: the bounds that go in, the polls in between, and the answer that comes out."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        self.data, self.task, self.given = data, task, run
        self.interrupted = False
        self.start: tuple[DecisionGraph, int] | None = None
        self.known: list[int] = []
        self.upper = self._asked_upper()
        self.best = NEVER
        found = None if run.start is None else admissible_diagram(run.start, data, task)
        if found is not None and run.start is not None:
            tests, cost = found
            value = cost + task.node_penalty * tests
            if self.upper is None or value < self.upper:
                self.start, self.best = (run.start, value), value
                self.known = _known([found], task, data)
                if run.on_incumbent is not None:
                    run.on_incumbent(0.0, value, 0, run.start)

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
            tell(seconds, self.best, lower, None if graph is None else to_diagram(graph, self.data))

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """Put the answer together; a complete search that found nothing better proves the start."""
        price, complete = self.task.node_penalty, bool(native["complete"])
        graph, cost = self.start if self.start is not None else (None, None)
        wanted = self.upper if cost is None else cost
        for k, (upper, found) in enumerate(zip(native["upper"], native["diagrams"], strict=True)):
            if found is not None and (wanted is None or upper + price * k < wanted):
                graph, cost = to_diagram(found, self.data), upper + price * k
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
