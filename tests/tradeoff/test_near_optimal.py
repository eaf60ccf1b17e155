"""Near-optimal models against enumeration by brute force, indispensable columns, limits, and the command."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ended_early import ended_after
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.errors import DataError, SpecError
from treeform.graph import DecisionGraph
from treeform.solve.result import SolveOptions, Status
from treeform.testing import brute_force
from treeform.testing.normal_forms import (
    NEAR_OPTIMAL_REQUIREMENTS,
    draw_near_optimal,
    near_optimal_forms,
    normal_form,
)
from treeform.tradeoff import asking
from treeform.tradeoff.listing import _countable, _Search
from treeform.tradeoff.near_optimal import NearOptimal
from treeform.utils.budget import Limit


@pytest.mark.drawn(5)
@pytest.mark.parametrize("which", range(len(NEAR_OPTIMAL_REQUIREMENTS)))
def test_the_models_are_those_of_enumeration(which: int) -> None:
    compared = 0
    for problem in draw_near_optimal(5, 70 + which, NEAR_OPTIMAL_REQUIREMENTS[which]):
        within = Fraction(3, 10)
        found = problem.near_optimal(within=within, max_models=10**6)
        want = near_optimal_forms(problem, within)
        forms = [normal_form(model.graph, problem.data) for model in found.models]
        assert dict(zip(forms, (m.objective for m in found.models), strict=True)) == want
        assert len(forms) == len(want) == found.count
        if want:
            assert found.complete and found.counted_to == found.threshold
            values = [m.objective for m in found.models]
            assert values == sorted(values)
        compared += 1
    assert compared >= 2


def forms(
    data: Dataset, depth: int, cost: np.ndarray, rows: frozenset[int] | None = None
) -> list[tuple[object, Fraction]]:
    """All normal forms with their costs, subtree by subtree."""
    rows = frozenset(range(data.n_samples)) if rows is None else rows
    weights = np.array([[cost[data.y[i]][c] for c in range(data.n_classes)] for i in sorted(rows)])
    out: dict[object, Fraction] = {c: Fraction(weights[:, c].sum()) for c in range(data.n_classes)}
    for f in range(data.n_features if depth else 0):
        for value in sorted({data.X[i, f] for i in rows})[:-1]:
            left = frozenset(i for i in rows if data.X[i, f] <= value)
            for a, x in forms(data, depth - 1, cost, left):
                for b, y in forms(data, depth - 1, cost, rows - left):
                    if not (isinstance(a, int) and a == b):
                        out[data.columns[f].source, frozenset({(left, a), (rows - left, b)})] = x + y
    return list(out.items())


def test_costs_at_depth_three() -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (12, 3)), columns=list("abc"))
    cost = [[Fraction(1, 4), Fraction(1)], [Fraction(3), Fraction(1, 2)]]
    problem = tf.Problem(X, rng.integers(0, 2, 12), shape="tree:3").minimize("cost[1/4 1; 3 1/2]")
    found = problem.near_optimal(within="1/4", max_models=10**6)
    every = dict(forms(problem.data, 3, np.array(cost, dtype=object)))
    want = {form: value for form, value in every.items() if value <= found.threshold}
    assert len(want) > 20 and min(every.values()) * Fraction(5, 4) == found.threshold
    assert {normal_form(m.graph, problem.data): m.objective for m in found.models} == want and found.complete


def test_three_classes() -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.integers(0, 3, 12), "b": list("xyzxyzxxyyzz")})
    problem = tf.Problem(X, rng.integers(0, 3, 12), shape="tree:2")
    found = problem.near_optimal(within="1/2", max_models=10**6)
    want = near_optimal_forms(problem, Fraction(1, 2))
    assert len(want) > 20
    assert {normal_form(m.graph, problem.data): m.objective for m in found.models} == want and found.complete


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.integers(0, 2, 40), "b": rng.integers(0, 3, 40), "c": rng.integers(0, 3, 40)})
    X["copy"] = X["b"] * 2
    y = (X["a"] & (X["b"] > 0)).to_numpy() ^ (rng.random(40) < 0.1)
    return X, y.astype(int)


def test_indispensable_columns() -> None:
    X, y = table()
    problem = tf.Problem(X, y, shape="tree:2")
    found = problem.near_optimal(within="0.2")
    frame = found.columns().set_index("column")
    for name in X.columns:
        rest = problem.data.columns
        others = tf.Problem(X.drop(columns=name), y, shape="tree:2").solve()
        assert others.objective is not None and len(rest) == 4
        assert bool(frame["indispensable"][name]) is (others.objective > found.threshold)
    assert frame["indispensable"]["a"] is True
    assert frame["indispensable"]["b"] is False  # its copy does as well
    uses = Counter(column for model in found.models for column in model.columns())
    assert {name: int(n) for name, n in frame["models"].items() if n} == dict(uses)
    for one in found.indispensable:
        assert one.without is None  # all models were counted, and test it
        others = found.without(one.column)
        assert tf.check(others.certificate(), X, y).ok
        assert others.status is Status.OPTIMAL and others.objective > found.threshold
    with pytest.raises(DataError, match="is not there"):
        found.without("nothing")
    assert "a: tested by" in str(found) and "indispensable" in str(found)


def test_a_count_answers_what_solves_left_open() -> None:
    """A first solve without the column proved nothing; then all models are counted."""
    problem = tf.Problem(*table(), shape="tree:2")
    whole = problem.near_optimal(within="0.2")
    search = _Search(problem.question, _countable(problem.question), SolveOptions(), Fraction(1, 5), 10)
    search.uncounted, search.best = "not yet", whole.best
    search.count_models()
    is_open = replace(whole.without("a"), objective=None, graph=None, bound=0, status=Status.UNKNOWN)
    search.without["a"] = is_open
    assert {one.column: one.proved for one in search.indispensable()} == {"a": None}
    search.uncounted = None
    search.count_models()
    assert search.indispensable() == whole.indispensable and whole.indispensable[0].proved


def test_more_models_than_are_listed() -> None:
    problem = tf.Problem(*table(), shape="tree:2")
    whole = problem.near_optimal(within=5, max_models=10**6)
    part = problem.near_optimal(within=5, max_models=3)
    assert whole.complete and whole.count > 10
    assert part.count == whole.count and part.counted and not part.complete and len(part.models) == 3
    assert [m.objective for m in part.models] == [m.objective for m in whole.models[:3]]
    assert len(whole.to_frame()) == whole.count
    written = json.loads(json.dumps(part.to_json()))
    assert written["count"] == whole.count and not written["complete"] and len(written["models"]) == 3


def test_too_many_models_are_counted_as_far_as_they_go(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = tf.Problem(*table(), shape="tree:2")
    whole = problem.near_optimal(within=6, max_models=10**6)
    monkeypatch.setattr("treeform.tradeoff.listing.MOST_TREES", 60)
    counted = problem.near_optimal(within=6, max_models=10**6)
    assert counted.complete and [m.objective for m in counted.models] == [m.objective for m in whole.models]
    monkeypatch.setattr("treeform.engines.tree_counts.MOST_NUMBERS", 0)
    part = problem.near_optimal(within=6, max_models=10**6)
    assert not part.counted and part.counted_to is not None
    assert part.counted_to < whole.threshold
    assert part.count == sum(m.objective <= part.counted_to for m in whole.models) == len(part.models)
    assert "not counted" in str(part)
    monkeypatch.setattr("treeform.tradeoff.listing.MOST_TREES", 1)
    none = problem.near_optimal(within=6)
    assert none.counted_to is None and none.models == () and "were not counted" in str(none)


def test_an_optimum_that_was_not_proved_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold follows a better model that the enumeration finds."""
    problem = tf.Problem(*table(), shape="tree:2")
    solve = asking.solve_certified

    def weak(question, options):
        found = solve(question, options)
        graph = DecisionGraph.leaf(0, question.data)
        value = int((question.data.y != 0).sum())
        return replace(found, graph=graph, objective=value, status=Status.FEASIBLE)

    right = problem.near_optimal(within="0.1")
    monkeypatch.setattr("treeform.tradeoff.asking.solve_certified", weak)
    found = problem.near_optimal(within="0.1")
    assert found.threshold == right.threshold
    assert [m.objective for m in found.models] == [m.objective for m in right.models]


@pytest.mark.parametrize("counted", [True, False])
def test_what_is_open_is_asked_again(monkeypatch: pytest.MonkeyPatch, counted: bool) -> None:
    """The first solves give models without a test; the time that is left decides the same as no limit."""
    monkeypatch.setattr("treeform.engines.and_or_graph.MOST_TESTS", 10_000 if counted else 0)
    problem = tf.Problem(*table(), shape="tree:2")
    whole = problem.near_optimal(within="0.1")
    assert whole.proved and whole.indispensable
    solve, asked = asking.solve_certified, []

    def weak_at_first(question, options):
        asked.append(question)
        with ended_after(1, Limit.TIME) if len(asked) <= 3 else nullcontext():
            return solve(question, options)

    monkeypatch.setattr(asking, "solve_certified", weak_at_first)
    found = problem.near_optimal(within="0.1", time_limit=1000.0)
    assert found.best.objective == whole.best.objective
    assert (found.threshold, found.count) == (whole.threshold, whole.count)
    assert [(one.column, one.proved) for one in found.indispensable] == [
        (one.column, one.proved) for one in whole.indispensable
    ]
    assert found.limit is None
    assert len(asked) == 1 if counted else len(asked) > 3


def test_an_incumbent_is_not_called_an_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeform.engines.and_or_graph.MOST_TESTS", 0)
    problem = tf.Problem(*table(), shape="tree:2")
    with ended_after(1, Limit.TIME):
        found = problem.near_optimal(within="0.1", time_limit=1000.0)
    assert not found.proved and found.limit is Limit.TIME
    assert str(found).startswith("best model known")
    assert "optimum" not in str(found) and "stopped (time)" in str(found)
    assert found.to_json()["proved"] is False
    assert found.columns()["optimum without"].isna().all()


def test_nothing_satisfies_the_requirements() -> None:
    problem = tf.Problem(*table(), shape="tree:1")
    problem += tf.MaxErrors(5)
    problem += tf.NoTestOn("a")
    found = problem.near_optimal()
    assert found.best.status is Status.INFEASIBLE and found.models == () and "no model" in str(found)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"within": -0.01}, "are not possible"),
        ({"within": "much"}, "cannot be a share"),
        ({"max_models": 0}, "is no number of models"),
        ({"max_models": True}, "is no number of models"),
    ],
)
def test_what_is_refused(arguments, text) -> None:
    with pytest.raises(SpecError, match=text):
        tf.Problem(*table(), shape="tree:1").near_optimal(**arguments)


def test_shapes_and_objectives_that_are_not_enumerated() -> None:
    X, y = table()
    for shape in (tf.Diagram(1, 2), tf.Tree(2, splits="multivariate")):
        with pytest.raises(SpecError, match="cannot be listed"):
            tf.Problem(X, y, shape=shape).near_optimal()
    with pytest.raises(SpecError, match="objective depth cannot be listed"):
        tf.Problem(X, y, shape="tree:2").minimize("depth").near_optimal()


def test_weights_beyond_the_counts_are_refused() -> None:
    problem = tf.Problem([[0], [1], [2]], [0, 1, 0], shape="tree:2", sample_weight=[2**49, 2**49, 1])
    with pytest.raises(SpecError, match="cannot be listed"):
        problem.minimize(tf.Cost([[0, 5], [1, 0]])).near_optimal()


def test_thresholds_are_counted_at_any_depth_and_many_columns_answered_without_a_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"a": rng.permutation(1100), "b": rng.integers(0, 2, 1100)})
    y = (X["a"] > 200) ^ (X["b"] == 1) & (X["a"] > 100)
    two = tf.Problem(X, y, shape="tree:2").near_optimal(within="0.02")
    assert two.question.data.n_tests == 1100 and two.counted and two.count > 0
    priced = tf.Problem(X, y, shape="tree:3").minimize(tf.Error() + tf.Nodes())
    three = priced.near_optimal(within="0.02")
    assert three.counted and three.count > 0
    four = tf.Problem(X, y, shape="tree:4").minimize(tf.Error() + tf.Nodes()).near_optimal(within="0.02")
    assert four.counted and four.count == three.count
    assert {one.column: one.proved for one in four.indispensable} == {"a": True, "b": True}
    monkeypatch.setattr("treeform.engines.and_or_graph.MOST_TESTS", 1000)
    columns = pd.DataFrame(rng.integers(0, 2, (20, 1100))).rename(columns=lambda name: f"c{name}")
    found = tf.Problem(columns, columns["c7"], shape="tree:4").near_optimal(within="0.02")
    assert [m.objective for m in found.models] == [found.best.objective] == [0]
    assert not found.counted and "1,100 distinct tests" in str(found)


def test_no_test_on_a_column() -> None:
    X, y = table()
    with pytest.raises(DataError, match="is not there"):
        tf.Problem(X, y, shape="tree:1").add(tf.NoTestOn("nothing"))
    problem = tf.Problem(X, y, shape="tree:2")
    problem += tf.NoTestOn("a")
    want = brute_force(tf.Problem(X.drop(columns="a"), y, shape="tree:2").data, problem.shape, "error")
    result = problem.solve()
    assert want is not None and result.objective == want[0] and result.solver == "contree"
    assert tf.check(result.certificate(), X, y).ok
    for solver, formulation in (("highs", "odd"), ("cadical153", "sat-depth")):
        stated = problem.solve(solver, formulation=formulation, warm_start=None)
        assert stated.objective == want[0] and stated.status is Status.OPTIMAL
    tf.Problem(X, y, shape="tree:1", exclude=["a"]).add(tf.NoTestOn("a"))


def test_the_command(tmp_path: Path) -> None:
    X, y = table()
    path, out = tmp_path / "table.csv", tmp_path / "models.json"
    X.assign(y=y).to_csv(path, index=False)
    words = ["near-optimal", str(path), "--target", "y", "--shape", "tree:2", "--within", "0.2"]
    done = CliRunner().invoke(app, [*words, "--max-models", "2", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "indispensable" in done.stdout and "2 of them listed" in done.stdout
    assert len(json.loads(out.read_text())["models"]) == 2
    former = CliRunner().invoke(app, [*words, "--limit", "2"])
    assert former.stdout == done.stdout
    assert "warning: the option --limit is called --max-models now" in former.stderr
    wrong = CliRunner().invoke(app, [*words[:-1], "-1"])
    assert wrong.exit_code == 2
    without = CliRunner().invoke(app, [*words, "--without", "a"])
    least = tf.Problem(X.drop(columns="a"), y, shape="tree:2").solve().objective
    assert f"without a: objective {least}, the optimum\n  if " in without.stdout, without.output
    none = CliRunner().invoke(app, [*words, "--without", "nothing"])
    assert none.exit_code == 2 and "is not there" in none.stderr


def test_all_questions_share_the_time_limit_and_none_is_asked_after_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table()
    X.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    limits: list[float | None] = []

    def noted(whole):
        return lambda found, *of: limits.append(of[-1]) or whole(found, *of)

    for name in ("without", "tightest", "sparsest"):
        monkeypatch.setattr(NearOptimal, name, noted(getattr(NearOptimal, name)))
    words = ["near-optimal", str(tmp_path / "table.csv"), "--target", "y", "--shape", "tree:2"]
    words += ["--without", "a", "--tightest", "min_support:1", "--sparsest"]
    assert not CliRunner().invoke(app, words).exit_code
    assert not CliRunner().invoke(app, [*words, "--time-limit", "600"]).exit_code
    assert limits[:3] == [None] * 3
    assert 600 > limits[3] > limits[4] > limits[5] > 0  # each has what the ones before it left
    whole = tf.Problem.near_optimal
    monkeypatch.setattr(
        tf.Problem, "near_optimal", lambda *of, **more: replace(whole(*of, **more), limit=Limit.INTERRUPTED)
    )
    assert CliRunner().invoke(app, words).exit_code == 130 and len(limits) == 6


@pytest.mark.parametrize("seed", range(3))
def test_trees_are_counted_without_a_list(seed: int) -> None:
    from treeform.engines.enumeration import Enumeration
    from treeform.engines.task import TreeTask

    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (30, 3))
    data = Dataset.from_user(X, (X.sum(axis=1) + rng.integers(0, 2, 30)) % (2 + seed % 2))
    every = Enumeration(data, TreeTask(2, node_penalty=seed), 10**6)
    priced = every.of.relax()
    assert priced is not None
    lower = priced.lower
    for more in (0, 2, 6):
        assert every.counts(lower + more).size == len(every.trees(lower + more).adds) > 0
