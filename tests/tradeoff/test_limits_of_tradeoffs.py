"""Every verb of several solves, ended at each moment of its work: the answer by then is returned, and no more."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ended_early import ended_after, ends
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.errors import SolverFailed
from treeform.solve import Limit
from treeform.tradeoff import asking, pareto

rng = np.random.default_rng(1)
X = rng.integers(0, 4, (30, 3)).astype(float)
Y = ((X[:, 0] + X[:, 1] > 3) ^ (rng.random(30) < 0.2)).astype(int)
LONG = 3600.0


def problem(*requirements: tf.Requirement) -> tf.Problem:
    stated = tf.Problem(X, Y, shape="tree:2", sensitive_features=np.arange(30) % 2)
    for requirement in requirements:
        stated += requirement
    return stated


def parity() -> tf.Requirement:
    return tf.StatisticalParity(difference="0.1", positive=1)


def test_frontier() -> None:
    over = tf.StatisticalParity(positive=1, difference=None)
    whole = problem().frontier(over=over)
    best = {point.value: point.objective for point in whole.points}
    for reason, found in ends(lambda: problem().frontier(over=over, time_limit=LONG)):
        assert found.proved or found.limit is reason
        for point in found.points:
            least = next(p.objective for p in whole.points if p.value <= point.value)
            assert least <= point.objective
            assert point.lower is None or point.lower <= least
            assert not point.proved or best[point.value] == point.objective


def test_conflict() -> None:
    stated = (tf.MaxErrors(3), tf.MinSupport(10), parity())
    whole = problem(*stated).conflict()
    bounds = {one.requirement: one.bound for one in whole.relaxations}
    assert whole.minimal
    for reason, found in ends(lambda: problem(*stated).conflict(time_limit=LONG)):
        assert not found.minimal or set(found.requirements) <= set(problem(*stated).question.labels)
        assert found.limit in (reason, None)
        assert all(
            not one.proved or one.bound == bounds.get(one.requirement, one.bound) for one in found.relaxations
        )


@pytest.mark.parametrize("requirements", [(), (parity(),)])
def test_near_optimal(requirements: tuple[tf.Requirement, ...]) -> None:
    whole = problem(*requirements).near_optimal(within="0.3")
    needed = {one.column: one.proved for one in whole.indispensable}
    for _, found in ends(lambda: problem(*requirements).near_optimal(within="0.3", time_limit=LONG)):
        assert found.best.graph is not None
        assert found.best.objective >= whole.best.objective
        assert not found.proved or found.best.objective == whole.best.objective
        assert ("best model known" in str(found)) is not found.proved
        if found.threshold == whole.threshold:
            assert all(
                one.proved in (None, needed[one.column])
                for one in found.indispensable
                if one.column in needed
            )
            assert found.count <= whole.count


def test_prices() -> None:
    result = problem(parity(), tf.MinSupport(3)).solve()
    whole = {row.requirement: row.least for row in result.prices().rows}
    for _, found in ends(lambda: result.prices(time_limit=LONG)):
        assert len(found.rows) <= len(whole)
        for row in found.rows:
            assert row.least is None or row.least <= whole[row.requirement]
            assert row.most is None or row.most >= whole[row.requirement]


def test_a_price_that_is_open_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    result = problem(parity(), tf.MinSupport(3)).solve()
    whole = result.prices()
    solve, asked = asking.solve_certified, []

    def weak_at_first(question: Any, options: Any) -> Any:
        asked.append(question)
        with ended_after(1, Limit.TIME) if len(asked) <= 3 else contextlib.nullcontext():
            return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", weak_at_first)
    found = result.prices(time_limit=LONG)
    assert [(row.requirement, row.least, row.most) for row in found.rows] == [
        (row.requirement, row.least, row.most) for row in whole.rows
    ]
    assert found.limit is None

    def breaks(question: Any, options: Any) -> Any:
        if len(question.requirements) == 1:
            raise SolverFailed("it is gone")
        return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", breaks)
    found = result.prices()
    assert [row.requirement for row in found.rows] == ["all requirements"]
    assert len(found.notes) == 2


@pytest.mark.parametrize("regression", [False, True])
def test_a_curve_keeps_the_depths_before_one_that_breaks_down(
    monkeypatch: pytest.MonkeyPatch, regression: bool
) -> None:
    stated = problem()
    if regression:
        stated = tf.Problem(X, X[:, 0] + Y, shape="tree:2").minimize(tf.SquaredError(grid="auto"))
    fill = pareto.fill_size_table

    def breaks(question: Any, *args: Any, **kwargs: Any) -> Any:
        if question.shape == tf.Tree(2):
            raise MemoryError
        return fill(question, *args, **kwargs)

    monkeypatch.setattr(pareto, "fill_size_table", breaks)
    found = stated.pareto()
    assert found.points and list(found.tables) == [1]
    assert found.limit is Limit.MEMORY and found.notes
    assert "better models of depth 2 may exist" in str(found)


def test_a_table_of_losses_keeps_the_rows_before_one_that_breaks_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stated = tf.Problem(X, X[:, 0] + Y, shape="tree:2").minimize(tf.SquaredError(grid="auto"))
    whole = stated.size_table()
    solve = asking.solve_certified

    def breaks(question: Any, options: Any) -> Any:
        if question.shape.depth == 1 and not question.requirements:  # the row of one test
            raise SolverFailed("it is gone")
        return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", breaks)
    found = stated.size_table()
    assert [row.upper for row in found.rows[2:]] == [row.upper for row in whole.rows[2:]]
    assert found.limit is Limit.SOLVER and len(found.notes) == 1


def test_sweep() -> None:
    grid = {"shape": ["tree:1", "tree:2"]}
    whole = tf.sweep(problem(), grid).table.set_index("shape")["objective"]
    for _, found in ends(lambda: tf.sweep(problem(), grid, time_limit=LONG)):
        assert len(found.table) <= len(whole)
        for shape, objective, bound in found.table[["shape", "objective", "bound"]].itertuples(index=False):
            assert not objective < whole[shape]  # it may be missing
            assert not bound > whole[shape]


@pytest.mark.filterwarnings("ignore:the model is not proved")
@pytest.mark.parametrize("kind", [tf.OptimalTreeClassifier, tf.OptimalTreeRegressor])
def test_fit(kind: type) -> None:
    def fit() -> Any:
        estimator = kind(max_depth=2, time_limit=LONG)
        with contextlib.suppress(KeyboardInterrupt):  # which it raises once it has kept its model
            estimator.fit(X, Y)
        return estimator

    for _, fitted in ends(fit):
        assert len(fitted.predict(X)) == len(X)


def test_the_command_says_what_of_a_curve_is_open(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{y}\n" for (a, b, c), y in zip(X, Y, strict=True)))
    words = ["pareto", str(table), "--target", "y", "--shape", "tree:2", "--time-limit", "1000"]
    whole = CliRunner().invoke(app, words)
    assert whole.exit_code == 0, whole.output
    assert "open" not in whole.stdout and "may exist" not in whole.stdout
    with ended_after(2, Limit.TIME):
        early = CliRunner().invoke(app, words)
    assert early.exit_code == 0, early.output
    assert "stopped (time): better models of depth 1 to 2 may exist" in early.stdout
