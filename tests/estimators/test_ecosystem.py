"""The estimators among other libraries: one test each."""

from __future__ import annotations

import io

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import FixedThresholdClassifier, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import treeform as tf


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 120),
            "income": rng.normal(30, 9, 120).round(1),
            "sex": rng.choice(list("fm"), 120),
        }
    )
    y = ((X.income + 5 * (X.sex == "m") + rng.normal(0, 5, 120)) > 33).astype(int).to_numpy()
    return X, y


def tree(**given) -> tf.OptimalTreeClassifier:
    return tf.OptimalTreeClassifier(1, **given)


@pytest.mark.parametrize("sparse", [False, True])
def test_column_transformer_and_set_output(table, sparse):
    X, y = table
    columns = ColumnTransformer(
        [
            ("one", OneHotEncoder(sparse_output=sparse), ["sex"]),
            ("scale", StandardScaler(), ["age", "income"]),
        ],
        sparse_threshold=1.0 if sparse else 0.0,
    )
    pipe = make_pipeline(columns, tree())
    if not sparse:
        pipe.set_output(transform="pandas")
    assert pipe.fit(X, y).score(X, y) == tree().fit(X, y).score(X, y)
    if not sparse:
        assert "scale__income" in pipe[-1].feature_names_in_


def test_sparse_matrices(table):
    X, y = table
    dense = X[["age", "income"]].to_numpy()
    assert (
        tree().fit(scipy.sparse.csr_matrix(dense), y).predict(scipy.sparse.csc_array(dense))
        == tree().fit(dense, y).predict(dense)
    ).all()


def test_metadata_routing(table):
    X, y = table
    with sklearn.config_context(enable_metadata_routing=True):
        clf = tree(requirements=[tf.StatisticalParity(difference=0.2)], exclude="sex")
        clf.set_fit_request(sensitive_features=True, sample_weight=False)
        scores = cross_validate(
            clf, X, y, cv=3, params={"sensitive_features": X.sex.to_numpy()}, error_score="raise"
        )
    assert len(scores["test_score"]) == 3


def test_bagging_and_boosting(table):
    X, y = table
    X = X[["age", "income"]].to_numpy()
    assert BaggingClassifier(tree(), n_estimators=5, random_state=0).fit(X, y).score(X, y) > 0.6
    boosted = AdaBoostClassifier(tree(), n_estimators=5, random_state=0).fit(X, y)  # weights of any precision
    assert boosted.score(X, y) >= tree().fit(X, y).score(X, y) - 0.02


def test_thresholds_and_calibration(table):
    X, y = table
    X = X[["age", "income"]].to_numpy()
    assert CalibratedClassifierCV(tree(), cv=2).fit(X, y).predict_proba(X).shape == (120, 2)
    assert (
        FixedThresholdClassifier(tree(), threshold=0.9).fit(X, y).predict(X).sum()
        <= tree().fit(X, y).predict(X).sum()
    )


def test_inspection(table):
    X, y = table
    X = X[["age", "income"]]
    clf = tree().fit(X, y)
    found = permutation_importance(clf, X, y, n_repeats=5, random_state=0)
    assert found.importances_mean[1] > found.importances_mean[0]
    assert partial_dependence(clf, X.astype(float), ["income"])["average"].shape[0] == 1


def test_fairlearn(table):
    metrics = pytest.importorskip("fairlearn.metrics")
    reductions = pytest.importorskip("fairlearn.reductions")
    X, y = table
    parity = reductions.ExponentiatedGradient(
        tree(), reductions.DemographicParity(difference_bound=0.1), max_iter=5
    )
    parity.fit(X[["age", "income"]], y, sensitive_features=X.sex)
    clf = tree(requirements=[tf.StatisticalParity(groups="sex", difference=0.1)], exclude="sex").fit(X, y)
    frame = metrics.MetricFrame(
        metrics=metrics.selection_rate, y_true=y, y_pred=clf.predict(X), sensitive_features=X.sex
    )
    assert frame.difference() <= 0.1 + 1e-12


@pytest.mark.slow  # its import compiles for five seconds
def test_shap(table):
    shap = pytest.importorskip("shap")
    X, y = table
    numbers = X[["age", "income"]].to_numpy(dtype=float)
    clf = tree().fit(numbers, y)
    explainer = shap.explainers.Permutation(lambda rows: clf.predict_proba(rows)[:, 1], numbers[:30])
    values = explainer(numbers[:4])
    whole = clf.predict_proba(numbers[:4])[:, 1]
    assert values.values.sum(axis=1) + values.base_values == pytest.approx(whole)


@pytest.mark.parametrize("dump", ["joblib", "cloudpickle", "skops"])
def test_models_are_stored(table, dump):
    X, y = table
    clf = tree().fit(X, y)
    if dump == "joblib":
        stored = io.BytesIO()
        joblib.dump(clf, stored)
        again = joblib.load(io.BytesIO(stored.getvalue()))
    elif dump == "cloudpickle":
        again = cloudpickle.loads(cloudpickle.dumps(clf))
    else:
        skops = pytest.importorskip("skops.io")
        data = skops.dumps(clf)
        again = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert (again.predict(X) == clf.predict(X)).all()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_tables(table, library):
    X, y = table
    other = pytest.importorskip(library)
    foreign = other.from_pandas(X) if library == "polars" else other.Table.from_pandas(X)
    clf = tree().fit(foreign, y)
    assert list(clf.feature_names_in_) == list(X.columns)
    assert (clf.predict(foreign) == tree().fit(X, y).predict(X)).all()
    problem = tf.Problem(foreign, y, shape="tree:1")
    assert problem.solve().errors == int((clf.predict(X) != y).sum())
    assert list(problem.solve().graph.predict(foreign)) == list(clf.predict(X))
