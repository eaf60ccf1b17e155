"""The AND/OR graph of trees, priced by the search for totals: which alternatives trees of some cost use.

The native search (``treeform/native/and_or``) places multipliers on the sum constraints of a task, and then writes
out the alternatives through which some tree below a cost goes. Its bound is that of the Lagrangian relaxation; a flow
on the whole graph has the same (R. K. Martin, R. L. Rardin, B. A. Campbell, "Polyhedral characterization of discrete
dynamic programming", Operations Research 38, 1990).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeform import _core
from treeform.data import Dataset, midpoints
from treeform.engines.graph_paths import states_of
from treeform.engines.native_call import Room, bytes_of_tests
from treeform.engines.table_of_totals import TableOfTotals, Tests, tests_of
from treeform.engines.task import TreeTask, binding_features
from treeform.engines.totals import TotalsSearch
from treeform.engines.written_graphs import WrittenGraphs
from treeform.errors import SpecError
from treeform.language.alternatives import AndOrGraph
from treeform.utils.budget import Budget

MOST_TESTS = 10_000
"""Distinct tests that are listed."""
FEW_TESTS = 256
"""Distinct tests up to which they are listed in any case; of more, thresholds are searched as intervals."""
THRESHOLDS = 8
"""Of a column, on average, from which on that pays: columns are searched one by one."""
MOST_ALTERNATIVES = 2_000_000
Apart = Literal["feature", "column", "partition"]
Limits = tuple[float, Callable[[], bool] | None]
"""Seconds, and what ends a search."""
EXACT = 2**53
"""Numbers of trees below it are exact."""
EVERYTHING = 2**55
"""A cost above that of any tree."""
_MEMORY = 2**31


@dataclass(frozen=True)
class Priced:
    """Multipliers of the linear constraints over sums, and the bound that they give."""

    multipliers: tuple[int, ...]
    """One for each row, in 1 / ``unit`` of a unit of cost."""
    unit: int
    lower: int
    """No tree that satisfies the rows costs less."""
    infeasible: bool
    """No tree satisfies them."""
    complete: bool = True
    """Otherwise the search was stopped: other multipliers, or these with more time, may give a better bound."""


def takes_intervals(data: Dataset, task: TreeTask) -> bool:
    """Whether thresholds are searched as intervals, without a list of tests: where columns have many."""
    return _has_many_thresholds(data) and not _counts_nodes(task)


def has_listed_thresholds(data: Dataset, task: TreeTask) -> bool:
    """Whether they are listed although columns have many: where tests or leaves add to sums."""
    return _has_many_thresholds(data) and _counts_nodes(task)


def _has_many_thresholds(data: Dataset) -> bool:
    return data.n_tests > max(FEW_TESTS, THRESHOLDS * data.n_features)


def _counts_nodes(task: TreeTask) -> bool:
    return task.totals is not None and task.totals.of_nodes


def reason_against_search(data: Dataset, task: TreeTask, memory: int | None = None) -> str | None:
    """Why the graph of a task cannot be made, however long it takes; None when it can.

    ``memory``: as for `GraphOfTrees`.
    """
    if takes_intervals(data, task):
        return _reason_against_numbers(data, task)
    if data.n_tests > MOST_TESTS:
        return f"the table has {data.n_tests:,} distinct tests, and at most {MOST_TESTS:,} are listed"
    if not Room(memory).has(bytes_of_tests(data)):
        return "the table of its tests does not fit in memory"
    return _reason_against_numbers(data, task)


def _reason_against_numbers(data: Dataset, task: TreeTask) -> str | None:
    search, task = TotalsSearch(), without_budget(task)
    return (search.beyond_numbers if takes_intervals(data, task) else search.unsupported)(data, task)


def without_budget(task: TreeTask) -> TreeTask:
    """The task with any number of columns, or with none at all."""
    return replace(task, max_features=0 if task.max_features == 0 else None)


def most_columns(data: Dataset, task: TreeTask) -> int | None:
    """The budget of columns; None where no tree of the depth can test more columns than that."""
    most = binding_features(data, task)
    return None if most is None or most >= 2**task.depth - 1 else most


class GraphOfTrees:
    """The trees of a task as an AND/OR graph; what it learns is kept from one call to the next.

    ``task``: depth, costs, prices of tests, minimum support and flow, sum constraints and rules on paths count, the
    latter as far as `treeform.engines.graph_paths` follows them, and with ``apart="feature"`` only; meetings and
    budgets of columns are left out. Of sets of features, their union counts. ``apart``: which tests that part a node's
    rows alike are different alternatives: those of different encoded features (``"feature"``), of different columns of
    the table (``"column"``), or none (``"partition"``). ``memory``: bytes by which the process may grow; None for 2
    GiB. ``simd``: instruction set of the totals: ``"auto"`` takes the widest one that the processor has. ``tests``: the
    tests that trees may have (`treeform.engines.few_thresholds`); None for all of them. Raises SpecError if the table
    has too many tests, or sums would leave 64 bits.
    """

    def __init__(
        self,
        data: Dataset,
        task: TreeTask,
        apart: Apart = "feature",
        memory: int | None = None,
        simd: str = "auto",
        tests: Tests | None = None,
    ) -> None:
        intervals = tests is None and takes_intervals(data, task)
        reason = reason_against_search(data, task, memory)
        if reason is not None:
            raise SpecError(
                "the graph of all trees cannot be made",
                cause=reason,
                fix="round or bin columns, or use formulation='odd'",
            )
        self.apart, self.data, self.depth = apart, data, task.depth
        limited = replace(without_budget(task), meetings=None, features=None)
        limits = {
            "depth": task.depth,
            "min_support": task.min_support,
            "min_flow": task.min_flow,
            "memory": memory or _MEMORY,
            "simd": simd,
        }
        self._searches = intervals
        # The encoded features with a test that the task allows.
        columns = np.flatnonzero(np.ptp(data.points.X, axis=0) > 0 if intervals else [])
        if task.features is not None:
            columns = columns[np.isin(columns, sorted(frozenset().union(*task.features)))]
        if intervals and not len(columns):
            self.table = TableOfTotals(data, limited, _one_test_each(data, columns))
            self._native = _core.AndOrGraph(self.table.arrays(), _groups(self.table, apart), **limits)
        elif intervals:
            self.table = TableOfTotals(data, limited, _thresholds(data, columns))
            one = TableOfTotals(data, limited, _one_test_each(data, columns))
            points = np.ascontiguousarray(data.points.X[:, columns])
            self._native = _core.IntervalAndOrGraph(one.arrays(), points, _groups(one, apart), **limits)
        else:
            every = _tests(data, apart) if tests is None else tests
            self.table = TableOfTotals(data, limited, _allowed(every, task))
            self._native = _core.AndOrGraph(self.table.arrays(), _groups(self.table, apart), **limits)
        states = None
        if task.paths and apart == "feature" and not intervals:
            states = states_of(task, self.table)
        self.path_levels = 0 if states is None else states.levels
        """The number of tests above, from which on rules on paths do not count."""
        self.keeps_paths = not task.paths or (states is not None and states.whole)
        """Whether every rule on paths is kept to, in all trees of the graph."""
        several = task.features is not None and len(task.features) > 1
        self.keeps_columns = not several and (task.max_features == 0 or most_columns(data, task) is None)
        """Whether the trees test no more columns together than the task allows."""
        if states is not None:
            self._native.keep_to(states.allowed, states.next, states.may_end)

    n_sets: int = 0
    """Sets of columns that trees are searched over one by one."""

    @property
    def n_rows(self) -> int:
        """Linear constraints over sums that have a multiplier."""
        return len(self.table.lo)

    def relax(
        self, upper: int | None = None, seconds: float | None = None, stop: Callable[[], bool] | None = None
    ) -> Priced | None:
        """Search for multipliers with a good bound; None when it was stopped before it had any.

        ``upper``: no bound above it is wanted. ``stop``: called about twenty times a second.
        """
        least, limits = EVERYTHING if upper is None else max(0, upper), _limits_of(seconds, stop)
        return self._bounded(_priced(self._native.relax(least, *limits)), limits)

    def price(
        self,
        multipliers: tuple[int, ...],
        unit: int,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Priced | None:
        """The bound at given multipliers, which count from here on.

        ``multipliers``: one for each linear constraint, in 1 / ``unit`` of a unit of cost. ``unit``: the denominator of
        the multipliers. ``stop``: called about twenty times a second. Returns None when it was stopped before it had a
        bound.
        """
        limits = _limits_of(seconds, stop)
        return self._bounded(_priced(self._native.price(list(multipliers), unit, *limits)), limits)

    def written(self, sums_only: bool, budget: Budget, stop: Callable[[], bool]) -> WrittenGraphs:
        """The graphs of several costs, each written out once.

        ``sums_only``: whether only a cheapest tree is wanted, under no other rows than those that have multipliers.
        Then alternatives may be omitted that others dominate, or that other multipliers exclude. ``stop``: what ends a
        search.
        """
        can_omit = self.can_omit_dominated or self.can_omit_excluded
        return WrittenGraphs(self.up_to, sums_only and can_omit, budget, stop)

    def up_to(
        self,
        cost: int | None = None,
        most: int = MOST_ALTERNATIVES,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
        short_by: int = 0,
        fewer: bool = False,
    ) -> AndOrGraph | None:
        """All alternatives of trees of at most this cost that satisfy the rows, after `relax` or `price`.

        ``cost``: None: of any cost; rows count only as far as no tree can satisfy them. ``most``: alternatives to hold.
        ``short_by``: by how much the limit on prices stays below that of the cost, less than the ``unit`` of `Priced`:
        of the trees of that cost, only those that are cheap at the multipliers are in the graph then. ``fewer``: if it
        `can_omit_dominated`, tests over two leaves are omitted if another one adds the same to all rows at no more
        cost. A cheapest tree stays in the graph, unless trees have to satisfy more than the rows. If it
        `can_omit_excluded`, alternatives that other multipliers exclude are omitted. Returns None when it was stopped,
        when there are more than ``most`` alternatives, or they do not fit in memory.
        """
        return self._written(cost, short_by, most, _limits_of(seconds, stop), fewer)

    @property
    def can_omit_dominated(self) -> bool:
        """Whether it can omit dominated tests: under sum constraints, with tests listed, without rules on paths."""
        return not self._searches and not self.path_levels and self.n_rows > 0 and not self.n_sets

    @property
    def can_omit_excluded(self) -> bool:
        """Whether it can omit what other multipliers exclude: at depth two, over intervals of thresholds."""
        return self._searches and self.depth == 2 and self.n_rows > 0 and not self.n_sets

    def count(
        self, cost: int, seconds: float | None = None, stop: Callable[[], bool] | None = None
    ) -> int | None:
        """How many trees of at most this cost there are, after `relax` or `price`, without their graph.

        A tree is counted once, as in `treeform.engines.enumeration`.

        Returns None when it was stopped, when there are 2**53 or more, costs differ by 10,000 units or more, or prices
        of all thresholds do not fit in memory; and where thresholds are not searched as intervals, tests of different
        features may be one, or sums are constrained.
        """
        groups, features = np.unique(_groups(self.table, self.apart)), np.unique(self.table.feature)
        if not self._searches or self.n_rows or len(groups) < len(features):
            return None
        found = self._native.count(cost, *_limits_of(seconds, stop))
        return int(found) if found is not None and found < EXACT else None

    def _bounded(self, priced: Priced | None, limits: Limits) -> Priced | None:
        """What the native search priced, as it counts for these trees."""
        return priced

    def _written(
        self, cost: int | None, short_by: int, most: int, limits: Limits, fewer: bool = False
    ) -> AndOrGraph | None:
        given = self._native.up_to(EVERYTHING if cost is None else cost, short_by, most, fewer, *limits)
        complete = cost if cost is None or not short_by else cost - 1
        graph = None if given is None else self._graph(given, complete)
        return graph and replace(
            graph, undominated=fewer and self.can_omit_dominated, omits_excluded=fewer and self.can_omit_excluded
        )

    def _graph(self, given: dict[str, Any], cost: int | None) -> AndOrGraph:
        nodes, points = len(given["depth"]), len(self.table.bits)
        rows = given["cover"].view(np.uint8).reshape(nodes, int(given["words"]) * 8)
        test = given["test"]
        feature = np.where(test >= 0, self._of(self.table.feature, test), -1)
        threshold = np.where(test >= 0, self._of(self.table.threshold, test), np.nan)
        return AndOrGraph(
            depth=given["depth"].astype(np.int64),
            cover=rows[:, : -(-points // 8)],
            n_points=points,
            node=np.repeat(np.arange(nodes), np.diff(given["begin"])),
            feature=feature.astype(np.int64),
            threshold=threshold,
            label=given["label"].astype(np.int64),
            left=given["left"].astype(np.int64),
            right=given["right"].astype(np.int64),
            least=given["least"],
            by_feature=self.apart != "partition",
            test=test.astype(np.int64),
            sums=given["sums"].reshape(len(test), 1 + self.n_rows),
            up_to=cost,
        )

    @staticmethod
    def _of(values: NDArray[Any], test: NDArray[np.int32]) -> NDArray[Any]:
        return values[test] if len(values) else np.zeros(len(test))


def _priced(given: dict[str, Any] | None) -> Priced | None:
    if given is None:
        return None
    return Priced(
        tuple(given["multipliers"]), given["unit"], given["lower"], given["infeasible"], given["complete"]
    )


def _limits_of(seconds: float | None, stop: Callable[[], bool] | None) -> Limits:
    """As the core takes them."""
    return np.inf if seconds is None else seconds, stop


def _groups(table: TableOfTotals, apart: Apart) -> NDArray[np.int32]:
    """(T,) at a node, tests of one group that part its rows alike are one."""
    groups = {"feature": table.feature, "column": table.source, "partition": np.zeros_like(table.source)}
    return np.ascontiguousarray(groups[apart], dtype=np.int32)


def _one_test_each(data: Dataset, columns: NDArray[np.int64]) -> Tests:
    """In place of the tests of each column one, whose bits are not read."""
    no_bits = np.zeros((data.points.n_points, len(columns)), dtype=np.uint8)
    return no_bits, columns.astype(np.int32), np.zeros(len(columns))


def _thresholds(data: Dataset, columns: NDArray[np.int64]) -> Tests:
    """All tests of some columns, by column and threshold, without the bits that say where they send each point."""
    feature, threshold = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for f in columns.tolist():
        values = np.unique(data.points.X[:, f])
        feature.append(np.full(len(values) - 1, f, dtype=np.int32))
        threshold.append(midpoints(values[:-1], values[1:]))
    no_bits = np.zeros((data.points.n_points, 0), dtype=np.uint8)
    return no_bits, np.concatenate(feature), np.concatenate(threshold)


def _tests(data: Dataset, apart: Apart) -> Tests:
    """All distinct tests."""
    if apart != "feature" or data.points.are_bits:
        return tests_of(data)
    splits = data.splits(None)
    return np.ascontiguousarray(~splits.left.T).view(np.uint8), splits.feature, splits.threshold


def _allowed(tests: Tests, task: TreeTask) -> Tests:
    """Those of features that the task allows."""
    bits, feature, threshold = tests
    kept = np.ones(len(feature), dtype=bool)
    if task.features is not None:
        kept = np.isin(feature, sorted(frozenset().union(*task.features)))
    return (
        np.ascontiguousarray(bits[:, kept]),
        np.ascontiguousarray(feature[kept], dtype=np.int32),
        threshold[kept],
    )
