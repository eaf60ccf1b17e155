"""Trees of scikit-learn as decision graphs: alike on every row, also where single precision rounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.data import Dataset
from treeform.errors import SpecError
from treeform.graph.from_sklearn import in_double


@given(st.floats(-1e30, 1e30), st.integers(-3, 3))
def test_thresholds_in_double_decide_as_in_single(threshold, steps):
    made = in_double(np.array([threshold]))[0]
    for x in (threshold, made, float(np.float32(threshold))):
        for _ in range(abs(steps)):
            x = np.nextafter(x, np.inf * np.sign(steps))
        assert (x <= made) == (float(np.float32(x)) <= threshold)


@pytest.mark.parametrize("depth", [1, 3, None])
def test_every_row_alike(depth):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * 10.0 ** rng.integers(-9, 9, 4)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    data = Dataset.from_user(X, y)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    graph = tf.DecisionGraph.from_sklearn(tree, data)
    assert graph.predict(X).tolist() == tree.predict(X).tolist()
    near = np.repeat(X[:50], 3, axis=0)
    for test in graph.tests()[:30]:
        near[:, test.column] = np.nextafter(test.threshold, np.tile([-np.inf, test.threshold, np.inf], 50))
        assert graph.predict(near).tolist() == tree.predict(near).tolist()


def test_judged_and_used_as_a_warm_start():
    X, y = load_iris(return_X_y=True, as_frame=True)
    problem = tf.Problem(X, y, shape=tf.Tree(3)).add(tf.MinSupport(5))
    graph = tf.DecisionGraph.from_sklearn(
        DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), problem.data
    )
    assert tf.MinSupport(5).violation(graph, problem.data) > 0
    result = problem.solve(warm_start=tf.DecisionGraph.from_sklearn(
        DecisionTreeClassifier(max_depth=2, min_samples_leaf=5, random_state=0).fit(X, y), problem.data
    ))  # fmt: skip
    assert str(result.status) == "optimal"


def test_others_are_refused():
    X, y = load_iris(return_X_y=True)
    data = Dataset.from_user(X, y)
    with pytest.raises(SpecError, match="is not fitted"):
        tf.DecisionGraph.from_sklearn(DecisionTreeClassifier(), data)
    with pytest.raises(SpecError, match="other columns"):
        tf.DecisionGraph.from_sklearn(DecisionTreeClassifier().fit(X[:, :2], y), data)
    with pytest.raises(SpecError, match="no class"):
        tf.DecisionGraph.from_sklearn(DecisionTreeClassifier().fit(X, y + 1), data)
    frame = pd.DataFrame(X, columns=list("abcd"))
    tree = DecisionTreeClassifier().fit(frame, y)
    for other in (frame.rename(columns={"d": "e"}), frame.assign(d=["u", "v"] * 75)):
        with pytest.raises(SpecError, match="other columns\n  Why: it reads d, and the data have"):
            tf.DecisionGraph.from_sklearn(tree, Dataset.from_user(other, y))
    with pytest.raises(SpecError, match="2 labels for each row"):
        tf.DecisionGraph.from_sklearn(DecisionTreeClassifier().fit(X, np.c_[y, y]), data)


def test_columns_are_found_by_their_names():
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(text=list("xyz") * 50)
    frame.loc[::7, "c"] = np.nan
    frame["flag"] = pd.array([True, None, False] * 50, dtype="boolean")
    some = frame[["d", "flag", "c"]].astype(float)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(some, y)
    for data in (Dataset.from_user(frame, y), Dataset.from_user(some[["c", "flag", "d"]], y)):
        graph = tf.DecisionGraph.from_sklearn(tree, data)
        assert graph.predict(frame[[*data.frame]]).tolist() == tree.predict(some).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_trees_fitted_on_missing_values(seed):
    """Also tests that ask for nothing else: their thresholds are infinite."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 2] = rng.normal(size=60)
    y = (np.isnan(X[:, 0]) ^ (X[:, 1] > 1)).astype(int)
    cart = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(X, y)
    graph = tf.DecisionGraph.from_sklearn(cart, Dataset.from_user(X, y))
    assert np.isinf(cart.tree_.threshold).any()
    assert graph.predict(X).tolist() == cart.predict(X).tolist()
