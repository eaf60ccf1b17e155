"""The time limit of a check: one for each claim, whatever is tried and in how many parts, and kept in each phase."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from ended_early import ended_after, moments

import treeform as tf
from treeform.certify import bounds
from treeform.certify.prices import cheapest
from treeform.certify.verdicts import Verdict
from treeform.engines import TotalsSearch
from treeform.engines.relaxation import relax
from treeform.solve import Limit
from treeform.utils.budget import Budget, ProcessorBudget
from treeform.utils.out_of_reach import Stopped, each_in_time

rng = np.random.default_rng(2)
X = rng.integers(0, 5, (60, 3)).astype(float)
Y = ((X[:, 0] + X[:, 1] > 4) ^ (rng.random(60) < 0.2)).astype(int)


def certificate(minimize: str) -> dict[str, Any]:
    return tf.Problem(X, Y, shape="tree:2").minimize(minimize).solve().certificate()


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("minimize", ["error", "matthews_loss", "f1_loss"])
def test_a_check_that_is_cut_short_says_what_is_left_on_trust(minimize: str, independent: bool) -> None:
    made = certificate(minimize)
    assert tf.check(made, X, Y, independent=independent).verdict is Verdict.VERIFIED
    seen = set()
    for most in moments():
        with ended_after(most, Limit.TIME) as looks:
            seen.add(tf.check(made, X, Y, time_limit=1000.0, independent=independent).verdict)
        if not looks.ended:
            break
    assert Verdict.VERIFIED in seen
    assert seen <= {Verdict.VERIFIED, Verdict.ON_TRUST}


def test_all_parts_of_a_claim_have_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    made = certificate("matthews_loss")
    limits: list[float] = []
    usual = bounds.by_engines

    def by_engines(question: Any, value: Any, maker: Any, budget: Budget, graph: Any) -> Any:
        assert budget.remaining is not None
        limits.append(budget.remaining)
        time_ago[0] += 100.0
        return usual(question, value, maker, budget, graph)

    time_ago = [0.0]
    usual_seconds = ProcessorBudget.seconds

    def seconds(self: ProcessorBudget) -> float:
        return usual_seconds.fget(self) + time_ago[0] * (self.limit == 1000.0)

    monkeypatch.setattr(ProcessorBudget, "seconds", property(seconds))
    monkeypatch.setattr(bounds, "by_engines", by_engines)
    tf.check(made, X, Y, time_limit=1000.0)
    assert len(limits) >= 3
    assert limits[0] < 500.0
    assert all(later < earlier - 20.0 for earlier, later in pairwise(limits))


@pytest.mark.parametrize("time_limit", [20.0, 10_000.0, None])
def test_engines_wait_for_a_list_of_trees_ten_seconds_at_most(
    monkeypatch: pytest.MonkeyPatch, time_limit: float | None
) -> None:
    problem = tf.Problem(X, Y, shape="tree:2") + tf.MinRecall(0.6, positive=1)
    made, waited = problem.solve().certificate(), []

    def by_prices(question: Any, value: Any, hint: object, budget: Any) -> None:
        waited.append(budget.remaining)
        raise Stopped

    monkeypatch.setattr(bounds, "by_prices", by_prices)
    assert tf.check(made, X, Y, time_limit=time_limit).verdict is Verdict.VERIFIED
    assert waited and all(0 < seconds <= 10.0 for seconds in waited)


class Clock(Budget):
    """A budget of so many seconds, one of which passes with every look at it."""

    looks = 0.0

    @property
    def seconds(self) -> float:
        return self.looks

    def stop(self) -> bool:
        self.looks += 1.0
        return super().stop()


@pytest.mark.parametrize(("steps", "done"), [(99, 99), (140, 61), (190, 11), (250, 6), (10_000, 6)])
def test_a_loop_that_cannot_end_in_time_is_given_up_early(steps: int, done: int) -> None:
    budget, seen = Clock(100.0), []
    with nullcontext() if steps == done else pytest.raises(Stopped):
        for step in each_in_time(range(steps), budget):
            budget.looks += 1.0
            seen.append(step)
    assert seen == list(range(done))


def test_a_list_of_trees_is_given_up_as_soon_as_it_cannot_end_in_time() -> None:
    question = (tf.Problem(X, Y, shape="tree:3") + tf.MinRecall(0.6, positive=1)).question
    relaxation = relax(question, TotalsSearch())
    assert relaxation is not None

    def listed(budget: Budget) -> None:
        cheapest(question.data, relaxation.task, 12, [], 1, budget)

    listed(whole := Clock(10_000.0))
    assert whole.looks > 100
    with pytest.raises(Stopped):
        listed(short := Clock(8.0))
    assert short.remaining
