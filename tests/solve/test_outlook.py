"""A formulation that a solver alone has no prospect with is named before it starts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from benchmarks.graph import ladder
from benchmarks.harness.figures import read
from benchmarks.harness.session import DOCS
from treeform.errors import TreeformWarning
from treeform.solve.choice import choose
from treeform.solve.driver import with_outlook, without_prospect
from treeform.solve.result import SolveOptions


def stated(rows: int) -> tf.Problem:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.arange(rows) % 50, "b": np.arange(rows) // 50, "c": rng.integers(0, 2, rows)})
    return tf.Problem(X, rng.integers(0, 2, rows), shape=tf.Tree(2)).minimize(tf.Error())


def planned(
    rows: int, solver: str | None = "highs", formulation: str | None = None, **given: Any
) -> tuple[str, ...]:
    """The notes of the plan, which are those that a result begins with."""
    question = stated(rows).question
    return with_outlook(question, choose(question, SolveOptions(solver, formulation, **given))).notes


@pytest.mark.parametrize("formulation", ["odd", "flow-oct"])
def test_a_choice_without_prospect_is_warned_of(formulation: str) -> None:
    for solver in ("highs", "cp-sat"):
        with pytest.warns(TreeformWarning, match="formulation='hypergraph-flow'"):
            notes = planned(1000, solver, formulation, warm_start=None)
        assert any("not likely to prove" in note and "1,000 distinct rows" in note for note in notes)


@pytest.mark.parametrize("formulation", ["odd", "flow-oct"])
@pytest.mark.parametrize("solver", ["highs", "cadical195"])
def test_a_solver_of_one_kind_of_rows_is_warned_of_earlier(solver: str, formulation: str) -> None:
    with pytest.warns(TreeformWarning, match="800 distinct rows"):
        planned(800, solver, formulation, warm_start=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreeformWarning)
        planned(800, "cp-sat", formulation, warm_start=None)


@pytest.mark.parametrize("noisy", [True, False])
def test_errors_to_count_leave_clauses_without_prospect(noisy: bool) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.arange(1000) % 50, "b": np.arange(1000) // 50})
    y = rng.integers(0, 2, 1000)
    twice, classes = pd.concat([X, X[:1]]), np.append(y, 1 - y[0])
    problem = tf.Problem(*((twice, classes) if noisy else (X, y)), shape=tf.Tree(2)).minimize(tf.Error())
    plan = choose(problem.question, SolveOptions("cadical195", "sat-depth", warm_start=None))
    found = without_prospect(problem.question, plan)
    assert (found is not None and "hypergraph-flow" in found) is noisy


@pytest.mark.parametrize("most_errors", [None, 0])
def test_clauses_over_many_rows_have_no_prospect_even_if_none_contradict(most_errors: int | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 8000)
    for rows in (1000, 8000):
        X = pd.DataFrame({"a": np.arange(rows) % 50, "b": np.arange(rows) // 50})
        problem = tf.Problem(X, y[:rows], shape=tf.Tree(2)).minimize(tf.Error())
        if most_errors is not None:
            problem += tf.MaxErrors(most_errors)
        found = without_prospect(
            problem.question, choose(problem.question, SolveOptions("cadical195", "sat-depth", warm_start=None))
        )
        warned = found is not None and "8,000 distinct rows" in found and "hypergraph-flow" in found
        assert warned is (rows == 8000 and most_errors is None)


def test_a_solver_of_clauses_takes_the_graph_beyond_small_tables() -> None:
    for rows, formulation in ((200, "sat-depth"), (300, "hypergraph-flow")):
        question = stated(rows).question
        plan = choose(question, SolveOptions("cadical195", warm_start=None))
        assert plan.formulation is not None and plan.formulation.name == formulation


def test_where_a_native_search_is_better_it_is_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    deep = tf.Problem(rng.random((900, 5)), y, shape=tf.Tree(4)).minimize(tf.Error())
    diagram = tf.Problem(rng.integers(0, 2, (900, 12)), y, shape=tf.Diagram(1, 2, 2)).minimize(tf.Error())
    for problem, formulation in ((deep, "hypergraph-flow"), (diagram, "odd")):
        question = problem.question
        plan = choose(question, SolveOptions("highs", formulation, warm_start=None))
        native = choose(question, SolveOptions()).engine
        assert native is not None
        with pytest.warns(TreeformWarning, match=f"{native.name} searches it natively"):
            with_outlook(question, plan)


def test_thousands_of_columns_are_too_many_for_the_graph_below_depth_two() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 2100)), rng.integers(0, 2, 60)
    for depth, warned in ((2, False), (3, True)):
        question = tf.Problem(X, y, shape=tf.Tree(depth)).minimize(tf.Error()).question
        found = without_prospect(
            question, choose(question, SolveOptions("highs", "hypergraph-flow", warm_start=None))
        )
        assert (found is not None and "2,100 tests at depth 3" in found) is warned


def test_what_was_measured_is_warned_of_where_it_was_not_proved() -> None:
    """Of models that are stated node by node; over the graph, size alone does not tell."""
    _, _, measured = read(DOCS / "graph_ladder.csv")
    assert {row["status"] for row in measured} == {"optimal", "feasible"}
    for row in measured:
        formulation = row["pair"].split(" ")[0]
        if formulation == "hypergraph-flow":
            continue
        question = ladder.stated(int(row["rows"]), int(row["columns"]), row["depth"]).question
        solver = ladder.PAIRS[row["pair"]]
        plan = choose(question, SolveOptions(solver, formulation, warm_start=None))
        found = without_prospect(question, plan)
        assert (found is None) is (row["status"] == "optimal"), row
        better = "diagram-search" if "-" in row["depth"] else "hypergraph-flow"
        assert found is None or better in found


def test_others_are_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreeformWarning)
        planned(60, formulation="odd", warm_start=None)
        planned(2100, formulation="odd")
        planned(2100, formulation="hypergraph-flow", warm_start=None)
        planned(2100, solver=None)


def test_a_solve_warns_before_it_starts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TreeformWarning)
        with pytest.raises(TreeformWarning, match="not likely to prove"):
            stated(2100).solve("highs", formulation="odd", warm_start=None)
