"""The estimators are scikit-learn estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import treeform as tf
from treeform.errors import SpecError


@parametrize_with_checks([tf.OptimalTreeClassifier(max_depth=2)])
def test_tree_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@parametrize_with_checks([tf.OptimalTreeRegressor(max_depth=2)])
def test_regressor_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@parametrize_with_checks([tf.OptimalDiagramClassifier(widths=(1, 2))])
def test_diagram_passes_scikit_learns_checks(estimator, check):
    check(estimator)


def test_in_pipelines_and_cross_validation():
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(
        make_pipeline(StandardScaler(), tf.OptimalTreeClassifier(max_depth=2)), X, y, cv=3
    )
    assert scores.min() > 0.85


def test_categories_labels_and_pickle():
    frame = pd.DataFrame({"job": ["a", "b", "c", "a"] * 5, "age": np.arange(20.0)})
    y = np.where(frame.job == "b", "yes", "no")
    clf = tf.OptimalTreeClassifier(max_depth=1).fit(frame, y)
    assert (clf.predict(frame) == y).all()
    again = pickle.loads(pickle.dumps(clf))
    assert (again.predict(frame) == y).all()
    assert list(clf.feature_names_in_) == ["job", "age"]
    assert np.allclose(clf.predict_proba(frame).sum(axis=1), 1)


def test_sensitive_features_are_routed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    sex = np.where(rng.random(60) < 0.5, "f", "m")
    y = (X[:, 0] + (sex == "m") > 0.3).astype(int)
    clf = tf.OptimalTreeClassifier(
        max_depth=2, requirements=[tf.StatisticalParity(ratio=0.9)], solver="cp-sat"
    )
    clf.fit(X, y, sensitive_features=sex)
    rates = [clf.predict(X)[sex == g].mean() for g in ("f", "m")]
    assert min(rates) >= 0.9 * max(rates)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = tf.OptimalTreeClassifier().set_fit_request(sensitive_features=True)
        assert routed.get_metadata_routing().fit.requests["sensitive_features"] is True


def test_impossible_requirements_are_an_error():
    X, y = load_iris(return_X_y=True)
    clf = tf.OptimalTreeClassifier(max_depth=1, requirements=[tf.MaxErrors(0)], solver="cp-sat")
    with pytest.raises(SpecError, match="no model of this shape"):
        clf.fit(X, y)


def test_the_regressor_predicts_values_and_keeps_its_proof():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = tf.OptimalTreeRegressor(max_depth=2, min_weight_fraction_leaf=0.05).fit(X, y)
    assert str(model.result_.status) == "optimal" and tf.check(model.certificate_, X, y).ok
    best = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.4 and mean_squared_error(y, model.predict(X)) <= 1.01 * mean_squared_error(
        y, best.predict(X)
    )
    assert abs(model.feature_importances_.sum() - 1) < 1e-9 and model.apply(X).max() < len(
        model.graph_.feature
    )
    medians = tf.OptimalTreeRegressor(max_depth=1, loss="absolute_error").fit(X, y)
    assert set(medians.predict(X)) <= set(y)
    constant = tf.OptimalTreeRegressor().fit(X, np.full(len(y), 2.5))
    assert constant.result_ is None and set(constant.predict(X)) == {2.5}
    with pytest.raises(SpecError, match="loss='huber'"):
        tf.OptimalTreeRegressor(loss="huber").fit(X, y)
    with pytest.raises(SpecError, match="that of a classifier"):
        tf.OptimalTreeRegressor(objective="error").fit(X, y)
