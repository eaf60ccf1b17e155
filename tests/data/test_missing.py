"""Missing values are values: each test sends them where that is better, and "is missing" is a test."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import treeform as tf
from treeform.cli.app import app
from treeform.data import Dataset
from treeform.errors import DataError, SpecError
from treeform.testing import brute_force


def with_gaps(rng: np.random.Generator, n: int = 14, numbers: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of numbers, a boolean and a text column, a third of the cells empty."""
    table = pd.DataFrame({f"x{j}": rng.integers(0, 4, n).astype(float) for j in range(numbers)})
    table["owner"] = rng.integers(0, 2, n).astype(bool).astype(object)
    table["job"] = rng.choice(["cook", "clerk"], n).astype(object)
    for name in table.columns:
        table.loc[rng.random(n) < 1 / 3, name] = None if table[name].dtype == object else np.nan
    return table, rng.integers(0, 2, n)


def best_stump(table: pd.DataFrame, y: np.ndarray) -> int:
    """The fewest errors of one test, told from its meaning alone: a threshold, and the side of the missing values."""
    errors = [min(int((y == c).sum()) for c in (0, 1))]
    for name in table.columns:
        values, missing = table[name], table[name].isna().to_numpy()
        known = sorted(set(values[~missing]))
        if name == "job":  # "is this level", where missing is one more
            sides = [(values == level).to_numpy() for level in known] + [missing]
        else:
            lower = [(values <= t).fillna(False).to_numpy().astype(bool) & ~missing for t in known[:-1]]
            sides = [
                low | (missing if with_them else False) for low, with_them in product(lower, (False, True))
            ]
            sides.append(missing)
        for left in sides:
            errors.append(sum(min(int((y[side] == c).sum()) for c in (0, 1)) for side in (left, ~left)))
    return min(errors)


@pytest.mark.parametrize("seed", range(12))
def test_one_test_is_the_best_by_its_meaning(seed):
    table, y = with_gaps(np.random.default_rng(seed))
    expected = best_stump(table, y)
    for solver, formulation in [
        (None, None),
        ("contree", None),
        ("dl85", None),
        ("cp-sat", "odd"),
        ("highs", "odd"),
    ]:
        result = tf.Problem(table, y, shape=tf.Tree(1)).solve(solver, formulation=formulation)
        assert (str(result.status), result.errors) == ("optimal", expected), (solver, formulation)
        assert int((result.graph.predict(table) != y).sum()) == expected


@pytest.mark.parametrize(
    "solver", ["contree", "dl85", "cadl85", "blossom", "diagram-search", "totals-search", "cp-sat"]
)
def test_every_engine_proves_the_same(solver):
    for seed in (7, 8, 9):
        table, y = with_gaps(np.random.default_rng(seed), 12, 1)
        result = tf.Problem(table, y, shape=tf.Tree(2)).solve(solver)
        assert str(result.status) == "optimal"
        assert result.objective == least_errors(seed)
        assert tf.check(result.certificate(), table, y).ok


@cache
def least_errors(seed: int) -> Fraction:
    """Of all trees of depth 2 on the table of that seed."""
    problem = tf.Problem(*with_gaps(np.random.default_rng(seed), 12, 1), shape=tf.Tree(2))
    return brute_force(problem.data, problem.shape, tf.Error())[0]


def test_sat_states_them_too():
    table, y = with_gaps(np.random.default_rng(3), 10, 1)
    least = tf.Problem(table, y, shape=tf.Tree(4)).minimize(tf.Depth())
    agreed = Dataset.from_user(table, y)
    wrong = int((agreed.points.weights.sum(axis=1) - agreed.points.weights.max(axis=1)).sum())
    least += tf.MaxErrors(wrong)
    native = least.solve()
    sat = least.solve("sat", formulation="sat-depth", warm_start=None)
    assert native.objective == sat.objective


def test_rules_say_where_missing_values_go():
    table = pd.DataFrame({"age": [20.0, 30, 40, np.nan, np.nan, 50, 60, 25]})
    for y, text in [
        ([1, 1, 0, 1, 1, 0, 0, 1], "age <= 35 or missing"),
        ([1, 1, 0, 0, 0, 0, 0, 1], "age <= 35"),
        ([0, 0, 0, 1, 1, 0, 0, 0], "age is missing"),
    ]:
        graph = tf.Problem(table, y, shape=tf.Tree(1)).solve().graph
        assert graph.predict(table).tolist() == y
        assert f"if {text} then 1" in "\n".join(graph.rules())
        assert f"{text}?" in graph.to_text() or f"{text} or missing?" not in graph.to_text()
        assert tf.DecisionGraph.from_json(graph.to_json()).predict(table).tolist() == y


def test_rules_with_two_conditions_use_brackets():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=80).round(2), "b": rng.normal(size=80).round(2)})
    table.loc[::7, "a"] = np.nan
    table.loc[::5, "b"] = np.nan
    y = ((table["a"].fillna(-9) <= 0.2) & (table["b"].fillna(9) > 0.1)).astype(int)
    graph = tf.Problem(table, y, shape=tf.Tree(2)).solve().graph
    assert graph.predict(table).tolist() == y.tolist()
    assert any("or missing) and (a <= 0.24 or missing) then 1" in rule for rule in graph.rules())


def test_missing_where_training_had_none_is_refused():
    table, y = pd.DataFrame({"a": [1.0, 2, 3, 4]}), [0, 0, 1, 1]
    graph = tf.Problem(table, y, shape=tf.Tree(1)).solve().graph
    with pytest.raises(DataError, match="'a' is missing") as caught:
        graph.predict(pd.DataFrame({"a": [np.nan, 2.0]}))
    assert "training table had no missing value" in caught.value.cause


def test_missing_where_training_had_none_goes_with_the_majority():
    """Against a walk from the root by hand: at each test the heavier child, the left one of equals."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.integers(0, 9, 60), "b": rng.normal(size=60), "c": rng.random(60) < 0.5})
    table["g"] = pd.Categorical(rng.choice(list("ABCD"), 60), categories=list("ABCD"), ordered=True)
    y = ((table["a"] > 4) ^ (table["b"] > 0) ^ (table["g"] > "B")).astype(int)
    for shape in (tf.Tree(3), tf.Diagram(1, 2, 3)):
        graph = tf.Problem(table, y, shape=shape).solve().graph
        holes = table.astype({"a": float, "c": object}).mask(rng.random(table.shape) < 0.4)
        with pytest.raises(DataError, match="missing") as caught:
            graph.predict(holes)
        assert "missing='majority'" in caught.value.fix
        encoded, weight, expected = graph.encode(table), graph.counts.sum(axis=1), []
        for row, gaps in zip(encoded, holes.isna().to_dict("records"), strict=True):
            node = 0
            while graph.feature[node] >= 0:
                left, right = graph.left[node], graph.right[node]
                f = graph.feature[node]
                source = graph.columns[f].source if f < len(graph.columns) else None
                goes_left = (
                    weight[left] >= weight[right]
                    if gaps.get(source)
                    else row[f : f + 1] <= graph.threshold[node]
                )
                node = left if source is None or goes_left else right
            expected.append(graph.label[node])
        assert (graph.predict(holes, missing="majority") == np.array(expected)).all()
        other = graph.accept_missing()
        assert (other.predict(table) == graph.predict(table)).all() and "or missing" in other.to_text()
        assert (tf.DecisionGraph.from_json(other.to_json()).predict(holes) == expected).all()
        shares = graph.predict_proba(holes, missing="majority")
        assert shares.shape == (60, 2) and np.allclose(shares.sum(axis=1), 1)


def test_the_majority_is_offered_everywhere(tmp_path):
    table, y = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "s": list("xyxyx")}), [0, 0, 1, 1, 1]
    holes = pd.DataFrame({"a": [np.nan, 1.0], "s": ["x", "y"]})
    graph = tf.Problem(table, y, shape=tf.Tree(1)).solve().graph
    clf = tf.OptimalTreeClassifier(1, missing="majority").fit(table, y)
    assert clf.predict(holes).tolist() == [1, 0] and clf.apply(holes).shape == (2,)
    assert clf.decision_path(holes).shape == (2, 3)
    assert tf.OptimalTreeClassifier(1, missing="majority").fit([[v] for v in table["a"]], y).predict(
        [[np.nan]]
    ) == [1]
    with pytest.raises(DataError, match="missing"):
        tf.OptimalTreeClassifier(1).fit(table, y).predict(holes)
    graph.save(tmp_path / "m.json")
    holes.to_csv(tmp_path / "t.csv", index=False)
    files = ["predict", str(tmp_path / "m.json"), str(tmp_path / "t.csv")]
    assert CliRunner().invoke(app, files).exit_code == 2
    assert CliRunner().invoke(app, [*files, "--missing", "left"]).exit_code == 2
    done = CliRunner().invoke(app, [*files, "--missing", "majority"])
    assert done.stdout.split() == ["prediction", "1", "0"], done.output
    made = CliRunner().invoke(app, ["export", files[1], "--to", "python", "--missing", "majority"])
    space: dict = {}
    exec(made.stdout, space)
    assert [space["predict"](row) for row in ({"a": None, "s": "x"}, {"a": 1.0, "s": "x"})] == [1, 0]
    words = ["--to", "sql", "--missing", "majority", "--dialect", "sqlite", "--table", "t"]
    query = CliRunner().invoke(app, ["export", files[1], *words]).stdout
    with sqlite3.connect(":memory:") as base:
        holes.to_sql("t", base, index=False)
        assert base.execute(query).fetchall() == [(1,), (0,)]


def test_what_cannot_be_decided_is_said():
    graph = tf.Problem([[1e302], [2.0], [1.0]], [1, 0, 0], shape=tf.Tree(1)).solve().graph
    assert graph.accept_missing().encoder == graph.encoder  # a threshold beyond 2**1000 has no room for gaps
    bare = tf.DecisionGraph([0, -1, -1], [0.5, np.nan, np.nan], [1, -1, -1], [2, -1, -1], [-1, 0, 1],
                            graph.columns, graph.classes)  # fmt: skip
    with pytest.raises(SpecError, match="cannot say where missing values go"):
        bare.accept_missing()
    with pytest.raises(DataError, match="missing='left' is not known"):
        graph.predict([[1.0]], missing="left")


def test_a_missing_level_that_training_did_not_have_is_unseen():
    table, y = pd.DataFrame({"job": ["a", "a", "b", "b"]}), [0, 0, 1, 1]
    graph = tf.Problem(table, y, shape=tf.Tree(1)).solve().graph
    with pytest.warns(tf.errors.UnseenLevels, match=r"missing \(1\)"):
        graph.predict(pd.DataFrame({"job": [None, "a"]}))


def test_errors_can_be_asked_for():
    with pytest.raises(DataError, match="'x0' is missing"):
        tf.Problem([[1.0], [np.nan]], [0, 1], shape="tree:1", missing="error")
    with pytest.raises(DataError, match="missing='drop' is not known"):
        tf.Problem([[1.0], [np.nan]], [0, 1], shape="tree:1", missing="drop")


def test_hyperplanes_refuse_gaps():
    table, y = with_gaps(np.random.default_rng(0))
    with pytest.raises(SpecError, match="hyperplanes cannot read columns with missing values"):
        tf.Problem(table[["x0", "x1"]], y, shape=tf.Tree(1, "multivariate")).solve()


def test_huge_values_beside_gaps_are_refused():
    with pytest.raises(DataError, match=r"beyond 2\*\*1000"):
        tf.Problem([[1e302], [np.nan], [1.0]], [0, 1, 1], shape="tree:1")


def test_feature_budget_counts_a_column_with_gaps_once():
    table, y = with_gaps(np.random.default_rng(5), 12, 1)
    problem = tf.Problem(table, y, shape=tf.Tree(2))
    problem += tf.FeatureBudget(1)
    result = problem.solve()
    assert result.objective == brute_force(problem.data, problem.shape, tf.Error(), problem.requirements)[0]
    assert len({result.graph.columns[f].source for f in result.graph.features_used()}) <= 1


def wrong_tests(graph: tf.DecisionGraph, table: pd.DataFrame, column: str, sign: int) -> int:
    """Tests of a column at which a value and a greater one are predicted the wrong way round; gaps count for none."""
    favoured, known = graph.predict(table) == 1, table[column].notna().to_numpy()
    visits, left = graph.route(table), graph.goes_left(graph.encode(table))
    wrong = 0
    for test in graph.tests():
        if graph.columns[graph.feature[test.node]].source == column:
            here = visits[:, test.node] & known
            low, high = (left[:, test.node], ~left[:, test.node])[::sign]
            wrong += bool((here & low & favoured).any() and (here & high & ~favoured).any())
    return wrong


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_monotone_orders_the_values_and_leaves_gaps_aside(direction):
    rng = np.random.default_rng(11)
    sign = 1 if direction == "increasing" else -1
    bound = 0
    for turn in range(3):
        table, y = with_gaps(rng, 12, 2)
        y = np.where(
            rng.random(12) < 0.6, sign * table["x0"].fillna(0) <= sign * 1.5, y
        )  # the wrong way round
        problem = tf.Problem(table[["x0", "x1"]], y, shape=tf.Tree(2))
        free = problem.solve().objective
        problem += tf.Monotone("x0", direction, positive=1)
        best = brute_force(problem.data, problem.shape, tf.Error(), problem.requirements)[0]
        bound += best > free
        for solver, formulation in [("totals-search", None), ("cp-sat", "odd")][: 1 + (turn == 0)]:
            result = problem.solve(solver, formulation=formulation)
            assert (str(result.status), result.objective) == ("optimal", best), solver
            assert wrong_tests(result.graph, table, "x0", sign) == 0
            assert tf.check(result.certificate(), table[["x0", "x1"]], y).ok
            # Nothing is turned down for a better value, between leaves that samples with a value reach.
            known = table[table["x0"].notna()]
            reached = np.unique(result.graph.apply(known))
            for value, other in product(range(4), repeat=2):
                if sign * (other - value) > 0:
                    here, there = (result.graph.apply(known.assign(x0=float(v))) for v in (value, other))
                    both = np.isin(here, reached) & np.isin(there, reached)
                    assert (result.graph.label[here] <= result.graph.label[there])[both].all()
    assert bound, "some optimum has to differ"


def test_is_missing_is_free_under_monotone():
    """Missing is neither great nor small: whatever becomes of those without a value, the order of the others holds."""
    table = pd.DataFrame({"a": [1.0, 2, 3, 4, np.nan, np.nan]})
    for gap in (0, 1):
        y = [0, 0, 1, 1, gap, gap]
        up = tf.Problem(table, y, shape=tf.Tree(2)).add(tf.Monotone("a", "increasing", positive=1)).solve()
        down = tf.Problem(table, y, shape=tf.Tree(2)).add(tf.Monotone("a", "decreasing", positive=1)).solve()
        assert (up.errors, down.errors) == (0, 2)


def test_conditions_on_one_column_are_told_once():
    table = pd.DataFrame({"a": [1.0, 2, 3, 4, 5, 6, np.nan, np.nan] * 3, "b": [0, 1, 0, 1, 0, 1, 0, 1] * 3})
    data = Dataset.from_user(table, [0, 0, 1, 1, 0, 0, 1, 1] * 3)
    below, above = (f for f, column in enumerate(data.columns) if column.source == "a")
    for nested, texts in [
        ((below, 4.5, (above, 2.5, 0, 1), 0), ["a <= 2.5", "2.5 < a <= 4.5 or missing", "a > 4.5"]),
        ((above, 4.5, (below, 2.5, 0, 1), 0), ["a <= 2.5", "2.5 < a <= 4.5", "a > 4.5 or missing"]),
        ((below, -1e308, 1, (above, 2.5, 0, 1)), ["a is missing", "a <= 2.5", "a > 2.5"]),
        ((above, 1e308, (below, 2.5, 0, 1), 0), ["a is missing", "a <= 2.5", "a > 2.5"]),
        ((below, 2.5, (above, 3.5, 0, 1), (below, -1e308, 0, 1)), ["a <= 2.5", "a is missing", "a > 2.5"]),
    ]:
        graph = tf.DecisionGraph.from_nested(nested, data)
        told = [rule.split(" then ")[0] for rule in graph.rules() if not rule.startswith("never")]
        assert told == [f"if {text}" for text in texts]


def test_rules_are_what_the_model_does():
    """Every row satisfies exactly the rule of its leaf, read as text."""
    rng = np.random.default_rng(4)
    for seed in range(6):
        table, y = with_gaps(np.random.default_rng(seed), 40)
        graph = tf.Problem(table, rng.integers(0, 2, len(y)), shape=tf.Tree(3)).solve("contree").graph
        rules = [rule for rule in graph.rules() if not rule.startswith("never")]
        for row, label in zip(table.to_dict("records"), graph.predict(table), strict=True):
            fired = [rule for rule in rules if all(holds(part, row) for part in conditions(rule))]
            assert [rule.split(" then ")[1][0] for rule in fired] == [str(label)]


def conditions(rule: str) -> list[str]:
    text = rule.removeprefix("if ").split(" then ")[0]
    return [] if text.startswith("always") else [part.strip("()") for part in text.split(" and ")]


def holds(condition: str, row: dict) -> bool:
    condition, or_missing = condition.removesuffix(" or missing"), condition.endswith(" or missing")
    name = next(name for name in row if name in condition.split())
    missing = row[name] is None or row[name] != row[name]
    if condition.endswith(" is missing") or condition.endswith(" is not missing"):
        return missing == condition.endswith(" is missing")
    if missing:
        return or_missing or "!=" in condition
    if " is " in condition:
        return row[name] == (condition.split()[-1] == "true")
    if name == "job":
        return (row[name] == condition.split()[-1]) == ("!=" not in condition)
    return bool(eval(condition, {}, {name: row[name]}))
