"""What is asked about all near-optimal models at once, against the list of them; counted in numbers and as a list."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform import report
from treeform.cli.app import app
from treeform.engines.tree_counts import TreeCounts
from treeform.engines.tree_lists import TreeList
from treeform.errors import DataError, SpecError
from treeform.estimators.importances import impurity_importances
from treeform.tradeoff import NearOptimal
from treeform.utils.budget import Budget

WITHIN = "1/4"


def stated(seed: int) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (24, 3)), columns=list("abc"))
    y = (X.sum(axis=1).to_numpy() + rng.integers(0, 2, 24)) % (2 + seed % 2)
    weights = rng.integers(1, 4, 24)
    problem = tf.Problem(X, y, shape=tf.Tree(2), sample_weight=weights)
    return problem.minimize(tf.Error() + seed % 3 * tf.Nodes())


def counted(problem: tf.Problem, monkeypatch: pytest.MonkeyPatch, within: str = WITHIN) -> NearOptimal:
    """The same without a list of the trees."""
    monkeypatch.setattr("treeform.tradeoff.listing.MOST_TREES", 1)
    found = problem.near_optimal(within=within, max_models=10**6)
    monkeypatch.undo()
    assert found.trees is not None and isinstance(found.trees.trees, TreeCounts)
    return found


def decreases(found: NearOptimal, name: str) -> list[float]:
    """What the tests of a column take off the impurity, of each model, from the estimators' definition."""
    data = found.question.data
    out = []
    for model in found.models:
        shares = impurity_importances(model.graph, data)
        weights = np.zeros((model.graph.feature < 0).size)
        leaf = model.graph.apply(data.X)
        total = impurity(data.y, data.weights)
        ends = sum(impurity(data.y[leaf == v], data.weights[leaf == v]) for v in np.flatnonzero(weights == 0))
        out.append(shares[data.table.names.index(name)] * (total - ends) / total)
    return out


def impurity(y: np.ndarray, weights: np.ndarray) -> float:
    total = weights.sum()
    return float(total - sum(weights[y == k].sum() ** 2 for k in set(y.tolist())) / total) if total else 0.0


@pytest.mark.drawn(3)
@pytest.mark.parametrize("in_numbers", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_answers_are_those_of_the_list(seed: int, in_numbers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = stated(seed)
    found = counted(problem, monkeypatch) if in_numbers else problem.near_optimal(within=WITHIN, max_models=10**6)
    assert found.complete and found.count == len(found.models) > 5 and found.trees is not None
    data, models = problem.data, found.models
    columns, importance = found.columns().set_index("column"), found.importance().set_index("column")
    for name in "abc":
        tested = sum(name in model.columns() for model in models)
        assert columns["models"][name] == importance["models"][name] == tested
        each = decreases(found, name)
        assert importance.loc[name, ["least", "largest"]].tolist() == pytest.approx([min(each), max(each)])
        assert importance["best"][name] == pytest.approx(each[0])
    predicted = np.array([model.graph.predict_codes(data.X) for model in models])
    rows = found.disagreement()
    assert rows["others"].tolist() == (predicted != predicted[0]).sum(axis=0).tolist()
    for code, label in enumerate(data.classes):
        assert rows[f"share of {label}"].tolist() == pytest.approx((predicted == code).mean(axis=0))
    differ = (predicted != predicted[0]) @ data.weights
    spread = found.multiplicity()
    assert spread.discrepancy == Fraction(int(differ.max()), data.total_weight)
    ambiguous = data.weights[(predicted != predicted[0]).any(axis=0)].sum()
    assert spread.ambiguity == Fraction(int(ambiguous), data.total_weight)
    assert found.sparsest().graph.n_nodes == min(model.graph.n_nodes for model in models)
    if not in_numbers:
        distinct = found.distinct()
        assert distinct.count == len({tuple(row) for row in predicted.tolist()}) < found.count
        assert distinct.models[0].objective == found.best.objective


def test_a_tree_has_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = stated(1)
    some, every = counted(problem, monkeypatch), problem.near_optimal(within=WITHIN, max_models=10**6)
    forms = [[str(model.graph.to_json()) for model in found.models] for found in (some, every)]
    assert sorted(forms[0]) == sorted(forms[1]) and len(set(forms[0])) == len(forms[0])
    assert [m.objective for m in some.models] == [m.objective for m in every.models]


def test_trees_of_depth_three_and_a_test_that_may_be_a_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (20, 4)), columns=list("abcd"))
    problem = tf.Problem(X, rng.integers(0, 3, 20), shape=tf.Tree(3)).minimize(tf.Error() + tf.Nodes())
    some, every = counted(problem, monkeypatch, "1/8"), problem.near_optimal(within="1/8", max_models=10**6)
    assert some.count == every.count == every.trees.size > 30
    assert some.columns().equals(every.columns())
    pd.testing.assert_frame_equal(some.disagreement().iloc[:, 4:], every.disagreement().iloc[:, 4:])
    assert some.multiplicity().ambiguity > 0
    assert {m.graph.n_nodes for m in some.sample(20, seed=0)} <= {m.graph.n_nodes for m in every.models}


@pytest.mark.parametrize("in_numbers", [False, True])
def test_a_sample_is_uniform(in_numbers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = stated(0)
    within = "1/4"
    found = counted(problem, monkeypatch, within) if in_numbers else problem.near_optimal(within=within)
    drawn = found.sample(8 * found.count, seed=3)
    times = pd.Series([str(model.graph.to_json()) for model in drawn]).value_counts()
    absent = found.count - len(times)
    spread = (((times - 8) ** 2).sum() + 64 * absent) / 8 / (found.count - 1)  # chi square, 1 is expected
    assert 0.6 < spread < 1.5
    assert [str(m.graph.to_json()) for m in found.sample(5, seed=1)] == [
        str(m.graph.to_json()) for m in found.sample(5, seed=1)
    ]
    for n in (-1, True, 2.5):
        with pytest.raises(SpecError, match="is no number of models"):
            found.sample(n)


def with_groups(seed: int = 0) -> tf.Problem:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=list("abc"))
    X["group"] = rng.integers(0, 2, 40)
    y = (X["a"] + X["group"] + rng.integers(0, 2, 40)) % 2
    return tf.Problem(X, y, shape=tf.Tree(2), exclude=["group"])


@pytest.mark.parametrize(
    "requirement", [tf.StatisticalParity(groups="group", difference="0.1"), tf.MaxErrors(16)]
)
def test_under_requirements_the_models_are_those_that_satisfy_them(requirement: tf.Requirement) -> None:
    free = with_groups().near_optimal(within=1, max_models=10**6)
    found = with_groups().add(requirement).near_optimal(within="1/2", max_models=10**6)
    held = found.question.requirements[0]
    data = found.question.data
    want = [m for m in free.models if m.objective <= found.threshold and not held.violation(m.graph, data)]
    assert found.count == len(want) > 1 and isinstance(found.trees.trees, TreeList)
    columns = found.columns().set_index("column")["models"]
    assert all(columns[name] == sum(name in m.columns() for m in want) for name in "abc")
    fairest = found.tightest(tf.StatisticalParity(groups="group", difference=None))
    axis = tf.StatisticalParity(groups="group", difference=None).bind(data)
    assert axis.measured(fairest.graph, data) == min(axis.measured(m.graph, data) for m in want)
    stable = found.tightest(tf.MinSupport(1))
    assert tf.MinSupport(1).bind(data).measured(stable.graph, data) == max(
        tf.MinSupport(1).bind(data).measured(m.graph, data) for m in want
    )


def test_models_that_cannot_be_measured_in_the_time_are_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_groups().near_optimal(within="1/3", max_models=10**6)
    over = tf.StatisticalParity(groups="group", difference=None)
    axis, whole = over.bind(found.question.data), found.tightest(over, 600)
    assert found.trees.tightest(axis, Budget()).graph == whole.graph
    past = Budget(1.0, over=lambda: True)
    assert found.trees.tightest(axis, past) is None
    monkeypatch.setattr(type(found.trees), "tightest", lambda trees, axis, budget: None)
    solved = found.tightest(over)
    data = found.question.data
    assert axis.measured(solved.graph, data) == axis.measured(whole.graph, data)
    assert solved.objective == whole.objective


def test_what_needs_a_list_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    found = counted(stated(0), monkeypatch)
    with pytest.raises(SpecError, match=r"not found"):
        found.distinct()
    monkeypatch.setattr("treeform.engines.and_or_graph.MOST_TESTS", 0)
    uncounted = stated(0).near_optimal(within=WITHIN)
    with pytest.raises(SpecError, match="needs a set of models that fits"):
        uncounted.disagreement()
    assert uncounted.columns()["models"].max() == 1
    every = found.models
    assert uncounted.sparsest().graph.n_nodes == min(model.graph.n_nodes for model in every)
    supports = [tf.MinSupport(1).bind(found.question.data).measured(m.graph, found.question.data) for m in every]
    widest = uncounted.tightest(tf.MinSupport(1)).graph
    assert tf.MinSupport(1).bind(found.question.data).measured(widest, found.question.data) == max(supports)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "over", [tf.MinSupport(1), tf.StatisticalParity(groups="group", difference=None), tf.Stability(0)]
)
def test_the_tightest_of_too_many_for_a_list_is_solved_for(
    over: tf.Requirement, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = with_groups(seed).near_optimal(within="1/3", max_models=10**6)
    data, want = listed.question.data, listed.tightest(over)
    axis = over.bind(data)
    found = counted(with_groups(seed), monkeypatch, within="1/3").tightest(over)
    assert axis.measured(found.graph, data) == axis.measured(want.graph, data)
    assert found.objective == want.objective <= listed.threshold


def test_estimators() -> None:
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (40, 3)), columns=list("abc"))
    y = np.where(X["a"] + X["b"] > 2, "yes", "no")
    y[:4] = "yes"
    every = tf.OptimalTreeClassifier(max_depth=2).near_optimal(X, y, within="0.5", max_models=7)
    best = tf.OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert 1 < len(every) <= 7
    assert every[0].score(X, y) == best.score(X, y)
    for one in every:
        assert set(one.predict(X)) <= {"yes", "no"} and one.certificate_ is None
        assert one.feature_importances_.sum() == pytest.approx(1)
    assert [one.score(X, y) for one in every] == sorted((one.score(X, y) for one in every), reverse=True)


def test_report_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_groups().near_optimal(within="1/2")
    page = report.html(found.best, near_optimal=found)
    assert 'class="ranges"' in page and "Models that are almost as good" in page
    asked = "that satisfy the requirements, " if found.question.requirements else ""
    assert f"Models {asked}with an objective of at most" in page
    assert "<style>.ranges" not in page
    facts = report.of_result(found.best, near_optimal=found)
    assert f": {found.count:,}; the best has" in report.render_markdown(facts)
    assert "almost as good" in report.render_text(facts)
    problem = with_groups()
    path, out = tmp_path / "table.csv", tmp_path / "report.md"
    frame = pd.DataFrame(problem.data.X, columns=list("abc"))
    frame.assign(group=np.arange(40) % 2, y=problem.data.y).to_csv(path, index=False)
    words = [
        "near-optimal",
        str(path),
        "--target",
        "y",
        "--shape",
        "tree:2",
        "--within",
        "0.2",
        "--exclude",
        "group",
    ]
    more = [
        "--distinct",
        "--importance",
        "--tightest",
        "statistical_parity:groups=group",
        "--report",
        str(out),
    ]
    asked = CliRunner().invoke(
        app, [*words, "--multiplicity", "--sparsest", "--sample", "2", "--seed", "1"]
    )
    found = with_groups().near_optimal(within="0.2")
    shares, drawn = found.multiplicity(), found.sample(2, seed=1)
    assert f"ambiguity {float(shares.ambiguity):.2%}" in asked.stdout
    assert f"discrepancy {float(shares.discrepancy):.2%}" in asked.stdout
    assert f"sparsest: objective {found.sparsest().objective}" in asked.stdout
    assert asked.stdout.count("drawn: objective") == 2
    for model in drawn:
        assert f"drawn: objective {model.objective}" in asked.stdout
    assert f"over {found.count:,} models; dot: the best one" in found.plot().svg
    table = tmp_path / "rows.csv"
    told = CliRunner().invoke(app, [*words, "--disagreement", str(table)])
    rows, want = pd.read_csv(table), found.disagreement()
    assert (rows["others"].to_numpy() == want["others"].to_numpy()).all() and len(rows) == 40
    assert rows.columns.tolist() == want.columns.tolist()
    assert f"{(want['others'] > 0).sum()} of 40 rows that some model predicts differently" in told.stdout
    named = CliRunner().invoke(app, [*words, "--disagreement", str(tmp_path / "rows.txt")])
    assert named.exit_code == 2 and not (tmp_path / "rows.txt").exists()
    done = CliRunner().invoke(app, [*words, *more, "--plot", str(tmp_path / "ranges.svg")])
    assert done.exit_code == 0, done.output
    assert (
        "tightest: objective" in done.stdout and "rates differ by" in done.stdout and "largest" in done.stdout
    )
    assert "almost as good" in out.read_text() and "<svg" in (tmp_path / "ranges.svg").read_text()
    wrong = CliRunner().invoke(app, [*words, "--tightest", "nothing:1"])
    assert wrong.exit_code == 2
    monkeypatch.setattr("treeform.tradeoff.listing.MOST_TREES", 1)
    many = CliRunner().invoke(app, [*words, "--distinct", "--tightest", "min_support:1"])
    assert many.exit_code == 0 and "models that predict alike are not found" in many.stderr
    least = found.tightest(tf.MinSupport(1)).objective
    assert f"{found.count} models up to" in many.stdout and f"tightest: objective {least}, " in many.stdout


def test_a_model_is_printed_as_its_rules() -> None:
    found = stated(0).near_optimal(within=WITHIN)
    model = found.sparsest()
    objective, *rules = str(model).splitlines()
    assert objective == f"objective {model.objective}"
    assert [rule.strip() for rule in rules] == [str(rule) for rule in model.graph.rules()]


def test_columns_that_no_model_tests_are_left_out_of_what_is_shown(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"used": rng.integers(0, 9, 40), "idle": rng.integers(0, 2, 40)})
    table["y"] = (table["used"] > 4).astype(int)
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["near-optimal", str(tmp_path / "t.csv"), "--target", "y", "--shape", "tree:1", "--importance"]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0 and "used" in shown.stdout and "idle" not in shown.stdout, shown.output


def test_a_column_that_is_not_there_has_the_closest_one_beside_it() -> None:
    table = pd.DataFrame({"savings": [1, 2, 3, 4], "y": [0, 0, 1, 1]})
    found = tf.Problem(table, "y", shape=tf.Tree(1)).near_optimal()
    with pytest.raises(DataError, match="which is not there") as error:
        found.without("savngs")
    assert error.value.fix == "did you mean 'savings'?"


def test_the_command_says_where_no_model_tests_a_column(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    pd.DataFrame({"a": range(9), "y": [0, 0, 0, 0, 1, 0, 0, 0, 0]}).to_csv(data, index=False)
    words = ["near-optimal", str(data), "--target", "y", "--shape", "tree:1", "--require", "max_nodes:0"]
    done = CliRunner().invoke(app, [*words, "--importance"])
    assert done.exit_code == 0 and "no model tests a column" in done.stdout and "Empty" not in done.stdout
