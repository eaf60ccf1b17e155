"""What the binary engines share: settings, the call of the native core, and the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.engines.binary.binarize import Binarisation, Binarised, binarise, normalised
from treeform.engines.contree import PATHS, admissible_cost
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, check_task
from treeform.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

ORDERS = ("gini", "gain", "error", "lookahead")
_NO_LIMIT = 2**31 - 1
_USUAL_MEMORY = 2**30


@dataclass(frozen=True, kw_only=True)
class BinaryEngine(Engine):
    """Common settings of the engines for binary features.

    Parameters
    ----------
    binarize : "all", int or mapping
        How numeric columns become tests: all thresholds that separate something (nothing is lost), at most so
        many per column, at quantiles, or thresholds by column name. Under the latter two the tree is optimal
        for that binarisation only, and the counters say so.
    order : str
        Which tests are tried first: ``gini``, ``gain``, ``error``, or ``lookahead`` (best tree of depth two
        below the test).
    exact_depth : int
        Subtrees of this depth (2 or 3) are solved outright instead of searched.
    threads : int
        Workers; they share the root tests and the best tree. Each has a cache of its own. The cost of the answer
        does not depend on them, which of several best trees it is may.
    memory_limit : int or None
        Bytes for rows, pair tables and cache together; the cache forgets beyond that, and the answer stays
        exact. None for 1 GiB. Rows and the tables along one path are needed in any case.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same tree at different speeds.
    """

    binarize: Any = "all"
    order: str = "gini"
    exact_depth: int = 3
    threads: int = 1
    memory_limit: int | None = None
    simd: str = "auto"

    strategy: ClassVar[str]
    understands: ClassVar[frozenset[str]] = frozenset(
        {"cost", "node_penalty", "min_support", "max_nodes", "weights"}
    )

    def __post_init__(self) -> None:
        title = type(self).__name__
        object.__setattr__(self, "binarize", normalised(self.binarize, title))
        one_of(title, "order", self.order, ORDERS)
        one_of(title, "simd", self.simd, PATHS)
        one_of(title, "exact_depth", self.exact_depth, (2, 3))
        if self.memory_limit is not None:
            _positive(title, "memory_limit", self.memory_limit, "give bytes, for example 2**30, or None")
        _positive(title, "threads", self.threads, "use for example threads=2")

    def _choices(self) -> dict[str, Any]:
        """Strategy settings for the native call."""
        return {
            "rules": [],
            "relaxation": "monotonic",
            "step": 0.0,
            "use": ["cache", "similarity", "warm-up"],
        }

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        The counters hold, beside what the search did, ``tests`` (how many were offered), ``lossless`` (1 when
        they are all that separate something), ``optimal_for_binarisation`` and ``lower_for_binarisation``.

        Raises
        ------
        SpecError
            If the task is not possible, or its costs exceed 2**60.
        """
        from treeform import _core

        check_task(data, task)
        table = binarise(data, _as_binarisation(self.binarize))
        session = _Session(data, task, run, table)
        native = _core.binary(
            table.bits,
            table.weights @ session.cost,
            table.weights.sum(axis=1),
            depth=task.depth,
            max_nodes=_NO_LIMIT if task.max_nodes is None else task.max_nodes,
            min_support=task.min_support,
            node_penalty=task.node_penalty,
            upper=session.upper,
            strategy=self.strategy,
            order=self.order,
            exact_depth=self.exact_depth,
            memory=self.memory_limit or _USUAL_MEMORY,
            simd=self.simd,
            threads=self.threads,
            start=session.start_tests(),
            time_limit=math.inf if run.time_limit is None else max(0.0, run.time_limit),
            poll=session.poll,
            **self._choices(),
        )
        return session.outcome(native)


class _Session:
    """One run: the bounds that go in, the polls in between, and the answer that comes out."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun, table: Binarised) -> None:
        self.data, self.task, self.given, self.table = data, task, run, table
        k = data.n_classes
        cost = 1 - np.eye(k, dtype=np.int64) if task.cost is None else task.cost.astype(np.int64)
        self.cost = np.ascontiguousarray(cost)
        self.interrupted = False
        self.start: DecisionGraph | None = None
        self.start_cost: int | None = None
        self.upper = self._asked_upper()
        known = None if run.start is None else admissible_cost(run.start, data, task)
        if known is not None and (self.upper is None or known < self.upper):
            self.start, self.start_cost, self.upper = run.start, known, known
            if run.on_incumbent is not None:
                run.on_incumbent(0.0, known, 0, run.start)

    def _asked_upper(self) -> int | None:
        upper = self.given.upper
        return upper() if callable(upper) else upper

    def _lower(self, native: int) -> int:
        """A bound for the binarised table holds for the data only when the binarisation loses nothing."""
        if self.table.lossless:
            return native
        return int((self.table.floor @ self.cost).min(axis=1).sum())

    def start_tests(self) -> tuple[NDArray[np.int32], ...] | None:
        """The tests of the start in terms of the table's columns; None when one of them is not there."""
        if self.start is None:
            return None
        columns = {
            (int(f), float(t)): np.int32(j)
            for j, (f, t) in enumerate(zip(self.table.feature, self.table.threshold, strict=True))
        }
        feature = np.full(len(self.start.feature), -1, dtype=np.int32)
        for node in np.flatnonzero(self.start.feature >= 0):
            column = self._column_of(
                int(self.start.feature[node]), float(self.start.threshold[node]), columns
            )
            if column is None:
                return None
            feature[node] = column
        arrays = (feature, self.start.left, self.start.right, self.start.label)
        return tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays)

    def _column_of(
        self, feature: int, threshold: float, columns: dict[tuple[int, float], np.int32]
    ) -> np.int32 | None:
        """The column that sends every row the way of ``feature <= threshold``: any threshold within the gap does."""
        if (feature, threshold) in columns:
            return columns[feature, threshold]
        side = self.data.X[:, feature] <= threshold
        for (f, t), column in columns.items():
            if f == feature and bool(np.array_equal(side, self.data.X[:, f] <= t)):
                return column
        return None

    def poll(
        self, news: list[tuple[float, int, int]], tree: dict[str, Any] | None
    ) -> tuple[bool, int | None]:
        """Pass improvements on; say whether to stop, and the upper bound if it moves."""
        try:
            if news and self.given.on_incumbent is not None:
                graph = None if tree is None else self._graph(tree)
                for k, (seconds, upper, lower) in enumerate(news):
                    last = graph if k + 1 == len(news) else None
                    self.given.on_incumbent(seconds, upper, self._lower(lower), last)
            self.interrupted = self.interrupted or bool(self.given.stop())
            return self.interrupted, self._asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupted = True
            return True, None

    def _graph(self, tree: dict[str, Any]) -> DecisionGraph:
        from treeform.graph import DecisionGraph

        test = tree["feature"]
        inner = test >= 0
        feature = np.where(inner, self.table.feature[test] if inner.any() else -1, -1).astype(np.int32)
        threshold = np.where(inner, self.table.threshold[test] if inner.any() else np.nan, np.nan)
        return DecisionGraph.from_arrays(
            feature, threshold, tree["left"], tree["right"], tree["label"], self.data
        )

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """Put the answer together; a complete search that found nothing better proves the start."""
        graph, cost = self.start, self.start_cost
        if native["tree"] is not None:
            graph, cost = self._graph(native["tree"]), int(native["tree"]["cost"])
        complete = bool(native["complete"])
        lower = self._lower(int(native["lower"]))
        lower = lower if cost is None else min(lower, cost)
        proved = complete and self.table.lossless if cost is None else lower >= cost
        early = "memory" if native["memory"] else "interrupted" if self.interrupted else "time"
        counters = {name: int(count) for name, count in native["counters"].items()}
        counters["tests"] = len(self.table.feature)
        counters["lossless"] = int(self.table.lossless)
        counters["optimal_for_binarisation"] = int(complete)
        counters["lower_for_binarisation"] = int(native["lower"])
        return EngineOutcome(
            notes=self._notes(complete),
            graph=graph,
            upper=cost,
            lower=lower,
            proved=proved,
            reason=None if complete else early,
            seconds=float(native["seconds"]),
            counters=counters,
        )

    def _notes(self, complete: bool) -> tuple[str, ...]:
        """What an answer on fewer tests than the data have is worth, in words."""
        if self.table.lossless:
            return ()
        kept, offered = len(self.table.feature), len(self.data.splits("feature"))
        claim = "optimal for that binarisation" if complete else "not proved, not even for that binarisation"
        return (f"binarisation: {kept} of {offered} tests were offered; the tree is {claim}",)


def _as_binarisation(value: Any) -> Binarisation:
    checked: Binarisation = value
    return checked


def _positive(engine: str, name: str, value: object, fix: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(
            f"{engine}({name}={value!r}) is not possible", cause="it is a positive whole number", fix=fix
        )


def one_of(engine: str, name: str, value: object, allowed: tuple[Any, ...]) -> None:
    """Raise unless `value` is one of `allowed`.

    Raises
    ------
    SpecError
    """
    if value not in allowed or isinstance(value, bool):
        raise SpecError(
            f"{engine}({name}={value!r}) is not possible",
            cause=f"{name} is one of {', '.join(str(a) for a in allowed)}",
            fix=f"use for example {name}={allowed[0]!r}",
        )
