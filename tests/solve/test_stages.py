"""Stages of a solve: what explain names is what runs, and one that breaks down is a note."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeform as tf
from treeform.data import views
from treeform.errors import ContradictionError, DataError, SolverFailed, SpecError
from treeform.formulations import ODD, odd
from treeform.solve import choice, columns_on_demand, driver, pipeline, schedule
from treeform.solve.ledger import Ledger
from treeform.solve.search import CompiledSearch
from treeform.solve.stage.given_models import constants
from treeform.utils.budget import Budget, Share

rng = np.random.default_rng(3)
X = rng.integers(0, 5, (40, 3)).astype(float)
Y = ((X[:, 0] + X[:, 1] > 4) ^ (rng.random(40) < 0.2)).astype(int)
ERRORS = {
    "solver": SolverFailed("it is gone"),
    "table": DataError("too many tests"),
    "memory": MemoryError(),
}
STAGES = ["first models", "relaxed search", "search over tests", "neighbourhoods"]


def problem(shape: str = "tree:2", parity: bool = True) -> tf.Problem:
    stated = tf.Problem(X, Y, shape=shape, sensitive_features=np.arange(40) % 2)
    if parity:
        stated += tf.StatisticalParity(difference="0.1", positive=1)
    return stated


def fails(error: Exception) -> Any:
    def failing(*args: Any, **kwargs: Any) -> None:
        raise error

    return failing


def replace_stage(monkeypatch: pytest.MonkeyPatch, name: str, run: Any) -> None:
    """Have another function run in place of a stage, wherever a plan has it."""
    assert any(stage.name == name for stage in pipeline.PIPELINE)
    stages = [
        replace(stage, run=run, applies=lambda node: not node.plan.engine) if stage.name == name else stage
        for stage in pipeline.PIPELINE
    ]
    monkeypatch.setattr(pipeline, "PIPELINE", tuple(stages))


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("stage", STAGES)
def test_the_other_stages_go_on(monkeypatch: pytest.MonkeyPatch, stage: str, error: str) -> None:
    least = problem().solve().objective
    replace_stage(monkeypatch, "relaxed search", lambda *args: None)  # which would answer the question
    replace_stage(monkeypatch, stage, fails(ERRORS[error]))
    result = problem().solve("cp-sat", time_limit=1000)
    assert (result.status, result.objective) == (tf.Status.OPTIMAL, least)
    said = "there is not enough memory" if error == "memory" else str(ERRORS[error])
    assert sum(said in note for note in result.notes) == 1


@pytest.mark.parametrize("error", ERRORS)
def test_what_was_found_before_the_solver_is_kept(monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    known = problem().solve()
    monkeypatch.setattr(ODD, "compile", fails(ERRORS[error]))
    result = problem().solve("cp-sat", formulation="odd", warm_start=known.graph, time_limit=1000)
    assert (result.status, result.objective) == (tf.Status.FEASIBLE, known.objective)
    assert result.bound is not None
    assert result.limit is (tf.Limit.MEMORY if error == "memory" else tf.Limit.SOLVER)


def test_without_a_model_the_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ODD, "compile", fails(ERRORS["table"]))
    replace_stage(monkeypatch, "first models", lambda *args: None)
    with pytest.raises(DataError, match="too many tests"):
        problem().add(tf.MaxErrors(9)).solve("cp-sat", formulation="odd", warm_start=None)


def test_claims_that_contradict_each_other_are_no_breakdown(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ContradictionError("two claims contradict each other")
    replace_stage(monkeypatch, "first models", fails(error))
    with pytest.raises(ContradictionError):
        problem().solve("cp-sat")


def test_a_step_of_a_question_keeps_the_model_of_the_question() -> None:
    stated = problem()
    whole = Ledger(stated.question, Budget())
    step = Ledger(stated.add(tf.MaxErrors(9)).question, whole.budget)
    assert not step.has_model
    step.outer = whole
    constants(whole.question, whole)
    assert step.graph is None
    assert step.has_model


@pytest.mark.parametrize("solver", ["cp-sat", None])
def test_a_table_of_too_many_tests(monkeypatch: pytest.MonkeyPatch, solver: str | None) -> None:
    monkeypatch.setattr(schedule, "DEEP_TREES_FOR_SOLVER", Share(0.4, most=0.05))  # it takes all that it may
    monkeypatch.setattr(views, "LARGEST_SPLIT_TABLE", 100)
    monkeypatch.setattr("treeform.data.dataset.LARGEST_SPLIT_TABLE", 100)
    monkeypatch.setattr(tf.PathSearch, "few_tests", 1)
    asked = problem("tree:4", parity=False).add(tf.MaxTestsPerPath("x0", 1))
    result = asked.solve(solver, time_limit=1000)
    assert result.graph is not None
    assert result.graph.n_nodes
    assert any("too many to list" in note for note in result.notes)
    assert not problem().data.can_list_tests
    table = asked.size_table("cp-sat", warm_start="none")
    assert all(row.graph is not None for row in table.rows)
    assert any("too many to list" in note for note in table.notes)


def test_a_table_that_the_usual_formulation_cannot_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odd, "MAX_COLUMNS", 10)
    monkeypatch.setattr(columns_on_demand, "FEW_TESTS_BELOW", 1)
    monkeypatch.setattr(tf.PathSearch, "few_tests", 1)
    least = [row.upper for row in problem(parity=False).size_table("diagram-search").rows]
    table = problem(parity=False).size_table()
    assert [row.upper for row in table.rows] == least
    assert any("no solver was started: odd cannot state this problem" in note for note in table.notes)
    asked = problem("tree:3", parity=False).add(tf.MaxTestsPerPath("x0", 1))
    result = asked.solve(time_limit=1000)
    assert result.graph is not None
    assert result.graph.n_nodes
    assert result.limit in (None, tf.Limit.SOLVER)
    assert result.solver == "contree"
    assert "contree alone" in str(asked.explain())
    with pytest.raises(SpecError, match="odd cannot state this problem"):
        asked.solve("cp-sat")
    with pytest.raises(SpecError, match="odd cannot state this problem"):
        asked.solve(warm_start="none")


def test_a_broken_row_of_a_table_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = CompiledSearch.run

    def run(self: CompiledSearch) -> None:
        if sum(self.question.shape.widths) == 1:
            raise ERRORS["solver"]
        usual(self)

    monkeypatch.setattr(CompiledSearch, "run", run)
    table = problem("diagram:1,1").size_table("cp-sat", warm_start="none")
    assert table.rows[2].proved
    assert sum("it is gone" in note for note in table.notes) == 1


def test_the_choice_does_not_rank_a_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float | None] = []
    usual = choice.choose

    def choose(question: Any, options: Any) -> Any:
        plan = usual(question, options)
        seen.append(None if "n_tests" not in vars(question.data) else question.data.n_tests)
        return plan

    monkeypatch.setattr(driver, "choose", choose)
    many = rng.normal(size=(3000, 2))
    stated = tf.Problem(many, (many[:, 0] > 0).astype(int), shape="tree:1")
    assert stated.solve(time_limit=1000).errors == 0
    assert seen == [None]
    assert "ranks" not in vars(stated.data)
    assert stated.data.has_more_tests_than(500)
    assert not stated.data.has_more_tests_than(2 * 2999)
    assert stated.data.n_tests == sum(len(values) - 1 for values in stated.data.ranks.values)


# -- what is said of them -----------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [None, "cp-sat"])
@pytest.mark.parametrize("shape", ["tree:2", "diagram:1,2"])
def test_only_what_was_planned_runs(shape: str, solver: str | None) -> None:
    asked = problem(shape).add(tf.MaxTestsPerPath("x0", 1))
    planned = {stage.name: stage for stage in asked.explain(solver).stages}
    seen: list[str] = []
    result = asked.solve(solver, time_limit=60, on_progress=lambda progress: seen.append(progress.phase))
    ran = [run.name for run in result.plan if not run.step]
    assert ran == [name for name in planned if name in ran] and "quick bounds" in ran
    assert [phase for phase in dict.fromkeys(seen) if phase in planned] == ran
    assert sum(run.seconds for run in result.plan if not run.step) <= result.seconds


def test_a_stage_names_its_engine_and_what_it_leaves_out() -> None:
    asked = problem("diagram:1,2,2")
    relaxed = next(stage for stage in asked.explain().stages if stage.name == "relaxed search")
    assert relaxed.by == "diagram-search" and relaxed.without == tuple(asked.question.labels)
    assert str(relaxed) in str(asked.explain())
    run = next(run for run in asked.solve(time_limit=1000).plan if run.name == "trees for diagrams")
    assert run.by == ("totals-search",) and "by totals-search" in str(run)


def test_steps_of_a_question_go_through_the_same_stages() -> None:
    f1 = problem("tree:1", parity=False).minimize(tf.F1Loss(positive=1)).solve()
    assert [run.name for run in f1.plan if not run.step][-1] == "parts of the objective"
    rounds = {run.step for run in f1.plan if run.step}
    assert "round 1" in rounds and {run.name for run in f1.plan if run.step} >= {"exact search"}
    names = [stage.name for stage in pipeline.PIPELINE]
    assert len(names) == len(set(names))


def test_values_of_leaves_are_a_stage_of_their_own() -> None:
    homes = tf.Problem(X, X[:, 0] * 2 + Y, shape="tree:2").minimize("squared_error")
    homes += tf.MeanParity(np.arange(40) % 2, difference="0.1")
    result = homes.solve()
    assert result.status is tf.Status.OPTIMAL
    assert "values of leaves" in [stage.name for stage in result.plan]
    assert "values of leaves" in str(homes.explain())
    free = tf.Problem(X, X[:, 0] * 2 + Y, shape="tree:2").minimize("squared_error").solve()
    assert "values of leaves" not in [stage.name for stage in free.plan]
    assert free.objective <= result.objective


@pytest.mark.parametrize(("goal", "start"), [("error", "regression-search"), ("squared_error", "contree")])
def test_a_warm_start_of_other_leaves_is_refused(goal: str, start: str) -> None:
    stated = tf.Problem(X, Y, shape="tree:2").minimize(goal)
    with pytest.raises(SpecError, match=f"the warm start is none under {goal}"):
        stated.solve(warm_start=start)


def test_an_engine_for_other_leaves_is_no_advice() -> None:
    with pytest.raises(SpecError, match="cannot support the objective error") as caught:
        problem(parity=False).solve("regression-search")
    assert "warm_start" not in str(caught.value)
    assert "tf.ConTree()" in str(caught.value) or "tf.DL85()" in str(caught.value)
