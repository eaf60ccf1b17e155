"""Trees of scikit-learn made from models: alike on the training rows, or refused with the rows that differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from export_tables import mixed_table, models
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, export_text
from sklearn.utils.validation import check_is_fitted

import treeform as tf
from treeform.errors import SpecError


@pytest.mark.parametrize("seed", [0, 1])
def test_every_training_row_alike_with_gaps_levels_and_shared_nodes(seed):
    table, _ = mixed_table(seed)
    for graph in models(seed):
        tree = graph.to_sklearn(table)
        assert isinstance(tree, DecisionTreeClassifier)
        assert tree.predict(graph.encode(table, nan=True)).tolist() == graph.predict(table).tolist()
        check_is_fitted(tree)
        assert "class" in export_text(tree, feature_names=[column.name for column in graph.columns])


def test_there_and_back():
    X, y = load_iris(return_X_y=True)
    problem = tf.Problem(X, y, shape=tf.Tree(3))
    result = problem.solve()
    tree = result.graph.to_sklearn(X)
    assert (tree.predict(X) == result.graph.predict(X)).all()
    assert np.allclose(tree.predict_proba(X), result.graph.predict_proba(X))
    again = tf.DecisionGraph.from_sklearn(tree, problem.data)
    assert (again.predict(X) == result.graph.predict(X)).all()
    assert tree.get_depth() == result.graph.depth
    assert tree.get_n_leaves() == result.graph.n_leaves
    assert clone(tree).fit(X, y).score(X, y) > 0.9


@settings(max_examples=30)
@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=12, unique=True), st.randoms())
def test_alike_or_refused(values, rng):
    """A tree is made exactly where single precision keeps both sides of each threshold apart."""
    data = tf.Problem(
        [[x] for x in values], [0, 1] * (len(values) // 2) + [1] * (len(values) % 2), shape="tree:1"
    ).data
    low, high = sorted(rng.sample(sorted(values), 2))
    threshold = low / 2 + high / 2
    graph = tf.DecisionGraph.from_nested((0, threshold, 0, 1), data)
    single = np.float32(data.X[:, 0])
    left = data.X[:, 0] <= threshold
    apart = not left.any() or left.all() or single[left].max() < single[~left].min()
    if apart:
        assert (graph.to_sklearn(data.X).predict(data.X) == graph.predict(data.X)).all()
    else:
        with pytest.raises(SpecError, match="another way"):
            graph.to_sklearn(data.X)


def test_rows_that_differ_are_named():
    x = [1.0, np.nextafter(1.0, 2), 2.0]
    graph = tf.Problem([[v] for v in x], [0, 1, 1], shape="tree:1").solve().graph
    with pytest.raises(SpecError, match="1 training rows another way") as caught:
        graph.to_sklearn(np.array(x)[:, None])
    assert "rows (counted from 0): 1" in caught.value.cause
    assert "double precision" in caught.value.fix
    graph = tf.Problem([[0.0], [1e300]], [0, 1], shape="tree:1").solve().graph
    with pytest.raises(SpecError, match="cannot read 1 of the rows"):
        graph.to_sklearn(np.array([[0.0], [1e300]]))


def test_labels_that_are_not_the_most_frequent_class_stay():
    table = pd.DataFrame({"a": [1.0, 1, 1, 2]})
    problem = tf.Problem(table, ["x", "x", "y", "y"], shape="tree:1")
    graph = tf.DecisionGraph.from_nested((0, 1.5, 1, 0), problem.data)
    tree = graph.to_sklearn(table)
    assert tree.predict(problem.data.X).tolist() == ["y", "y", "y", "x"]
    assert tree.predict_proba(problem.data.X)[0].tolist() == [0, 1]


def test_labels_that_scikit_learn_takes_for_a_quantity():
    rows = [[0.0], [1.0], [2.0]]
    graph = tf.Problem(rows, [1.5, -0.25, 2.75], shape="tree:2").solve().graph
    tree = graph.to_sklearn(rows)
    assert tree.classes_.tolist() == [-0.25, 1.5, 2.75] and tree.predict(rows).tolist() == [1.5, -0.25, 2.75]
