"""RegressionSearch: exact regression trees on continuous features, under squared or absolute errors.

The search is ConTree's (Brita, van der Linden and Demirovic, AAAI 2025) over intervals of thresholds, with the bounds
that hold for any leaf cost; see ``treeform/native/regression``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeform import _core
from treeform.data import Dataset, midpoints
from treeform.engines.checks import NativeSettings, check_flag, check_seed, one_of
from treeform.engines.column_budget import ColumnBudget
from treeform.engines.native_call import (
    Room,
    Watched,
    counters_of,
    notes_of,
    reason_for_end,
    start_over_ranks,
    time_limit_of,
)
from treeform.engines.regression_task import BOUND_UNIT, RegressionTask
from treeform.engines.task import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.shape import Diagram, Shape, Tree
from treeform.utils.arrays import row_numbers
from treeform.utils.budget import report_step

PAIRS = ("auto", "always", "never")
_LARGEST_PRICE = 2**62
_NO_LIMIT = 2**60
NOTHING = 2**200
"""Larger than every loss: as a bound it means that there is no tree."""


@dataclass(frozen=True, kw_only=True)
class RegressionSearch(NativeSettings, Engine):
    """The exact engine for regression trees on numeric features, of any depth.

    Parameters
    ----------
    threads : int
        Worker threads, from depth three on. The loss of the tree does not depend on their number.
    memory_limit : int or None
        Bytes by which the process may grow; the search stops with its best tree beyond that.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same answer at different speeds.
    pairs : {"auto", "always", "never"}
        Whether squared errors are solved at depth two by tables of all pairs of thresholds: ``auto`` on columns of
        zeros and ones and other tables with few thresholds, ``always`` up to 2048 thresholds of all columns. The same
        answer at different speeds.

    improve : bool
        From depth three on, begin with a tree that is built from exact trees of depth two; from depth four on, search
        for better trees beside the proof, by turns (``treeform/native/deep``). Not with ``MaxNodes`` or a limit on
        memory.
    seed : int
        Of that search.

    Examples
    --------
    >>> RegressionSearch(threads=2).name
    'regression-search'
    """

    pairs: str = "auto"
    improve: bool = True
    seed: int = 0

    name: ClassVar[str] = "regression-search"
    understands: ClassVar[frozenset[str]] = frozenset(
        {"loss", "features", "min_support", "min_flow", "max_nodes", "max_features", "weights"}
    )
    most_sets: ClassVar[int] = 1
    begins_with_model: ClassVar[bool] = True
    shapes: ClassVar[frozenset[type[Shape]]] = frozenset({Tree, Diagram})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("RegressionSearch", "improve", self.improve)
        check_seed("RegressionSearch", self.seed)
        one_of("RegressionSearch", "pairs", self.pairs, PAIRS)

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Bounds are in `BOUND_UNIT`, and there is no upper bound: the caller evaluates the tree, exactly.

        Raises SpecError if the task is not one of regression, or its price has too many digits.
        """
        if not isinstance(task, RegressionTask) or data.quantity is None:
            raise SpecError(
                f"{self.name} solves regression problems only",
                cause="the target is a class, or the objective counts errors",
                fix="minimise tf.SquaredError() or tf.AbsoluteError(), or use tf.ConTree()",
            )
        if task.max_features is not None:
            return self._within_budget(data, task, run)
        room = Room(self.memory_limit)
        session = _Session(data, task, run)
        data.points  # noqa: B018 - models are routed by them: not made while the search holds much
        native = _core.regression(
            session.X,
            session.target,
            data.weights,
            columns=session.columns.tolist() or [0],
            loss=task.loss,
            depth=task.depth,
            max_nodes=_NO_LIMIT if task.max_nodes is None else task.max_nodes,
            min_support=task.min_support,
            min_flow=task.min_flow,
            price=session.price.numerator,
            price_denominator=session.price.denominator,
            threads=self.threads,
            simd=self.simd,
            pairs=self.pairs,
            improve=self.improve,
            seed=self.seed,
            **start_over_ranks(run.start, data, task.depth, task.columns),
            memory_limit=room.left(),
            time_limit=time_limit_of(run.budget.elapsed_limit),
            poll=session.poll,
        )
        return session.outcome(native)

    def _within_budget(self, data: Dataset, task: RegressionTask, run: EngineRun) -> EngineOutcome:
        """The search within a bound on the number of columns."""

        def solve(features: list[int], asked: EngineRun) -> EngineOutcome:
            columns = np.array(features, dtype=np.int64)
            return self.run(data, replace(task, columns=columns, max_features=None), replace(asked, upper=None))

        def cost(outcome: EngineOutcome) -> Fraction:
            assert outcome.graph is not None
            leaf = outcome.graph.apply(data.X)
            loss = sum((task.best_loss(np.flatnonzero(leaf == k)) for k in np.unique(leaf)), Fraction(0))
            return loss + task.price * outcome.graph.n_nodes

        features = range(data.n_features) if task.columns is None else task.columns.tolist()
        given = replace(run, upper=None)
        return ColumnBudget(data, task, given, features, solve, cost, NOTHING, BOUND_UNIT).run()


class _Session(Watched):
    """One run: the table and prices that go in, the polls in between, and the answer that comes out.

    Upper bounds of outcomes and reports are left to the caller, who evaluates the trees exactly.
    """

    def __init__(self, data: Dataset, task: RegressionTask, run: EngineRun) -> None:
        assert data.quantity is not None
        self.data, self.task, self.given = data, task, run
        self.last: tuple[tuple[bytes, ...], DecisionGraph] | None = None
        self.columns = np.arange(data.n_features) if task.columns is None else task.columns
        # The search reads the columns where they are: a copy of them may be as large as all that it holds.
        self.X = np.ascontiguousarray(data.X) if len(self.columns) else np.zeros((data.n_samples, 1))
        # Absolute errors are counted in whole numbers, prices included: targets are scaled to make them so.
        self.scale = task.price.denominator if task.loss == "absolute" else 1
        self.price = task.price * self.scale
        deviations = data.quantity.deviations
        total = int((np.abs(deviations) * data.weights).sum()) * self.scale
        if max(self.price.numerator, self.price.denominator) >= _LARGEST_PRICE or total > 2**53:
            raise SpecError(
                "the price of a test has too many digits for exact arithmetic",
                cause=f"in units of the loss it is {task.price}",
                fix="use a price with fewer digits, or targets on a coarser grid",
            )
        self.target = np.ascontiguousarray(deviations if self.scale == 1 else deviations * self.scale)

    def poll(self, news: Any, tree: Any, nodes: int) -> bool:
        """Called by the core about twenty times a second; whether to stop."""
        if nodes:
            report_step(nodes, "nodes")
        try:
            if self.given.on_incumbent is not None and len(news):
                # Bounds only rise, and trees only get better: the last of each is all that counts by now.
                graph = None if tree is None else self.graph_of(tree)
                seconds, lower = news[-1]
                self.given.on_incumbent(seconds, 0, self.lower_of(lower), graph)
            return self.is_over()
        except KeyboardInterrupt:
            self.interrupt()
            return True

    def lower_of(self, lower: float) -> int:
        """The core's bound, rounded downwards to multiples of `BOUND_UNIT`."""
        return math.floor(Fraction(lower) / self.scale / BOUND_UNIT)

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        """The core's tree with the exact best value at each leaf; the last one is remembered."""
        content = tuple(array.tobytes() for array in map(np.asarray, tree.values()))
        if self.last is None or content != self.last[0]:
            self.last = content, self._graph_of(tree)
        return self.last[1]

    def _graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        # Lists: trees are small, and what numpy does at each call is more than the work itself.
        given = {name: tree[name].tolist() for name in ("feature", "low", "high", "left", "right")}
        order = _by_level(
            given["left"], given["right"]
        )  # that of all graphs, so that none has to be put in order
        place = {node: position for position, node in enumerate(order)} | {-1: -1}
        read = [given["feature"][node] for node in order]
        tests = [node for node in order if given["feature"][node] >= 0]
        between = iter(
            midpoints(*([given[side][node] for node in tests] for side in ("low", "high"))).tolist()
        )
        threshold = [next(between) if f >= 0 else math.nan for f in read]
        feature = [int(self.columns[f]) if f >= 0 else -1 for f in read]
        left, right = ([place[given[side][node]] for node in order] for side in ("left", "right"))
        reached = _rows_of_leaves(self.data.X, feature, threshold, left, right)
        leaves = [node for node, f in enumerate(read) if f < 0]
        values = tuple(self.task.best_value(reached[leaf]) for leaf in leaves)
        label = [-1] * len(order)
        for position, leaf in enumerate(leaves):
            label[leaf] = position
        return DecisionGraph.from_arrays(feature, threshold, left, right, label, self.data, values=values)

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """The answer; its bound is that of the core, rounded downwards, where the search was not complete."""
        complete = bool(native["complete"])
        return EngineOutcome(
            graph=None if native["tree"] is None else self.graph_of(native["tree"]),
            upper=None,
            lower=self.lower_of(native["lower"]),
            proved=complete,
            nothing=complete and native["tree"] is None,
            reason=reason_for_end(native, self.interrupted),
            seconds=float(native["seconds"]),
            counters=counters_of(native),
            notes=notes_of(native),
        )


def _rows_of_leaves(
    X: NDArray[np.float64], feature: list[int], threshold: list[float], left: list[int], right: list[int]
) -> dict[int, NDArray[np.int64]]:
    """The rows of `X` that reach each leaf of a tree whose parents come before their children."""
    reached = {0: row_numbers(len(X))}
    for node, read in enumerate(feature):
        if read >= 0:
            rows = reached.pop(node)
            goes_left = X[rows, read] <= threshold[node]
            reached[left[node]], reached[right[node]] = rows[goes_left], rows[~goes_left]
    return reached


def _by_level(left: list[int], right: list[int]) -> list[int]:
    """The nodes of a tree level by level, from left to right; children of leaves are -1."""
    order = [0]
    for node in order:
        if left[node] >= 0:
            order += [left[node], right[node]]
    return order
