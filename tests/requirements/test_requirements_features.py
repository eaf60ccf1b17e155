"""Feature budgets and monotonicity: what they mean, and what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import DataError, SpecError
from treeform.language.requirement_text import parse


@pytest.fixture
def problem() -> tf.Problem:
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(0, 6, 60), "job": rng.choice(["a", "b", "c"], 60)})
    X["debt"] = rng.integers(0, 3, 60)
    # More is better, but for the oldest.
    y = (X["age"].between(2, 4) & (X["debt"] < 2) | (X["job"] == "c")).astype(int)
    return tf.Problem(X, y, shape=tf.Tree(2))


def tree(problem: tf.Problem, *columns: str) -> tf.DecisionGraph:
    """A chain of tests, one per column."""
    names = [column.name for column in problem.data.columns]
    nested: object = 1
    for column in columns:
        f = names.index(column)
        nested = (f, float(np.median(np.unique(problem.data.X[:, f]))), 0, nested)
    return tf.DecisionGraph.from_nested(nested, problem.data)


def test_levels_of_a_category_are_one_column(problem: tf.Problem) -> None:
    graph = tree(problem, "job = a", "job = b", "debt")
    assert [tf.FeatureBudget(k).violation(graph, problem.data) for k in (0, 1, 2, 3)] == [2, 1, 0, 0]


def test_a_test_the_wrong_way_round_is_counted(problem: tf.Problem) -> None:
    data = problem.data
    good_low = tf.DecisionGraph.from_nested((0, 2.5, 1, 0), data)
    assert tf.Monotone("age").bind(data).violation(good_low, data) == 1
    assert tf.Monotone("age", "decreasing").bind(data).violation(good_low, data) == 0
    assert tf.Monotone("age", positive=0).bind(data).violation(good_low, data) == 0
    assert tf.Monotone("debt").bind(data).violation(good_low, data) == 0


@pytest.mark.parametrize("solver", [("glucose42", "sat-depth"), ("cp-sat", "odd")])
def test_the_model_is_monotone_in_fact(problem: tf.Problem, solver: tuple[str, str]) -> None:
    problem += [tf.Monotone("debt"), tf.FeatureBudget(2)]
    result = problem.solve(solver[0], formulation=solver[1], warm_start=None)
    assert str(result.status) == "optimal" and not any(result.violations.values())
    X = problem.data.X.copy()
    predictions = []
    column = [c.name for c in problem.data.columns].index("debt")
    for debt in range(3):
        X[:, column] = debt
        predictions.append(result.graph.predict_codes(X))
    assert (np.diff(np.array(predictions), axis=0) >= 0).all()
    assert result.errors == 10  # 8 without these requirements


def test_text_and_json_lead_back(problem: tf.Problem) -> None:
    for text in ("feature_budget:2", "monotone:age,decreasing,positive=1", "monotone:column=debt"):
        requirement = parse(text).bind(problem.data)
        again = tf.Requirement.from_json(requirement.to_json())
        assert str(again) == str(requirement)
    assert str(parse("monotone:age").bind(problem.data)) == "monotone:age,increasing,positive=1"


def test_bad_input(problem: tf.Problem) -> None:
    with pytest.raises(SpecError, match="direction 'up'"):
        tf.Monotone("age", "up")
    for column, why in (("job", "no order"), ("wage", "no test uses")):
        with pytest.raises(DataError, match=why):
            problem.add(tf.Monotone(column))
    for k in (-1, True, 1.5):
        with pytest.raises(SpecError, match="whole number"):
            tf.FeatureBudget(k)  # type: ignore[arg-type]
    three = tf.Dataset.from_user([[1], [2], [3]], ["a", "b", "c"])
    with pytest.raises(SpecError, match="which class is positive"):
        tf.Monotone("x0").bind(three)


def test_a_sum_is_another_problem() -> None:
    problem = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape="tree:2")
    bounded = problem + tf.MaxNodes(1) + [tf.MinSupport(1)]
    assert [len(one.requirements) for one in (problem, bounded)] == [0, 2]
    assert (problem.solve().objective, bounded.solve().objective) == (0, 1)
