"""What is asked of a problem beyond its optimum: size tables, curves, conflicts, models that are almost as good."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from treeform.language.question import Question
from treeform.language.requirement import Requirement
from treeform.solve.result import Progress, SolveOptions, with_answer
from treeform.utils.arguments import clear_calls, renamed

if TYPE_CHECKING:  # a solve needs none of them
    from treeform.tradeoff.conflict import Conflict
    from treeform.tradeoff.frontier import Frontier
    from treeform.tradeoff.near_optimal import NearOptimal
    from treeform.tradeoff.pareto import Pareto
    from treeform.tradeoff.size_table import SizeTable


@clear_calls
class HasTradeoffs(ABC):
    """What has a question whose optima can be compared: `treeform.Problem`."""

    _sensitive: Any

    @property
    @abstractmethod
    def question(self) -> Question:
        """The question to vary."""

    @abstractmethod
    def _start(self, warm_start: Any) -> Any:
        """What solves start from."""

    def size_table(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = None,
        prices: Sequence[Any] | None = None,
        alphas: Sequence[Any] | None = None,
        start: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> SizeTable:
        """The least error with at most m tests, for m = 0, 1, 2, ...: the optimum at every complexity penalty.

        Raises SpecError if a price is negative, ``start`` is of another problem, or solver, formulation and problem do
        not fit together.

        Returns ``table.at(price)`` and ``table.at_alpha(alpha)`` give the best model and the proved bound. A price on
        tests in the objective of the problem is left out. ``table.certificate()`` certifies all of it.

        Parameters
        ----------
        solver, formulation, warm_start, time_limit, on_progress
            As in `solve`; the time limit is for the whole table.
        prices : sequence of numbers, optional
            Prices of a test in units of the objective. Then only what they need is proved, the highest first.
        alphas : sequence of numbers, optional
            The same in terms of alpha in (18) of Florio et al. (AAAI 2023); see `SizeTable.at_alpha`.
        start : SizeTable, or its certificate (dict or path), optional
            An earlier table of this problem; its models and bounds are entered first. Bounds of a certificate are not
            proved again before `treeform.check` is asked; the table names them as taken from one.
        """
        from treeform.tradeoff.fill import fill_size_table

        options = SolveOptions(solver, formulation, self._start(warm_start), time_limit, on_progress)
        given: dict[str, Any] = {"prices": prices, "alphas": alphas, "start": start}
        return with_answer(options, lambda options: fill_size_table(self.question, options, **given))

    def pareto(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = None,
        start: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Pareto:
        """The nondominated models in depth, number of tests and errors.

        A `size_table` for every depth up to that of the shape.

        Raises SpecError if the shape is no tree, ``start`` is of another problem, or solver, formulation and problem do
        not fit together.

        Parameters
        ----------
        solver, formulation, warm_start, time_limit, on_progress
            As in `solve`; the time limit is for all of it.
        start : Pareto, or its certificate (dict or path), optional
            An earlier curve of this problem; its models and bounds are entered first, as in `size_table`.
        """
        from treeform.tradeoff.pareto import curve

        options = SolveOptions(solver, formulation, self._start(warm_start), time_limit, on_progress)
        return with_answer(options, lambda options: curve(self.question, options, start))

    def frontier(
        self,
        solver: Any = None,
        *,
        over: Requirement | str,
        between: tuple[Any, Any] = (None, None),
        formulation: Any = None,
        warm_start: Any = "auto",
        time_limit: float | None = None,
        start: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Frontier:
        """The exact trade-off between the objective and one requirement: the best model for every bound of it.

        Raises SpecError if ``over`` has no numeric bound or names no requirement of the problem, ``between`` is no
        range, or ``start`` is of another problem.

        Returns all points where the best objective changes, each with a certificate.

        Parameters
        ----------
        over : Requirement or str
            The requirement whose bound is moved; the number in it is ignored. One of the problem that differs from
            it in the bound only is left out. Or the name or label of one of the problem.
            ``tf.StatisticalParity(groups="sex", difference=None)`` leaves the number open.
        between : (loosest, tightest), optional
            The bounds to begin and to end with; None for no limit.
        solver, formulation, warm_start, time_limit, on_progress
            As in `solve`; the time limit is for the whole frontier, and what was proved by then is kept.
        start : Frontier, or its certificate (dict or path), optional
            An earlier frontier of this problem over the same requirement; its answers are entered first, as in
            `size_table`.
        """
        from treeform.tradeoff.axis import find_axis
        from treeform.tradeoff.frontier import trace_frontier

        question, axis = find_axis(self.question, over, self._sensitive)
        options = SolveOptions(solver, formulation, self._start(warm_start), time_limit, on_progress)
        return with_answer(
            options, lambda options: trace_frontier(question, axis, options, between=between, start=start)
        )

    def conflict(
        self,
        solver: Any = None,
        *,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Conflict | None:
        """Why no model satisfies all requirements: an irreducible conflicting set, and the smallest relaxation of each.

        Returns None when some model satisfies all requirements. Each part has a certificate.

        Parameters
        ----------
        solver, formulation, on_progress
            As in `solve`.
        time_limit : float, optional
            Seconds for all of it.
        """
        from treeform.tradeoff.conflict import explain_conflict

        options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
        return with_answer(options, lambda options: explain_conflict(self.question, options))

    @renamed(limit="max_models")
    def near_optimal(
        self,
        solver: Any = None,
        *,
        within: Any = "0.01",
        max_models: int = 1000,
        formulation: Any = None,
        time_limit: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> NearOptimal:
        """All near-optimal models (the Rashomon set), and the columns that all of them test.

        Raises SpecError if ``within`` is negative, or models of this shape, objective or table cannot be listed.

        Parameters
        ----------
        within : float, str or Fraction
            The share of the optimum by which a model may be worse; 0.01 is one per cent.
        max_models : int
            Most models to list; they are counted beyond that.
        solver, formulation, on_progress, time_limit
            As in `solve`; the time limit is for all of it.
        """
        from treeform.tradeoff.listing import list_near_optimal

        options = SolveOptions(solver, formulation, time_limit=time_limit, on_progress=on_progress)
        asked = within, max_models, self._sensitive
        return with_answer(options, lambda options: list_near_optimal(self.question, options, *asked))
