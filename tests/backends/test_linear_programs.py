"""Linear programs that searches solve: here and in a child, from the last basis, and when the child dies."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import linprog

import treeform as tf
from treeform.backends import linear_programs, packages
from treeform.backends.linear_programs import LinearProgram, solved_apart
from treeform.formulations.odd import OneHyperplane
from treeform.formulations.odd.hulls import Hulls


@pytest.fixture
def clash(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As with highspy 1.15 beside ortools 9.15, where HiGHS was not loaded yet."""
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {"libhighs.so.1"})
    monkeypatch.delitem(sys.modules, "highspy", raising=False)
    assert solved_apart()
    yield
    linear_programs._server._child.close()


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a covering problem, and two costs."""
    rng = np.random.default_rng(seed)
    rows = rng.random((6, 8)) < 0.4
    rows[np.arange(6), rng.integers(0, 8, 6)] = True
    return rows.astype(float), rng.random(8) + 0.1, rng.random(8) + 0.1


def check(seed: int) -> None:
    """A program that gets rows and other costs, against scipy's answers."""
    rows, first, second = drawn(seed)
    program = LinearProgram(rows[:2], np.ones(2), np.full(2, np.inf))
    for count, cost in ((2, first), (2, second), (6, second), (6, first)):
        for row in rows[2:count] if count == 6 and cost is second else ():
            program.add_row(np.flatnonzero(row), 1.0, np.inf)
        solution = program.solve(cost, np.zeros(8), np.ones(8))
        known = linprog(cost, A_ub=-rows[:count], b_ub=-np.ones(count), bounds=(0, 1))
        assert solution is not None
        assert cost @ solution.x == pytest.approx(known.fun)
        assert len(solution.prices) == count
        assert (rows[:count] @ solution.x > 1 - 1e-7).all()
    assert program.solve(first, np.zeros(8), np.zeros(8)) is None  # no point


@pytest.mark.parametrize("seed", range(5))
def test_here(seed: int) -> None:
    check(seed)


def test_in_a_child(clash: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        check(seed)
    gc.collect()
    assert len(linear_programs._server._forgotten) > 0  # told with the next question
    unit, left = np.random.default_rng(2).random((14, 2)), np.arange(14) % 3 > 0
    there = Hulls(unit, left).widest()[1]
    one = tf.Problem(unit[:6], left[:6], shape=tf.Tree(1, splits="multivariate"))
    stated = one.solve("cp-sat", formulation=OneHyperplane(), warm_start=None)
    assert stated.status is tf.Status.OPTIMAL
    assert "highspy" not in sys.modules
    monkeypatch.undo()
    assert there == pytest.approx(Hulls(unit, left).widest()[1], abs=1e-9)


def in_a_fork() -> int:
    check(1)
    return linear_programs._server.start()


def test_a_child_that_dies_is_replaced_and_a_fork_has_its_own(clash: None) -> None:
    rows, cost, _ = drawn(3)
    program = LinearProgram(rows, np.ones(6), np.full(6, np.inf))
    before = program.solve(cost, np.zeros(8), np.ones(8))
    program.add_row(np.arange(8), 4.0, np.inf)
    more = program.solve(cost, np.zeros(8), np.ones(8))
    pid = linear_programs._server.start()
    os.kill(pid, signal.SIGKILL)
    again = program.solve(cost, np.zeros(8), np.ones(8))
    assert linear_programs._server.start() != pid
    assert before is not None and more is not None and again is not None
    assert cost @ again.x == pytest.approx(cost @ more.x)
    assert cost @ again.x > cost @ before.x
    if "fork" in multiprocessing.get_all_start_methods():
        pid = linear_programs._server.start()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert pool.apply(in_a_fork) != pid
        assert linear_programs._server.start() == pid
        check(2)
