"""One call of a native engine: memory, bounds and models that go in, polls in between, and the answer as graphs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeform import _core
from treeform.data import Dataset, midpoints
from treeform.engines.binary.binarize import Binarised
from treeform.engines.table_of_totals import TableOfTotals
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.graph import DecisionGraph, normalised
from treeform.graph.forms import PASS
from treeform.utils.budget import Limit, report_step
from treeform.utils.machine import physical_memory

LEAST = 2**25
"""Bytes below which a limit is not looked at: less is lost among what the allocator keeps."""


class Room:
    """The memory of one run.

    ``limit``: bytes; with None there is none, but a table has to fit into three quarters of the machine's memory.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._growth = None if limit is None else _core.Growth()

    def left(self) -> int:
        """By how many bytes the process may still grow; 0 for any number of them."""
        if self.limit is None or self._growth is None:
            return 0
        grown: int = self._growth.bytes()
        return max(1, self.limit - grown)

    def has(self, table: int) -> bool:
        """Whether a table of that many bytes fits."""
        most = physical_memory() * 3 // 4 if self.limit is None else max(self.left(), LEAST)
        return table <= most


def bytes_of_tests(data: Dataset) -> int:
    """Bytes of the table that says for each sample and each test on which side it is, while it is made."""
    cells = 2 * data.n_samples * data.n_features
    if cells * data.n_samples < LEAST or data.points.are_bits:
        return cells
    return 2 * data.n_tests * data.points.n_points


def refused(table: int) -> EngineOutcome:
    """The answer of an engine whose table would not fit: nothing was searched."""
    return EngineOutcome(None, None, 0, False, "memory", 0.0, {}, (note_of(table),))


def notes_of(native: dict[str, Any]) -> tuple[str, ...]:
    """What the core says about a table that it refused."""
    return (note_of(int(native["refused"])),) if native.get("refused") else ()


def note_of(table: int) -> str:
    """A table's size in words."""
    size = f"{table / 1e9:.1f} GB" if table >= 1e9 else f"{max(1, table // 10**6)} MB"
    return f"a table of about {size} was not built: memory_limit, or the machine, has no room for it"


def time_limit_of(seconds: float | None) -> float:
    """The limit as the native core takes it: infinite for None, not negative."""
    return math.inf if seconds is None else max(0.0, seconds)


def reason_for_end(native: dict[str, Any], interrupted: bool) -> str | None:
    """Why the core ended early: ``"memory"``, ``"interrupted"`` or ``"time"``; None when its search is complete."""
    if native["complete"]:
        return None
    return "memory" if native["memory"] else "interrupted" if interrupted else "time"


def counters_of(native: dict[str, Any]) -> dict[str, int]:
    """What the search counted, as plain integers."""
    return {name: int(count) for name, count in native["counters"].items()}


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two trees of the core are the same, node by node."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name], equal_nan=True) for name in one
    )


class Watched:
    """A run that asks its budget whether it is over."""

    given: EngineRun
    interrupted = False
    """The caller or a keyboard interrupt ended the run."""

    def is_over(self) -> bool:
        """Whether the budget is spent, or the run was interrupted."""
        reason = self.given.budget.reason
        self.interrupted = self.interrupted or reason is Limit.INTERRUPTED
        return self.interrupted or reason is not None

    def interrupt(self) -> None:
        """Ctrl-C: end the run, and all that shares its budget."""
        self.interrupted = True
        self.given.budget.interrupt()


class Session(Watched):
    """The common part of all sessions, for an engine whose core returns one tree.

    An engine derives from it, converts the core's tree in `graph_of`, and overrides what it does otherwise.

    ``upper``: only models that cost less are wanted: the bound of the run, or the cost of the start below it.
    ``start``: the model to begin with, once `begin_with` has accepted it.
    """

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        self.data, self.task, self.given = data, task, run
        self.start: DecisionGraph | None = None
        self.start_cost: int | None = None
        self.upper = self.asked_upper()
        self._converted: tuple[dict[str, Any], DecisionGraph] | None = None

    def asked_upper(self) -> int | None:
        """The upper bound of the run as of now."""
        upper = self.given.upper
        return upper() if callable(upper) else upper

    def begin_with(self, graph: DecisionGraph, cost: int) -> bool:
        """Take an admissible model as the start if it costs less than the upper bound, and search for better ones."""
        if self.upper is not None and cost >= self.upper:
            return False
        self.start, self.start_cost, self.upper = graph, cost, cost
        if self.given.on_incumbent is not None:
            self.given.on_incumbent(0.0, cost, 0, graph)
        return True

    def watch(self) -> dict[str, Any]:
        """The keywords of a core for its time limit and its callbacks."""
        run = self.given
        limit = time_limit_of(run.budget.elapsed_limit)
        return {"time_limit": limit, "poll": self.poll, "ask": run.ask, "callers": run.callers}

    def poll(self, news: Any, model: Any, nodes: int) -> tuple[bool, int | None]:
        """Called by the core about twenty times a second; whether to stop, and the upper bound if it may have moved."""
        try:
            if nodes:  # not every core counts, and none does before its search
                report_step(nodes, "nodes")
            if self.given.on_incumbent is not None:
                self.report(news, model)
            return self.is_over(), self.asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupt()
            return True, None

    def report(self, news: list[Any], tree: Any) -> None:
        """Pass improvements (seconds, upper, lower) on; the last one with its tree."""
        assert self.given.on_incumbent is not None
        graph = None if tree is None else self.converted(tree)
        for k, (seconds, upper, lower) in enumerate(news):
            last = graph if k + 1 == len(news) else None
            self.given.on_incumbent(seconds, upper, self.true_lower(lower), last)

    def converted(self, tree: dict[str, Any]) -> DecisionGraph:
        """The graph of a core's tree, made once: the answer mostly is the last tree that was reported."""
        if self._converted is None or not _same(self._converted[0], tree):
            self._converted = tree, self.graph_of(tree)
        return self._converted[1]

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        """The core's tree as a graph over the columns of the data."""
        raise TypeError(f"{type(self).__name__} does not convert trees")

    def true_lower(self, lower: int) -> int:
        """The bound for the data that the core's bound gives."""
        return lower

    def proved(self, complete: bool, cost: int | None, lower: int) -> bool:
        """Whether the question is settled.

        ``complete``: whether the core ended its search by itself. ``cost`` and ``lower``: the cost of the best model,
        or None, and the proved lower bound.
        """
        return complete and (cost is None or lower >= cost)

    def outcome(self, native: dict[str, Any]) -> EngineOutcome:
        """The answer; a complete search that found nothing better proves the start."""
        graph, cost = self.start, self.start_cost
        if native["tree"] is not None:
            graph, cost = self.converted(native["tree"]), int(native["tree"]["cost"])
        return self.outcome_with(native, graph, cost, self.true_lower(int(native["lower"])))

    def outcome_with(
        self, native: dict[str, Any], graph: DecisionGraph | None, cost: int | None, lower: int, **more: Any
    ) -> EngineOutcome:
        """The answer with that model and bound; `more` are further fields of it."""
        lower = lower if cost is None else min(lower, cost)
        return EngineOutcome(
            graph=graph,
            upper=cost,
            lower=lower,
            proved=self.proved(bool(native["complete"]), cost, lower),
            reason=reason_for_end(native, self.interrupted),
            seconds=float(native["seconds"]),
            **({"counters": counters_of(native), "notes": notes_of(native)} | more),
        )


class SessionOverTests(Session):
    """A session whose core searches the tests of a table: test j is ``x[feature[j]] <= threshold[j]``."""

    table: TableOfTotals | Binarised

    def tests_of(self, graph: DecisionGraph | None) -> tuple[NDArray[np.int32], ...] | None:
        """The initial tree in the arrays of the core; None if there is none, or the table lacks one of its tests."""
        return tree_of_tests(
            graph, partial(number_of_test, self.data, self.table.feature, self.table.threshold)
        )

    def graph_of(self, tree: dict[str, Any]) -> DecisionGraph:
        return tree_over_tests(tree, self.table.feature, self.table.threshold, self.data)


NO_FEATURE = -1
"""What the core writes in place of a feature at a pass-through."""


@dataclass(frozen=True)
class Start:
    """A model to begin with, in the normal form that it is judged in."""

    graph: DecisionGraph
    tests: int
    """Pass-throughs included."""
    cost: int
    """Weight units, without the price of tests."""


def tree_between_values(tree: dict[str, Any], data: Dataset) -> DecisionGraph:
    """The core's tree as a graph, with thresholds between the neighbouring values it names."""
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


def tree_over_tests(
    tree: dict[str, Any], feature: NDArray[Any], threshold: NDArray[Any], data: Dataset
) -> DecisionGraph:
    """The core's tree over tests as a graph: test j is ``x[feature[j]] <= threshold[j]``."""
    test = np.asarray(tree["feature"])
    inner = np.flatnonzero(test >= 0)
    features, thresholds = np.full(len(test), -1, dtype=np.int32), np.full(len(test), np.nan)
    features[inner], thresholds[inner] = feature[test[inner]], threshold[test[inner]]
    return DecisionGraph.from_arrays(features, thresholds, tree["left"], tree["right"], tree["label"], data)


def tree_of_tests(
    graph: DecisionGraph | None, test_of: Callable[[int, float], int | None]
) -> tuple[NDArray[np.int32], ...] | None:
    """A tree as the core takes it to begin with; None when there is no tree, or a test is not among the engine's.

    ``test_of``: ``test_of(feature, threshold)`` gives the number of the test that sends every sample the same way.
    """
    if graph is None or not graph.is_plain_tree:
        return None
    test = np.full(len(graph.feature), -1, dtype=np.int32)
    for node in np.flatnonzero(graph.feature >= 0):
        number = test_of(int(graph.feature[node]), float(graph.threshold[node]))
        if number is None:
            return None
        test[node] = number
    arrays = (test, graph.left, graph.right, graph.label)
    return tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays)


def number_of_test(
    data: Dataset, features: NDArray[Any], thresholds: NDArray[Any], feature: int, threshold: float
) -> int | None:
    """The test that sends every sample the way of ``feature <= threshold``; None when there is none."""
    tests = np.flatnonzero(features == feature)
    exact = tests[thresholds[tests] == threshold]
    if len(exact):
        return int(exact[0])
    values = data.X[:, feature]
    for number in tests:
        if np.array_equal(values <= threshold, values <= thresholds[number]):
            return int(number)
    return None


def start_over_ranks(
    graph: DecisionGraph | None, data: Dataset, depth: int, columns: NDArray[Any] | None = None
) -> dict[str, Any]:
    """A tree as searches over ranks take it to begin with: its arrays, and how many distinct values go left.

    ``columns`` are those that the search sees; None: all. Nothing where the graph is no tree of the depth, or has a
    test that separates nothing or that the search does not see.
    """
    nothing: dict[str, Any] = {"start": None, "start_key": []}
    if graph is None or not graph.is_plain_tree or graph.depth > depth:
        return nothing
    feature, key = np.array(graph.feature, dtype=np.int32), np.zeros(len(graph.feature), dtype=np.int64)
    for node in np.flatnonzero(graph.feature >= 0):
        values = np.unique(data.X[:, graph.feature[node]])
        key[node] = np.searchsorted(values, graph.threshold[node], side="right")
        place = feature[node : node + 1] if columns is None else np.flatnonzero(columns == feature[node])
        if key[node] in (0, len(values)) or not len(place):
            return nothing
        feature[node] = place[0]
    arrays = (feature, graph.left, graph.right, graph.label)
    return {
        "start": tuple(np.ascontiguousarray(array, dtype=np.int32) for array in arrays),
        "start_key": key.tolist(),
    }


def cost_of_admissible_tree(graph: DecisionGraph, data: Dataset, task: TreeTask) -> int | None:
    """What a tree costs under the task, or None when it is not admissible, or not univariate without pass-throughs."""
    if not graph.is_plain_tree or graph.depth > task.depth:
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


def to_diagram(native: dict[str, Any], data: Dataset, is_tree: bool = False) -> DecisionGraph:
    """The core's flat diagram as a graph, with thresholds between the values it names.

    A diagram has one leaf per class, a tree one per arc that ends.
    """
    feature = np.array(native["feature"], dtype=np.int32)
    if not len(feature):
        return DecisionGraph.leaf(int(native["constant"]), data)
    passes = feature == NO_FEATURE
    feature[passes] = data.n_features
    threshold = np.zeros(len(feature))
    low, high = np.asarray(native["low"], dtype=float), np.asarray(native["high"], dtype=float)
    threshold[~passes] = midpoints(low[~passes], high[~passes])
    heads, labels = _with_leaves(np.array([native["left"], native["right"]], dtype=np.int64), is_tree)
    none = np.full(len(labels), -1)
    return DecisionGraph.from_arrays(
        feature=np.concatenate([feature, none]),
        threshold=np.concatenate([threshold, np.full(len(labels), np.nan)]),
        left=np.concatenate([heads[0], none]),
        right=np.concatenate([heads[1], none]),
        label=np.concatenate([np.full(len(feature), -1), labels]),
        data=data,
        forms=(PASS,) if passes.any() else (),
    )


def _with_leaves(arcs: np.ndarray, is_tree: bool) -> tuple[np.ndarray, np.ndarray]:
    """Arcs (2, tests), ``~class`` where they end, as positions of nodes, and the labels of the leaves after them."""
    tests, ends = arcs.shape[1], arcs < 0
    labels = ~arcs[ends] if is_tree else np.unique(~arcs[ends])
    heads = arcs.copy()
    heads[ends] = tests + (np.arange(len(labels)) if is_tree else np.searchsorted(labels, ~arcs[ends]))
    return heads, labels


def admissible_diagram(graph: DecisionGraph, data: Dataset, task: TreeTask) -> Start | None:
    """The model's normal form, its tests and its cost, or None when it is not admissible under the task."""
    if len(graph.columns) != data.n_features or graph.n_classes != data.n_classes:
        return None
    graph = normalised(graph, data, own_leaves=task.widths is None)
    tests = np.flatnonzero(graph.feature >= 0)
    fits = graph.is_tree if task.widths is None else _is_layered(graph, task.widths)
    if not fits or graph.depth > task.depth or not graph.is_univariate:
        return None
    if task.max_nodes is not None and len(tests) > task.max_nodes:
        return None
    X, weight = data.points.X, data.points.weights.sum(axis=1)
    if len(tests) and max(task.min_flow, task.min_support) > 0:
        through = graph.route(X)[:, tests]
        left = graph.goes_left(X)[:, tests]
        if (weight @ through).min() < task.min_flow:
            return None
        if min((weight @ (through & left)).min(), (weight @ (through & ~left)).min()) < task.min_support:
            return None
    elif not len(tests) and weight.sum() < task.min_support:
        return None
    predicted = graph.predict_codes(data.X)
    unit = (data.y != predicted).astype(np.int64) if task.cost is None else task.cost[data.y, predicted]
    return Start(graph, len(tests), int((data.weights * unit).sum()))


def _is_layered(graph: DecisionGraph, widths: tuple[int, ...]) -> bool:
    """Whether arcs lead to the next layer or to a leaf, and the layers fit the widths."""
    layer = {0: 0}
    for u in np.flatnonzero(graph.feature >= 0).tolist():
        if u not in layer:
            return False
        for v in (int(graph.left[u]), int(graph.right[u])):
            if graph.feature[v] >= 0 and layer.setdefault(v, layer[u] + 1) != layer[u] + 1:
                return False
    sizes = np.bincount([level for v, level in layer.items() if graph.feature[v] >= 0], minlength=len(widths))
    return len(sizes) <= len(widths) and bool((sizes <= np.asarray(widths)).all())
