"""The shortest time limits: an admissible constant model is always in hand, and notes say why the search stopped."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.backends.base import Session
from treeform.backends.run import Outcome, Run, Verdict
from treeform.engines import Engine, EngineOutcome, EngineRun, TreeTask
from treeform.report.facts import of_result
from treeform.solve import driver
from treeform.solve.choice import choose

ENGINES = ["contree", "dl85", "cadl85", "blossom", "diagram-search"]
SOLVERS = ["highs", "cp-sat", "mathopt:scip", "pyomo:cbc", "glucose42", "rc2"]


def problem(shape: str, minimize: str = "error") -> tf.Problem:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)).round(1), rng.integers(0, 3, 60)
    return tf.Problem(X, y, shape=shape, sensitive_features=np.arange(60) % 2).minimize(minimize)


@pytest.mark.parametrize("rules", [[], [tf.MinSupport(4)], [tf.StatisticalParity(positive=1, difference="0.2")]])
def test_a_leaf_for_lack_of_time_is_called_so(rules: list[tf.Requirement]) -> None:
    asked = problem("tree:4") + rules
    result = asked.solve(time_limit=1e-6)
    assert result.graph is not None and result.graph.depth == 0
    assert any("the model is a single leaf: when the time was spent" in note for note in result.notes)
    result = (asked + tf.MaxNodes(0)).solve()
    assert result.graph is not None and result.graph.depth == 0
    assert not any("single leaf" in note for note in result.notes)


@pytest.mark.parametrize("solver", [None, *ENGINES, *SOLVERS])
@pytest.mark.parametrize("shape", ["tree:2", "diagram:1,2"])
def test_no_limit_is_too_short_for_a_constant_model(solver: str | None, shape: str) -> None:
    if shape != "tree:2" and solver in (*ENGINES[:4], "glucose42", "rc2"):
        pytest.skip("it takes trees only")
    result = problem(shape).solve(solver, time_limit=1e-6)
    assert result.graph is not None
    assert result.objective <= 60 - np.bincount(problem(shape).data.y).max()
    assert str(result.status) == "optimal" or str(result.limit) == "time"


@pytest.mark.parametrize(
    ("shape", "minimize"),
    [
        *(
            (shape, goal)
            for shape in ("tree:2", "tree:2:multivariate")
            for goal in ("nodes", "2*error + nodes")
        ),
        ("tree:2", "depth"),
        ("tree:2", "cost[0 1 2; 3 0 1; 1 1 0]"),
    ],
)
def test_whatever_is_minimised_and_required(shape: str, minimize: str) -> None:
    asked = problem(shape, minimize)
    asked += [tf.StatisticalParity(difference=0.1, positive=1), tf.MinSupport(5), tf.MaxNodes(2)]
    assert asked.solve(time_limit=1e-6).graph is not None


@pytest.mark.parametrize("method", ["size_table", "pareto"])
def test_tables_hold_the_constant_model(method: str) -> None:
    table = getattr(problem("tree:2"), method)(time_limit=1e-6)
    rows = table.rows if method == "size_table" else table.tables[1].rows
    assert all(row.graph is not None for row in rows)


class Waits(Engine):
    """Goes on until it is stopped, and presses Ctrl-C once."""

    name = "waits"
    understands = frozenset({"weights"})

    def run(self, data: tf.Dataset, task: TreeTask, run: EngineRun) -> EngineOutcome:
        os.kill(os.getpid(), signal.SIGINT)
        while not run.budget.stop():
            time.sleep(0.01)
        return EngineOutcome(None, None, 0, False, "interrupted")


def test_a_note_tells_ctrl_c_from_the_clock() -> None:
    result = problem("tree:2").solve("highs", formulation="odd", warm_start=Waits())
    assert str(result.limit) == "interrupted"
    assert any("was not started: Ctrl-C came before" in note for note in result.notes), result.notes
    result = problem("tree:2").solve("highs", formulation="odd", warm_start=None, time_limit=1e-6)
    assert any("was not started: the time was spent before" in note for note in result.notes), result.notes


def test_ctrl_c_while_an_engine_is_chosen_keeps_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*arguments: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return choose(*arguments)

    monkeypatch.setattr(driver, "choose", pressed)
    result = problem("tree:2").solve()
    assert str(result.limit) == "interrupted" and result.graph is not None


def test_the_card_names_who_answered() -> None:
    early = tf.Problem([[0.0], [1.0]], [0, 1], shape="tree:1").solve("highs", formulation="odd")
    assert any("was not started" in note for note in early.notes)
    assert (early.solver, early.formulation) == ("dl85", None)
    assert "highs" not in dict(of_result(early).outcome)["solver"]
    started = tf.Problem([[0.0], [1.0]], [0, 1], shape="tree:1").solve(
        "highs", formulation="odd", warm_start=None
    )
    assert (started.solver, started.formulation) == ("highs", "odd")
    counted = tf.Problem([[0.0], [0.0]], [0, 1], shape="tree:1").solve("highs", warm_start=None)
    assert (counted.solver, counted.formulation) == ("none", None)
    depth = tf.Problem([[0.0], [1.0]], [0, 1], shape="tree:1").minimize("depth").add(tf.MaxErrors(0)).solve()
    assert depth.solver == "dl85"


def test_a_solver_that_gives_up_reaches_no_node_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(self: Session, run: Run) -> Outcome:
        return Outcome(Verdict.UNKNOWN, None, None, "solver", 0.0)

    monkeypatch.setattr(Session, "solve", give_up)
    result = problem("tree:2").solve("highs", warm_start=None)
    assert result.limit is tf.Limit.SOLVER
    assert dict(of_result(result).outcome)["stopped by"] == "highs, by itself and without a proof"
