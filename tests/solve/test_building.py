"""Building a model under a time limit and under Ctrl-C."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from misbehaving import SlowRows
from timing import wait_until

import treeform as tf
from treeform.backends.watch import build_beside
from treeform.bridges.pseudo_boolean import encode
from treeform.errors import SpecError
from treeform.formulations import ODD
from treeform.model import Model
from treeform.model.lower import BuildingStopped, stop_building_when
from treeform.utils.budget import report_step

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])


def building_threads() -> int:
    return sum(thread.name == "treeform building" for thread in threading.enumerate())


def test_a_model_asks_before_it_grows():
    calls = []
    m = Model()
    with stop_building_when(lambda: bool(calls)):
        x = m.bool("x", 3)
        calls.append(1)
        with pytest.raises(BuildingStopped):
            m.add(x >= 0)
        with pytest.raises(BuildingStopped):
            m.bool("y")
    m.add(x >= 0)
    assert len(m.blocks) == 1


@pytest.mark.parametrize("numbers", [range(1, 20), [10**6 + 3**i % 10**6 for i in range(200)]])
def test_the_clauses_of_one_row_are_given_up_half_way(numbers):
    """By a diagram where the row is short, and by adders where its numbers differ too much for one."""
    asked: list[None] = []
    coefficients = sorted(numbers, reverse=True)
    with stop_building_when(lambda: asked.append(None) is not None):
        encode(coefficients, None, sum(coefficients) // 2)
    assert len(asked) > len(coefficients)
    with stop_building_when(lambda: asked.pop() is None and len(asked) < 5), pytest.raises(BuildingStopped):
        encode(coefficients, None, sum(coefficients) // 2)


def test_work_that_is_left_alone_ends_where_it_reports_a_step():
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                report_step(0, "tests listed")
                time.sleep(0.001)
        finally:
            ended.set()

    assert build_beside(work, lambda: True) is None
    assert wait_until(ended.is_set)


@pytest.mark.parametrize("solver", [tf.HiGHS(), tf.CPSAT()], ids=lambda s: s.name)
def test_the_time_limit_holds_while_the_model_is_built(solver, timed):
    problem = tf.Problem(X, Y, shape=tf.Tree(2))
    started = time.process_time()
    result = problem.solve(solver, formulation=ODD() + SlowRows(), warm_start=None, time_limit=0.5)
    timed(time.process_time() - started, 5)
    assert result.status is tf.Status.FEASIBLE
    assert result.limit is tf.Limit.TIME
    assert result.errors == 3
    assert any("while the model was built" in note for note in result.notes)
    assert wait_until(lambda: not building_threads())


def test_what_building_raises_arrives():
    def fail() -> None:
        raise SpecError("no")

    with pytest.raises(SpecError, match="no"):
        build_beside(fail, lambda: False)


def test_work_that_does_not_look_up_is_left_alone():
    started, released = time.monotonic(), threading.Event()
    assert build_beside(lambda: released.wait(60), lambda: time.monotonic() > started + 0.1) is None
    released.set()
