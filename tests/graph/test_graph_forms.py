"""Graphs with multivariate tests: exact evaluation, files, texts."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeform as tf
from treeform.certify.statements import walk
from treeform.data import Dataset
from treeform.errors import CertificateError, SpecError
from treeform.graph import DecisionGraph, LinearForm, evaluate

DATA = Dataset.from_user(
    np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]),
    ["a", "b", "a", "b"],
    feature_names=["age", "pay"],
)


def diagram() -> DecisionGraph:
    nodes = {
        0: {"weights": {0: 2.0, 1: -0.5}, "threshold": 1.5, "left": 1, "right": 2},
        1: {"feature": 1, "threshold": 0.5, "left": 3, "right": 2},
        2: {"weights": {0: 1.0, 1: 1.0}, "threshold": 3.5, "left": 4, "right": 3},
        3: {"label": 0},
        4: {"label": 1},
    }
    return DecisionGraph.build(nodes, DATA)


def test_texts_and_structure() -> None:
    graph = diagram()
    assert graph.n_nodes == 3
    assert not graph.is_tree
    assert graph.features_used() == {0, 1}
    assert any("2*age - 0.5*pay" in rule for rule in graph.rules())
    assert "age + pay" in graph.to_text()
    assert "age + pay" in graph.to_svg()
    assert "age + pay" in graph.to_dot()


def test_evaluation_agrees_with_single_steps() -> None:
    graph = diagram()
    leaves = graph.apply(DATA.X)
    assert [walk(graph, row) for row in DATA.X.tolist()] == leaves.tolist()
    assert evaluate.predictions(graph, DATA).tolist() == graph.predict_codes(DATA.X).tolist()
    assert graph.route(DATA.X).sum(axis=0)[0] == 4


@settings(max_examples=60)
@given(st.data())
def test_sums_are_exact(data: st.DataObject) -> None:
    number = st.floats(-1e6, 1e6, allow_subnormal=False)
    weights = data.draw(st.lists(number.filter(bool), min_size=1, max_size=6))
    form = LinearForm.of(dict(enumerate(weights)))
    X = np.array(
        data.draw(st.lists(st.lists(number, min_size=len(weights), max_size=len(weights)), min_size=1))
    )
    exact = [
        sum((Fraction(w) * Fraction(x) for w, x in zip(weights, row, strict=True)), Fraction(0)) for row in X
    ]
    thresholds = np.array([float(exact[0]), np.nextafter(float(exact[0]), -np.inf)])
    values = form.values(X, thresholds)
    for threshold in thresholds:
        assert (values <= threshold).tolist() == [float(value) <= threshold for value in exact]


def test_order_of_summation_decides_nothing() -> None:
    form = LinearForm.of({0: 1.0, 1: 1.0, 2: 1.0})
    X = np.array([[1e16, 1.0, -1e16], [-1e16, 1.0, 1e16], [1.0, 1e16, -1e16]])
    assert (form.values(X, np.array([0.5])) > 0.5).all()
    assert (form.values(X, np.array([1.0])) <= 1.0).all()


def test_sums_beyond_all_doubles() -> None:
    form = LinearForm.of({0: 1e200, 1: 1.0})
    assert form.values(np.array([[-1e200, 1.0], [1e200, 1.0]]), np.array([0.0])).tolist() == [-np.inf, np.inf]


def test_file_keeps_everything(tmp_path) -> None:
    graph = diagram()
    graph.save(tmp_path / "model.json")
    again = DecisionGraph.load(tmp_path / "model.json")
    assert again == graph
    assert again.forms == graph.forms
    assert (again.predict(DATA.X) == graph.predict(DATA.X)).all()


@pytest.mark.parametrize(
    "weights",
    ["x", [], [[0, 0.0]], [[2, 1.0]], [[1, 1.0], [0, 1.0]], [[0, 1.0], [0, 2.0]], [[0, True]], [[0.0, 1]]],
)
def test_damaged_weights_are_refused(weights: object) -> None:
    value = diagram().to_json()
    value["nodes"][0]["weights"] = weights
    with pytest.raises(CertificateError):
        DecisionGraph.from_json(json.loads(json.dumps(value)), validate="structure")


def test_features_beyond_the_columns_are_refused_in_files() -> None:
    value = diagram().to_json()
    value["nodes"][1]["feature"] = 2  # would be a form
    with pytest.raises(CertificateError, match="beyond"):
        DecisionGraph.from_json(value, validate="structure")


@pytest.mark.parametrize("weights", [{}, {0: 0.0}, {0: float("nan")}, {7: 1.0}])
def test_bad_weights_in_descriptions(weights: dict[int, float]) -> None:
    nodes = [{"weights": weights, "threshold": 0.0, "left": 1, "right": 2}, {"label": 0}, {"label": 1}]
    with pytest.raises(SpecError):
        DecisionGraph.build(nodes, DATA)


def test_simplification_and_equality() -> None:
    graph = diagram()
    again = DecisionGraph.build(
        [
            {"weights": {1: -0.5, 0: 2.0}, "threshold": 1.5, "left": 1, "right": 2},
            {"feature": 1, "threshold": 0.5, "left": 3, "right": 2},
            {"weights": {1: 1.0, 0: 1.0}, "threshold": 3.5, "left": 4, "right": 3},
            {"label": 0},
            {"label": 1},
        ],
        DATA,
    )
    assert graph == again
    nested = [
        {"weights": {0: 1.0, 1: 1.0}, "threshold": 2.0, "left": 1, "right": 2},
        {"weights": {0: 1.0, 1: 1.0}, "threshold": 3.0, "left": 2, "right": 3},
        {"label": 0},
        {"label": 1},
    ]
    # what is at most 2 is at most 3, so that both sides of the root are class 0
    assert DecisionGraph.build(nested, DATA).simplified().n_nodes == 0


def test_shapes_say_which_splits() -> None:
    from treeform.shape import parse_shape, shape_from_json

    for text in ("tree:3", "tree:3:multivariate", "diagram:1,2,2:multivariate"):
        shape = parse_shape(text)
        assert str(shape) == text
        assert shape_from_json(shape.to_json()) == shape
    with pytest.raises(SpecError, match="oblique"):
        parse_shape("tree:2:oblique")
    assert tf.Tree(2) != tf.Tree(2, "multivariate")
