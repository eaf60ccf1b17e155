"""What a solver is to treeform: a backend with its settings, and a session on a model.

A backend takes arrays and gives back points and bounds. It is never trusted: every point is rounded on the
integer columns and checked against the model before it is passed on (:mod:`treeform.backends.checker`), and only
the layer above decides what a verdict means for the problem.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from treeform.backends.checker import SolutionChecker, source_point
from treeform.backends.child import INSIDE
from treeform.backends.packages import Availability, blocked, probe
from treeform.backends.run import Answer, Capabilities, Outcome, Run, Verdict
from treeform.backends.watch import Watch
from treeform.bridges import route
from treeform.errors import ModelError, SolverNotAvailable, SpecError
from treeform.model import Block, Model, Watermark
from treeform.utils.arguments import whole_number
from treeform.utils.budget import Limit
from treeform.utils.extensions import SOLVERS, find
from treeform.utils.text import count_of

HIDDEN = ("capabilities", "name", "own_process")
"""Attributes that follow from the settings."""


class Backend(ABC):
    """A solver with its settings.

    Raises
    ------
    SolverNotAvailable
        On construction, where the package is missing or cannot be loaded.
    """

    name: ClassVar[str]
    """The name in tables and for ``by_name``; an instance may refine it (``mathopt:scip``)."""
    package: ClassVar[str]
    """The distribution that holds the solver; empty when nothing has to be installed."""
    module: ClassVar[str]
    """What has to be importable."""
    install: ClassVar[str]
    """The command that installs it."""
    aliases: ClassVar[dict[str, str]] = {}
    """Other names, and the variant that each stands for."""
    open_ended: ClassVar[bool] = False
    """Whether ``name:anything`` is a variant, even if not listed."""
    own_process: ClassVar[bool] = False
    """Whether its solver always runs in a child process."""
    grace_apart: ClassVar[float] = 0.8
    """Seconds by which that process may exceed a time limit before it is asked to stop."""
    memory_limit: int | None = None
    """Megabytes for that process; None is half of the machine's memory."""
    capabilities: Capabilities

    def __init__(self) -> None:
        self.require()

    @classmethod
    def variants(cls) -> tuple[str, ...]:
        """The names under which `by_name` finds this backend, the preferred one first."""
        return (cls.name,)

    @classmethod
    def named(cls, variant: str, **settings: Any) -> Backend:
        """The backend for one of its :meth:`variants`.

        Parameters
        ----------
        variant : str
            One of the names of `variants`. A class with several reads its solver from it.
        **settings
            Parameters of the class.
        """
        return cls(**settings)

    @classmethod
    def availability(cls, variant: str = "") -> Availability:
        """Whether it can be used here, without importing the solver."""
        return probe(cls.package, cls.module)

    @classmethod
    def install_for(cls, variant: str) -> str:
        """What to do to get one of the variants."""
        return cls.install

    def require(self) -> None:
        """Raise `SolverNotAvailable` unless the solver can be used here."""
        availability = self.availability(self.name)
        if not availability.available:
            fix = self.install_for(self.name)
            raise SolverNotAvailable(
                f"the solver {self.name!r} cannot be used here", cause=availability.reason, fix=fix
            )

    @abstractmethod
    def open(self, model: Model) -> Session:
        """Route the model, load it, and return a session on it.

        Parameters
        ----------
        model : Model
            Its columns, rows and objective.

        Raises
        ------
        RouteError
            If the model cannot be stated to this solver.
        """

    def for_flows(self) -> Backend:
        """The same solver for flows, whose linear program is nearly integral; what a user has set stays."""
        return self

    def open_apart(self, model: Model) -> Session | None:
        """A session in a child process, if the solver needs one or a loaded library excludes its own; else None."""
        apart = INSIDE not in os.environ if self.own_process else blocked(self.module)
        isolated = find(SOLVERS, "isolated") if apart else None
        return None if isolated is None else isolated.load()(self, self.memory_limit).open(model)

    def __repr__(self) -> str:
        shown = {k: v for k, v in vars(self).items() if not k.startswith("_") and k not in HIDDEN}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items() if v not in (None, {}))})"


def check_threads(threads: Any, chosen_by: str | None = None) -> int:
    """The number of threads; SpecError if it is none.

    0 is for the solver ``chosen_by``, which chooses the number itself; without one, 0 is refused.
    """
    whole = whole_number(threads)
    if whole is not None and whole >= (chosen_by is None):
        return whole
    choose = "of at least 1" if chosen_by is None else f"of at least 1, or 0 to let {chosen_by} choose"
    raise SpecError(f"threads={threads!r} is not possible", fix=f"give a whole number {choose}")


class Session(ABC):
    """A model loaded in a solver: grows with the model, and answers runs one at a time.

    A backend implements ``_search``, and the other hooks as needed.
    """

    grace: float = 0.2
    """Seconds that the solver may exceed its time limit before a stop is requested."""
    patience: ClassVar[float] = 0.4
    """Seconds that the solver may take to stop before its thread is detached; the next run loads the model afresh."""

    def __init__(self, backend: Backend, model: Model) -> None:
        self.backend = backend
        self.model = model
        self.lowered = route(backend.capabilities).apply(model)
        self._mark = Watermark(0, 0)
        self._load(self.lowered.blocks)
        self._mark = self.lowered.mark()

    def extend(self) -> None:
        """Load the columns, the rows and the objective that the model got since the last call.

        Raises RouteError if they cannot be stated to this solver.
        """
        self.lowered.extend()
        self._load(self.lowered.blocks[self._mark.n_blocks :])
        self._mark = self.lowered.mark()

    def solve(self, run: Run) -> Outcome:
        """Answer one question.

        Ctrl-C ends the run and is reported as reason "interrupted" (a second one raises KeyboardInterrupt);
        exceptions of callbacks end the search and are passed on.

        Parameters
        ----------
        run : Run
            Limits, a point to start from, cutoff, assumptions and callbacks.
        """
        start = time.monotonic()
        run = self._normalised(run)
        checker = SolutionChecker(self.model, run.cutoff)
        checker.start_from(run.hint, run.assumptions)
        watch = Watch(run, checker, self.lowered, self.grace, self.patience)
        inner = self._translated(run)
        if self.model.n_cols == 0:
            broken = any(self.model.check(np.zeros(0)).values())
            verdict = Verdict.INFEASIBLE if broken else Verdict.OPTIMAL
            answer: Answer | None = Answer(verdict, np.zeros(0), self.model.objective.const)
        elif run.budget.reason is Limit.TIME:
            answer = Answer(Verdict.UNKNOWN, reason="time")
        else:
            try:
                answer = watch.run_supervised(lambda: self._search(inner, watch), self._cancel)
            except MemoryError:
                answer = Answer(Verdict.UNKNOWN, bound=watch.best_bound, reason="memory")
        if answer is None:
            # The solver did not react: leave it to its thread and load a fresh one next time.
            self._abandon()
            answer = Answer(Verdict.UNKNOWN, bound=watch.best_bound, info={"abandoned": True})
        return self._conclude(answer, watch, checker, time.monotonic() - start)

    def close(self) -> None:  # noqa: B027
        """Free the solver."""

    # -- for writers of backends ----------------------------------------------------------------

    @abstractmethod
    def _search(self, run: Run, watch: Watch) -> Answer:
        """Solve ``self.lowered``, in a separate thread.

        Hint, assumptions and points are over the columns of ``self.lowered``. Report through
        ``watch.solution(x)`` and ``watch.bound(b)``, poll ``watch.ending`` as often as possible, and keep to
        ``watch.remaining`` seconds. Points are raw: treeform rounds and checks them.
        """

    def _load(self, blocks: list[Block]) -> None:  # noqa: B027
        """Take new rows, for solvers that keep a state; columns from ``self._mark.n_cols`` on are new."""

    def _cancel(self) -> None:  # noqa: B027
        """Make a running search return; called repeatedly, from another thread."""

    def _abandon(self) -> None:  # noqa: B027
        """Drop a solver that is still running, so that the next run gets a fresh one."""

    # -- inside ---------------------------------------------------------------------------------

    def _normalised(self, run: Run) -> Run:
        model, n = self.model, self.model.n_cols
        if run.cutoff is not None and not self.backend.capabilities.objective:
            raise ModelError(
                f"{self.backend.name} takes no cutoff",
                cause="it has no objective",
                fix="add the row objective <= cutoff to the model, and extend the session",
            )
        lits = np.asarray(list(run.assumptions), dtype=np.int64)
        cols = np.abs(lits) - 1
        if lits.size and (bool((lits == 0).any()) or int(cols.max()) >= n or not model.is_binary[cols].all()):
            raise ModelError(
                "an assumption is not a literal of the model",
                cause="assumptions are signed column numbers +-(col + 1) of 0/1 columns",
                fix="take them from Expr.as_literals()",
            )
        hint = None
        if run.hint is not None:
            start = np.asarray(run.hint, dtype=np.float64)
            if start.ndim != 1 or len(start) > n:
                raise ModelError(
                    f"a hint of shape {start.shape} does not fit a model of {count_of(n, 'column')}",
                    cause="a hint has one value for each column, NaN where unknown",
                    fix="make it with numpy.full(model.n_cols, numpy.nan)",
                )
            hint = np.full(n, np.nan)
            hint[: len(start)] = start
            whole = model.is_integer
            hint[whole] = np.rint(hint[whole])
            hint[~((hint >= model.lb) & (hint <= model.ub))] = np.nan
            hint = None if np.isnan(hint).all() else hint
        return replace(run, hint=hint, assumptions=tuple(dict.fromkeys(lits.tolist())))

    def _translated(self, run: Run) -> Run:
        hint = None if run.hint is None else self.lowered.from_source(run.hint)
        lits = self.lowered.literals(run.assumptions).tolist() if run.assumptions else []
        return replace(run, hint=hint, assumptions=tuple(lits))

    def _conclude(self, answer: Answer, watch: Watch, checker: SolutionChecker, seconds: float) -> Outcome:
        if answer.x is not None and answer.verdict is not Verdict.INFEASIBLE:
            checker.take(source_point(self.lowered, answer.x))
        info = {**answer.info, **checker.info()}
        x, bound = checker.best, checker.clip_bound(answer.bound)
        reason = answer.reason or watch.reason
        if checker.contradicts(answer.bound):
            bound, reason = None, reason or "solver"
            info["refuted"] = (
                f"a bound of {answer.bound:g}, where a point of {checker.best_value:g} satisfies all rows"
            )
        verdict = answer.verdict
        if x is None and checker.excluded(answer.bound):
            verdict = Verdict.INFEASIBLE
        if verdict is Verdict.INFEASIBLE:
            if x is None:
                return Outcome(verdict, None, None, None, seconds, info)
            # It refuted a point that treeform has checked: its verdict is not used.
            info["refuted"] = "infeasibility, where a point satisfies all rows"
            return Outcome(Verdict.FEASIBLE, x, None, "solver", seconds, info)
        if x is None:
            verdict = Verdict.UNKNOWN
            reason = "solver" if answer.verdict is Verdict.OPTIMAL else reason
        elif checker.proved(bound) or (verdict is Verdict.OPTIMAL and answer.bound is None):
            verdict, reason = Verdict.OPTIMAL, None
        else:
            reason = (
                "solver" if verdict is Verdict.OPTIMAL and self.backend.capabilities.objective else reason
            )
            verdict = Verdict.FEASIBLE
        return Outcome(verdict, x, bound, reason if verdict is not Verdict.OPTIMAL else None, seconds, info)
