"""Any solver in a process of its own: it may hang, crash, or eat memory, and the solve goes on without it.

The parent rewrites the model for the solver and sends the arrays; what is added later is sent alone. Points, bounds and
nodes come back as they are found. Both sides check every point: the child its solver's, the parent all that arrives.
"""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from treeform.backends.base import Backend, Session
from treeform.backends.child import Child
from treeform.backends.child_main import report, stopping
from treeform.backends.highs import HiGHS
from treeform.backends.memory import cap_memory, check_memory_limit, out_of_memory
from treeform.backends.packages import Availability, blocked, shared_library_clash
from treeform.backends.portfolio import Portfolio
from treeform.backends.registry import by_name
from treeform.backends.run import Answer, Outcome, Run, Verdict
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed, SpecError
from treeform.model import Block, Model, Objective, VariableKind
from treeform.utils.budget import Budget, Step, observe_steps


class Isolated(Backend):
    """A solver in a process of its own, with limits on time and memory that hold whatever it does.

    A process that hangs is killed within two seconds of the time limit. One that dies, or runs out of memory, ends its
    run and not the solve: other members of a portfolio go on, and models found before are kept. Where another solver
    cannot be loaded into the same process, this one still can.

    Parameters
    ----------
    solver : Backend or str
        Of a portfolio, isolate the members.
    memory_limit : int, optional
        Megabytes for the process; by default half of the machine's memory. Not on Windows.

    Raises
    ------
    SpecError
        If it is a portfolio, a native engine or unknown, or the limit is too small.
    SolverNotAvailable
        If it cannot be used here.

    Examples
    --------
    >>> import treeform as tf
    >>> tf.Isolated("highs", memory_limit=4000)
    Isolated(solver=HiGHS(threads=1), memory_limit=4000)
    """

    name = "isolated"
    package = ""
    module = ""
    install = HiGHS.install

    def __init__(self, solver: Backend | str = "highs", memory_limit: int | None = None) -> None:
        inner = by_name(solver) if isinstance(solver, str) else solver
        if not isinstance(inner, Backend) or isinstance(inner, Portfolio | Isolated):
            raise SpecError(
                f"{solver!r} cannot be isolated",
                cause="a process of its own is for one solver behind a model",
                fix="isolate the members: tf.Portfolio([tf.Isolated('highs'), tf.Isolated('cp-sat')])"
                if isinstance(inner, Portfolio)
                else "name a solver such as 'highs' or tf.CPSAT()",
            )
        self.solver = inner
        self.memory_limit = check_memory_limit(memory_limit)
        # Claims, notes and certificates name the solver that proved something, wherever it ran.
        self.name = inner.name  # type: ignore[misc]
        self.capabilities = inner.capabilities

    @classmethod
    def availability(cls, variant: str = "") -> Availability:
        """Whether the usual solver can be used here."""
        state = HiGHS.availability()
        return Availability(True) if state.available else state

    def open(self, model: Model) -> Session:
        return IsolatedSession(self, model)

    def for_flows(self) -> Backend:
        """That solver for flows, in a process of its own."""
        return Isolated(self.solver.for_flows(), self.memory_limit)


def isolated(backend: Backend) -> Backend:
    """The same solver in a process of its own, unless it has one already; of a portfolio, each member."""
    if isinstance(backend, Portfolio):
        return Portfolio([isolated(member) for member in backend.members])
    if isinstance(backend, Isolated) or backend.own_process:
        return backend
    return Isolated(backend)


def apart(backend: Backend) -> Backend:
    """The same solver, in a process of its own where it cannot be loaded into this one.

    Of a portfolio, HiGHS goes where it clashes with another member.
    """
    if isinstance(backend, Portfolio):
        modules = {member.module for member in backend.members}
        both = {"highspy", "ortools"} <= modules and not blocked("highspy") and not blocked("ortools")
        apart_here = {"highspy"} if both and shared_library_clash("highspy") else set()
        members = [isolated(m) if m.module in apart_here else apart(m) for m in backend.members]
        return Portfolio(members) if members != list(backend.members) else backend
    return isolated(backend) if blocked(backend.module) else backend


@dataclass(frozen=True)
class Growth:
    """What a model got since it was sent last."""

    variables: list[tuple[str, tuple[int, ...], np.ndarray, np.ndarray, VariableKind]]
    blocks: list[Block]
    objective: Objective | None


ENDS = ("killed", "abandoned")
"""What a run says of a solver that did not stop."""


class IsolatedSession(Session):
    """A model in the parent, and the same model in a child that is started anew whenever it was lost."""

    patience = 1.6
    kill_after = 0.8
    """Seconds that the child may take to return when it was asked to stop."""
    backend: Isolated

    def __init__(self, backend: Isolated, model: Model) -> None:
        self._child = Child()
        # The child keeps to its limits itself, and has a moment to send its results.
        self.grace = backend.solver.grace_apart
        self._sent: tuple[int, int, Objective | None] | None = None
        super().__init__(backend, model)
        self._child.start()

    def close(self) -> None:
        self._child.close()

    def _abandon(self) -> None:
        self._child.close()

    def _search(self, run: Run, watch: Watch) -> Answer:
        pid = self._child.pid
        self._child.start()
        if self._child.pid != pid:
            self._sent = None
        task = {
            "solver": _packed(self.backend.solver) if self._sent is None else None,
            "memory": self.backend.memory_limit,
            "growth": self._growth(),
            "deadline": None if watch.remaining is None else time.monotonic() + watch.remaining,
            "question": (run.hint, run.cutoff, run.assumptions),
        }
        try:
            result = self._child.call(
                __name__, "solve_in_child", task, watch, _Forward(watch), self.kill_after
            )
        except BaseException as error:
            self._sent = None
            self._child.close()
            if isinstance(error, SolverFailed) and out_of_memory(error):
                return Answer(Verdict.UNKNOWN, reason="memory", info={"failed": [error]})
            raise
        if result is None:
            self._sent = None
            info = {"killed": f"it did not stop when asked to, for {self.kill_after:g} s"}
            result = Answer(Verdict.UNKNOWN, reason=watch.reason or "time", bound=watch.best_bound, info=info)
        elif result.info.get("abandoned"):
            # Its solver is still busy in a thread.
            self._sent = None
            self._child.close()
        if self.backend.solver.own_process:  # it ends in no other way
            result = replace(result, info={k: v for k, v in result.info.items() if k not in ENDS})
        return _completed(result, watch)

    def _growth(self) -> Growth:
        """What the child does not have yet; it has it after this."""
        model = self.lowered
        n_variables, n_blocks, objective = self._sent or (0, 0, None)
        lb, ub = model.lb, model.ub
        new = model.variables[n_variables:]
        spans = [slice(one.start, one.start + one.size) for one in new]
        growth = Growth(
            [(v.name, v.shape, lb[at], ub[at], v.kind) for v, at in zip(new, spans, strict=True)],
            model.blocks[n_blocks:],
            model.objective if model.objective is not objective else None,
        )
        self._sent = (len(model.variables), len(model.blocks), model.objective)
        return growth


def _completed(answer: Answer, watch: Watch) -> Answer:
    """The child's answer with its refused points counted here; who asked the child to stop is known here only."""
    info = dict(answer.info)
    watch.checker.count_refused(info.pop("rejected", 0), info.pop("violated", {}))
    reason = (watch.reason or "interrupted") if answer.reason == "interrupted" else answer.reason
    return replace(answer, reason=reason, info=info)


class _Forward:
    """Passes what a child reports to the watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, news: tuple[str, Any]) -> None:
        kind, value = news
        if kind == "solution":
            self.watch.solution(value)
        elif kind == "bound":
            self.watch.bound(float(value))
        else:
            self.watch.nodes(int(value))


def _packed(solver: Backend) -> bytes:
    """A solver as bytes; classes of a script or notebook travel whole, since the child cannot import them."""
    try:
        pickler = import_module("cloudpickle")
    except ImportError:  # joblib before 1.6 brings its own
        pickler = import_module("joblib.externals.cloudpickle")
    try:
        packed: bytes = pickler.dumps(solver)
        return packed
    except Exception as error:
        raise SpecError(
            f"the solver {solver!r} cannot be sent to another process",
            cause=f"{type(error).__name__}: {error}",
            fix="give it settings that can be pickled, or leave out isolate",
        ) from error


# -- in the child --------------------------------------------------------------------------------------------


class Copy(Model):
    """The parent's model in the child, as far as it was sent."""

    def grow(self, growth: Growth) -> None:
        """Take over new columns, rows and objective."""
        for name, shape, lb, ub, kind in growth.variables:
            self._declare(name, shape, lb.reshape(shape), ub.reshape(shape), kind)
        self.blocks.extend(growth.blocks)
        if growth.objective is not None:
            self.objective = growth.objective


class ChildSolver:
    """The solver of this process, its model and its session."""

    def __init__(self, solver: Backend) -> None:
        self.solver = solver
        self.model = Copy()
        self.session: Session | None = None

    def take(self, growth: Growth) -> Session:
        """The session on the grown model."""
        self.model.grow(growth)
        if self.session is None:
            self.session = self.solver.open(self.model)
        else:
            self.session.extend()
        return self.session


_child_solver: ChildSolver | None = None


def solve_in_child(task: dict[str, Any]) -> Answer:
    """What a child process does: take over what is new of the model, and answer one question."""
    global _child_solver
    cap_memory(task["memory"])
    if task["solver"] is not None:
        _child_solver = ChildSolver(pickle.loads(task["solver"]))
    assert _child_solver is not None
    session = _child_solver.take(task["growth"])
    hint, cutoff, assumptions = task["question"]
    deadline = task["deadline"]
    budget = Budget() if deadline is None else Budget().share(deadline - time.monotonic())
    run = Run(
        # The monotonic clock is the machine's, not the process's, so that the start of this process counts, too.
        budget.until(stopping),
        hint=hint,
        cutoff=cutoff,
        assumptions=assumptions,
        on_solution=lambda x: report(("solution", x)),
        on_bound=lambda bound: report(("bound", bound)),
    )
    with observe_steps(_report_nodes):
        return _answer(session.solve(run))


def _report_nodes(step: Step) -> None:
    if step.unit == "nodes":
        report(("nodes", step.done))


def _answer(outcome: Outcome) -> Answer:
    """What the parent's session checks again."""
    return Answer(outcome.verdict, outcome.x, outcome.bound, outcome.reason, outcome.info)
