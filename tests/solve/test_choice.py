"""Which solver is taken when none is named: what it is capable of is declared, and it can be loaded here."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import treeform as tf
from treeform.backends import packages
from treeform.backends.isolated import apart
from treeform.errors import SolverNotAvailable, SpecError
from treeform.solve.choice import choose
from treeform.solve.result import SolveOptions


class Own(tf.Requirement):
    """At most two tests, with a column of its own: no engine reads a sum from it."""

    name = "own_in_test_choice"
    needs = frozenset({"active"})

    def build(self, model, ports):
        one = model.bool("one")
        model.add(one == 1)
        model.add(ports.active.sum() <= 2 * one)

    def violation(self, graph, data):
        return max(0, graph.n_nodes - 2)


class Uneven(Own):
    """The same, with a column that is no whole number."""

    name = "uneven_in_test_choice"
    continuous = True

    def build(self, model, ports):
        share = model.continuous("share", ub=2.0)
        model.add(ports.active.sum() <= share)


class Undeclared(Uneven):
    name = "undeclared_in_test_choice"
    continuous = False


def problem(*requirements: tf.Requirement) -> tf.Problem:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (20, 2)), rng.integers(0, 2, 20)
    made = tf.Problem(X, y, shape=tf.Diagram(1, 2), sensitive_features=np.arange(20) % 2)
    made += [tf.Monotone("x0"), *requirements]
    return made


def test_a_users_requirement_changes_no_default() -> None:
    ours, own = problem().solve(warm_start=None), problem(Own()).solve(warm_start=None)
    assert ours.solver == own.solver == "cp-sat"
    assert own.graph.n_nodes <= 2


def test_columns_that_are_not_whole_are_declared_and_named() -> None:
    result = problem(Uneven()).solve(warm_start=None)
    assert result.solver == "highs"
    assert any("cp-sat takes whole numbers only, and uneven_in_test_choice" in note for note in result.notes)
    assert result.objective == problem(Own()).solve(warm_start=None).objective
    for solver in (None, "highs"):
        with pytest.raises(SpecError, match="set continuous = True in Undeclared"):
            problem(Undeclared()).solve(solver, warm_start=None)


@pytest.mark.parametrize(
    ("loaded", "solver", "alone"),
    [
        ("highspy", "highs", False),
        ("ortools", "highs", True),
        ("highspy", "cp-sat", True),
        ("ortools", "cp-sat", False),
        ("highspy", None, False),
        ("ortools", None, True),
    ],
)
def test_what_cannot_be_loaded_beside_what_is_loaded_runs_in_its_own_process(
    monkeypatch: pytest.MonkeyPatch, loaded: str, solver: str | None, alone: bool
) -> None:
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {"libhighs.so.1"})
    other = {"highspy": "ortools", "ortools": "highspy"}[loaded]
    monkeypatch.setitem(sys.modules, loaded, sys)
    monkeypatch.delitem(sys.modules, other, raising=False)
    asked = tf.Problem([[0.0], [1.0]], [0, 1], shape="tree:2")
    asked += [Own()]
    chosen = choose(asked.question, SolveOptions(solver, warm_start=None)).backend
    assert chosen.name == (solver or "highs")
    assert isinstance(chosen, tf.Isolated) is alone


def test_in_a_portfolio_highs_goes_where_it_clashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {package})
    members = {m.name: isinstance(m, tf.Isolated) for m in apart(tf.Portfolio(["cp-sat", "highs"])).members}
    assert members == {"cp-sat": False, "highs": False}
    monkeypatch.setattr(packages, "shared_libraries", lambda package: {"libhighs.so.1"})
    monkeypatch.delitem(sys.modules, "ortools", raising=False)
    monkeypatch.delitem(sys.modules, "highspy", raising=False)
    members = {m.name: isinstance(m, tf.Isolated) for m in apart(tf.Portfolio(["cp-sat", "highs"])).members}
    assert members == {"cp-sat": False, "highs": True}


def test_with_no_solver_at_all_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda module: None)
    with pytest.raises(SolverNotAvailable, match="pip install"):
        problem(Own()).solve(warm_start=None)
