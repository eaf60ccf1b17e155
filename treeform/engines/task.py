"""What every native engine is given and what it answers, in whole numbers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.language.meetings import Meetings
from treeform.language.paths import PathRule
from treeform.language.totals import Totals
from treeform.shape import Shape, Tree
from treeform.utils.budget import Budget

_LARGEST_COST = 2**60
OnIncumbent = Callable[[float, int, int, "DecisionGraph | None"], None]
Message = NDArray[np.int64]
Ask = Callable[[Message], "Message | None"]
"""The reply to a question; None when the search has to stop. May be called from several threads."""


@dataclass(frozen=True)
class TreeTask:
    """The part of a problem that an engine solves: the cheapest tree within limits.

    The cost of a tree is ``sum(weights[i] * cost[y[i], predicted[i]]) + node_penalty * tests``, an integer,
    over the weights of the data set; with ``sample_cost``, ``sample_cost[i, predicted[i]]`` in place of the matrix.
    """

    depth: int
    """Most tests on a path from the root to a leaf."""
    cost: NDArray[np.int64] | None = None
    """(K, K) int64 array or None: ``cost[true, predicted]``, not negative; None counts errors."""
    node_penalty: int = 0
    """Price of a test."""
    min_support: int = 0
    """Least weight of a leaf."""
    max_nodes: int | None = None
    """Most tests in the tree."""
    widths: tuple[int, ...] | None = None
    """The widths of a layered diagram's skeleton, root first; None for a tree."""
    min_flow: int = 0
    """Least weight that reaches a test."""
    max_features: int | None = None
    """Most columns of the table that tests use."""
    totals: Totals | None = None
    """Totals and the rows over them that the tree satisfies."""
    meetings: Meetings | None = None
    """Marks of samples, and the clashes at tests that the tree does not have."""
    sample_cost: NDArray[np.int64] | None = None
    """(n, K) int64 array or None: costs that depend on the sample, not negative, in place of ``cost``."""
    features: tuple[frozenset[int], ...] | None = None
    """tuple of frozenset of int, or None: sets of encoded features, at least one: all tests of the tree read features
    of one of these sets."""
    paths: tuple[PathRule, ...] = ()
    """Rules on the paths of the tree."""

    def cost_of_samples(self, data: Dataset, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """(m, K) int64: what a unit of weight of each sample costs by predicted class, in units of the task. ``rows``:
        the samples that are wanted, in this order; None: all.
        """
        if self.sample_cost is not None:
            return self.sample_cost if rows is None else self.sample_cost[rows]
        cost = 1 - np.eye(data.n_classes, dtype=np.int64) if self.cost is None else self.cost
        return np.asarray(cost[data.y if rows is None else data.y[rows]])


@dataclass
class EngineRun:
    """Limits, start and callbacks of one run."""

    budget: Budget = field(default_factory=Budget)
    """Its time. It is asked about twenty times a second whether the run is over; then the best tree so far counts."""
    upper: int | Callable[[], int | None] | None = None
    """int, callable or None: only trees that cost less are wanted. A callable is called again while the engine runs."""
    start: DecisionGraph | None = None
    """A tree to begin with; ignored when it does not satisfy the task."""
    on_incumbent: OnIncumbent | None = None
    """``on_incumbent(seconds, upper, lower, graph)`` after improvements; `graph` is None for all but the last of a
    batch."""
    ask: Ask | None = None
    """Who answers parts of the search, where the engine is a `Distributable`; None: nobody does."""
    callers: int = 1
    """Threads that call it."""
    threads: int = 1
    """Threads that may work here while no part is in work elsewhere, since workers of this machine are idle then."""


@dataclass(frozen=True)
class EngineOutcome:
    """The answer of an engine."""

    graph: DecisionGraph | None
    """The best tree found; None when none costs less than the bound that was given."""
    upper: int | None
    """Its cost; None also where the caller evaluates it."""
    lower: int
    """No admissible tree costs less."""
    proved: bool
    """The question is settled: the tree is the cheapest, or none costs less than the bound that was given."""
    reason: str | None = None
    """Why the run ended early: ``"time"``, ``"interrupted"``, ``"memory"``, or ``"late"``: too little
    is left of the time."""
    seconds: float = 0.0
    """Wall time."""
    counters: dict[str, int] = field(default_factory=dict)
    """What the search did."""
    notes: tuple[str, ...] = ()
    """What the reader of the answer has to know about it."""
    witness: dict[str, Any] | None = None
    """What a check may use, with the task, to prove the bound again."""
    details: dict[str, Any] = field(default_factory=dict)
    """What else a certificate says of the proof."""
    nothing: bool = False
    """It is proved that no tree satisfies the task, whatever it costs, and ``lower`` does not say so."""
    rows_used: tuple[bool, ...] = ()
    """For each linear constraint over sums, whether the proof rests on it; empty where that is not known."""


class Engine(ABC):
    """An exact algorithm of the native core.

    A setting that is not possible, or that this processor cannot serve, is refused with a `SpecError`.

    Attributes
    ----------
    name : str
        What it is called in results and on the command line.
    understands : frozenset of str
        The parts of a `TreeTask` beyond depth that it supports: ``cost``, ``node_penalty``, ``min_support``,
        ``max_nodes``, ``weights``, ``widths`` (layered diagrams), ``min_flow``, ``max_features``, ``totals``,
        ``totals_of_samples`` (totals to which tests and leaves add nothing), ``stated_sums`` (such totals, where they
        are the rows that a requirement states in its `build`), ``meetings``, ``paths``, ``sample_cost``,
        ``features`` (by `answer`, so that `run` need not know them),
        ``loss`` (of values at leaves, in place of costs of classes: a `treeform.engines.RegressionTask`).
    most_sets : int
        Sets of features for each of which it searches.
    begins_with_model : bool
        Whether it has a model within milliseconds, whatever the table.
    family : str
        Engines that share code have the same: a claim is proved again by another one.
    shapes : frozenset of type
        The shapes for which it is chosen.
    by_name_only : bool
        Whether it is never chosen by default.
    few_tests : int or None
        Distinct tests of a table up to which it is chosen by default; None: any number.
    chosen_for : str
        What a note says of it where it is chosen, about the number of tests.
    few_to_prove : int or None
        Distinct tests of a table up to which a check asks it for a proof; None: any number.
    plain_title : str
        What is added to its name where a check asks its `plain` form.
    prices_rows : bool
        Whether a check prices rows that it leaves out into its costs.
    """

    name: ClassVar[str]
    understands: ClassVar[frozenset[str]]
    most_sets: ClassVar[int] = 64
    begins_with_model: ClassVar[bool] = False
    family: ClassVar[str] = ""
    shapes: ClassVar[frozenset[type[Shape]]] = frozenset({Tree})
    by_name_only: ClassVar[bool] = False
    few_tests: ClassVar[int | None] = None
    chosen_for: ClassVar[str] = ""
    few_to_prove: ClassVar[int | None] = None
    plain_title: ClassVar[str] = ""
    prices_rows: ClassVar[bool] = True

    @classmethod
    def suits(cls, data: Dataset) -> bool:
        """Whether it is a default for such columns."""
        return True

    @classmethod
    def code(cls) -> str:
        """How a user writes it with its usual settings."""
        return f"tf.{cls.__name__}()"

    @classmethod
    def searches(cls, shape: Shape) -> bool:
        """Whether it is a default for such a shape."""
        return isinstance(shape, tuple(cls.shapes))

    @classmethod
    def is_chosen_for(cls, data: Dataset) -> bool:
        """Whether the table has few enough tests for it to be the default."""
        return cls.few_tests is None or not data.has_more_tests_than(cls.few_tests)

    @classmethod
    def proves(cls, data: Dataset) -> bool:
        """Whether the table has few enough tests for a check to ask it for a proof."""
        return cls.few_to_prove is None or data.n_tests <= cls.few_to_prove

    def unsupported(self, data: Dataset, task: TreeTask) -> str | None:
        """Why it cannot take the task on these data, for its size or its numbers; None when it can.

        Parameters
        ----------
        data : Dataset
        task : TreeTask
            A task whose parts and shape the engine supports (`understands`, `shapes`).

        Returns
        -------
        str or None
            The reason, as a clause of an error.
        """
        return None

    def plain(self) -> Engine:
        """The search without its most complex parts, if it has such; a check uses it first."""
        return self

    def for_bound(self) -> Engine:
        """The search without one for better models beside its bound, where these do not matter."""
        return self

    @abstractmethod
    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`, whatever its ``features`` are.

        Parameters
        ----------
        data : Dataset
        task : TreeTask
            Shape, costs of predictions, price of a test, and constraints.
        run : EngineRun
            Start, cutoff, budget, and who is called with better models.
        """

    def answer(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; if ``task.features`` restricts the features, one `run` for each set of them.

        If memory runs out before the native core runs, the outcome has the reason ``"memory"``.
        """
        try:
            if task.features is None:
                return self.run(data, task, run)
            return _by_features(self, data, task, run)
        except MemoryError:
            return EngineOutcome(None, None, 0, False, "memory")


def _by_features(engine: Engine, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
    """The best answer over the sets of features; it is proved when all of them are."""
    assert task.features
    began, sets = time.monotonic(), task.features
    found: list[EngineOutcome] = []
    best: EngineOutcome | None = None

    def upper() -> int | None:
        wanted = run.upper() if callable(run.upper) else run.upper
        values = [v for v in (wanted, None if best is None else best.upper) if v is not None]
        return min(values) if values else None

    for index, features in enumerate(sets):
        left = run.budget.remaining
        last = index + 1 == len(sets)
        known = min((one.lower for one in found), default=None)

        def on_incumbent(
            seconds: float,
            value: int,
            lower: int,
            graph: DecisionGraph | None,
            least: int | None = known,
            ends: bool = last,
        ) -> None:
            assert run.on_incumbent is not None
            proved = min(lower, lower if least is None else least) if ends else 0  # the other sets are open
            run.on_incumbent(time.monotonic() - began, value, proved, graph)

        start = run.start if run.start is not None and run.start.features_used() <= features else None
        part = replace(
            run,
            budget=run.budget.share(None if left is None else left / (len(sets) - index)),
            upper=upper,
            start=start,
            on_incumbent=None if run.on_incumbent is None else on_incumbent,
        )
        found.append(engine.run(_without_others(data, features), replace(task, features=None), part))
        if found[-1].graph is not None and (best is None or found[-1].upper < best.upper):  # type: ignore[operator]
            best = found[-1]
    counters: dict[str, int] = {}
    for one in found:
        for name, number in one.counters.items():
            counters[name] = counters.get(name, 0) + number
    return EngineOutcome(
        graph=None if best is None else best.graph,
        upper=None if best is None else best.upper,
        lower=min(one.lower for one in found),
        proved=all(one.proved for one in found),
        reason=next((one.reason for one in found if one.reason is not None), None),
        seconds=time.monotonic() - began,
        counters=counters,
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )


def _without_others(data: Dataset, features: frozenset[int]) -> Dataset:
    """The same rows with the values of all other features replaced by 0, so that no test separates by these."""
    X = data.X.copy()
    X[:, [f for f in range(data.n_features) if f not in features]] = 0.0
    return replace(data, X=X)


def binding_features(data: Dataset, task: TreeTask) -> int | None:
    """The most columns that tests may use, where the table has more; 0 (no test at all) is a limit on tests."""
    sources = len({column.source for column in data.columns})
    return None if task.max_features is None or task.max_features >= sources else task.max_features


def check_task(data: Dataset, task: TreeTask) -> None:
    """Refuse a task that no engine can carry out exactly on ``data``.

    Raises SpecError if a limit is negative, the costs are no whole, non-negative (K, K) matrix, or sums could leave 64
    bits.
    """
    if (
        task.depth < 1
        or task.node_penalty < 0
        or min(task.min_support, task.min_flow, task.max_nodes or 0, task.max_features or 0) < 0
    ):
        raise SpecError(
            "the task of the engine is not possible",
            cause="the depth is at least 1; penalty, support and number of tests are not negative",
            fix="correct the shape, the objective or the requirement",
        )
    cost = task.cost
    square = (data.n_classes, data.n_classes)
    if cost is not None and (cost.shape != square or cost.dtype.kind not in "iu" or cost.min() < 0):
        raise SpecError(
            "the cost matrix of the engine is not usable",
            cause=f"it has shape ({data.n_classes}, {data.n_classes}) and whole, non-negative entries",
            fix="scale the costs to whole numbers",
        )
    each = task.sample_cost
    if each is not None and (each.shape != (data.n_samples, data.n_classes) or each.min() < 0):
        raise SpecError(
            "the costs of the samples are not usable by the engine",
            cause=f"they have shape ({data.n_samples}, {data.n_classes}) and whole, non-negative entries",
            fix="scale the costs to whole numbers",
        )
    dearest = 1 if cost is None else max(1, int(cost.max()))
    if each is not None:
        dearest = max(1, int(each.max()))
    largest = data.total_weight * dearest
    if largest + task.node_penalty >= _LARGEST_COST:
        raise SpecError(
            "the costs are too large for exact 64-bit arithmetic",
            cause=f"all samples at their worst cost {largest}, the limit is 2**60",
            fix="use weights or costs with fewer digits",
        )
