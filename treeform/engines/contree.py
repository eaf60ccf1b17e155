"""ConTree: exact trees on continuous features by dynamic programming with branch and bound.

Source: Brita, van der Linden and Demirovic, Optimal Classification Trees for Continuous Feature Data Using
Dynamic Programming with Branch-and-Bound, AAAI 2025. The algorithm itself is in ``treeform/native/contree``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeform import _core
from treeform.data import Dataset
from treeform.data.views import group_rows
from treeform.engines.checks import (
    SCAN_PATHS,
    NativeSettings,
    check_between,
    check_flag,
    check_seed,
    impossible,
)
from treeform.engines.distributed import Distributable, Evaluator
from treeform.engines.native_call import (
    Room,
    Session,
    cost_of_admissible_tree,
    start_over_ranks,
    tree_between_values,
)
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask, check_task
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.utils.arguments import renamed_fields
from treeform.utils.arrays import Ints

RULES = ("neighbourhood", "shrinking", "subinterval", "features")
MOVES = "moves"
"""The counter of the improvement search."""
_NO_LIMIT = 2**60
_MANY_ROWS, _SAMPLE = 10_000, 4_096
_MORE_ROWS = 1.25
_NARROW_ROWS, _NARROW_WEIGHT, NARROW_SUM = 2**16 - 2, 15, 32 * 31_000
"""The core keeps numbers of 16 bits up to so many rows, and sums up to so much: rows times the most weight."""


@renamed_fields(prune="parts")
@dataclass(frozen=True, kw_only=True)
class ConTree(NativeSettings, Distributable):
    """The exact engine for trees on numeric features, of any depth.

    Parameters
    ----------
    threads : int
        Worker threads. Up to depth three the tree does not depend on their number. From depth four on any number from
        two on gives one tree, and one thread may give another one of the same cost. Two runs may have different trees
        where a limit on time or `max_gap` ends them before the proof, or, with several threads from depth four on, a
        bound that was known does.
    max_gap : int or float
        Stop improving once the tree is provably this close to the optimum: an int in units of cost (of the
        data set's integer weights), a float in (0, 1) as a fraction of the total weight; 0 for the optimum.
    memory_limit : int or None
        Bytes by which the process may grow. Near that it continues with fewer threads and less scratch, and stops with
        its best tree if that does not suffice; a table that cannot fit is refused before it is built.
    parts : tuple of str
        The pruning rules in use: the paper's ``neighbourhood``, ``shrinking`` and ``subinterval``, and
        ``features`` (bounds per second feature). All are exact; leave some out only to study their effect.
    simd : str
        ``auto``, ``avx512``, ``avx2``, ``portable`` or ``plain``: the same tree at different speeds.
    fewest_tests : bool
        Once the optimum is proved, search for the fewest tests among the optimal trees; takes about as long again
        with two classes, and up to twelve times as long with several.
    improve : bool
        From depth three on, begin with a tree that is built from exact trees of depth two; from depth four on, search
        for better trees beside the proof, by turns (``treeform/native/deep``). Not with a limit on memory.
    seed : int
        Of that search.
    ahead : int
        Thresholds of the root that may be in work at a time where an executor has them, at least 3. More serve more
        workers. The cost does not depend on it; which of several best trees it is, and the work, may.

    Examples
    --------
    >>> ConTree(threads=2).threads
    2
    """

    max_gap: int | float = 0
    parts: tuple[str, ...] = RULES
    fewest_tests: bool = False
    improve: bool = True
    seed: int = 0
    ahead: int = 32

    name: ClassVar[str] = "contree"
    paths: ClassVar[tuple[str, ...]] = SCAN_PATHS
    family: ClassVar[str] = "trees"
    bounded: ClassVar[bool] = False
    understands: ClassVar[frozenset[str]] = frozenset(
        {"features", "cost", "node_penalty", "min_support", "max_nodes", "weights"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        gap: object = self.max_gap
        whole = isinstance(gap, int) and not isinstance(gap, bool) and gap >= 0
        if not whole and not (isinstance(gap, float) and 0 <= gap < 1):
            cause = "an int counts cost units and is at least 0; a float is a fraction of the total weight"
            raise impossible("ConTree", "max_gap", gap, cause, "use for example max_gap=5 or max_gap=0.01")
        check_between("ConTree", "ahead", self.ahead, 3, 2**20, 256)
        check_seed("ConTree", self.seed)
        for name in ("fewest_tests", "improve"):
            check_flag("ConTree", name, getattr(self, name))

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, its costs exceed 2**60, or parts of the search are shared and a
        setting needs a second one.
        """
        if self.fewest_tests and run.ask is not None:
            raise SpecError(
                "ConTree(fewest_tests=True) cannot be shared by several workers",
                cause="it searches a second time, in other units",
                fix="leave it out; tf.Error() + tf.Nodes() asks for few tests too",
            )
        if self.fewest_tests:
            return with_fewest_tests(self.search, data, task, run)
        return self.search(data, task, run)

    def search(
        self,
        data: Dataset,
        task: TreeTask,
        run: EngineRun,
        prove: bool = True,
        work_limit: int = 0,
        clashes: Sequence[tuple[int, int]] = (),
    ) -> EngineOutcome:
        """As `run`; without ``prove`` only the search for better trees.

        That search reads ``work_limit`` elements, beside a proof from depth five on (0: no limit), and without one
        knows ``clashes``: `treeform.Meetings.classes_on_sides`.
        """
        check_task(data, task)
        room = Room(self.memory_limit)
        rows, counted = _arrays(data, task), dict[str, Any]()
        if not prove and (labels := _two_labels(task)) is not None:
            rows, counted = _weighed(rows, *labels)
        session = _Session(data, task, run)
        asked = self._keywords(data, task) | {"memory_limit": room.left()}
        asked |= {"prove": prove, "work_limit": work_limit, "clashes": [one for sides in clashes for one in sides]}
        asked |= counted
        asked |= start_over_ranks(session.start, data, task.depth)
        native = _core.contree(*rows, **asked, upper=session.upper, **session.watch())
        outcome = session.outcome(native)
        if not (prove and work_limit):  # else it has the first trees alone
            outcome = with_stages(outcome, native)
        counted = {} if prove else {MOVES: int(native["moves"])}
        return replace(outcome, counters=outcome.counters | counted)

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What evaluates thresholds at the root."""
        asked = replace(self, threads=1)._keywords(data, task)
        evaluator: Evaluator = _core.ContreeEvaluator(*_arrays(data, task), **asked)
        return evaluator

    def _keywords(self, data: Dataset, task: TreeTask) -> dict[str, Any]:
        gap = self.max_gap
        if isinstance(gap, float):
            gap = math.floor(Fraction(str(gap)) * int(data.weights.sum()))
        return {
            "classes": data.n_classes,
            "depth": task.depth,
            "max_nodes": _NO_LIMIT if task.max_nodes is None else task.max_nodes,
            "min_support": task.min_support,
            "node_penalty": task.node_penalty,
            "gap": gap,
            "prune": list(self.parts),
            "threads": self.threads,
            "ahead": self.ahead,
            "simd": self.simd,
            "memory_limit": self.memory_limit or 0,
            "improve": self.improve,
            "prove": True,
            "seed": self.seed,
            "work_limit": 0,
            "clashes": [],
        }

    def for_bound(self) -> Engine:
        """As `Engine.for_bound`."""
        return ProofOfTrees()


class ProofOfTrees(ConTree):
    """ConTree with the first trees alone, and no search for better ones beside its bound: another one finds them."""

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """As `ConTree.run`."""
        return self.search(data, task, run, work_limit=1)


def with_stages(outcome: EngineOutcome, native: dict[str, Any]) -> EngineOutcome:
    """The answer with a note on the neighbourhoods that were searched to their ends, where nothing was proved."""
    stages = native["stages"]
    if outcome.proved or not (stages or native["moves"]):
        return outcome
    what = f"complete for {', '.join(stages)}; " if stages else ""
    note = f"improvement search: {what}another test tried at a node {native['moves']:,} times"
    return replace(outcome, notes=(*outcome.notes, note))


def _arrays(data: Dataset, task: TreeTask) -> tuple[Any, ...]:
    """Rows, classes, weights and costs, as the core takes them; what came in a message may be out of alignment.

    Equal rows of large tables are merged to one of their weight, or a few: costs and thresholds stay the same.
    """
    X, y, weights = data.X, data.y, data.weights
    if _few_rows_differ(data):
        point, y, weights = data.points.cells
        if task.cost is None:
            point, y, weights = _in_narrow_rows(point, y, weights)
        X = data.points.X[point]
    return (
        np.require(X, requirements=["C", "A"]),
        y.astype(np.int32),
        None if (weights == 1).all() else np.require(weights, requirements=["C", "A"]),
        task.cost if task.cost is None else np.require(task.cost, np.int64, ["C", "A"]),
    )


def _two_labels(task: TreeTask) -> tuple[Ints, Ints] | None:
    """Of many classes whose rows have one of two labels for nothing, no other being cheaper: it, and the other's cost.

    Prices of what is required make kinds of rows, which the core takes for classes (`treeform.solve.lagrangian`).
    """
    cost = task.cost
    if cost is None or len(cost) == 2:
        return None
    own, others = cost[:, :2], cost[:, 2:]
    if own.min(axis=1).any() or not own.any(axis=1).all() or (others < own.max(axis=1, keepdims=True)).any():
        return None
    return own.argmin(axis=1), own.max(axis=1)


def _weighed(rows: tuple[Any, ...], label: Ints, amount: Ints) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Rows of two classes, by label; their weights are what errors cost, beside what they count for a support.

    That takes a quarter of the time of a search with kinds for classes, and less where sums stay at 16 bits.
    """
    X, kind, weights, _ = rows
    counted = np.ones(len(kind), dtype=np.int64) if weights is None else weights
    weighed = X, label[kind].astype(np.int32), counted * amount[kind], None
    return weighed, {"classes": 2, "supporting": counted}


def _in_narrow_rows(point: Ints, y: Ints, weights: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of large weight as several of less, if that keeps all numbers of a search at 16 bits.

    That takes less time unless there are many more rows then.
    """
    parts = -(-weights // _NARROW_WEIGHT)
    if len(parts) * weights.max() <= NARROW_SUM or parts.sum() > min(_NARROW_ROWS, _MORE_ROWS * len(parts)):
        return point, y, weights
    row = np.repeat(np.arange(len(parts)), parts)
    before = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    return point[row], y[row], np.minimum(_NARROW_WEIGHT, weights[row] - _NARROW_WEIGHT * before)


def _few_rows_differ(data: Dataset) -> bool:
    """Whether at most a third of the rows of a large table stay when equal ones are merged; a sample rules out most."""
    n = data.n_samples
    if n < _MANY_ROWS or not (data.weights == 1).all():
        return False
    sample = data.X[np.random.default_rng(0).choice(n, _SAMPLE, replace=False)]
    repeated = _SAMPLE - len(group_rows(sample)[1])
    # Half of the repeated rows that the sample has on average if every row occurs three times.
    return 2 * n * repeated >= _SAMPLE**2 and 3 * len(data.points.cells[0]) <= n


class _Session(Session):
    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        super().__init__(data, task, run)
        cost = None if run.start is None else cost_of_admissible_tree(run.start, data, task)
        if run.start is not None and cost is not None:
            self.begin_with(run.start, cost)

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        return tree_between_values(tree, self.data)


def with_fewest_tests(
    solve: Callable[[Dataset, TreeTask, EngineRun], EngineOutcome], data: Dataset, task: TreeTask, run: EngineRun
) -> EngineOutcome:
    """Solve `task`, and then for the fewest tests among its optima: the same problem with costs in finer units.

    With M more than any admissible number of tests, ``M * cost + tests`` is least for the trees of least cost, and
    among these for those with the fewest tests. The first solve supplies the start, so that only better trees are
    searched. Costs and bound are those of the first solve. The counter ``fewest_tests`` is 1 when no optimal tree has
    fewer tests, and 0 when the time, or the proof of the optimum, did not suffice to say so.

    ``solve``: one solve, as `Engine.run`; it has to understand a cost matrix and a price per test.
    """
    first = solve(data, task, run)
    counters = first.counters | {"fewest_tests": 0}
    if first.graph is None or not first.proved:
        return replace(first, counters=counters)
    second = solve(data, _finer(data, task), EngineRun(run.budget, start=first.graph))
    counters = {name: count + second.counters[name] for name, count in first.counters.items()}
    return replace(
        first,
        graph=second.graph,
        seconds=first.seconds + second.seconds,
        counters=counters | {"fewest_tests": int(second.proved)},
    )


def _finer(data: Dataset, task: TreeTask) -> TreeTask:
    tests = min(2 ** min(task.depth, 60) - 1, data.n_samples - 1)
    if task.max_nodes is not None:
        tests = min(tests, task.max_nodes)
    unit = tests + 1
    cost = 1 - np.eye(data.n_classes, dtype=np.int64) if task.cost is None else task.cost
    return replace(task, cost=unit * cost, node_penalty=unit * task.node_penalty + 1)
