"""What the binary engines share: settings, the call of the native core, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeform import _core
from treeform.data import Dataset
from treeform.engines.binary.binarize import Binarisation, Binarised, binarise, normalised
from treeform.engines.checks import NativeSettings, one_of
from treeform.engines.native_call import (
    Room,
    SessionOverTests,
    bytes_of_tests,
    cost_of_admissible_tree,
    counters_of,
    refused,
)
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, check_task
from treeform.graph import DecisionGraph

ORDERS = ("gini", "gain", "error", "lookahead")
_NO_LIMIT = 2**31 - 1
_USUAL_MEMORY = 2**30


@dataclass(frozen=True, kw_only=True)
class BinaryEngine(NativeSettings, Engine):
    """Common settings of the engines for binary features.

    Parameters
    ----------
    binarize : "all", int or mapping
        How numeric columns become tests: all distinct tests (nothing is lost), at most so
        many per column, at quantiles, or thresholds by column name. Under the latter two the tree is optimal
        for that binarisation only, as the counters show.
    order : str
        Which tests are tried first: ``gini``, ``gain``, ``error``, or ``lookahead`` (best tree of depth two
        below the test).
    exact_depth : int
        Subtrees of this depth (2 or 3) are solved outright instead of searched.
    threads : int
        Workers; they share the root tests and the best tree. Each has its own cache. The cost of the answer
        does not depend on them, which of several best trees it is may.
    memory_limit : int or None
        Bytes by which the process may grow. The cache forgets to stay within it, and the answer remains exact; the
        search stops where rows and the tables along one path do not fit, and begins only if they may. None for 1 GiB
        of rows, tables and cache.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same tree at different speeds.
    """

    binarize: Any = "all"
    order: str = "gini"
    exact_depth: int = 3

    strategy: ClassVar[str]
    family: ClassVar[str] = "binary"
    few_to_prove: ClassVar[int] = 300
    understands: ClassVar[frozenset[str]] = frozenset(
        {"features", "cost", "node_penalty", "min_support", "max_nodes", "weights"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        title = type(self).__name__
        object.__setattr__(self, "binarize", normalised(self.binarize, title))
        one_of(title, "order", self.order, ORDERS)
        one_of(title, "exact_depth", self.exact_depth, (2, 3))

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

        Apart from those of the search, the counters hold ``tests`` (how many were offered), ``lossless`` (1 when
        they are all the distinct tests), ``optimal_for_binarisation`` and ``lower_for_binarisation``.

        Raises SpecError if the task is not possible, or its costs exceed 2**60.
        """
        room, listed = Room(self.memory_limit), bytes_of_tests(data)
        if self.binarize == "all" and not room.has(listed):
            return refused(listed)
        session = self.session(data, task, run)
        asked = self.keywords(task, self.threads if run.ask is None else 1, room.left())
        asked |= {"upper": session.upper, "start": session.tests_of(session.start)}
        return session.outcome(_core.binary(*session.arrays(), **asked, **session.watch()))

    def session(self, data: Dataset, task: TreeTask, run: EngineRun) -> BinarySession:
        """A run of `task`: its table, and what comes in and goes out.

        Raises SpecError if the task is not possible, or its costs exceed 2**60.
        """
        check_task(data, task)
        return BinarySession(data, task, run, binarise(data, _as_binarisation(self.binarize)))

    def keywords(self, task: TreeTask, threads: int, memory: int) -> dict[str, Any]:
        """The keywords of the native call, but for those of a session; `memory` 0 is no limit."""
        return {
            "depth": task.depth,
            "upper": None,
            "start": None,
            "max_nodes": _NO_LIMIT if task.max_nodes is None else task.max_nodes,
            "min_support": task.min_support,
            "node_penalty": task.node_penalty,
            "strategy": self.strategy,
            "order": self.order,
            "exact_depth": self.exact_depth,
            "memory": memory or _USUAL_MEMORY,
            "memory_limit": memory,
            "simd": self.simd,
            "threads": threads,
            **self._choices(),
        }


class BinarySession(SessionOverTests):
    """One run of a binary engine, with its table of tests and the costs of its classes."""

    table: Binarised

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun, table: Binarised) -> None:
        super().__init__(data, task, run)
        self.table = table
        cost = 1 - np.eye(data.n_classes, dtype=np.int64) if task.cost is None else task.cost.astype(np.int64)
        self.cost = np.ascontiguousarray(cost)
        known = None if run.start is None else cost_of_admissible_tree(run.start, data, task)
        if run.start is not None and known is not None:
            self.begin_with(run.start, known)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Tests, costs of the classes and weights of the distinct rows, as the core takes them."""
        table = self.table
        return table.bits, table.weights @ self.cost, table.weights.sum(axis=1)

    def true_lower(self, lower: int) -> int:
        """A bound for the binarised table holds for the data only when the binarisation loses nothing."""
        if self.table.lossless:
            return lower
        return int((self.table.floor @ self.cost).min(axis=1).sum())

    def proved(self, complete: bool, cost: int | None, lower: int) -> bool:
        return complete and self.table.lossless if cost is None else lower >= cost

    def outcome_with(
        self, native: dict[str, Any], graph: DecisionGraph | None, cost: int | None, lower: int, **more: Any
    ) -> EngineOutcome:
        complete = bool(native["complete"])
        counters = {
            "tests": len(self.table.feature),
            "lossless": int(self.table.lossless),
            "optimal_for_binarisation": int(complete),
            "lower_for_binarisation": int(native["lower"]),
        }
        more |= {"counters": counters_of(native) | counters, "notes": self._notes(complete)}
        return super().outcome_with(native, graph, cost, lower, **more)

    def _notes(self, complete: bool) -> tuple[str, ...]:
        """A note on an answer over fewer tests than the data have."""
        if self.table.lossless:
            return ()
        kept, offered = len(self.table.feature), len(self.data.splits("feature"))
        claim = "optimal for that binarisation" if complete else "not proved, not even for that binarisation"
        return (f"binarisation: {kept} of {offered} tests were offered; the tree is {claim}",)


def _as_binarisation(value: Any) -> Binarisation:
    checked: Binarisation = value
    return checked
