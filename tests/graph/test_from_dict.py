"""Models that people describe: read in the terms of their table, judged, certified, and used as a start."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from export_tables import export_cases, mixed_table
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.certify.certificate import sign
from treeform.errors import SpecError

TABLE = pd.DataFrame(
    {
        "age": [20.0, 30.0, np.nan, 50.0, 60.0, 70.0],
        "job": ["cook", "clerk", "cook", None, "smith", "clerk"],
        "owner": [True, False, True, False, True, False],
        "grade": pd.Categorical(list("ABCABC"), categories=list("ABC"), ordered=True),
        "opened": pd.to_datetime([f"2020-0{month}-01" for month in range(1, 7)]),
        "amount": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    }
)
Y = ["no", "no", "yes", "yes", "no", "yes"]


@pytest.fixture(scope="module")
def problem() -> tf.Problem:
    return tf.Problem(TABLE, Y, shape=tf.Tree(3), dates="days")


def says_yes(problem: tf.Problem, test: dict[str, object]) -> list[bool]:
    model = {**test, "yes": {"predict": "yes"}, "no": {"predict": "no"}}
    return (tf.DecisionGraph.from_dict(model, problem.data).predict(TABLE) == "yes").tolist()


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        ({"column": "amount", "at_most": 3.5}, {0, 1, 2}),
        ({"column": "amount", "below": 3.5}, {0, 1}),
        ({"column": "amount", "at_most": 2}, {0}),
        ({"column": "age", "at_most": 30}, {0, 1}),
        ({"column": "age", "at_most": 30, "or_missing": True}, {0, 1, 2}),
        ({"column": "age", "is_missing": True}, {2}),
        ({"column": "job", "is": "cook"}, {0, 2}),
        ({"column": "job", "is": None}, {3}),
        ({"column": "job", "is_missing": True}, {3}),
        ({"column": "job", "among": ["cook", "smith"]}, {0, 2, 4}),
        ({"column": "job", "among": ["smith"], "or_missing": True}, {3, 4}),
        ({"column": "owner", "is": True}, {0, 2, 4}),
        ({"column": "owner", "is": False}, {1, 3, 5}),
        ({"column": "grade", "at_most": "B"}, {0, 1, 3, 4}),
        ({"column": "grade", "below": "B"}, {0, 3}),
        ({"column": "opened", "at_most": "2020-03-01"}, {0, 1, 2}),
        ({"column": "opened", "below": "2020-03-01"}, {0, 1}),
    ],
)
def test_each_question_means_what_it_says(
    problem: tf.Problem, test: dict[str, object], rows: set[int]
) -> None:
    assert says_yes(problem, test) == [row in rows for row in range(6)]


@given(st.floats(-10, 10), st.booleans())
def test_thresholds_are_taken_to_the_last_bit(threshold: float, below: bool) -> None:
    problem = tf.Problem([[-1.0], [0.0], [1.0]], ["no", "yes", "no"], shape=tf.Tree(1))
    asked = {"column": "x0", "below" if below else "at_most": threshold}
    graph = tf.DecisionGraph.from_dict(
        {**asked, "yes": {"predict": "yes"}, "no": {"predict": "no"}}, problem.data
    )
    for x in (threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)):
        assert (graph.predict([[x]])[0] == "yes") == (x < threshold if below else x <= threshold)


@pytest.mark.parametrize("seed", range(2))
def test_a_described_model_decides_every_row_alike(seed: int) -> None:
    table, _ = mixed_table(seed)
    for case in export_cases(seed)[:3]:  # of this table
        labels = np.resize(case.graph.classes, len(table))
        data = tf.Problem(table, labels, shape=tf.Tree(3), dates="days").data
        described = json.loads(json.dumps(case.graph.to_dict()))
        again = tf.DecisionGraph.from_dict(described, data)
        assert [str(label) for label in again.predict(case.rows, unseen="other")] == case.expected
        assert again.to_dict() == case.graph.to_dict()
        assert again.n_nodes == case.graph.n_nodes and again.is_tree == case.graph.is_tree


def test_values_of_regression_come_back_exactly() -> None:
    problem = tf.Problem(TABLE[["amount"]], [1.0, 2.0, 4.0, 8.0, 9.0, 9.5], shape=tf.Tree(2))
    problem.minimize(tf.SquaredError())
    result = problem.solve()
    assert result.graph is not None
    assert tf.DecisionGraph.from_dict(result.graph.to_dict(), problem.data) == result.graph
    assert problem.judge(result.graph.to_dict()).objective == result.objective
    constant = problem.judge({"value": Fraction(1, 3)})
    assert tf.check(constant.certificate(), TABLE[["amount"]], [1.0, 2.0, 4.0, 8.0, 9.0, 9.5]).ok


LEAVES = {"yes": {"predict": "yes"}, "no": {"predict": "no"}}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ([], "neither a node"),
        ({"predict": "maybe"}, "no class"),
        ({"label": "yes"}, "a leaf has 'predict'"),
        ({"column": "agee", "at_most": 3, **LEAVES}, "no such column"),
        ({"column": "age", **LEAVES}, "one of at_most"),
        ({"column": "age", "at_most": 3, "below": 4, **LEAVES}, "one of at_most"),
        ({"column": "age", "at_most": 3, "yes": {"predict": "yes"}}, "'yes', 'no'"),
        ({"column": "age", "at_most": "thirty", **LEAVES}, "no finite number"),
        ({"column": "age", "at_most": float("nan"), **LEAVES}, "no finite number"),
        ({"column": "age", "at_most": 1e305, **LEAVES}, "beyond"),
        ({"column": "age", "is": 30, **LEAVES}, "no levels"),
        ({"column": "age", "is_missing": False, **LEAVES}, "'is_missing' is true"),
        ({"column": "amount", "is_missing": True, **LEAVES}, "no value is missing"),
        ({"column": "amount", "at_most": 2, "or_missing": True, **LEAVES}, "no value is missing"),
        ({"column": "amount", "at_most": 2, "or_missing": 1, **LEAVES}, "true or false"),
        ({"column": "job", "at_most": 3, **LEAVES}, "the column is category"),
        ({"column": "job", "is": "coook", **LEAVES}, "no level"),
        ({"column": "job", "among": "cook", **LEAVES}, "a list of levels"),
        ({"column": "owner", "is": "yes", **LEAVES}, "true and false"),
        ({"column": "grade", "at_most": "F", **LEAVES}, "no level"),
        ({"column": "opened", "at_most": "soon", **LEAVES}, "no date"),
        ({"column": "age", "at_most": 3, "yes": "b", "no": "b"}, "names no node"),
        ({"root": "a", "nodes": []}, "a mapping of names"),
        ({"root": "a", "nodes": {"a": {"column": "amount", "at_most": 3, "yes": "a", "no": "a"}}}, "itself"),
    ],
)
def test_what_is_no_model_is_refused(problem: tf.Problem, model: object, message: str) -> None:
    with pytest.raises(SpecError) as error:
        tf.DecisionGraph.from_dict(model, problem.data)
    assert message in str(error.value)


def test_a_model_is_judged_and_its_violations_are_certified(problem: tf.Problem) -> None:
    stated = tf.Problem(problem.data, None, shape=tf.Tree(1))
    stated += [tf.MinSupport(3), tf.MaxErrors(0), tf.MaxNodes(1)]
    tree = {"column": "amount", "at_most": 2.5, "yes": {"predict": "no"}, "no": {"predict": "yes"}}
    judged = stated.judge(tree)
    assert judged.errors == judged.objective == 1 and not judged.ok and judged.misfit is None
    assert list(judged.violations.values()) == [1, 1, 0]
    certificate = judged.certificate()
    assert str(tf.check(certificate, TABLE, Y).verdict) == "violated"
    for forged in (
        {
            **certificate,
            "answer": {**certificate["answer"], "violations": dict.fromkeys(judged.violations, "0")},
        },
        {**certificate, "answer": {**certificate["answer"], "errors": 0}},
        {**certificate, "answer": {**certificate["answer"], "status": "feasible"}},
    ):
        assert str(tf.check(sign(forged), TABLE, Y).verdict) == "false"
    assert stated.judge({"column": "job", "among": ["cook", "clerk"], **LEAVES}).misfit is not None


def test_a_tree_of_scikit_learn_is_judged_as_it_is() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).add(tf.MinSupport(5))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    judged = problem.judge(tree)
    assert judged.errors == int((tree.predict(X) != y).sum())
    best = problem.solve(warm_start=judged.graph)
    assert best.objective is not None and problem.judge(best.graph).ok


def test_values_of_a_regression_model_are_written_exactly_and_as_json():
    problem = tf.Problem([[0.0], [1], [1], [1], [2]], [0.1, 1, 1, 2, 5], shape="tree:2").minimize(
        tf.SquaredError()
    )
    graph = problem.solve().graph
    text = json.dumps(graph.to_dict())
    assert '"4/3"' in text and "0.1" in text and "5" in text
    assert tf.DecisionGraph.from_dict(json.loads(text), problem.data).values == graph.values
    for wrong in ("1/0", "1e9", "a", "1" * 500):
        with pytest.raises(SpecError, match="finite number"):
            tf.DecisionGraph.from_dict({"value": wrong}, problem.data)
