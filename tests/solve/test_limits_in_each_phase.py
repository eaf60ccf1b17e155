"""Every verb, ended at each moment of its work: the bounds by then are returned, and nothing else is said."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from ended_early import ends

import treeform as tf
from treeform.engines.native_call import Start
from treeform.engines.size_outcome import SizeOutcome

rng = np.random.default_rng(1)
X = rng.integers(0, 4, (30, 3)).astype(float)
Y = ((X[:, 0] + X[:, 1] > 3) ^ (rng.random(30) < 0.2)).astype(int)
LONG = 3600.0
"""A limit that no run reaches by its clock."""


def problem(shape: str = "tree:2", *requirements: tf.Requirement, minimize: str = "error") -> tf.Problem:
    stated = tf.Problem(X, Y, shape=shape, sensitive_features=np.arange(30) % 2).minimize(minimize)
    for requirement in requirements:
        stated += requirement
    return stated


def parity() -> tf.Requirement:
    return tf.StatisticalParity(difference="0.1", positive=1)


SOLVES: dict[str, Callable[[], Any]] = {
    "tree": lambda: problem().solve(time_limit=LONG),
    "sums": lambda: problem("tree:2", parity()).solve(time_limit=LONG),
    "highs": lambda: problem("tree:2", parity()).solve("highs", time_limit=LONG),
    "cp-sat": lambda: problem("tree:2", parity()).solve("cp-sat", time_limit=LONG),
    "sat": lambda: problem().solve("glucose42", time_limit=LONG),
    "diagram": lambda: problem("diagram:1,2", parity()).solve(time_limit=LONG),
    "in parts": lambda: problem(minimize="f1_loss").solve(time_limit=LONG),
    "regression": lambda: (
        tf.Problem(X, X[:, 0] * Y, shape="tree:2")
        .minimize(tf.SquaredError(grid="auto"))
        .solve(time_limit=LONG)
    ),
}
TABLES: dict[str, Callable[[], Any]] = {
    "tree": lambda: problem().size_table(time_limit=LONG),
    "rows": lambda: problem("tree:2", parity()).size_table(time_limit=LONG),
    "prices": lambda: problem("diagram:1,2").size_table(time_limit=LONG, prices=[1, 2]),
}


@pytest.mark.parametrize("asked", SOLVES)
def test_a_solve_returns_its_model_and_bound(asked: str) -> None:
    *early, (_, whole) = ends(SOLVES[asked])
    assert whole.status is tf.Status.OPTIMAL
    assert len(early) >= 4
    for reason, result in early:
        assert result.graph is not None
        assert result.objective >= whole.objective
        assert result.bound is None or result.bound <= whole.objective
        assert result.status is (
            tf.Status.OPTIMAL if result.objective == result.bound else tf.Status.FEASIBLE
        )
        assert result.limit is (None if result.status is tf.Status.OPTIMAL else reason)


@pytest.mark.parametrize("asked", TABLES)
def test_a_size_table_returns_its_rows(asked: str) -> None:
    *early, (_, whole) = ends(TABLES[asked])
    best = [row.upper for row in whole.rows]
    assert whole.limit is None
    for reason, table in early:
        assert len(table.rows) == len(best)
        assert table.limit in (reason, None)
        for row, least in zip(table.rows, best, strict=True):
            assert row.graph is not None
            assert row.lower <= least <= row.upper


def test_a_curve_says_what_is_open() -> None:
    *early, (_, whole) = ends(lambda: problem().pareto(time_limit=LONG))
    assert whole.proved
    assert "open" not in str(whole)
    least = {(p.depth, p.tests): p.value for p in whole.points}
    for reason, curve in early:
        assert curve.points
        assert all(p.value == least[p.depth, p.tests] for p in curve.points if p.proved and p.depth)
        assert curve.proved or (curve.limit is reason and f"stopped ({reason})" in str(curve))


def test_a_run_that_is_stopped_before_its_points_are_prepared_knows_the_size_of_its_table() -> None:
    data = problem().data
    for shape in (tf.Tree(3), tf.Diagram(1, 2)):
        # Whether the core sees the limit before it has prepared the points is left to its threads.
        outcome = tf.DiagramSearch().size_table(data, shape, time_limit=0.0)
        assert outcome.lower_of(sum(shape.widths)) <= problem(str(shape)).solve().objective
        assert len(outcome.graphs) == len(outcome.lower) == sum(shape.widths) + 1
        constant = tf.DecisionGraph.leaf(0, data)
        begun = tf.DiagramSearch().size_table(data, shape, time_limit=0.0, start=[constant])
        assert begun.graphs[-1] is not None
        assert begun.best(Fraction(1))[0] <= int((Y != 0).sum())


def test_a_start_that_the_core_did_not_look_at_is_kept() -> None:
    data = problem().data
    constant = Start(tf.DecisionGraph.leaf(0, data), 0, int((Y != 0).sum()))
    nothing = {
        "upper": [2**61] * 2,
        "lower": [0] * 2,
        "diagrams": [None] * 2,
        "proved_at": [],
        "counters": {},
    }
    nothing |= {"complete": False, "memory": False, "seconds": 0.0}
    outcome = SizeOutcome.of(nothing, data, True, [], [constant], False)
    assert outcome.upper == (constant.cost, constant.cost)
    assert outcome.graphs == (constant.graph, constant.graph)
    assert not outcome.proved(0)
