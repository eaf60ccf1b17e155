"""One run of a native engine: its memory, the upper bound that goes in, the polls in between, and the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treeform.engines.task import EngineOutcome, EngineRun, TreeTask
from treeform.utils.machine import physical_memory
from treeform.utils.progress import report_step

if TYPE_CHECKING:
    from treeform._core import Growth
    from treeform.data import Dataset
    from treeform.graph import DecisionGraph


LEAST = 2**25
"""Bytes below which a limit is not looked at: less is lost among what the allocator keeps."""


class Room:
    """The memory of one run.

    Parameters
    ----------
    limit : int or None
        Bytes; with None there is none, but a table has to fit into three quarters of the machine's memory.
    """

    def __init__(self, limit: int | None) -> None:
        from treeform import _core

        self.limit = limit
        self._growth: Growth | None = None if limit is None else _core.Growth()

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


class Session:
    """The common part of all sessions, for an engine whose core returns one tree.

    An engine derives from it, converts the core's tree in `graph_of`, and overrides what it does otherwise.

    Attributes
    ----------
    upper : int or None
        Only models that cost less are wanted: the bound of the run, or the cost of the start below it.
    start : DecisionGraph or None
        The model to begin with, once `begin_with` has accepted it.
    start_cost : int or None
    interrupted : bool
        The caller or a keyboard interrupt ended the run.
    """

    def __init__(self, data: Dataset, task: TreeTask, run: EngineRun) -> None:
        self.data, self.task, self.given = data, task, run
        self.interrupted = False
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

    def poll(self, news: Any, model: Any, nodes: int) -> tuple[bool, int | None]:
        """Called by the core about twenty times a second; whether to stop, and the upper bound if it may have moved."""
        try:
            report_step(nodes, "nodes")
            if self.given.on_incumbent is not None:
                self.report(news, model)
            self.interrupted = self.interrupted or bool(self.given.stop())
            return self.interrupted, self.asked_upper() if callable(self.given.upper) else None
        except KeyboardInterrupt:
            self.interrupted = True
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
        """Whether the question is settled."""
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
