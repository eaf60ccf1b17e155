"""ConTree: exact trees on continuous features by dynamic programming with branch and bound.

Source: Brita, van der Linden and Demirovic, Optimal Classification Trees for Continuous Feature Data Using
Dynamic Programming with Branch-and-Bound, AAAI 2025. The algorithm itself is in ``treeform/native/contree``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.engines.fewest import with_fewest_tests
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, check_task
from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

RULES = ("neighbourhood", "shrinking", "subinterval", "features")
PATHS = ("auto", "avx512", "avx2", "plain")
_NO_LIMIT = 2**60


@dataclass(frozen=True)
class ConTree(Engine):
    """The exact engine for trees on numeric features, of any depth.

    Parameters
    ----------
    threads : int
        Worker threads. The tree does not depend on their number.
    max_gap : int or float
        Stop improving once the tree is provably this close to the optimum: an int in units of cost (of the
        data set's integer weights), a float in (0, 1) as a fraction of the total weight; 0 for the optimum.
    memory_limit : int or None
        Bytes that the engine may use. Beyond that it goes on with fewer threads and less scratch, and stops with
        its best tree if that does not suffice.
    prune : tuple of str
        The pruning rules in use: the paper's ``neighbourhood``, ``shrinking`` and ``subinterval``, and
        ``features`` (bounds per second feature). All are exact; leave some out only to study their effect.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same tree at different speeds.
    fewest_tests : bool
        Once the optimum is proved, search for the fewest tests among the optimal trees; takes about as long again
        with two classes, and up to twelve times as long with several.

    Raises
    ------
    SpecError
        If a setting is not possible, or this processor lacks the instruction set.

    Examples
    --------
    >>> ConTree(threads=2).threads
    2
    """

    threads: int = 1
    max_gap: int | float = 0
    memory_limit: int | None = None
    prune: tuple[str, ...] = RULES
    simd: str = "auto"
    fewest_tests: bool = False

    name: ClassVar[str] = "contree"
    understands: ClassVar[frozenset[str]] = frozenset(
        {"cost", "node_penalty", "min_support", "max_nodes", "weights"}
    )

    def __post_init__(self) -> None:
        _whole("threads", self.threads, 1, "use for example threads=2")
        if self.memory_limit is not None:
            _whole("memory_limit", self.memory_limit, 1, "give bytes, for example 2**30, or None")
        _check_gap(self.max_gap)
        prune = (self.prune,) if isinstance(self.prune, str) else tuple(self.prune)
        object.__setattr__(self, "prune", tuple(rule for rule in RULES if rule in prune))
        unknown = [rule for rule in prune if rule not in RULES]
        if unknown:
            raise SpecError(
                f"ConTree knows no pruning rule {unknown[0]!r}",
                cause=f"the rules are {', '.join(RULES)}",
                fix="leave it out",
            )
        _check_path(self.simd)
        if not isinstance(self.fewest_tests, bool):
            raise SpecError(
                f"ConTree(fewest_tests={self.fewest_tests!r}) is not possible",
                cause="it is said or not",
                fix="use fewest_tests=True",
            )

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises
        ------
        SpecError
            If the task is not possible, or its costs exceed 2**60.
        """
        if self.fewest_tests:
            return with_fewest_tests(self._solve, data, task, run)
        return self._solve(data, task, run)

    def _solve(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        from treeform import _core

        check_task(data, task)
        session = _Session(self, data, task, run)
        native = _core.contree(
            data.X,
            data.y.astype(np.int32),
            None if (data.weights == 1).all() else data.weights,
            task.cost if task.cost is None else np.ascontiguousarray(task.cost, dtype=np.int64),
            classes=data.n_classes,
            depth=task.depth,
            max_nodes=_NO_LIMIT if task.max_nodes is None else task.max_nodes,
            min_support=task.min_support,
            node_penalty=task.node_penalty,
            upper=session.upper,
            gap=self._gap(data),
            prune=list(self.prune),
            threads=self.threads,
            simd=self.simd,
            memory_limit=self.memory_limit or 0,
            time_limit=math.inf if run.time_limit is None else max(0.0, run.time_limit),
            poll=session.poll,
        )
        return session.outcome(native)

    def _gap(self, data: Dataset) -> int:
        if isinstance(self.max_gap, int):
            return self.max_gap
        return math.floor(Fraction(str(self.max_gap)) * int(data.weights.sum()))


class _Session:
    """One run: the bounds that go in, the polls in between, and the answer that comes out."""

    def __init__(self, engine: ConTree, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        self.engine, self.data, self.task, self.given = engine, data, task, run
        self.interrupted = False
        self.start: DecisionGraph | None = None
        self.start_cost: int | None = None
        self.upper = self._asked_upper()
        cost = None if run.start is None else admissible_cost(run.start, data, task)
        if cost is not None and (self.upper is None or cost < self.upper):
            self.start, self.start_cost, self.upper = run.start, cost, cost
            if run.on_incumbent is not None:
                run.on_incumbent(0.0, cost, 0, run.start)

    def _asked_upper(self) -> int | None:
        upper = self.given.upper
        return upper() if callable(upper) else upper

    def poll(
        self, news: list[tuple[float, int, int]], tree: dict[str, Any] | None
    ) -> tuple[bool, int | None]:
        """Pass improvements on; say whether to stop, and the upper bound if it moves."""
        try:
            if news and self.given.on_incumbent is not None:
                graph = None if tree is None else to_graph(tree, self.data)
                for k, (seconds, upper, lower) in enumerate(news):
                    self.given.on_incumbent(seconds, upper, lower, graph if k + 1 == len(news) else None)
            self.interrupted = self.interrupted or bool(self.given.stop())
            return self.interrupted, self._asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupted = True
            return True, None

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """Put the answer together; a complete search that found nothing better proves the start."""
        graph, cost = self.start, self.start_cost
        if native["tree"] is not None:
            graph, cost = to_graph(native["tree"], self.data), int(native["tree"]["cost"])
        lower = int(native["lower"]) if cost is None else min(int(native["lower"]), cost)
        complete = bool(native["complete"])
        early = "memory" if native["memory"] else "interrupted" if self.interrupted else "time"
        return EngineOutcome(
            graph=graph,
            upper=cost,
            lower=lower,
            proved=complete and (cost is None or lower >= cost),
            reason=None if complete else early,
            seconds=float(native["seconds"]),
            counters={name: int(count) for name, count in native["counters"].items()},
        )


def to_graph(tree: dict[str, Any], data: Dataset) -> DecisionGraph:
    """The engine's flat tree as a graph with thresholds between the neighbouring values it names."""
    from treeform.data import midpoints
    from treeform.graph import DecisionGraph

    feature = tree["feature"]
    threshold = np.full(len(feature), np.nan)
    tests = feature >= 0
    if tests.any():
        threshold[tests] = midpoints(tree["low"][tests], tree["high"][tests])
    return DecisionGraph.from_arrays(
        feature=feature,
        threshold=threshold,
        left=tree["left"],
        right=tree["right"],
        label=tree["label"],
        data=data,
    )


def admissible_cost(graph: DecisionGraph, data: Dataset, task: TreeTask) -> int | None:
    """What a tree costs under the task, or None when it is not admissible, or not univariate without pass-throughs."""
    if graph.forms or not graph.is_tree or graph.depth > task.depth:
        return None
    if task.max_nodes is not None and graph.n_nodes > task.max_nodes:
        return None
    leaf = np.asarray(graph.apply(data.X))
    support = np.bincount(leaf, weights=None, minlength=len(graph.feature))
    if task.min_support:
        support = np.zeros(len(graph.feature), dtype=np.int64)
        np.add.at(support, leaf, data.weights)
        if (support[graph.feature < 0] < task.min_support).any():
            return None
    predicted = graph.label[leaf]
    unit = (data.y != predicted).astype(np.int64) if task.cost is None else task.cost[data.y, predicted]
    return int((data.weights * unit).sum()) + task.node_penalty * int((graph.feature >= 0).sum())


def _whole(name: str, value: object, least: int, fix: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise SpecError(
            f"ConTree({name}={value!r}) is not possible",
            cause=f"{name} is a whole number, at least {least}",
            fix=fix,
        )


def _check_gap(gap: object) -> None:
    whole = isinstance(gap, int) and not isinstance(gap, bool) and gap >= 0
    if not whole and not (isinstance(gap, float) and 0 <= gap < 1):
        raise SpecError(
            f"ConTree(max_gap={gap!r}) is not possible",
            cause="an int counts cost units and is at least 0; a float is a fraction of the total weight",
            fix="use for example max_gap=5 or max_gap=0.01",
        )


def _check_path(simd: object) -> None:
    if simd not in PATHS:
        raise SpecError(
            f"ConTree(simd={simd!r}) is not possible",
            cause=f"the paths are {', '.join(PATHS)}",
            fix="use simd='auto'",
        )
    from treeform import _core

    if not _core.simd_available(simd):
        raise SpecError(
            f"ConTree(simd={simd!r}) cannot run here",
            cause="this processor lacks these instructions",
            fix="use simd='auto'",
        )
