"""Estimators speak as `Problem` does, of their own parameters; groups given as a Series follow the rows of a fold."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import treeform as tf

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.normal(size=60).round(2), "b": RNG.integers(0, 5, 60)}, index=[f"r{i}" for i in range(60)]
)
LABELS = np.where(X["a"] > 0, "u", "v")
SEX = pd.Series(RNG.choice(["f", "m"], 60), index=X.index, name="sex")


def parity(groups):
    return [tf.StatisticalParity(groups=groups, difference="0.3", positive="u")]


@pytest.mark.parametrize("estimator", [tf.OptimalTreeClassifier(2), tf.OptimalTreeRegressor(2)])
def test_missing_targets_and_repeated_columns_are_what_a_problem_says(estimator):
    missing = pd.Series(X["a"].to_numpy() > 0, index=X.index).astype(float)
    missing.iloc[3] = np.nan
    for X_bad, y_bad in ((X, missing), (pd.concat([X, X[["a"]]], axis=1), missing.fillna(0.0))):
        with pytest.raises(tf.errors.DataError) as stated:
            tf.Problem(X_bad, y_bad, shape=tf.Tree(2))
        with pytest.raises(tf.errors.DataError) as fitted:
            estimator.fit(X_bad, y_bad)
        assert str(fitted.value) == str(stated.value)


@pytest.mark.parametrize("depth", [None, -1, 0, 2.5, "3", True, 31])
@pytest.mark.parametrize("kind", [tf.OptimalTreeClassifier, tf.OptimalTreeRegressor])
def test_a_depth_that_is_not_possible_is_named_max_depth(kind, depth):
    with pytest.raises(tf.errors.SpecError, match=f"max_depth={depth!r} is not possible") as error:
        kind(max_depth=depth).fit(X, LABELS if kind is tf.OptimalTreeClassifier else X["a"])
    assert "Tree(" not in str(error.value)
    if depth is None:
        assert "scikit-learn's None" in str(error.value)


@pytest.mark.parametrize("depths", [None, [], [1.5], "3"])
def test_depths_to_choose_from_that_are_not_possible(depths):
    with pytest.raises(tf.errors.SpecError, match="gives no depths to choose from"):
        tf.OptimalTreeClassifierCV(max_depth=depths).fit(X, LABELS)


def test_missing_majority_says_where_it_belongs():
    with pytest.raises(tf.errors.DataError, match="is for predictions"):
        tf.Problem(X, LABELS, shape=tf.Tree(2), missing="majority")
    assert tf.OptimalTreeClassifier(2, missing="majority").fit(X, LABELS).get_depth() == 1


def test_groups_of_a_fold_are_taken_by_the_index_of_a_series():
    shuffled = SEX.sample(frac=1, random_state=1)
    rows = X.index[10:50]
    by_series = tf.OptimalTreeClassifier(2, requirements=parity(shuffled)).fit(X.loc[rows], LABELS[10:50])
    by_array = tf.OptimalTreeClassifier(2, requirements=parity(SEX.to_numpy()[10:50])).fit(
        X.loc[rows], LABELS[10:50]
    )
    assert by_series.graph_ == by_array.graph_
    scores = cross_val_score(
        tf.OptimalTreeClassifier(1, requirements=parity(SEX)), X, LABELS, cv=3, error_score="raise"
    )
    assert len(scores) == 3
    chosen = tf.OptimalTreeClassifierCV([1], cv=3, requirements=parity(SEX), time_limit=None).fit(X, LABELS)
    assert chosen.best_params_["max_depth"] == 1


def test_groups_as_an_array_are_refused_on_a_fold_with_the_reason():
    with pytest.raises(tf.errors.DataError, match="an array does not say which entries are theirs") as error:
        cross_val_score(
            tf.OptimalTreeClassifier(1, requirements=parity(SEX.to_numpy())),
            X,
            LABELS,
            cv=3,
            error_score="raise",
        )
    assert "a Series with the index" in str(error.value)


def test_targets_that_are_quantities_are_sent_to_regression():
    with pytest.raises(tf.errors.SpecError, match="OptimalTreeRegressor"):
        tf.OptimalTreeClassifier(2).fit(X, X["a"] * 1.37)
    with pytest.raises(tf.errors.DataError, match="SquaredError"):
        tf.Problem(X, X["a"] * 1.37, shape=tf.Tree(2)).solve()
    (note,) = tf.Problem(X, X["a"].astype(str), shape=tf.Tree(1)).data.notes
    assert "SquaredError" in note and "to_numeric" in note


def test_a_class_weight_of_another_type_names_the_label():
    with pytest.raises(tf.errors.SpecError, match="a weight for '1', and the label is 1"):
        tf.OptimalTreeClassifier(1, class_weight={"1": 2, "0": 1}).fit(X, (X["a"] > 0).astype(int))


NUMBERS = X.to_numpy()
INFINITE = np.where(NUMBERS > 3, np.inf, NUMBERS)
FITTED = tf.OptimalTreeClassifier(1).fit(NUMBERS, LABELS)
CHOOSING = tf.OptimalTreeClassifierCV([1], cv=61)


@pytest.mark.parametrize(
    ("call", "what", "fix"),
    [
        (lambda: clone(FITTED).fit(NUMBERS[:, 0], LABELS), "Expected 2D array, got 1D array", "Reshape your data"),
        (lambda: clone(FITTED).fit(NUMBERS, LABELS[1:]), "different numbers of rows: 60 and 59", "the same rows"),
        (lambda: clone(FITTED).fit(NUMBERS, "b"), "no list of labels", "table['target']"),
        (lambda: clone(FITTED).fit(NUMBERS, None), "requires y to be passed", "fit(X, y)"),
        (lambda: clone(FITTED).fit(NUMBERS), "OptimalTreeClassifier.fit needs y", "give"),
        (lambda: clone(FITTED).fit(INFINITE, LABELS), "Input X contains inf", "a missing value"),
        (lambda: clone(FITTED).fit([["u", 1], ["v", 2]], [0, 1]), "the table has text in it: 'u'", "DataFrame"),
        (lambda: clone(FITTED).fit([[{}, 1], [{}, 2]], [0, 1]), "not 'dict'", "DataFrame"),
        (lambda: clone(FITTED).fit(NUMBERS, LABELS, ["a"] * 60), "sample_weight has text in it: 'a'", "numbers"),
        (lambda: clone(FITTED).fit(NUMBERS, LABELS, [1, 2]), "2 entries, and the table 60 rows", "one weight"),
        (lambda: clone(FITTED).fit(NUMBERS, LABELS, -np.ones(60)), "Negative values", "one weight"),
        (lambda: clone(FITTED).fit([[1, 2], [3]], [0, 1]), "different numbers of entries", "one row for each sample"),
        (lambda: clone(FITTED).fit(X[[]], LABELS), "the table has no columns", "left out"),
        (lambda: clone(FITTED).fit(X.assign(t="u"), dict.fromkeys("ab")), "got {'a': None, 'b': None}", "labels"),
        (lambda: FITTED.predict(NUMBERS[:, :1]), "X has 1 features", "feature_names_in_"),
        (lambda: FITTED.predict(X[["a", "a"]]), "column names repeat: 'a'", "rename"),
        (lambda: FITTED.score(NUMBERS, LABELS[1:]), "different numbers of rows: 59 and 60", "the same rows"),
        (lambda: FITTED.score(NUMBERS, None), "the target is None", "one label"),
        (lambda: FITTED.score(NUMBERS, LABELS, [1, 2]), "2 entries, and the table 60 rows", "one weight"),
        (lambda: FITTED.score(NUMBERS, LABELS[:58], [1] * 60), "numbers of rows: 58 and 60", "the same rows"),
        (lambda: FITTED.score(NUMBERS, LABELS[:58], [1] * 58), "numbers of rows: 58 and 60", "the same rows"),
        (lambda: clone(FITTED).fit(X["a"], LABELS), "one column or one row is given", "table[['column']]"),
        (lambda: clone(FITTED).fit(NUMBERS, [b"u", b"v"] * 30), "labels are bytes", "decode"),
        (lambda: clone(FITTED).fit(NUMBERS, LABELS, groups=SEX), "no parameter 'groups'", "tf.StatisticalParity"),
        (lambda: clone(FITTED).set_params(depth=3), "OptimalTreeClassifier has no parameter 'depth'", "'max_depth'"),
        (lambda: clone(FITTED).set_params(min_samples_leaf=3), "no parameter 'min_samples_leaf'", "tf.MinSupport(3)"),
        (lambda: clone(FITTED).set_params(solver__x=3), "no parameter 'solver__x'", "'solver'"),
        (lambda: GridSearchCV(clone(FITTED), {"random_state": [0]}).fit(NUMBERS, LABELS), "'random_state'", "random"),
        (lambda: CHOOSING.fit(NUMBERS, LABELS), "n_splits=61", "no more than rows"),
        (lambda: clone(CHOOSING).set_params(scoring="acc").fit(NUMBERS, LABELS), "scoring='acc'", "get_scorer_names"),
    ],
)  # fmt: skip
def test_what_scikit_learn_refuses_says_what_to_do(call, what, fix):
    with pytest.raises((tf.errors.DataError, tf.errors.CallError, tf.errors.SpecError)) as error:
        call()
    assert what in error.value.what and fix in error.value.fix


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match=r"this OptimalTreeRegressor is not fitted yet\n  Fix: call fit"):
        tf.OptimalTreeRegressor(1).predict(NUMBERS)


def test_a_given_tree_stays_fitted_in_copies():
    numbers = X[["a", "b"]]
    cart = DecisionTreeClassifier(max_depth=3).fit(numbers, LABELS)
    with open(os.devnull, "w") as cannot_be_copied:
        clf = tf.OptimalTreeClassifier(2, warm_start=cart, on_progress=cannot_be_copied.write)
        assert clone(clf).warm_start is cart and clone(clf).on_progress == cannot_be_copied.write
    clf.set_params(on_progress=None)
    assert (cross_val_score(clf, numbers, LABELS, cv=2) == 1).all()
    with pytest.raises(tf.errors.SpecError, match="does not say where to start"):
        clone(clf).set_params(warm_start=True).fit(numbers, LABELS)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("acc", "'accuracy'"), ("rmse", "'neg_root_mean_squared_error'"), ("f1-macro", "'f1_macro' or 'f1_micro'"),
     ("roc", "'roc_auc', 'roc_auc_ovo', 'roc_auc_ovo_weighted', 'roc_auc_ovr' or 'roc_auc_ovr_weighted'")],
)  # fmt: skip
def test_a_score_that_was_meant(name, meant):
    with pytest.raises(tf.errors.SpecError) as error:
        tf.OptimalTreeClassifierCV([1], scoring=name).fit(X, LABELS)
    assert error.value.fix.startswith(f"did you mean {meant}?")


@pytest.mark.parametrize("kind", [tf.OptimalTreeClassifier, tf.OptimalTreeClassifierCV, tf.OptimalTreeRegressor])
def test_weights_whose_sum_is_no_float_are_refused(kind):
    y = (X["a"] > 0).astype(int)
    assert kind(1).fit(X, y, np.full(60, 1e300)).result_.objective == 0
    with pytest.raises(tf.errors.DataError, match="larger than all floats"):
        kind(1).fit(X, y, np.full(60, 1e308))
