"""TotalsSearch: provably optimal trees under requirements on totals, over few tests.

Fairness between groups, budgets and rates are rows over whole numbers that add up over samples and tests
(`treeform.language.totals`). The search prices them into the objective, and enumerates the trees that the prices
leave possible; it is described in ``treeform/native/totals``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.engines.checks import NativeSettings, check_taken
from treeform.engines.distributed import Distributable, Evaluator
from treeform.engines.native_call import Room, SessionOverTests, bytes_of_tests, refused
from treeform.engines.table_of_totals import LARGEST_WEIGHT, TableOfTotals
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask, binding_features

PARTS = ("multipliers", "lazy", "steps", "shallow", "rough", "similarity", "dominance")
DEEPEST = 9
MOST_FEATURES = 256
MOST_CLASSES = 38
MOST_TESTS = 2**15 - 2
NO_TREE = 2**60
"""The bound when no admissible tree exists: above the cost of any."""
_USUAL_MEMORY = 2**30
_LARGEST_COST = 2.0**50 * (1 - 1e-9)
"""The core's limit is 2**50; the rest is for sums in floats."""
LEAST_STEPS = 2e7
"""Steps that a test at the root may take before it is asked of another process: some milliseconds."""


@dataclass(frozen=True, kw_only=True)
class TotalsSearch(NativeSettings, Distributable):
    """Exact search for trees under linear constraints over sums: parity, equal opportunity, budgets, costs.

    It enumerates all distinct tests, and is meant for tables of some hundreds of them.

    Parameters
    ----------
    memory_limit : int or None
        Bytes by which the process may grow; the search stops with its best tree and bound beyond that, and a table that
        cannot fit is refused before it is built. None for 1 GiB of solutions and bounds.
    threads : int
        Worker threads; the tests at the root are shared out. The answer does not depend on their number.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same answer at different speeds.
    parts : tuple of str
        The parts of the search in use, all exact; leave some out only to study their effect. ``multipliers``
        (prices on the rows), ``lazy`` (rows take part once they are violated), ``steps`` (guessed upper bounds that
        grow), ``shallow`` (smaller depths first), ``rough`` (few root tests while multipliers are sought),
        ``similarity`` (bounds from similar subproblems), ``dominance`` (drop what another solution makes needless).

    Examples
    --------
    >>> TotalsSearch(memory_limit=2**28).name
    'totals-search'
    """

    parts: tuple[str, ...] = PARTS

    name: ClassVar[str] = "totals-search"
    family: ClassVar[str] = "totals"
    few_tests: ClassVar[int] = 500  # its work grows with their square and more
    few_to_prove: ClassVar[int] = 1000  # the search over intervals of thresholds beyond
    plain_title: ClassVar[str] = "with multipliers only"
    prices_rows: ClassVar[bool] = False
    chosen_for: ClassVar[str] = (
        "proves optima under linear constraints over sums; it enumerates the distinct tests"
    )
    bounded: ClassVar[bool] = True
    understands: ClassVar[frozenset[str]] = frozenset(
        {
            "features",
            "cost",
            "node_penalty",
            "min_support",
            "min_flow",
            "max_nodes",
            "max_features",
            "sample_cost",
            "totals",
            "stated_sums",
            "meetings",
            "weights",
        }
    )

    def plain(self) -> TotalsSearch:
        """Without lazy rows, guesses, similarity and dominance."""
        return TotalsSearch(parts=("multipliers",))

    def unsupported(self, data: Dataset, task: TreeTask) -> str | None:
        reason = self.beyond_numbers(data, task)
        if reason is not None:
            return reason
        bits = data.points.are_bits  # the search needs merged rows, in which tests are counted sooner
        if not (bits and data.n_features <= MOST_TESTS) and data.n_tests > MOST_TESTS:
            return f"it takes {MOST_TESTS:,} tests, not {data.n_tests:,}"
        if not (bits or data.can_list_tests):
            return "the table has too many tests to list them"
        return None

    def beyond_numbers(self, data: Dataset, task: TreeTask) -> str | None:
        """The same whatever the number of tests."""
        if task.widths is not None:
            return "it searches trees, not layered diagrams"
        if task.depth > DEEPEST:
            return f"it searches to depth {DEEPEST}, not {task.depth}"
        if data.n_classes > MOST_CLASSES:
            return f"it takes {MOST_CLASSES} classes, not {data.n_classes}"
        if data.total_weight >= LARGEST_WEIGHT:
            return "the samples weigh 2**50 units or more together"
        if _most_cost(data, task) >= _LARGEST_COST:
            return "the costs of all samples together exceed 2**50"
        sources = len({column.source for column in data.columns})
        if binding_features(data, task) and sources > MOST_FEATURES:
            return f"it counts tested columns among {MOST_FEATURES}, not {sources}"
        return None

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What searches below root tests."""
        room, table = Room(self.memory_limit), TableOfTotals(data, task)
        evaluator: Evaluator = _core.TotalsEvaluator(
            table.arrays(), **self._keywords(data, task) | {"threads": 1}, memory_limit=room.left()
        )
        return evaluator

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, or whole numbers would leave the range in which the search is
        exact.
        """
        check_taken(self, data, task)
        room, listed = Room(self.memory_limit), bytes_of_tests(data)
        if not room.has(listed):
            return refused(listed)
        table = TableOfTotals(data, task)
        session = _Session(data, task, run, table)
        asked = self._keywords(data, task) | {"threads": max(self.threads, run.threads)}
        asked |= {"upper": session.upper, "start": session.tests_of(run.start)}
        native = _core.totals(table.arrays(), **asked, memory_limit=room.left(), **session.watch())
        return session.outcome(native)

    def _keywords(self, data: Dataset, task: TreeTask) -> dict[str, Any]:
        return {
            "depth": task.depth,
            "min_support": task.min_support,
            "min_flow": task.min_flow,
            "max_features": binding_features(data, task) or 0,
            "upper": None,
            "start": None,
            "multipliers": [],
            "multiplier_unit": 1,
            "use": list(self.parts),
            "memory": self.memory_limit or _USUAL_MEMORY,
            "simd": self.simd,
            "threads": self.threads,
            "least_steps": LEAST_STEPS,
        }


class OfPrices(TotalsSearch):
    """What a search of trees by the prices of their rows knows of a question."""

    understands: ClassVar[frozenset[str]] = TotalsSearch.understands | {"paths"}


class OfCounts(TotalsSearch):
    """The parts of a question that counting supports; the others are judged on each model."""

    understands: ClassVar[frozenset[str]] = frozenset(
        {"cost", "node_penalty", "min_support", "min_flow", "max_nodes", "totals", "weights"}
    )


class OfGraphs(TotalsSearch):
    """What prices of rows on a graph of trees know of a question; the rest is left to a solver."""

    understands: ClassVar[frozenset[str]] = OfPrices.understands - {"meetings"}


class OfIntervals(OfGraphs):
    """The same where thresholds are searched as intervals: totals are then over samples only."""

    understands: ClassVar[frozenset[str]] = OfGraphs.understands - {"totals"} | {"totals_of_samples"}


def _most_cost(data: Dataset, task: TreeTask) -> float:
    """What a tree can cost at most, in floats: every sample its dearest label, and all tests."""
    if task.sample_cost is not None:
        samples = float((task.sample_cost.max(axis=1).astype(float) * data.weights).sum())
    elif task.cost is not None:
        of_class = np.bincount(data.y, data.weights, data.n_classes)
        samples = float((task.cost.max(axis=1).astype(float) * of_class).sum())
    else:
        samples = float(data.total_weight)
    return samples + float(task.node_penalty) * (2.0**task.depth - 1)


class _Session(SessionOverTests):
    """The core judges the initial tree itself, so there is no start here."""

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun, table: TableOfTotals) -> None:
        super().__init__(data, task, run)
        self.table = table

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        answer = super().outcome(native | {"lower": NO_TREE} if native["infeasible"] else native)
        counters = {"tests": int(native["columns"]), "multiplier_bound": int(native["relaxed"])}
        witness = self._witness(native) if len(native["active"]) else None
        counters = answer.counters | counters
        used = tuple(bool(a) for a in native["active"])
        return replace(answer, counters=counters, witness=witness, rows_used=used)

    def _witness(self, native: dict[str, Any]) -> dict[str, Any]:
        """The multipliers per row, and the rows that took part, with which the bound can be proved again."""
        return {
            "multipliers": [int(m) for m in native["multipliers"]],
            "unit": int(native["multiplier_unit"]),
            "active": [int(a) for a in native["active"]],
        }
