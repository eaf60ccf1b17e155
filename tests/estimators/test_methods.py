"""Methods that users of scikit-learn's trees know."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treeform as tf
from treeform.errors import CertificateError
from treeform.estimators.importances import variance_importances
from treeform.graph import DecisionGraph


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return X, y


@pytest.fixture(scope="module")
def fitted(iris) -> tf.OptimalTreeClassifier:
    return tf.OptimalTreeClassifier(max_depth=2).fit(*iris)


def test_apply_and_decision_path(iris, fitted):
    X, _ = iris
    leaves = fitted.apply(X)
    path = fitted.decision_path(X)
    assert path.shape == (len(X), len(fitted.graph_.feature))
    assert (path[np.arange(len(X)), leaves] == 1).all()
    assert set(leaves) <= set(np.flatnonzero(fitted.graph_.feature < 0))
    assert path.sum(axis=1).max() == fitted.get_depth() + 1
    assert fitted.get_n_leaves() == fitted.graph_.n_leaves


def test_feature_importances_are_scikit_learns(iris):
    """On one split both trees are the same, and so are their importances; the shares sum to 1."""
    X, y = iris
    ours = tf.OptimalTreeClassifier(2).fit(X, y)
    assert ours.feature_importances_.sum() == pytest.approx(1)
    greedy = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[:, 2:3], y == 0)
    same = tf.OptimalTreeClassifier(1).fit(X[:, 2:3], y == 0)
    assert same.feature_importances_.tolist() == greedy.feature_importances_.tolist()
    # Column by column from the definition.
    gini = lambda labels: 1 - ((np.bincount(labels, minlength=3) / len(labels)) ** 2).sum()  # noqa: E731
    expected = np.zeros(4)
    visits, left = ours.graph_.route(X), ours.graph_.goes_left(X)
    for test in ours.graph_.tests():
        here = visits[:, test.node]
        sides = [here & left[:, test.node], here & ~left[:, test.node]]
        expected[test.column] += here.sum() * gini(y[here]) - sum(s.sum() * gini(y[s]) for s in sides)
    assert ours.feature_importances_ == pytest.approx(expected / expected.sum())


def test_feature_importances_of_a_regressor_are_scikit_learns():
    pick = np.random.default_rng(0)
    X, weight = pick.integers(0, 9, size=(200, 4)).astype(float), pick.integers(1, 5, 200)
    y = X[:, 0] * 2 + (X[:, 1] > 4) * X[:, 2] + pick.integers(0, 3, 200)
    data = tf.Problem(X, y, shape=tf.Tree(4), sample_weight=weight).minimize(tf.SquaredError()).data
    greedy = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y, sample_weight=weight)
    ours = variance_importances(DecisionGraph.from_sklearn(greedy, data), data)
    assert ours == pytest.approx(greedy.feature_importances_)


def test_log_probabilities(iris, fitted):
    X, _ = iris
    assert np.exp(fitted.predict_log_proba(X)) == pytest.approx(fitted.predict_proba(X))


def test_cost_complexity_path_is_the_optimum_for_every_price(iris):
    X, y = iris
    clf = tf.OptimalTreeClassifier(2)
    path = clf.cost_complexity_path(X, y)
    assert path.proved
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.n_nodes) < 0).all()
    for alpha in [0.001, 0.01, 0.2, 0.5]:
        at = np.searchsorted(path.ccp_alphas, alpha, side="right") - 1
        best = tf.Problem(X, y, shape=tf.Tree(2)).minimize(tf.Error() + alpha * len(y) * tf.Nodes()).solve()
        assert float(best.objective) / len(y) == pytest.approx(path.errors[at] + alpha * path.n_nodes[at])


def test_a_pickled_model_holds_no_training_row():
    X, y = load_breast_cancer(return_X_y=True)
    slim = tf.OptimalTreeClassifier(1).fit(X, y)
    whole = tf.OptimalTreeClassifier(1, keep_data=True).fit(X, y)
    assert len(pickle.dumps(slim)) < 20_000 < X.nbytes < len(pickle.dumps(whole))
    assert tf.check(slim.certificate_, X, y).ok
    assert whole.result_.certificate()["data"] == slim.certificate_["data"]
    with pytest.raises(CertificateError):
        slim.result_.certificate()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (pd.to_datetime(["2020", "2021"] * 4), "M"),
        (pd.Series([True, None, False] * 4, dtype=object).dropna(), "b"),
        (np.array([5, 7] * 4, dtype=object), "i"),
    ],
)
def test_labels_have_their_type_and_are_scored(labels, kind):
    X = np.arange(8.0)[:, None]
    clf = tf.OptimalTreeClassifier(max_depth=3).fit(X, labels)
    assert clf.classes_.dtype.kind == clf.predict(X).dtype.kind == kind
    assert clf.score(X, labels) == 1 == cross_val_score(clf, X[[0, 1] * 4], labels, cv=2).mean()
