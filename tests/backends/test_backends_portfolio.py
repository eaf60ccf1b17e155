"""Several solvers on one model: who settles it, who is left out, and what goes wrong."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from timing import Timed

import treeform as tf
from treeform.backends import MaxSAT, Run, Verdict, by_name
from treeform.backends.base import Session
from treeform.backends.run import Answer
from treeform.backends.TEMPLATE import Enumeration, EnumerationSession
from treeform.backends.watch import Watch
from treeform.errors import RouteError, SolverFailed, SpecError
from treeform.model import Model, at_least
from treeform.testing import check_backend
from treeform.utils.budget import Budget

BROKEN = threading.Event()


class Half(Enumeration):
    """Knows a part of the truth and waits until it is stopped: its best point, its bound, or nothing.

    Or it breaks, or it answers after one that breaks.
    """

    def __init__(self, part: str) -> None:
        super().__init__()
        self.part = part
        self.name = f"half:{part}"

    def open(self, model: Model) -> Session:
        return HalfSession(self, model)


class HalfSession(EnumerationSession):
    backend: Half

    def _search(self, run: Run, watch: Watch) -> Answer:
        if self.backend.part == "failure":
            BROKEN.set()
            raise SolverFailed("the solver broke", cause="it was told to", fix="take another one")
        if self.backend.part == "after a failure":
            BROKEN.wait(30)
            time.sleep(0.3)  # until the portfolio has noticed
            return super()._search(run, watch)
        silent = Watch(run, watch.checker, self.lowered, 0.2, 0.4)
        true = super()._search(run, silent)
        if self.backend.part == "point" and true.x is not None:
            watch.solution(true.x)
        if self.backend.part == "bound" and true.bound is not None:
            watch.bound(true.bound)
        while not watch.ending and watch.remaining != 0.0:
            time.sleep(0.01)
        return Answer(Verdict.UNKNOWN, reason=watch.reason or "time")


@pytest.fixture
def model() -> Model:
    m = Model()
    x = m.bool("x", 6)
    m.add(at_least(x, 3), "three")
    m.minimize((np.arange(1.0, 7.0) * x).sum())
    return m


def solve(portfolio: tf.Portfolio, model: Model, run: Run | None = None):  # type: ignore[no-untyped-def]
    session = portfolio.open(model)
    try:
        return session.solve(run or Run())
    finally:
        session.close()


def test_against_enumeration() -> None:
    check_backend(tf.Portfolio(["cp-sat", Enumeration()]), models=4)


def test_members_that_cannot_take_continuous_columns_are_left_out() -> None:
    portfolio = tf.Portfolio()
    assert portfolio.capabilities.continuous
    assert not tf.Portfolio(["cp-sat", Enumeration()]).capabilities.continuous
    m = Model()
    share, x = m.continuous("share"), m.bool("x")
    m.add(share + x >= 0.5, "one of them")
    m.minimize(2 * x + share)
    outcome = solve(portfolio, m)
    assert outcome.verdict is Verdict.OPTIMAL
    assert m.objective.value(outcome.x) == pytest.approx(0.5)
    assert "cp-sat" in outcome.info["left out"][0]
    assert outcome.info["settled by"] == "highs"
    with pytest.raises(RouteError, match="continuous"):
        tf.Portfolio(["cp-sat", Enumeration()]).open(m)


def test_a_point_of_one_and_a_bound_of_another_are_a_proof(model: Model) -> None:
    outcome = solve(tf.Portfolio([Half("point"), Half("bound")]), model)
    assert outcome.verdict is Verdict.OPTIMAL
    assert model.objective.value(outcome.x) == outcome.bound == 6.0


def test_without_a_proof_the_best_of_all_comes_back(model: Model, timed: Timed) -> None:
    told: list[Any] = []
    run = Run(Budget().until(lambda: bool(told)), on_solution=told.append, on_bound=told.append)
    found = solve(tf.Portfolio([Half("point"), Half("nothing")]), model, run)
    assert (found.verdict, found.reason, found.bound) == (Verdict.FEASIBLE, "interrupted", None)
    told.clear()
    bounded = solve(tf.Portfolio([Half("nothing"), Half("bound")]), model, run)
    assert (bounded.verdict, bounded.bound) == (Verdict.UNKNOWN, 6.0)
    late = solve(tf.Portfolio([Half("nothing"), Half("bound")]), model, Run(Budget(0.3)))
    assert late.reason == "time"
    timed(late.seconds, 3)


def test_a_member_that_breaks_is_told_and_does_not_end_the_run(model: Model) -> None:
    outcome = solve(tf.Portfolio([Half("failure"), Half("after a failure")]), model)
    assert outcome.verdict is Verdict.OPTIMAL
    assert "it was told to" in str(outcome.info["failed"][0])
    with pytest.raises(SolverFailed, match="the solver broke"):
        solve(tf.Portfolio([Half("failure"), Half("failure")]), model)


def test_stopped_by_the_caller(model: Model) -> None:
    session = tf.Portfolio([Half("point"), Half("nothing")]).open(model)
    seen: list[float] = []
    outcome = session.solve(
        Run(Budget().until(lambda: bool(seen)), on_solution=lambda x: seen.append(model.objective.value(x)))
    )
    session.close()
    assert seen == [6.0]
    assert (outcome.verdict, outcome.reason) == (Verdict.FEASIBLE, "interrupted")


@pytest.mark.parametrize(
    ("members", "match"),
    [
        ((), "two or more"),
        ("highs", "two or more"),
        (["highs"], "two or more"),
        (["highs", "cadical195"], "no objective"),
        (["highs", tf.ConTree()], "no member"),
        (["highs", 3], "no member"),
        (["highs", "hihgs"], "did you mean 'highs'"),
    ],
)
def test_what_is_no_portfolio(members: object, match: str) -> None:
    with pytest.raises(SpecError, match=match):
        tf.Portfolio(members)


def test_by_name_with_members() -> None:
    assert [m.name for m in by_name("portfolio").members] == ["cp-sat", "highs"]
    named = by_name("portfolio:members=highs+mathopt:scip+rc2")
    assert [m.name for m in named.members] == ["highs", "mathopt:scip", "rc2"]
    assert isinstance(named.members[2], MaxSAT)


def test_on_a_problem_it_agrees_and_says_who_settled_it() -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame(rng.integers(0, 3, (24, 3)), columns=list("abc"))
    y = (X["a"] + X["b"] > 2) ^ (rng.random(24) < 0.15)
    problem = tf.Problem(X, y, shape=tf.Diagram(1, 2)).add(tf.MinSupport(3))
    alone = problem.solve("cp-sat", formulation="odd", warm_start=None)
    result = problem.solve("portfolio", formulation="odd", warm_start=None)
    assert result.status is alone.status is tf.Status.OPTIMAL
    assert result.objective == alone.objective
    assert any("odd on portfolio: settled by" in note for note in result.notes)
