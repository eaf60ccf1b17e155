"""Decision graphs: making, predicting, rewriting, exact evaluation."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from graph_samples import every_point, nodes_of, random_data, random_graph, walk
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treeform.data import Dataset
from treeform.errors import DataError, SpecError, UnseenLevels
from treeform.graph import DecisionGraph, evaluate, normalised
from treeform.graph.routing import sides_taken
from treeform.graph.rules import branches

SEEDS = st.integers(0, 10_000)


@pytest.fixture
def credit() -> tuple[pd.DataFrame, list[str]]:
    frame = pd.DataFrame(
        {
            "age": [25.0, 30, 45, 50, 60, 70],
            "job": ["skilled", "none", "skilled", "none", "other", "skilled"],
            "owner": [True, False, True, True, False, False],
        }
    )
    return frame, ["bad", "bad", "good", "bad", "good", "good"]


@settings(max_examples=60)
@given(SEEDS)
def test_predict_equals_walking(seed):
    graph, data = random_graph(seed)
    paths = [walk(graph, row) for row in data.X]
    assert graph.apply(data.X).tolist() == [path[-1] for path in paths]
    visits = graph.route(data.X)
    assert [np.flatnonzero(row).tolist() for row in visits] == [sorted(path) for path in paths]
    codes = [int(graph.label[path[-1]]) for path in paths]
    assert graph.predict_codes(data.X).tolist() == codes
    assert graph.predict(data.X).tolist() == data.classes[codes].tolist()
    assert graph.depth >= max(len(path) for path in paths) - 1
    counts = np.zeros_like(graph.counts)
    for path, label, weight in zip(paths, data.y, data.weights, strict=True):
        counts[path, label] += weight * data.weight_unit.numerator
    assert (graph.counts == counts).all()
    shares = graph.predict_proba(data.X)
    assert np.allclose(shares, [counts[p[-1]] / counts[p[-1]].sum() for p in paths])


@settings(max_examples=60)
@given(SEEDS)
def test_exact_evaluation(seed):
    graph, data = random_graph(seed)
    wrong = np.array([graph.label[walk(graph, row)[-1]] for row in data.X]) != data.y
    assert evaluate.errors(graph, data) == wrong.sum()
    assert evaluate.weighted_errors(graph, data) == data.weights[wrong].sum()
    for weighted in (False, True):
        table = evaluate.confusion(graph, data, weighted=weighted)
        assert table.sum() == (data.total_weight if weighted else data.n_samples)
        found = evaluate.weighted_errors(graph, data) if weighted else evaluate.errors(graph, data)
        assert table.sum() - np.trace(table) == found
    assert (evaluate.support(graph, data, weighted=False) == graph.route(data.X).sum(axis=0)).all()
    assert (evaluate.support(graph, data) * data.weight_unit == graph.counts.sum(axis=1)).all()


def test_evaluation_refuses_other_data(credit):
    data = Dataset.from_user(*credit)
    graph = DecisionGraph.leaf(0, data)
    with pytest.raises(DataError, match="different features"):
        evaluate.errors(graph, Dataset.from_user(credit[0].rename(columns={"age": "years"}), credit[1]))
    with pytest.raises(DataError, match="different classes"):
        evaluate.errors(graph, Dataset.from_user(credit[0], [1, 2, 1, 2, 1, 2]))
    with pytest.raises(DataError, match="2 classes"):
        graph.with_counts(Dataset.from_user(credit[0], [1, 2, 3, 2, 1, 2]))


@settings(max_examples=80)
@given(SEEDS)
@example(1215)  # a second pass finds more to drop
def test_rewrites_keep_every_prediction(seed):
    graph, data = random_graph(seed)
    everywhere = every_point(data.n_features)
    wanted = graph.predict_codes(everywhere)
    simple, plain = graph.simplified(), graph.canonical()
    for other in (simple, plain):
        assert (other.predict_codes(everywhere) == wanted).all()
        assert (other.counts == replace(other).with_counts(data).counts).all()
        assert other.n_nodes <= graph.n_nodes
        assert other.depth <= graph.depth
    assert simple.simplified() == simple
    assert plain == graph
    assert hash(plain) == hash(graph)
    assert plain.canonical().feature.tolist() == plain.feature.tolist()
    fitted = graph.simplified(data)
    assert (fitted.predict_codes(data.X) == graph.predict_codes(data.X)).all()
    assert (fitted.counts == replace(fitted).with_counts(data).counts).all()
    assert (fitted.counts.sum(axis=1) > 0).all()
    assert fitted.simplified(data) == fitted
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_simplified_removes_what_decides_nothing():
    data = random_data(np.random.default_rng(0))
    twin = (0, 1.0, 1, 2)
    assert DecisionGraph.from_nested((1, 0.5, twin, twin), data).simplified().n_nodes == 1
    nested = (0, 1.0, (0, 1.5, 1, 2), (0, 0.5, 0, 2))
    simple = DecisionGraph.from_nested(nested, data).simplified()
    assert simple == DecisionGraph.from_nested((0, 1.0, 1, 2), data)
    assert (simple.counts == replace(simple).with_counts(data).counts).all()


def test_equality_depends_on_content():
    data = random_data(np.random.default_rng(0))
    one = DecisionGraph.from_nested((0, 1.0, 1, 2), data)
    nodes = {
        "root": {"feature": 0, "threshold": 1.0, "left": "x", "right": "y"},
        "y": {"label": 2},
        "x": {"label": 1},
        "lost": {"label": 0},
    }
    assert DecisionGraph.build(nodes, data) == one
    assert len(DecisionGraph.build(nodes, data).feature) == 3
    others = [(0, 1.5, 1, 2), (1, 1.0, 1, 2), (0, 1.0, 2, 1), 1]
    assert len({one, *(DecisionGraph.from_nested(other, data) for other in others)}) == 5
    assert one != "something else"
    assert one.with_labels({1: 0}) == DecisionGraph.from_nested((0, 1.0, 0, 2), data)
    with pytest.raises(SpecError, match="label outside"):
        one.with_labels({1: 7})


def test_shared_nodes_in_any_order():
    data = random_data(np.random.default_rng(1))
    graph = DecisionGraph.build(nodes_of((0, 0.5, 2, 1), (1, 0.5, 3, 4), (2, 0.5, 1, 4), 0, 1), data)
    assert (graph.n_nodes, graph.n_leaves, graph.depth, graph.is_tree) == (3, 2, 3, False)
    assert graph.features_used() == {0, 1, 2}
    tests = graph.feature >= 0
    assert (graph.left[tests] > np.flatnonzero(tests)).all()
    assert (graph.right[tests] > np.flatnonzero(tests)).all()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "no nodes"),
        ([{"feature": 0, "threshold": 1.0, "left": 0, "right": 1}, {"label": 0}], "reached from itself"),
        ([{"feature": 0, "threshold": 1.0, "left": 1, "right": 2}, {"label": 0}], "which is no node"),
        ([{"feature": 9, "threshold": 1.0, "left": 1, "right": 1}, {"label": 0}], "beyond the 3"),
        ([{"feature": 0, "threshold": np.inf, "left": 1, "right": 1}, {"label": 0}], "not finite"),
        ([{"label": 3}], "outside the 3 classes"),
        ([{"labels": 3}], "keys"),
        ([3], "not a dict"),
    ],
)
def test_malformed_nodes(nodes, message):
    with pytest.raises(SpecError, match=message):
        DecisionGraph.build(nodes, random_data(np.random.default_rng(0)))


def test_malformed_nested():
    with pytest.raises(SpecError, match="neither"):
        DecisionGraph.from_nested((0, 1.0, 1), random_data(np.random.default_rng(0)))


def test_predict_on_the_users_table(credit):
    data = Dataset.from_user(*credit)
    skilled = [column.name for column in data.columns].index("job = skilled")
    graph = DecisionGraph.from_nested((0, 37.5, 0, (skilled, 0.5, 0, 1)), data)
    later = pd.DataFrame({"job": ["skilled", "new"], "owner": [True, True], "age": [40, 40]})
    with pytest.warns(UnseenLevels, match=r"'job' in 1 of 2 rows: 'new' \(1\)"):
        assert graph.predict(later).tolist() == ["good", "bad"]
    assert graph.predict_proba(later, unseen="other").sum(axis=1).tolist() == [1, 1]
    with pytest.raises(DataError, match="not there in training"):
        graph.predict(later, unseen="error")
    with pytest.raises(DataError, match="unseen='never'"):
        graph.predict(later, unseen="never")
    later["job"] = "skilled"
    assert graph.predict(later.assign(height=3)).tolist() == ["good", "good"]  # other columns are no matter
    with pytest.raises(DataError, match="lacks"):
        graph.predict(later.drop(columns="age"))
    with pytest.raises(DataError, match="'age' is missing"):
        graph.predict(later.assign(age=np.nan))
    with pytest.raises(DataError, match="NaN"):
        graph.apply(np.full((1, data.n_features), np.nan))
    with pytest.raises(DataError, match="shape"):
        graph.apply(np.zeros((1, 2)))


def test_counts_are_in_the_users_units(credit):
    whole = Dataset.from_user(*credit, [2, 2, 2, 2, 2, 2])
    assert DecisionGraph.leaf(0, whole).counts.tolist() == [[6, 6]]
    parts = Dataset.from_user(*credit, [0.5] * 6)
    assert DecisionGraph.leaf(0, parts).counts.tolist() == [[1.5, 1.5]]


def test_models_of_relabelled_data(credit):
    data = Dataset.from_user(*credit)
    kinds = data.relabelled(np.array([0, 1, 2, 0, 1, 2]), 3)
    graph = DecisionGraph.from_nested((0, 37.5, 0, 1), kinds)
    back = graph.reclassified(data)
    assert back.classes.tolist() == ["bad", "good"]
    assert evaluate.errors(back, data) == 1
    with pytest.raises(DataError, match="new classes"):
        data.relabelled(np.zeros(3, dtype=int), 1)


def test_leaf_without_training_weight_predicts_its_label(credit):
    data = Dataset.from_user(*credit)
    graph = DecisionGraph.from_nested((0, 1000.0, 0, 1), data)
    assert graph.predict_proba(credit[0].assign(age=2000.0))[0].tolist() == [0, 1]


@settings(max_examples=60)
@given(SEEDS)
def test_what_is_known_of_the_rows_is_what_routing_finds(seed):
    graph, data = random_graph(seed)
    for known in (graph.simplified(data), normalised(graph, data), normalised(graph.simplified(data), data)):
        fresh = replace(known)
        assert (sides_taken(known, data) == sides_taken(fresh, data)).all()
        assert (known.counts == fresh.with_counts(data).counts).all()
    other = Dataset.from_user(data.X[:5], data.classes[data.y[:5]])
    if other.n_classes == data.n_classes:
        assert (sides_taken(graph, other) == sides_taken(replace(graph), other)).all()
        assert graph.with_counts(other).counts[0].sum() == 5
        assert graph.with_counts(data).counts[0].sum() == data.total_weight * data.weight_unit


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["a", "b"], ("yes", "no")), (["No", "YES"], ("true", "false")), (["true", "no"], ("holds", "fails"))],
)
def test_arcs_never_carry_the_name_of_a_class(labels, words):
    data = Dataset.from_user(np.array([[0.0], [1.0]]), labels, feature_names=["age"])
    graph = DecisionGraph.from_nested((0, 0.5, 0, 1), data)
    assert [answer for answer, _ in branches(graph, 0)] == list(words)
    assert f"{words[1]}: " in graph.to_text()
    assert f">{words[0]}</text>" in graph.to_svg()
    assert f'label="{words[0]}"' in graph.to_dot()
