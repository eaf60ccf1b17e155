"""ContinuousTotals: provably optimal trees under requirements on totals, over all thresholds of continuous columns.

The search prices sum constraints into the objective, which leaves a problem for ConTree's search over intervals of
thresholds, and lists the trees that the prices leave possible. It is described in
``treeform/native/continuous_totals``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.engines.checks import SCAN_PATHS, NativeSettings, check_taken, not_exact
from treeform.engines.column_budget import ColumnBudget
from treeform.engines.contributions import Clashes, Contributions
from treeform.engines.native_call import (
    Room,
    Session,
    cost_of_admissible_tree,
    start_over_ranks,
    time_limit_of,
    tree_between_values,
)
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, binding_features
from treeform.engines.totals import TotalsSearch
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
        if task.widths is not None:
            return "it searches trees, not layered diagrams"
        if task.depth > DEEPEST:
            return f"it searches to depth {DEEPEST}, not {task.depth}"
        if task.totals is not None and task.totals.of_nodes:
            return "it takes totals over samples, not over tests and leaves"
        return None

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, or whole numbers would leave the range in which the search is
        exact.
        """
        check_taken(self, data, task)
        room, adds = Room(self.memory_limit), Contributions(data, task, np.zeros(1, dtype=np.int32))

        def solve(features: list[int], asked: EngineRun) -> EngineOutcome:
            session = _Session(data, task, asked, adds, features)
            try:
                native = session.search(self, room)
            except OverflowError:
                raise not_exact(self.name, "the costs of all samples together exceed 2**60") from None
            return session.outcome(native)

        every = list(range(data.n_features))
        if binding_features(data, task) is None:
            return solve(every, run)
        start = _start(run.start, data, task)
        found = ColumnBudget(data, task, run, every, solve, _cost_of, NO_TREE, start=start).run()
        return replace(found, nothing=False)  # the bound states it


class _Session(Session):
    """A search over some encoded features. The core judges the initial tree itself, so there is no start here."""

    def __init__(
        self, data: Dataset, task: TreeTask, run: EngineRun, adds: Contributions, features: list[int]
    ) -> None:
        super().__init__(data, task, run)
        self.adds, self.features = adds, features

    def search(self, engine: ContinuousTotals, room: Room) -> dict[str, Any]:
        """Run the core."""
        data, task, adds = self.data, self.task, self.adds
        columns, everything = self.features, len(self.features) == data.n_features
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
            upper=self.upper,
            use=list(engine.parts),
            memory=engine.memory_limit or _USUAL_MEMORY,
            memory_limit=room.left(),
            simd=engine.simd,
            threads=engine.threads,
            **start_over_ranks(self.given.start, data, task.depth),
            time_limit=time_limit_of(self.given.budget.elapsed_limit),
            poll=self.poll,
        )
        return answer

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        feature = np.array([*self.features, -1], dtype=np.int32)[tree["feature"]]
        return tree_between_values(tree | {"feature": feature}, self.data)

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        native = native | {"memory": native["memory"] or native["too_many_active"]}
        answer = super().outcome(native | {"lower": NO_TREE} if native["infeasible"] else native)
        witness = self._witness(native) if len(native["multipliers"]) else None
        notes = answer.notes + self._notes(native)
        # The rows with a multiplier, and those that were found violated.
        used = (np.asarray(native["multipliers"]) != 0) | (np.asarray(native["active"]) != 0)
        return replace(answer, witness=witness, notes=notes, rows_used=tuple(used.tolist()))

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


def _cost_of(outcome: EngineOutcome) -> int:
    assert outcome.upper is not None
    return outcome.upper


def _start(graph: DecisionGraph | None, data: Dataset, task: TreeTask) -> tuple[int, DecisionGraph] | None:
    """An initial tree and its cost; None if it is not admissible."""
    if graph is None or (cost := cost_of_admissible_tree(graph, data, task)) is None:
        return None
    if task.sample_cost is not None:
        each = task.sample_cost[np.arange(data.n_samples), graph.predict_codes(data.X)]
        cost = int((each * data.weights).sum()) + task.node_penalty * graph.n_nodes
    tests = np.flatnonzero(graph.feature >= 0)
    tested = {data.columns[f].source for f in graph.feature[tests]}
    flows = data.weights @ graph.route(data.X)[:, tests]
    fits = len(tested) <= (task.max_features or 0) and (flows >= max(task.min_flow, 1)).all()
    supported = [rows.excess(graph, data) == 0 for rows in (task.totals, task.meetings) if rows is not None]
    return (cost, graph) if fits and all(supported) else None
