"""Several solvers on one model at once: the first proof ends the run.

Each member converts the model to the rows that it accepts, and runs in its own thread. Points and bounds of all of them
meet here, so that a proof may have two authors: one solver's best point, and another one's bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.checker import SolutionChecker
from treeform.backends.packages import Availability
from treeform.backends.registry import backend_classes, by_name
from treeform.backends.run import ALL_FORMS, Answer, Capabilities, Outcome, Run, Verdict
from treeform.backends.watch import POLL, Detached, Watch
from treeform.errors import RouteError, SolverFailed, SpecError
from treeform.model import Model

#: Seconds in which members may report their last bound after the time limit.
LAST_MESSAGES = 0.3
#: The members when none are named.
USUAL = ("cp-sat", "highs")


class Portfolio(Backend):
    """Solvers that work on the same model side by side.

    A member that cannot take a model (CP-SAT, one with continuous columns) is left out of it, as long as another one
    remains. Each member uses its own threads: give as many members as there are free cores.

    Parameters
    ----------
    members : sequence of Backend or str
        Two or more solvers with an objective.

    Raises
    ------
    SpecError
        If there are fewer than two, or one has no objective.
    SolverNotAvailable
        If a member cannot be used here.

    Examples
    --------
    >>> import treeform as tf
    >>> tf.Portfolio([tf.CPSAT(), "highs"]).members
    (CPSAT(threads=1, seed=0), HiGHS(threads=1))
    """

    name = "portfolio"
    package = ""
    module = ""
    install = "pip install ortools highspy"
    capabilities = Capabilities(ALL_FORMS, continuous=True, integer=True, objective=True)

    def __init__(self, members: Sequence[Backend | str] = USUAL) -> None:
        chosen = [members] if isinstance(members, str | Backend) else list(members)
        self.members = tuple(_member(one) for one in chosen)
        if len(self.members) < 2:
            raise SpecError(
                "a portfolio has two or more members",
                cause=f"it is given {', '.join(m.name for m in self.members) or 'none'}",
                fix='write for example tf.Portfolio(["cp-sat", "highs"]), or portfolio:members=cp-sat+highs',
            )
        able = [m.capabilities for m in self.members]
        self.capabilities = replace(
            type(self).capabilities,
            continuous=any(c.continuous for c in able),
            integer=any(c.integer for c in able),
        )

    @classmethod
    def availability(cls, variant: str = "") -> Availability:
        """Whether the usual members can be used here."""
        states = [by_class.availability() for by_class in backend_classes() if by_class.name in USUAL]
        missing = [one for one in states if not one.available]
        return missing[0] if missing else Availability(True, None, None)

    def open(self, model: Model) -> Session:
        return PortfolioSession(self, model)


def _member(member: Backend | str) -> Backend:
    backend = by_name(member) if isinstance(member, str) else member
    if not isinstance(backend, Backend) or isinstance(backend, Portfolio):
        raise SpecError(
            f"{member!r} is no member of a portfolio",
            cause="members are solvers behind a model: no native engines, and no portfolios",
            fix='name solvers such as "highs" or tf.CPSAT()',
        )
    if not backend.capabilities.objective:
        raise SpecError(
            f"{backend.name} is no member of a portfolio",
            cause="it decides formulas and has no objective",
            fix='take "rc2", which minimises over clauses, or leave it out',
        )
    return backend


class PortfolioSession(Session):
    """One session for each member that takes the model."""

    # Members need some time to notice the request to stop.
    patience = 1.0
    backend: Portfolio

    def __init__(self, backend: Portfolio, model: Model) -> None:
        super().__init__(backend, model)
        self.sessions: list[Session] = []
        self._refusals: list[str] = []
        self._busy: list[Detached] = []
        self._over = threading.Event()
        for member in backend.members:
            self._keep(member.name, partial(self._enrol, member))
        self._require_one()

    def _enrol(self, member: Backend) -> None:
        self.sessions.append(member.open(self.model))

    def extend(self) -> None:
        self._settle()
        super().extend()
        sessions, self.sessions = self.sessions, []
        for session in sessions:
            if self._keep(session.backend.name, session.extend):
                self.sessions.append(session)
            else:
                session.close()
        self._require_one()

    def close(self) -> None:
        self._over.set()
        deadline = time.monotonic() + self.patience
        for thread in self._busy:
            # One that hangs is left to its thread: the end of the others does not wait for it.
            thread.join(max(0.0, deadline - time.monotonic()))
        for session in self.sessions:
            session.close()

    def _keep(self, name: str, load: Callable[[], None]) -> bool:
        """Whether a member takes what it is given."""
        try:
            load()
        except RouteError as error:
            self._refusals.append(f"{name}: {error.what}")
            return False
        return True

    def _require_one(self) -> None:
        if not self.sessions:
            raise RouteError(
                "no member of the portfolio takes this model",
                cause="; ".join(self._refusals),
                fix="add a solver for linear rows over integer and continuous columns, such as highs",
            )

    def _settle(self) -> None:
        """Wait for stopped members: a session solves one question at a time."""
        self._over.set()
        for thread in self._busy:
            thread.join()
        self._busy = []

    def _search(self, run: Run, watch: Watch) -> Answer:
        self._settle()
        self._over = threading.Event()
        race = Race(self.model, run, watch, self._over)
        for session in self.sessions:
            thread = Detached(f"treeform {session.backend.name}", partial(race.enter, session))
            thread.start()
            self._busy.append(thread)
        while any(thread.is_alive() for thread in self._busy) and not (self._over.wait(POLL) or watch.ending):
            pass
        if not self._over.is_set():
            self._over.set()
            for thread in self._busy:
                thread.join(LAST_MESSAGES / len(self._busy))
        answer = race.answer()
        if self._refusals:
            answer.info["left out"] = list(self._refusals)
        return answer

    def _cancel(self) -> None:
        self._over.set()


class Race:
    """What the members of a portfolio found in one run.

    ``watch`` hears every point and bound, over the columns of the run's model. ``over`` is set when nothing is left to
    be done, and stops the members.
    """

    def __init__(self, model: Model, run: Run, watch: Watch, over: threading.Event) -> None:
        self.watch = watch
        self.over = over
        self.question = Run(
            run.budget.until(lambda: over.is_set() or watch.ending),
            hint=run.hint,
            cutoff=run.cutoff,
            assumptions=run.assumptions,
            on_solution=self._solution,
            on_bound=self._bound,
        )
        self._lock = threading.Lock()
        self._checker = SolutionChecker(model, run.cutoff)
        self._checker.start_from(run.hint, run.assumptions)
        self._best_bound: float | None = None
        self._outcomes: dict[str, Outcome] = {}
        self._settled: Outcome | None = None
        self._authors = ""
        self._failures: list[Exception] = []

    def enter(self, session: Session) -> None:
        """Let one member work; what it raises is raised by `answer` if no other one answers."""
        name = session.backend.name
        try:
            outcome = session.solve(self.question)
        except Exception as error:
            with self._lock:
                self._failures.append(error)
            return
        with self._lock:
            if self.over.is_set() and self._settled is not None:
                return
            self._outcomes[name] = outcome
            if outcome.x is not None:
                self._checker.take(outcome.x)
            faults = [outcome.info[key] for key in ("refuted", "killed") if key in outcome.info]
            self._failures += [SolverFailed(f"{name}: {fault}") for fault in faults]
            if outcome.verdict in (Verdict.OPTIMAL, Verdict.INFEASIBLE) and self._believed(name, outcome):
                self._settled, self._authors = outcome, name
                self.over.set()
        if outcome.bound is not None:
            self._bound(outcome.bound)

    def _believed(self, name: str, outcome: Outcome) -> bool:
        """Whether no checked point refutes a member's proof; otherwise the others go on."""
        if outcome.verdict is Verdict.INFEASIBLE:
            refuted = self._checker.best is not None
        else:
            refuted = self._checker.contradicts(outcome.bound)
        if refuted:
            self._failures.append(SolverFailed(f"{name} gave a proof that a point refutes"))
        return not refuted

    def answer(self) -> Answer:
        """The first proof, or the best of all points and bounds; if all members raised, what one of them did."""
        with self._lock:
            if self._failures and not self._outcomes and self._checker.best is None:
                raise self._failures[0]
            info: dict[str, Any] = {"settled by": self._authors} if self._authors else {}
            if self._failures:
                info["failed"] = list(self._failures)
            x, bound = self._checker.best, self._best_bound
            if self._settled is not None:
                settled = self._settled
                return Answer(settled.verdict, settled.x, settled.bound, None, {**settled.info, **info})
            if self._checker.proved(bound):
                return Answer(Verdict.OPTIMAL, x, bound, None, info)
            verdict = Verdict.UNKNOWN if x is None else Verdict.FEASIBLE
            reasons = [outcome.reason for outcome in self._outcomes.values() if outcome.reason]
            reason = "time" if "time" in reasons or not reasons else reasons[0]
            return Answer(verdict, x, bound, self.watch.reason or reason, info)

    def _solution(self, x: np.ndarray) -> None:
        with self._lock:
            better = self._checker.take(x)
            if self._checker.contradicts(self._best_bound):
                self._failures.append(SolverFailed("a bound was refuted by a point that came later"))
                self._best_bound = None
            self._meet()
        if better is not None:
            self.watch.solution(better)

    def _bound(self, value: float) -> None:
        with self._lock:
            wrong = self._checker.contradicts(value)
            better = not wrong and (self._best_bound is None or value > self._best_bound)
            if better:
                self._best_bound = value
                self._meet()
        if better:
            self.watch.bound(value)

    def _meet(self) -> None:
        """End the run when the best point of one meets the bound of another."""
        if self._checker.proved(self._checker.clip_bound(self._best_bound)) and not self.over.is_set():
            self._authors = "one's model, another's bound"
            self.over.set()
