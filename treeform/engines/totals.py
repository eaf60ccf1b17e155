"""TotalsSearch: provably optimal trees under requirements on totals, over few tests.

Fairness between groups, budgets and rates are rows over whole numbers that add up over samples and tests
(`treeform.language.totals`). The search prices them into the objective, and enumerates the trees that the prices
leave possible; it is described in ``treeform/native/totals``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.engines.binary.engine import one_of
from treeform.engines.contree import PATHS
from treeform.engines.table_of_totals import LARGEST_WEIGHT, TableOfTotals
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, check_task
from treeform.errors import SpecError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

PARTS = ("multipliers", "lazy", "steps", "shallow", "rough", "similarity", "dominance")
DEEPEST = 9
MOST_FEATURES = 256
MOST_CLASSES = 38
NO_TREE = 2**60
"""The bound when no admissible tree exists: above the cost of any."""
_USUAL_MEMORY = 2**30


@dataclass(frozen=True, kw_only=True)
class TotalsSearch(Engine):
    """Exact search for trees under rows over totals: parity, equal opportunity, budgets, and whatever adds up.

    It looks at all tests that separate something, so it is meant for tables of few of them (hundreds).

    Parameters
    ----------
    memory_limit : int or None
        Bytes for solutions and bounds; the search stops with its best tree and bound beyond that. None for 1 GiB.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same answer at different speeds.
    parts : tuple of str
        The parts of the search in use, all exact; leave some out only to study their effect. ``multipliers``
        (prices on the rows), ``lazy`` (rows take part once they are violated), ``steps`` (guessed upper bounds that
        grow), ``shallow`` (smaller depths first), ``rough`` (few root tests while multipliers are sought),
        ``similarity`` (bounds from similar subproblems), ``dominance`` (drop what another solution makes needless).

    Raises
    ------
    SpecError
        If a setting is not possible.

    Examples
    --------
    >>> TotalsSearch(memory_limit=2**28).name
    'totals-search'
    """

    memory_limit: int | None = None
    simd: str = "auto"
    parts: tuple[str, ...] = PARTS

    name: ClassVar[str] = "totals-search"
    understands: ClassVar[frozenset[str]] = frozenset(
        {
            "cost",
            "node_penalty",
            "min_support",
            "min_flow",
            "max_nodes",
            "max_features",
            "sample_cost",
            "totals",
            "weights",
        }
    )

    def __post_init__(self) -> None:
        one_of("TotalsSearch", "simd", self.simd, PATHS)
        limit = self.memory_limit
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise SpecError(
                f"TotalsSearch(memory_limit={limit!r}) is not possible",
                cause="it is a positive whole number of bytes",
                fix="give bytes, for example 2**30, or None",
            )
        given = (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)
        for part in given:
            one_of("TotalsSearch", "parts", part, PARTS)
        object.__setattr__(self, "parts", tuple(part for part in PARTS if part in given))

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises
        ------
        SpecError
            If the task is not possible, or whole numbers would leave the range in which the search is exact.
        """
        from treeform import _core

        check_task(data, task)
        reason = reason_against(data, task)
        if reason is not None:
            raise SpecError(
                f"{self.name} cannot solve this problem exactly",
                cause=reason,
                fix="use weights or costs with fewer digits, a smaller shape, or tf.HiGHS() or tf.CPSAT()",
            )
        table = TableOfTotals(data, task)
        session = _Session(data, run, table)
        try:
            native = _core.totals(
                table.bits,
                table.count,
                table.cost,
                table.row,
                table.test_cost,
                table.test_row,
                table.lo,
                table.hi,
                table.source,
                depth=task.depth,
                min_support=task.min_support,
                min_flow=task.min_flow,
                max_features=_binding_features(data, task) or 0,
                upper=session.asked_upper(),
                multipliers=[],
                multiplier_unit=1,
                use=list(self.parts),
                memory=self.memory_limit or _USUAL_MEMORY,
                simd=self.simd,
                start=session.start(),
                time_limit=math.inf if run.time_limit is None else max(0.0, run.time_limit),
                poll=session.poll,
            )
        except OverflowError:
            raise SpecError(
                f"{self.name} cannot solve this problem exactly",
                cause="the costs of all samples together exceed 2**48",
                fix="use weights or costs with fewer digits",
            ) from None
        return session.outcome(native)


def reason_against(data: Dataset, task: TreeTask) -> str | None:
    """Why the search cannot take the task, in words; None when it can."""
    if task.widths is not None:
        return "it searches trees, not layered diagrams"
    if task.depth > DEEPEST:
        return f"it searches to depth {DEEPEST}, not {task.depth}"
    if data.n_classes > MOST_CLASSES:
        return f"it takes {MOST_CLASSES} classes, not {data.n_classes}"
    if int(data.weights.astype(object).sum()) >= LARGEST_WEIGHT:
        return "the samples weigh 2**28 units or more together"
    sources = len({column.source for column in data.columns})
    if _binding_features(data, task) and sources > MOST_FEATURES:
        return f"it counts tested columns among {MOST_FEATURES}, not {sources}"
    return None


def _binding_features(data: Dataset, task: TreeTask) -> int | None:
    """The most columns that tests may use, where the table has more; 0 (no test at all) is a limit on tests."""
    sources = len({column.source for column in data.columns})
    return None if task.max_features is None or task.max_features >= sources else task.max_features


class _Session:
    """One run: the bounds that go in, the polls in between, and the answer that comes out."""

    def __init__(self, data: Dataset, run: EngineRun, table: TableOfTotals) -> None:
        self.data, self.given, self.table = data, run, table
        self.interrupted = False

    def asked_upper(self) -> int | None:
        """Only trees that cost less are wanted."""
        upper = self.given.upper
        return upper() if callable(upper) else upper

    def start(self) -> tuple[NDArray[np.int32], ...] | None:
        """The tree to begin with in terms of the table's tests; None when it has a test that is not there."""
        graph = self.given.start
        if graph is None or not graph.is_tree or graph.forms:
            return None
        feature = np.full(len(graph.feature), -1, dtype=np.int32)
        for node in np.flatnonzero(graph.feature >= 0):
            column = self.table.column_of(int(graph.feature[node]), float(graph.threshold[node]))
            if column is None:
                return None
            feature[node] = column
        arrays = (feature, graph.left, graph.right, graph.label)
        return tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays)

    def poll(
        self, news: list[tuple[float, int, int]], tree: dict[str, Any] | None
    ) -> tuple[bool, int | None]:
        """Pass improvements on; say whether to stop, and the upper bound if it moves."""
        try:
            if news and self.given.on_incumbent is not None:
                graph = None if tree is None else self.graph(tree)
                for k, (seconds, upper, lower) in enumerate(news):
                    last = graph if k + 1 == len(news) else None
                    self.given.on_incumbent(seconds, upper, lower, last)
            self.interrupted = self.interrupted or bool(self.given.stop())
            return self.interrupted, self.asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupted = True
            return True, None

    def graph(self, tree: dict[str, Any]) -> DecisionGraph:
        """The search's tree over the columns of the data."""
        from treeform.graph import DecisionGraph

        test = tree["feature"]
        inner = test >= 0
        feature = np.where(inner, self.table.feature[test] if inner.any() else -1, -1).astype(np.int32)
        threshold = np.where(inner, self.table.threshold[test] if inner.any() else np.nan, np.nan)
        return DecisionGraph.from_arrays(
            feature, threshold, tree["left"], tree["right"], tree["label"], self.data
        )

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """Put the answer together."""
        graph = cost = None
        if native["tree"] is not None:
            graph, cost = self.graph(native["tree"]), int(native["tree"]["cost"])
        complete = bool(native["complete"])
        lower = NO_TREE if native["infeasible"] else int(native["lower"])
        lower = lower if cost is None else min(lower, cost)
        early = "memory" if native["memory"] else "interrupted" if self.interrupted else "time"
        counters = {name: int(count) for name, count in native["counters"].items()}
        counters["tests"] = int(native["columns"])
        counters["multiplier_bound"] = int(native["relaxed"])
        return EngineOutcome(
            graph=graph,
            upper=cost,
            lower=lower,
            proved=complete and (cost is None or lower >= cost),
            reason=None if complete else early,
            seconds=float(native["seconds"]),
            counters=counters,
            witness=self._witness(native) if len(native["active"]) else None,
        )

    def _witness(self, native: dict[str, Any]) -> dict[str, Any]:
        """The multipliers per row, and the rows that took part, with which the bound can be proved again."""
        return {
            "multipliers": [int(m) for m in native["multipliers"]],
            "unit": int(native["multiplier_unit"]),
            "active": [int(a) for a in native["active"]],
        }
