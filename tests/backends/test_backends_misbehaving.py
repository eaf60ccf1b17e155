"""Solvers that misbehave: unresponsive, wrong, or broken; what treeform does not believe."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from treeform.backends import Answer, Outcome, Run, Session, Verdict
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.backends.watch import Watch
from treeform.errors import SolverFailed
from treeform.model import Model
from treeform.utils.budget import Budget


def small() -> Model:
    model = Model()
    x = model.bool("x", 6)
    model.add(np.arange(1, 7) @ x <= 9)
    model.minimize(-x.sum())
    return model


class Slow(Enumeration):
    """Does not look up for a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def open(self, model: Model) -> Session:
        return SlowSession(self, model)


class SlowSession(EnumerationSession):
    backend: Slow
    patience = 5.0

    def _search(self, run: Run, watch: Watch) -> Answer:
        time.sleep(self.backend.seconds)
        return super()._search(run, watch)


class DeafSession(SlowSession):
    patience = 0.3


class Scripted(EnumerationSession):
    """Answers whatever it is told to."""

    answer: Any = None

    def _search(self, run: Run, watch: Watch) -> Answer:
        answer: Answer = self.answer(run, watch)
        return answer


def scripted(answer: Any, run: Run | None = None) -> Outcome:
    model = Model()
    x = model.bool("x", 3)
    model.add(x.sum() >= 2)
    model.minimize(x.sum())
    session = Scripted(Enumeration(), model)
    session.answer = answer
    return session.solve(run or Run())


def test_a_second_ctrl_c_is_passed_on() -> None:
    session = SlowSession(Slow(4.5), small())
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # The run is already being stopped, as after a first Ctrl-C that a handler took.
        session.solve(Run(Budget().until(lambda: True)))
    timer.join()


def test_an_unresponsive_solver_is_detached() -> None:
    session = DeafSession(Slow(2.0), small())
    outcome = session.solve(Run(Budget().until(lambda: True)))
    assert outcome.info["abandoned"]
    assert outcome.reason == "interrupted"


def test_infeasible_points_are_refused() -> None:
    outcome = scripted(lambda run, watch: Answer(Verdict.OPTIMAL, np.array([1.0, 0.0, 0.0]), 1.0))
    assert (outcome.verdict, outcome.x, outcome.reason) == (Verdict.UNKNOWN, None, "solver")
    assert outcome.info["rejected"] == 1
    assert sum(outcome.info["violated"].values()) == 1


def test_rounding_comes_before_the_check() -> None:
    outcome = scripted(
        lambda run, watch: Answer(Verdict.OPTIMAL, np.array([0.9999999, 1e-9, 1.0000001]), 1.99999999)
    )
    assert outcome.x is not None
    assert outcome.x.tolist() == [1.0, 0.0, 1.0]
    assert (outcome.verdict, outcome.bound) == (Verdict.OPTIMAL, 2.0)


def test_optimality_needs_a_bound_that_meets_the_point() -> None:
    outcome = scripted(lambda run, watch: Answer(Verdict.OPTIMAL, np.ones(3), 2.0))
    assert (outcome.verdict, outcome.bound, outcome.reason) == (Verdict.FEASIBLE, 2.0, "solver")


def test_a_bound_that_meets_the_point_is_a_proof() -> None:
    outcome = scripted(lambda run, watch: Answer(Verdict.UNKNOWN, np.array([1.0, 1.0, 0.0]), 1.7, "time"))
    assert (outcome.verdict, outcome.reason) == (Verdict.OPTIMAL, None)


def test_infeasibility_is_not_believed_against_a_point() -> None:
    def answer(run: Run, watch: Watch) -> Answer:
        watch.solution(np.ones(3))
        return Answer(Verdict.INFEASIBLE)

    outcome = scripted(answer)
    assert (outcome.verdict, outcome.reason) == (Verdict.FEASIBLE, "solver")
    hinted = scripted(lambda run, watch: Answer(Verdict.INFEASIBLE), Run(hint=np.ones(3)))
    assert hinted.verdict is Verdict.FEASIBLE


def test_bounds_beyond_the_cutoff_say_that_nothing_is_within() -> None:
    bounds: list[float] = []

    def answer(run: Run, watch: Watch) -> Answer:
        watch.bound(1.2)
        return Answer(Verdict.UNKNOWN, None, 2.0, "time")

    outcome = scripted(answer, Run(cutoff=1.0, on_bound=bounds.append))
    assert outcome.verdict is Verdict.INFEASIBLE
    assert bounds == [1.0]


def test_points_beyond_the_cutoff_are_no_answers() -> None:
    outcome = scripted(lambda run, watch: Answer(Verdict.FEASIBLE, np.ones(3)), Run(cutoff=2.0))
    assert (outcome.verdict, outcome.x) == (Verdict.UNKNOWN, None)


def test_failures_of_solvers_surface() -> None:
    def crash(run: Run, watch: Watch) -> Answer:
        raise SolverFailed("broken")

    with pytest.raises(SolverFailed, match="broken"):
        scripted(crash)

    def exhaust(run: Run, watch: Watch) -> Answer:
        raise MemoryError

    assert scripted(exhaust).reason == "memory"
