"""DiagramSearch: exact layered decision diagrams by branch and bound, layer by layer.

Diagrams are those of Florio, Martins, Schiffer, Serra and Vidal, Optimal Decision Diagrams for Classification,
AAAI 2023: a skeleton of layers, arcs from one layer to the next and from every layer to one terminal per class,
here with univariate tests and pass-throughs (see "Admissible models" in the design documents). The search itself is
in ``treeform/native/diagram``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from treeform.data import Dataset
from treeform.engines import some_thresholds
from treeform.engines.checks import NativeSettings, impossible, is_whole
from treeform.engines.diagram_core import CoreCall, DiagramSession, has_room, known_costs, memory_of_round
from treeform.engines.distributed import Distributable, Evaluator
from treeform.engines.native_call import admissible_diagram
from treeform.engines.size_outcome import SizeOutcome
from treeform.engines.task import EngineOutcome, EngineRun, TreeTask, check_task
from treeform.errors import SpecError
from treeform.graph import DecisionGraph
from treeform.shape import UNIVARIATE, Diagram, Shape, Tree
from treeform.utils.arguments import renamed_fields
from treeform.utils.budget import Budget

TECHNIQUES = (
    "trees",
    "transpositions",
    "pairs",
    "regions",
    "conflicts",
    "intervals",
    "alternation",
    "annealing",
)


@renamed_fields(techniques="parts")
@dataclass(frozen=True, kw_only=True)
class DiagramSearch(NativeSettings, Distributable):
    """The exact engine for layered decision diagrams with univariate tests; it takes tree shapes as well.

    Parameters
    ----------
    threads : int
        1; the search runs on one thread.
    memory_limit : int or None
        Bytes by which the process may grow. The engine drops enough of its tables to stay within it, and remains
        exact; it stops where that does not suffice. None for 1 GiB of tables; on data of more than a million values,
        for as much as these take, if that is less.
    parts : tuple of str
        What speeds the search up: bounds by ``trees``, ``transpositions`` (partitions met before), trees of two levels
        and last tests that parts share by counts of ``pairs`` of splits, trees of two tests by ``regions`` where that
        is too many, ``conflicts``: sets of samples that no tree of so few tests predicts without a cost, and sets that
        one does, ``intervals`` of neighbouring thresholds refuted together, and better models by ``alternation`` and
        by ``annealing``. All are exact; leave one out only to study its effect.
    simd : str
        ``auto``, ``avx512``, ``avx2`` or ``plain``: the same diagram at different speeds.

    Examples
    --------
    >>> import treeform as tf
    >>> problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Diagram(1, 2))
    >>> problem.solve(tf.DiagramSearch()).errors
    0
    """

    parts: tuple[str, ...] = TECHNIQUES

    name: ClassVar[str] = "diagram-search"
    family: ClassVar[str] = "diagrams"
    shapes: ClassVar[frozenset[type[Shape]]] = frozenset({Diagram})
    bounded: ClassVar[bool] = True
    understands: ClassVar[frozenset[str]] = frozenset(
        {"features", "cost", "node_penalty", "min_support", "min_flow", "max_nodes", "weights", "widths"}
    )

    def __post_init__(self) -> None:
        if self.threads != 1 or isinstance(self.threads, bool):
            cause = "the search runs on one thread"
            raise impossible("DiagramSearch", "threads", self.threads, cause, "leave out threads")
        super().__post_init__()

    def evaluator(self, data: Dataset, task: TreeTask) -> Evaluator:
        """What searches below ranges of root tests."""
        return self._call().evaluator(data, task)

    def run(self, data: Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        """Solve `task` on `data`; see `Engine.run`.

        Raises SpecError if the task is not possible, or whole numbers would leave the range in which the search is
        exact.
        """
        check_task(data, task)
        room = memory_of_round(data, self.memory_limit)
        if not has_room(data, self.memory_limit) and some_thresholds.fits(data, room):
            alone = replace(run, ask=None)  # others hold the whole table
            return some_thresholds.search(
                lambda thresholds, inner: self._over(thresholds, data, task, inner), data, alone, room
            )
        return self._over(None, data, task, run)

    def _over(
        self, thresholds: Sequence[np.ndarray] | None, data: Dataset, task: TreeTask, run: EngineRun
    ) -> EngineOutcome:
        """The search over these thresholds of each column; None: all there are."""
        session = DiagramSession(data, task, run)
        call = self._call(
            thresholds=thresholds,
            prices=[(1, task.node_penalty)],
            known=session.known,
            start=session.start,
            upper=session.upper,
        )
        return session.outcome(call.run(data, task, session, run.budget.elapsed_limit))

    def size_table(
        self,
        data: Dataset,
        shape: Shape,
        prices: Sequence[Fraction | int] | None = None,
        *,
        free: int = 0,
        cost: np.ndarray | None = None,
        min_support: int = 0,
        min_flow: int = 0,
        max_nodes: int | None = None,
        start: Sequence[DecisionGraph] = (),
        lower: Sequence[int] = (),
        time_limit: float | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> SizeOutcome:
        """The least cost with at most k tests, for every k: one run that answers every price of a test.

        Parameters
        ----------
        data : Dataset
        shape : Diagram or Tree
            With univariate splits.
        prices : sequence of Fraction or int, optional
            Prices of a test in weight units, to be proved one after the other in descending order: a number of
            tests is solved only as far as it matters for one of them. By default every number is solved.
        free : int
            So many tests have no price; 1 for the objective (18) of the paper, which prices all but the root.
        cost : (K, K) int64 array, optional
            ``cost[true, predicted]``; left out, errors count.
        min_support, min_flow, max_nodes : int
            As in `TreeTask`.
        start : sequence of DecisionGraph
            Models to begin with.
        lower : sequence of int
            What is proved already: no model of at most k tests costs less than ``lower[k]``.
        time_limit : float, optional
            Seconds for all together.
        stop : callable
            Called about twenty times a second; true ends the run.

        Returns
        -------
        SizeOutcome

        Raises
        ------
        SpecError
            If splits read several features, a price is negative, or the task is not possible.
        """
        if shape.splits != UNIVARIATE:
            raise SpecError(
                "DiagramSearch makes univariate tests only",
                cause=f"the shape is {shape}",
                fix="use a shape with splits='univariate', or the formulation ODD",
            )
        widths = None if isinstance(shape, Tree) else shape.widths
        task = TreeTask(shape.depth, cost, 0, min_support, max_nodes, widths, min_flow)
        check_task(data, task)
        wanted = _checked_prices(prices or (), free)
        begin = [diagram for graph in start if (diagram := admissible_diagram(graph, data, task))]
        session = DiagramSession(data, task, EngineRun(Budget().until(stop)))
        call = self._call(
            prices=[(price.denominator, price.numerator) for price in wanted],
            free=free,
            known=known_costs(begin, task, data),
            refuted=lower,
            every_number=prices is None,
        )
        native = call.run(data, task, session, time_limit)
        return SizeOutcome.of(native, data, task.widths is None, wanted, begin, session.interrupted, free)

    def _call(self, **what: Any) -> CoreCall:
        return CoreCall(use=self.parts, memory=self.memory_limit, simd=self.simd, **what)


def _checked_prices(prices: Sequence[Fraction | int], free: int) -> list[Fraction]:
    """Each once, the highest price first."""
    wanted = sorted({Fraction(price) for price in prices}, reverse=True)
    if wanted and wanted[-1] < 0:
        raise SpecError(f"a test cannot cost {wanted[-1]}", fix="give prices of 0 or more")
    if not is_whole(free, 0):
        raise SpecError(
            f"free={free!r} is not possible", fix="give the number of tests without a price, 0 or 1"
        )
    return wanted
