"""Requirements on the structure of a model: native answers against enumeration, text and files, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeform as tf
from treeform.errors import DataError, Infeasible, SpecError, TreeformError
from treeform.language.requirement_text import parse
from treeform.requirements.columns import paths_taken
from treeform.testing import brute_force, draw_cases

NATIVE = [
    tf.MaxLeaves(3),
    tf.MaxDepth(1),
    tf.FeatureCost({"age": 1, "owner": "0.5", "group": 1}, at_most="1.5"),
    tf.Uses(["age", "owner"]),
    tf.Exclusive(["age", "owner"]),
    tf.NoTestOn("age"),
    tf.Interaction([["age"], ["owner", "group"]]),
    tf.MaxThresholds("group", 1),
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.integers(0, 4, (40, 3)), columns=["a", "b", "c"])
    return frame, ((frame.a > 1) ^ (frame.b > 2) ^ (rng.random(40) < 0.1)).astype(int).to_numpy()


@pytest.mark.drawn(8)
@pytest.mark.parametrize("shape", [tf.Tree(2), tf.Diagram(1, 2)], ids=str)
@pytest.mark.parametrize("with_parity", [False, True])
@pytest.mark.parametrize("requirement", NATIVE, ids=str)
def test_native_answers(requirement, with_parity, shape):
    case = next(iter(draw_cases(1, seed=11, shapes=(shape,))))
    problem = tf.Problem(case.data, None, shape=shape)
    if isinstance(requirement, tf.MaxLeaves) and shape == tf.Diagram(1, 2):
        with pytest.raises(SpecError, match="no meaning"):
            problem += requirement
        return
    problem += requirement
    problem += tf.StatisticalParity("group", difference="0.3", positive=1) if with_parity else []
    q = problem.question
    best = brute_force(problem.data, shape, q.objective, q.requirements)
    result = problem.solve()
    assert result.objective == (None if best is None else best[0])
    assert str(result.status) == ("infeasible" if best is None else "optimal")


def test_columns_that_may_be_tested_are_a_matter_of_any_engine(table):
    frame, y = table
    for requirement in (
        tf.Exclusive(["a", "b"]),
        tf.FeatureCost("a=2,b=1,c=1", at_most=2),
        tf.NoTestOn("b"),
        tf.Interaction("a,c;b"),
    ):
        problem = tf.Problem(frame, y, shape=tf.Tree(3))
        problem += requirement
        values = {str(problem.solve(engine).objective) for engine in (tf.ConTree(), tf.TotalsSearch())}
        assert len(values) == 1
        result = problem.solve()
        assert result.solver == "contree" and not any(result.violations.values())
        assert str(tf.check(result.certificate(), frame, y).verdict) == "verified"


def test_thresholds_are_shared(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += [tf.MaxThresholds("b", 1), tf.Uses(["a", "b"])]
    graph = problem.solve("cp-sat").graph
    assert len({float(graph.threshold[t.node]) for t in graph.tests() if t.columns == (1,)}) == 1


def test_the_cost_is_a_price_when_it_is_soft(table):
    frame, y = table
    problem = tf.Problem(frame, y, shape=tf.Tree(2))
    problem += tf.FeatureCost({"a": 3, "b": "1.5"}).soft(2)
    result = problem.solve("cp-sat")
    paid = sum({"a": 3, "b": 1.5}.get(frame.columns[f], 0) for f in result.graph.features_used())
    assert result.objective == result.errors + 2 * paid


def test_updates_of_a_model_in_use(table, tmp_path):
    frame, y = table
    first = tf.Problem(frame, y, shape=tf.Tree(2)).solve().graph
    first.save(tmp_path / "model.json")
    problem = tf.Problem(frame.iloc[::-1], 1 - y[::-1], shape=tf.Tree(2))
    problem += parse(f"stay_close_to:graph={tmp_path / 'model.json'},at_most=0.25")
    result = problem.solve()
    changed = (result.graph.predict(frame) != first.predict(frame)).sum()
    assert result.solver == "totals-search" and changed == 10
    upper = tf.DecisionGraph.from_nested((2, 1.5, 0, 1), problem.data)
    kept = tf.Problem(frame, y, shape=tf.Tree(2))
    kept += tf.Fix(upper)
    graph = kept.solve("cp-sat").graph
    assert frame.columns[graph.feature[0]] == "c" and float(graph.threshold[0]) == 1.5
    again = tf.Requirement.from_json(kept.requirements[0].to_json())
    assert again == tf.Fix(upper)


@pytest.mark.parametrize(
    "requirement",
    [
        *NATIVE,
        tf.MaxTestsPerPath(["age", "owner"], 1),
        tf.OncePerPath(),
        tf.OncePerPath(["age", "owner"]),
        tf.MaxThresholds("age", 1),
        tf.FeatureCost("age=1,owner=1/3", at_most=1, per_path=True),
        tf.Interaction([["age", "owner"], ["group"]]),
        tf.Below("owner", above="age"),
    ],
    ids=str,
)
def test_text_and_files(requirement):
    assert parse(str(requirement)).to_json() == requirement.to_json()
    assert tf.Requirement.from_json(requirement.to_json()).to_json() == requirement.to_json()


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("max_leaves:0", SpecError, "at least 1"),
        ("max_depth:0", SpecError, "at least 1"),
        ("uses:nothing", DataError, "not there"),
        ("exclusive:a", SpecError, "cannot take the columns"),
        ("exclusive:'a,x'", DataError, "'x'"),
        ("interaction:''", SpecError, "sets"),
        ("below:a,above=a", SpecError, "below itself"),
        ("feature_cost:'a=-1',at_most=2", SpecError, "negative"),
        ("feature_cost:'a',at_most=2", SpecError, "prices"),
        ("feature_cost:'a=1',at_most=-2", SpecError, "budget"),
        ("max_thresholds:a,at_most=-1", SpecError, "whole number"),
        ("max_tests_per_path:a,at_most=-1", SpecError, "whole number"),
        ("stay_close_to:graph=none.json,at_most=0.1", TreeformError, "none.json"),
        ("uses:d", Infeasible, "one value"),
    ],
)
def test_refusals(table, text, kind, part):
    frame, y = table
    problem = tf.Problem(frame.assign(d=1), y, shape=tf.Tree(2))
    with pytest.raises(kind) as caught:
        problem += parse(text)
    assert part in str(caught.value)


def test_costs_are_those_of_the_model_unless_they_are_of_a_path():
    data = tf.Dataset.from_user(np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]), [0, 1, 0, 1])
    graph = tf.DecisionGraph.from_nested((0, 0.5, (1, 0.5, 0, 1), (2, 0.5, 0, 1)), data)
    costs = {column.source: 1 for column in data.columns}
    assert tf.FeatureCost(costs, at_most=2).bind(data).violation(graph, data) == 1
    assert tf.FeatureCost(costs, at_most=2, per_path=True).bind(data).violation(graph, data) == 0


@pytest.mark.parametrize(
    "requirement",
    [
        tf.MaxDepth(1),
        tf.Interaction([["a"], ["b", "c"]]),
        tf.Below("a", above="c"),
        tf.Below("c", above="b"),
    ],
    ids=str,
)
def test_formulations_state_the_same(requirement):
    """The parity of two of three columns, which each of these but the last one spoils or makes dearer."""
    frame = pd.DataFrame(list(np.ndindex(2, 2, 2)), columns=list("abc"))
    problem = tf.Problem(frame, (frame.a + frame.c).to_numpy() % 2, shape=tf.Tree(2)) + requirement
    best = brute_force(problem.data, problem.shape, problem.objective, problem.requirements)
    stated = problem.solve("cp-sat", warm_start=None)
    assert str(stated.status) == "optimal" and stated.objective == best[0]


def test_each_test_of_a_monotone_column_has_its_own_level():
    """Two tests of the column, or one of it and one of another: values rise with it, up to one far from the others."""
    frame = pd.DataFrame({"a": [0, 1, 2, 3, 0, 3], "b": [0, 0, 0, 0, 1, 1]})
    for y in ([0, 3, 5, 9, 0, 9], [9, 5, 3, 0, 9, 0], [0, 0, 4, 4, 7, 2], [0, 0, 40, 90, 0, 90]):
        problem = tf.Problem(frame, y, shape=tf.Tree(2)).minimize("absolute_error") + tf.Monotone("a")
        stated = problem.solve("cp-sat", warm_start=None)
        assert stated.objective == problem.solve(tf.RegressionSearch()).objective


def test_levels_are_as_far_from_the_mean_as_values_are():
    """Two values well above a mean that is near the least one: their level is not near it, on the other side."""
    frame = pd.DataFrame({"b": [0] * 18 + [1, 1], "a": [0, 1] * 10})
    problem = tf.Problem(frame, [0] * 18 + [60, 90], shape=tf.Tree(2)).minimize("absolute_error")
    assert problem.data.quantity.lowest > -10
    stated = (problem + tf.Monotone("a")).solve("cp-sat", warm_start=None)
    assert stated.objective == 0 and stated.graph.features_used() == {0, 1}


@pytest.mark.parametrize("names", [["a", ""], ["", "a"], [""], "a,,b"])
def test_each_column_has_a_name(names):
    with pytest.raises(SpecError, match="cannot take the columns"):
        tf.Exclusive(names)


@pytest.mark.parametrize("depth", range(4))
def test_paths_taken(table, depth):
    X, y = table
    graph = tf.Problem(X, y, shape=tf.Tree(depth)).solve(tf.DeepTreeSearch(work_limit=1)).graph if depth else None
    data = tf.Problem(X, y, shape=tf.Tree(1)).question.data
    graph = graph or tf.DecisionGraph.from_nested(0, data)
    paths = paths_taken(graph, data)
    assert {tuple(row) for row in paths} == {tuple(row) for row in graph.route(data.points.X)}
    assert len(paths) == graph.n_leaves
