"""Size tables, Pareto curves, frontiers, prices, conflicts and sweeps of regression problems."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from regression_cases import drawn_case, least

import treeform as tf
from treeform.certify.answer import solve_certified
from treeform.errors import SpecError
from treeform.tradeoff import asking


@pytest.mark.parametrize("seed", [700, 703, 709])
def test_size_tables_have_the_optimum_of_each_number_of_tests(seed: int) -> None:
    case = replace(drawn_case(np.random.default_rng(seed)), tests=None, price=Fraction(0), depth=2)
    table = case.problem().size_table()
    assert table.proved
    for row in table.rows:
        assert row.upper == least(replace(case, tests=row.tests))
    price = Fraction(1, 3)
    priced = replace(case, price=price)
    assert table.at(price).objective == least(priced)


def homes() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 9, (40, 3)), columns=["size", "age", "rooms"])
    return frame, (2 * frame["size"] - frame["age"]).to_numpy() + rng.integers(0, 5, 40)


def test_what_is_asked_of_a_problem_takes_losses_too() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize("squared_error")
    curve = problem.pareto()
    assert curve.proved and [p.tests for p in curve.points] == [0, 1, 2, 3]
    frontier = problem.frontier(over=tf.MaxNodes(3))
    assert [p.objective for p in frontier.points] == [p.value for p in curve.points][::-1]
    assert "errors" not in str(frontier) and frontier.complete
    problem += [tf.FeatureBudget(1), tf.MinSupport(4)]
    prices = problem.solve().prices()
    assert all(price.proved for price in prices.rows)
    assert problem.conflict() is None
    with pytest.raises(SpecError, match="cannot be listed"):
        problem.near_optimal()
    with pytest.raises(SpecError, match="no prices"):
        problem.size_table(prices=[1])
    parity = tf.MeanParity(groups="rooms", difference=5)
    with pytest.raises(SpecError, match="there is no frontier"):
        problem.frontier(over=parity)


def test_a_table_of_losses_starts_from_an_earlier_one() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(2)).minimize("squared_error")
    whole = problem.size_table()
    again = problem.size_table(start=whole, time_limit=1e-6)
    assert [(r.lower, r.upper, r.by) for r in again.rows] == [(r.lower, r.upper, r.by) for r in whole.rows]
    with pytest.raises(SpecError, match="another problem"):
        problem.add(tf.MinSupport(9)).size_table(start=whole)
    with pytest.raises(SpecError, match="is no SizeTable"):
        problem.size_table(start=3)


def test_sweeps_report_mean_losses() -> None:
    X, y = homes()
    problem = tf.Problem(X, y, shape=tf.Tree(1)).minimize("squared_error")
    study = tf.sweep(problem, {"shape": ["tree:1", "tree:2"]}, cv=2)
    assert study.complete and (study.table["status"] == "optimal").all()
    whole = tf.sweep(problem, {"shape": ["tree:1"]}).table.iloc[0]
    assert whole["train_error"] == pytest.approx(float(problem.solve().objective) / len(y))
    estimators = tf.sweep(tf.OptimalTreeRegressor(), {"max_depth": [1, 2]}, X, y, cv=2)
    assert np.allclose(estimators.table["test_error"], study.table.sort_values("run")["test_error"])


def test_rows_that_stay_open_get_what_the_others_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    def hurried(question, options):
        """The first row gets no time at all; what it was meant to have is left to the others."""
        asked.append(options.time_limit)
        return solve_certified(question, replace(options, time_limit=1e-9) if len(asked) == 1 else options)

    monkeypatch.setattr(asking, "solve_certified", hurried)
    rng = np.random.default_rng(0)
    problem = tf.Problem(rng.random((30, 2)), rng.integers(0, 9, 30), shape=tf.Tree(2))
    table = problem.minimize(tf.SquaredError()).size_table(time_limit=1000.0)
    assert all(row.proved for row in table.rows)
    assert table.limit is None
    assert asked[0] == pytest.approx(250, rel=0.1)
    assert asked[-1] > 800
