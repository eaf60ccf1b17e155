"""ContinuousTotals: provably optimal trees under requirements on totals, over all thresholds of continuous columns.

The search prices sum constraints into the objective, which leaves a problem for ConTree's search over intervals of
thresholds, and lists the trees that the prices leave possible. It is described in
``treeform/native/continuous_totals``.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeform.engines.checks import (
    SCAN_PATHS,
    NativeSettings,
    not_exact,
)
from treeform.engines.column_sets import Found, search_column_sets
from treeform.engines.contributions import Clashes, Contributions
from treeform.engines.native_call import (
    Room,
    Session,
    cost_of_admissible_tree,
    counters_of,
    start_over_ranks,
    time_limit_of,
    tree_between_values,
)
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, binding_features, check_task
from treeform.engines.totals import TotalsSearch
from treeform.errors import SpecError

if TYPE_CHECKING:
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph

RULES = ("neighbourhood", "shrinking", "subinterval", "features")
PARTS = ("multipliers", "lazy", "steps", "shallow", "rough", "roots", "dominance", *RULES)
DEEPEST = 9
MOST_ACTIVE = 16
NO_TREE = 2**60
"""The bound when no admissible tree exists: above the cost of any."""
WITNESS_BITS = 28
_USUAL_MEMORY = 2**30


@dataclass(frozen=True, kw_only=True)
class ContinuousTotals(NativeSettings, Engine):
    """Exact search over all thresholds for trees under linear constraints over sums: parity, rates, costs.

    Nothing is made binary: thresholds are searched as intervals, as `ConTree` does, so a column may have as many
    values as the table has rows. On tables of few tests `TotalsSearch` is faster.

    Parameters
    ----------
    memory_limit : int or None
        Bytes by which the process may grow; the search stops with its best tree and bound beyond that. None for 1 GiB
        for one list of solutions.
    threads : int
        Threads that share the splits of the root; tree, bound and status do not depend on it.
    simd : str
        ``auto``, ``avx512``, ``avx2``, ``portable`` or ``plain``: the same answer at different speeds.
    parts : tuple of str
        The parts of the search in use, all exact; leave some out only to study their effect. ``multipliers`` (prices on
        the rows), ``lazy`` (rows take part once they are violated), ``steps`` (guessed upper bounds that grow),
        ``shallow`` (smaller depths first), ``rough`` (few thresholds while multipliers are sought), ``roots`` (first
        models from the root tests met on the way), ``dominance`` (drop what another solution makes needless), and
        ConTree's rules ``neighbourhood``, ``shrinking``, ``subinterval`` and ``features``.

    Examples
    --------
    >>> ContinuousTotals(memory_limit=2**28).name
    'continuous-totals'
    """

    parts: tuple[str, ...] = PARTS

    name: ClassVar[str] = "continuous-totals"
    paths: ClassVar[tuple[str, ...]] = SCAN_PATHS
    family: ClassVar[str] = "totals"
    chosen_for: ClassVar[str] = (
        "proves optima under linear constraints over sums; it searches intervals of thresholds"
    )
    plain_title: ClassVar[str] = "without its shortcuts"
    prices_rows: ClassVar[bool] = False
    understands: ClassVar[frozenset[str]] = TotalsSearch.understands - {"totals"} | {"totals_of_samples"}

    def plain(self) -> ContinuousTotals:
        """Without guesses, shallower depths and first models; it needs ConTree's rules to end at all."""
        return ContinuousTotals(parts=("multipliers", "lazy", "rough", "dominance", *RULES))

    def unsupported(self, data: Dataset, task: TreeTask) -> str | None:
        """Why the search cannot take the task, in words; None when it can."""
        if task.widths is not None:
            return "it searches trees, not layered diagrams"
        if task.depth > DEEPEST:
            return f"it searches to depth {DEEPEST}, not {task.depth}"
        if task.totals is not None and task.totals.of_nodes:
            return "it takes totals over samples, not over tests and leaves"
        return None

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises
        ------
        SpecError
            If the task is not possible, or whole numbers would leave the range in which the search is exact.
        """

        check_task(data, task)
        reason = self.unsupported(data, task)
        if reason is not None:
            raise _not_exact(reason)
        most = binding_features(data, task)
        room = Room(self.memory_limit)
        session = (_Session if most is None else _WithinBudget)(data, task, run, room)
        try:
            native = session.search(self, most)
        except OverflowError:
            raise _not_exact("the costs of all samples together exceed 2**60") from None
        return session.outcome(native)


def _not_exact(reason: str) -> SpecError:
    fix = "use weights or costs with fewer digits, a smaller shape, or tf.HiGHS() or tf.CPSAT()"
    return not_exact(ContinuousTotals.name, reason, fix)


class _Session(Session):
    """The core itself judges the tree to begin with, so no start stands here."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun, room: Room) -> None:
        super().__init__(data, task, run)
        self.room = room
        self.adds = Contributions(data, task, np.zeros(1, dtype=np.int32))

    def search(self, engine: ContinuousTotals, most: int | None) -> dict[str, Any]:
        """Run the core on all columns."""
        limit = time_limit_of(self.given.budget.elapsed_limit)
        columns = list(range(self.data.n_features))
        start = start_over_ranks(self.given.start, self.data, self.task.depth)
        return self.native(engine, columns, self.upper, start, limit, self.poll)

    def native(
        self,
        engine: ContinuousTotals,
        columns: list[int],
        upper: int | None,
        start: dict[str, Any],
        seconds: float,
        poll: Callable[[Any, Any, int], tuple[bool, int | None]],
    ) -> dict[str, Any]:
        """One run of the core on these encoded features."""
        from treeform import _core

        data, task, adds = self.data, self.task, self.adds
        everything = columns == list(range(data.n_features))
        X = data.X if everything else np.ascontiguousarray(data.X[:, columns])
        tested = np.array(columns or [-1], dtype=np.int32)
        clashes = Clashes(task.meetings, adds.samples, data.n_classes, tested)
        answer: dict[str, Any] = _core.continuous_totals(
            X if columns else np.zeros((data.n_samples, 1)),
            adds.kind.astype(np.int32),
            None if (data.weights == 1).all() else data.weights,
            adds.cost,
            adds.row,
            np.ascontiguousarray(adds.test_row[0]),
            adds.lo,
            adds.hi,
            clashes.mark,
            clashes.begin,
            clashes.low,
            clashes.high,
            test_cost=task.node_penalty,
            depth=task.depth,
            min_support=task.min_support,
            min_flow=task.min_flow,
            upper=upper,
            use=list(engine.parts),
            memory=engine.memory_limit or _USUAL_MEMORY,
            memory_limit=self.room.left(),
            simd=engine.simd,
            threads=engine.threads,
            **start,
            time_limit=seconds,
            poll=poll,
        )
        return answer

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        return tree_between_values(tree, self.data)

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        native = native | {"memory": native["memory"] or native["too_many_active"]}
        answer = super().outcome(native | {"lower": NO_TREE} if native["infeasible"] else native)
        witness = self._witness(native) if len(native["multipliers"]) else None
        notes = answer.notes + self._notes(native)
        return replace(answer, witness=witness, notes=notes, rows_used=self.rows_used(native))

    def rows_used(self, native: dict[str, Any]) -> tuple[bool, ...]:
        """Which rows the bound rests on."""
        return _rows_used(native)

    def _witness(self, native: dict[str, Any]) -> dict[str, Any]:
        """The multipliers per row, and the rows that took part, with which the bound can be proved again.

        Any multipliers prove something, so they are given with no more digits than other searches can use.
        """
        unit = int(native["multiplier_unit"])
        largest = unit or int(np.abs(native["multipliers"]).max())  # 0: they price the rows alone
        spare = max(0, largest.bit_length() - WITNESS_BITS)
        return {
            "multipliers": [int(m) >> spare for m in native["multipliers"]],
            "unit": unit >> spare,
            "active": [int(a) for a in native["active"]],
        }

    def _notes(self, native: dict[str, Any]) -> tuple[str, ...]:
        """Why the search gave up."""
        if native["too_many_active"]:
            return (
                f"more than {MOST_ACTIVE} linear constraints over sums take part at once: the search ended early",
            )
        return ()


def _rows_used(native: dict[str, Any]) -> tuple[bool, ...]:
    """The rows with a multiplier, and those that were found violated."""
    multiplied = np.asarray(native["multipliers"]) != 0
    return tuple((multiplied | (np.asarray(native["active"]) != 0)).tolist())


class _WithinBudget(_Session):
    """A budget of columns: one run of the core for each set of columns that is looked at."""

    def search(self, engine: ContinuousTotals, most: int | None) -> dict[str, Any]:
        """Branch and bound over sets of columns; the answer in the core's form."""
        assert most is not None
        self.engine, self.began = engine, time.monotonic()
        self.limit = time_limit_of(self.given.budget.elapsed_limit)
        self.last: dict[str, Any] = {  # where the start shows that no set has to be asked
            "memory": False, "too_many_active": False, "multiplier_unit": 1, "active": [], "simd": engine.simd
        }  # fmt: skip
        self.best: dict[str, Any] | None = None
        self.hint: dict[str, Any] = {"multipliers": np.zeros(0, dtype=np.int64)}
        self.counters: Counter[str] = Counter()
        self.used: list[tuple[bool, ...]] = []  # rows, by set of columns
        self.asked_all = False
        self._offer_start(most)
        sources = list(dict.fromkeys(column.source for column in self.data.columns))
        self.columns = [
            [f for f, column in enumerate(self.data.columns) if column.source == source] for source in sources
        ]
        outcome = search_column_sets(
            range(len(sources)), most, self._ask, self._least, self._keep, NO_TREE, self.task.depth
        )
        self.counters["column_sets"] = outcome.sets
        nothing = outcome.complete and self.best is None and self.start is None and self.upper is None
        return self.last | {
            "tree": self.best,
            "lower": outcome.lower,
            "complete": outcome.complete,
            "infeasible": nothing,
            "counters": self.counters,
            "seconds": time.monotonic() - self.began,
            **self.hint,
        }

    def rows_used(self, native: dict[str, Any]) -> tuple[bool, ...]:
        """What the proof of any set of columns rests on; a set that was stopped at once knows no rows."""
        return tuple(any(flags) for flags in zip_longest(*self.used, fillvalue=False))

    def _offer_start(self, most: int) -> None:
        graph, data, task = self.given.start, self.data, self.task
        if graph is None or (cost := cost_of_admissible_tree(graph, data, task)) is None:
            return
        if task.sample_cost is not None:
            each = task.sample_cost[np.arange(data.n_samples), graph.predict_codes(data.X)]
            cost = int((each * data.weights).sum()) + task.node_penalty * graph.n_nodes
        tests = np.flatnonzero(graph.feature >= 0)
        tested = {data.columns[f].source for f in graph.feature[tests]}
        flows = data.weights @ graph.route(data.X)[:, tests]
        fits = len(tested) <= most and (flows >= max(task.min_flow, 1)).all()
        supported = [
            rows.excess(graph, data) == 0 for rows in (task.totals, task.meetings) if rows is not None
        ]
        if fits and all(supported):
            self.begin_with(graph, cost)

    def _least(self) -> int | None:
        known = [value for value in (self.upper, self.asked_upper()) if value is not None]
        return min(known, default=None)

    def _ask(self, sources: Sequence[int], upper: int | None, part: float) -> Found:
        columns = [f for source in sources for f in self.columns[source]]
        left = max(0.0, self.limit * part - (time.monotonic() - self.began))
        self.last = self.native(
            self.engine, columns, upper, start_over_ranks(None, self.data, 0), left, self._poll
        )
        self.used.append(_rows_used(self.last))
        self.asked_all = self.asked_all or len(sources) == len(self.columns)
        if not len(self.hint["multipliers"]):
            self._take_hint()
        for name, count in counters_of(self.last).items():
            most = name == "largest_front"
            self.counters[name] = max(self.counters[name], count) if most else self.counters[name] + count
        tree = self.last["tree"]
        self.found = tree
        if tree is None:
            return Found(None, int(self.last["lower"]), complete=bool(self.last["complete"]))
        tree["feature"] = np.array([f if f < 0 else columns[f] for f in tree["feature"]], dtype=np.int32)
        graph = self.graph_of(tree)
        visits = graph.route(self.data.X)
        weights: Counter[int] = Counter()
        of_source = {f: source for source in sources for f in self.columns[source]}
        for node in np.flatnonzero(graph.feature >= 0):
            source = of_source[int(graph.feature[node])]
            weights[source] += int(self.data.weights[visits[:, node]].sum())
        return Found(
            int(tree["cost"]), int(self.last["lower"]), dict(weights), complete=bool(self.last["complete"])
        )

    def _take_hint(self) -> None:
        self.hint = {name: self.last[name] for name in ("multipliers", "multiplier_unit", "active")}

    def _keep(self, sources: Sequence[int]) -> None:
        assert self.found is not None
        if not self.asked_all:  # the run over most columns has the multipliers that say most
            self._take_hint()
        self.best, self.upper = self.found, int(self.found["cost"])
        if self.given.on_incumbent is not None:
            seconds = time.monotonic() - self.began
            self.given.on_incumbent(seconds, self.upper, 0, self.graph_of(self.found))

    def _poll(self, news: Any, model: Any, nodes: int) -> tuple[bool, int | None]:
        """Trees over a set of columns may test too many: only whether to stop is asked."""
        whole, self.given = self.given, replace(self.given, on_incumbent=None)
        try:
            return self.poll(news, model, nodes)[0], self._least()
        finally:
            self.given = whole
