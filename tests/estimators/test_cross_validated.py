"""Depth and complexity penalty by cross-validation."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import treeform as tf
from treeform.errors import CallError, DataError, SpecError, TreeformWarning
from treeform.estimators import candidates, cross_validated
from treeform.estimators.candidates import _prices, learn
from treeform.estimators.complexity import simplest_between
from treeform.estimators.cross_validated import _in_time
from treeform.utils.budget import Budget


@pytest.mark.drawn(18)
@parametrize_with_checks([tf.OptimalTreeClassifierCV(max_depth=[2], cv=2)])
def test_classifier_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.drawn(18)
@parametrize_with_checks([tf.OptimalTreeRegressorCV(max_depth=[1], cv=2)])
def test_regressor_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def chosen(iris):
    X, y = iris
    chosen = tf.OptimalTreeClassifierCV(range(1, 4), cv=StratifiedKFold(3), select="best", time_limit=None)
    return chosen.fit(X, y)


def test_scores_are_those_of_the_single_estimator(iris, chosen):
    # Every tree of iris is proved to be optimal, so a fit on the fold costs as much; equal costs may be another tree.
    X, y = iris
    results = chosen.cv_results_
    for at in (0, len(results["params"]) - 1, chosen.best_index_):
        alone = tf.OptimalTreeClassifier(**results["params"][at], time_limit=None)
        found = cross_val_score(alone, X, y, cv=StratifiedKFold(3))
        assert abs(found.mean() - results["mean_test_score"][at]) < 0.05
    assert results["mean_test_score"].max() == chosen.best_score_
    assert chosen.scorer_(chosen, X, y) == chosen.score(X, y)
    assert results["rank_test_score"][chosen.best_index_] == 1


def test_the_tree_is_that_of_the_best_parameters(iris, chosen):
    X, y = iris
    alone = tf.OptimalTreeClassifier(**chosen.best_params_, time_limit=None).fit(X, y)
    assert chosen.result_.status is tf.Status.OPTIMAL
    assert alone.result_.objective == chosen.result_.objective
    assert tf.check(chosen.certificate_, X, y).ok


def test_results_read_as_those_of_a_grid_search(chosen):
    results = chosen.cv_results_
    count = len(results["params"])
    assert {len(column) for column in results.values()} == {count}
    assert [one["max_depth"] for one in results["params"]] == results["param_max_depth"].tolist()
    splits = np.array([results[f"split{fold}_test_score"] for fold in range(chosen.n_splits_)])
    assert np.allclose(splits.mean(axis=0), results["mean_test_score"])
    assert (np.diff([p["ccp_alpha"] for p in results["params"] if p["max_depth"] == 3]) > 0).all()


def test_a_given_grid_and_one_standard_error(iris):
    X, y = iris
    given_grid = tf.OptimalTreeClassifierCV([1, 2, 3], ccp_alphas=[0, 0.05], cv=3, time_limit=None).fit(X, y)
    assert len(given_grid.cv_results_["params"]) == 6
    smaller = clone(given_grid).set_params(select="one_standard_error").fit(X, y)
    tests = smaller.cv_results_["mean_n_tests"]
    assert tests[smaller.best_index_] <= tests[given_grid.best_index_]
    assert smaller.best_score_ <= given_grid.best_score_


def test_the_smaller_of_close_trees():
    scores = np.array([[0.9, 0.7, 0.8], [0.9, 0.68, 0.81], [0.8, 0.6, 0.7], [0.9, 0.7, 0.8]])
    tests = np.array([6.0, 4.0, 2.0, 5.0])
    chooses = {
        select: tf.OptimalTreeClassifierCV(select=select)._is_good(scores, tests).tolist()
        for select in ("close", "best", "one_standard_error")
    }
    # The second differs by 0, 0.02 and -0.01 from the best: 0.003 on average, with a standard error of 0.009.
    assert chooses["best"] == [True, False, False, True]
    assert chooses["close"] == [True, False, False, True]
    assert chooses["one_standard_error"] == [True, True, False, True]
    nearer = scores.copy()
    nearer[1] = [0.9, 0.68, 0.819]
    assert tf.OptimalTreeClassifierCV()._is_good(nearer, tests).tolist() == [True, True, False, True]


def test_trees_of_cart_are_among_the_candidates():
    X, y = load_iris(return_X_y=True)
    estimators = {depth: tf.OptimalTreeClassifier(depth) for depth in (2, 5)}
    data = estimators[2]._prepared(X, y, None)
    found = learn(estimators, data, None, Budget(0.01))  # no time for anything but first trees
    cart = DecisionTreeClassifier(max_depth=5, random_state=0)
    for alpha in cart.cost_complexity_pruning_path(X, y).ccp_alphas[:-1].clip(0):
        greedy = clone(cart).set_params(ccp_alpha=alpha).fit(X, y)
        wrong, tests = (greedy.predict(X) != y).mean(), greedy.get_n_leaves() - 1
        for one in found.trees[::7]:
            assert one.tests == one.graph.n_nodes and one.graph.depth <= one.depth
            assert one.cost == Fraction(int((one.graph.predict(X) != y).sum()), len(y))
        for price in (Fraction(1, 1000), Fraction(1, 50)):
            ours = found.best(5, price)
            assert float(ours.cost + price * ours.tests) <= wrong + float(price) * tests + 1e-12


def test_trees_of_the_greatest_depth_are_the_best_of_each_price(monkeypatch):
    monkeypatch.setattr(candidates, "LEAST_SECONDS", 600)
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, size=(60, 3)).astype(float), rng.integers(0, 2, 60)
    estimators = {depth: tf.OptimalTreeClassifier(depth) for depth in (3, 4)}
    data = estimators[3]._prepared(X, y, None)
    found = learn(estimators, data, None, Budget(None))
    prices = _prices(found.trees, estimators[3]._problem(data, None).question)
    assert prices == sorted(prices) and len(prices) >= 4
    for price in prices:
        best = found.best(4, price)
        alone = tf.OptimalTreeClassifier(4, ccp_alpha=price, time_limit=None).fit(X, y)
        assert alone.result_.status is tf.Status.OPTIMAL
        assert 60 * (best.cost + price * best.tests) == alone.result_.objective


def test_where_no_test_helps_there_are_no_prices():
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    estimators = {4: tf.OptimalTreeClassifier(4)}
    data = estimators[4]._prepared(X, y, None)
    question = estimators[4]._problem(data, None).question
    assert _prices(learn(estimators, data, None, Budget(None)).trees, question) == []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.fractions(0, Fraction(1, 2), max_denominator=60), st.sampled_from([2, 3]))
def test_proved_depths_have_the_best_tree_at_every_price(seed, price, depth):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(23, 3)).astype(float), rng.integers(0, 2 + seed % 2, 23)
    estimators = {most: tf.OptimalTreeClassifier(most) for most in (1, depth)}
    data = estimators[1]._prepared(X, y, None)
    best = learn(estimators, data, None, Budget(None)).best(depth, price)
    table = tf.Problem(X, y, shape=tf.Tree(depth)).size_table()
    assert table.proved
    assert 23 * (best.cost + price * best.tests) == table.at(23 * price).objective


def test_prices_where_classes_have_weights_of_many_digits():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(70, 3)).astype(float), (rng.random(70) < 0.3).astype(int)
    found = tf.OptimalTreeClassifierCV([1, 2, 3], cv=3, class_weight={0: 1 / 7, 1: 0.3333333333333333}, time_limit=None)
    assert found.fit(X, y).result_.status is tf.Status.OPTIMAL


@pytest.mark.parametrize("objective", ["error+2*nodes", "3*error+1/2*leaves", "balanced_error+nodes"])
@pytest.mark.parametrize("depth", [2, 4])
def test_the_objectives_own_price_of_tests_counts(objective, depth):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 5, size=(40, 3)).astype(float), rng.integers(0, 2, 40)
    weights = rng.integers(1, 4, 40)
    estimators = {most: tf.OptimalTreeClassifier(most, objective=objective) for most in (1, depth)}
    data = estimators[1]._prepared(X, y, weights)
    found = learn(estimators, data, None, Budget(None))
    for price in (Fraction(0), *found.alphas(depth)) if depth < 4 else (Fraction(0),):
        alone = tf.OptimalTreeClassifier(depth, objective=objective, ccp_alpha=price, time_limit=None, keep_data=True)
        result = alone.fit(X, y, sample_weight=weights).result_
        assert result.status is tf.Status.OPTIMAL
        best = found.best(depth, price).graph
        assert result.question.objective.evaluate(best, result.question.data) == result.objective


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from([1e-9, 1 / 3, 1e12]), st.sampled_from(["squared_error", "absolute_error"])
)
def test_chosen_penalties_have_few_digits_in_units_of_the_search(seed, scale, loss):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(20, 2)).astype(float)
    y = scale * (X[:, 0] + rng.normal(size=20))
    grid = ["auto", scale / 100, scale / 5][seed % 3]
    cv = tf.OptimalTreeRegressorCV([1, 3], cv=2, loss=loss, grid=grid, select="best", time_limit=None)
    assert cv.fit(X, y, sample_weight=rng.random(20) + 0.1).result_.status is tf.Status.OPTIMAL
    assert max(params["ccp_alpha"] for params in cv.cv_results_["params"]) < 99 * scale**2 + 9 * scale


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_prices_of_targets_with_many_digits(scale):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(30, 2)).astype(float)
    y = scale * (X[:, 0] + rng.normal(size=30))
    found = tf.OptimalTreeRegressorCV([1, 2, 4], cv=3, time_limit=None).fit(X, y)
    assert found.result_.status is tf.Status.OPTIMAL
    single = tf.OptimalTreeRegressor(**found.best_params_, time_limit=None).fit(X, y)
    assert found.score(X, y) == pytest.approx(single.score(X, y))


@pytest.mark.parametrize(("loss", "grid"), [("squared_error", None), ("absolute_error", 25)])
def test_trees_of_cart_are_among_the_candidates_of_regression(loss, grid):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:200], 1e6 + 25 * (y[:200] // 25)
    estimators = {depth: tf.OptimalTreeRegressor(depth, loss=loss, grid=grid) for depth in (1, 4)}
    data = estimators[1]._prepared(X, y, None)
    found = learn(estimators, data, None, Budget(0.01))
    cart = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    for one in found.trees[::9]:
        assert one.tests == one.graph.n_nodes and one.graph.depth <= one.depth
        away = np.abs(y - one.graph.predict(X))
        assert float(one.cost) == pytest.approx((away**2 if loss == "squared_error" else away).mean())
        assert grid is None or (one.graph.predict(X) % grid == 0).all()
    if grid is None:
        assert float(found.best(4, Fraction(0)).cost) <= ((cart.predict(X) - y) ** 2).mean() * (1 + 1e-9)


def test_regression_and_folds_side_by_side():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    one = tf.OptimalTreeRegressorCV([1, 2], cv=KFold(3), time_limit=None).fit(X, y)
    two = tf.OptimalTreeRegressorCV([1, 2], cv=KFold(3), time_limit=None, n_jobs=2).fit(X, y)
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert one.best_params_ == two.best_params_ and one.result_.status is tf.Status.OPTIMAL


def test_a_given_tree_is_where_all_rows_start_and_no_fold(iris, monkeypatch):
    X, y = iris
    starts = []
    monkeypatch.setattr(
        cross_validated, "learn", lambda of, *rest: starts.append(of[2].warm_start) or learn(of, *rest)
    )
    cart = DecisionTreeClassifier(max_depth=4).fit(X, y)
    for n_jobs in (None, 2):
        starts.clear()
        model = tf.OptimalTreeClassifierCV([2], cv=3, warm_start=cart, n_jobs=n_jobs, time_limit=None).fit(X, y)
        assert model.warm_start is cart and starts == [cart, "auto", "auto", "auto"]
        assert model.result_.errors == 6


def test_progress_says_which_rows_are_learnt_from(iris, capsys):
    X, y = iris
    seen = []
    model = tf.OptimalTreeClassifierCV([1], cv=2, on_progress=seen.append, time_limit=None).fit(X, y)
    assert [one.parts for one in seen] == sorted(one.parts for one in seen)
    assert {(one.phase.split(":")[0], one.parts) for one in seen} == {
        ("all rows", (0, 4)), ("fold 1 of 2", (1, 4)), ("fold 2 of 2", (2, 4)), ("all rows, depth 1", (3, 4))
    }  # fmt: skip
    model.set_params(verbose=1, on_progress=None).fit(X, y)
    begun = [line.split(" s: ")[1] for line in capsys.readouterr().out.splitlines() if "incumbent" not in line]
    assert begun == ["all rows", "fold 1 of 2", "fold 2 of 2", "all rows, depth 1"]


@pytest.mark.parametrize(("jobs", "folds", "parts"), [(1, 3, [4, 3, 2]), (2, 5, [4, 4, 3, 3, 2]), (9, 3, [2, 2, 2])])
def test_folds_side_by_side_share_the_time(jobs, folds, parts, iris, monkeypatch):
    X, y = iris
    model = tf.OptimalTreeClassifierCV([1], cv=folds, n_jobs=jobs)
    found = []
    monkeypatch.setattr(cross_validated, "part_of", lambda budget, parts=1: found.append(parts))
    monkeypatch.setattr(cross_validated, "Parallel", lambda **_: lambda calls: [f(*a, **k) for f, a, k in calls])
    model.fit(X, y)
    assert found[1:-1] == parts  # of the whole first, and of the last tree


def test_requirements_hold_on_all_rows_and_groups_follow_the_folds():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 4, size=(90, 3)), columns=list("abc"))
    sex = np.where(rng.random(90) < 0.5, "f", "m")
    y = np.where(X.a + X.b + (sex == "f") + rng.integers(0, 2, 90) > 3, "yes", "no")
    rule = tf.StatisticalParity(difference="0.05", positive="yes")
    model = tf.OptimalTreeClassifierCV([1, 2], cv=3, requirements=[rule], time_limit=None)
    model.fit(X, y, sensitive_features=sex)
    rates = [np.mean(model.predict(X)[sex == value] == "yes") for value in "fm"]
    assert abs(rates[0] - rates[1]) <= 0.05
    assert not any(model.result_.violations.values())


def test_depths_at_which_nothing_satisfies_the_requirements_are_not_chosen():
    """Of the rows on one line, no tree of one test has both ends right."""
    X, y = np.repeat(np.arange(12.0), 6)[:, None], np.repeat(["a", "b", "a"], 24)
    model = tf.OptimalTreeClassifierCV([1, 2], cv=3, requirements=[tf.MaxErrors(0)], time_limit=None).fit(X, y)
    assert model.best_params_["max_depth"] == 2 and not any(model.result_.violations.values())
    assert all(one["max_depth"] == 2 for one in model.cv_results_["params"])
    with pytest.raises(SpecError, match="no tree of depth 1 that satisfies the requirements was found"):
        model.set_params(max_depth=[1]).fit(X, y)


def test_a_fold_on_which_nothing_satisfies_the_requirements():
    """One test has four errors on the 40 rows and on the 36 of the second fold, where a tenth is fewer."""
    X, y = np.arange(40.0)[:, None], np.repeat([1, 0, 1], [4, 16, 20])
    folds = [(np.arange(4, 40), np.arange(4)), (np.arange(36), np.arange(36, 40))]
    model = tf.OptimalTreeClassifierCV([1, 2], cv=folds, requirements=[tf.MaxErrors(0.1)], time_limit=None).fit(X, y)
    shallow = np.array([one["max_depth"] == 1 for one in model.cv_results_["params"]])
    assert not np.isnan(model.cv_results_["split0_test_score"]).any()
    assert (np.isnan(model.cv_results_["split1_test_score"]) == shallow).all() and shallow.any()
    assert (model.cv_results_["rank_test_score"][shallow] > (~shallow).sum()).all()
    assert model.best_params_["max_depth"] == 2 and model.result_.errors == 0
    with pytest.raises(SpecError, match="no depth has a tree that satisfies the requirements on every fold"):
        model.set_params(max_depth=[1]).fit(X, y)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"max_depth": []}, "no depths"),
        ({"max_depth": [1.5]}, "no depths"),
        ({"select": "first"}, "select="),
        ({"ccp_alphas": [-1]}, "negative"),
        ({"scoring": "roc_auc"}, "roc_auc_ovr"),
        ({"scoring": "f1"}, "f1_macro"),
        ({"scoring": "balanced"}, "'balanced_accuracy'"),
        ({"scoring": "recall_samples"}, "is no score of such a target"),
        ({"scoring": ["accuracy", "f1_macro"]}, "gave {'accuracy': .*}, which is no number"),
        ({"scoring": lambda model, X, y: np.nan}, "no depth and penalty has a score"),
        ({"scoring": lambda model, X, y: -np.inf}, "no depth and penalty has a score"),
        ({"scoring": "neg_log_loss", "cv": KFold(3)}, "stratified folds"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_wrong_parameters(iris, change, told):
    with pytest.raises((SpecError, DataError), match=told):
        tf.OptimalTreeClassifierCV([1], cv=2).set_params(**change).fit(*iris)


def test_a_score_may_be_an_array_of_no_dimension(iris):
    model = tf.OptimalTreeClassifierCV([1], cv=2, scoring=lambda model, X, y: np.array(0.5)).fit(*iris)
    assert model.best_score_ == 0.5


def test_a_score_without_weights():
    def share_right(model, X, y):
        return np.mean(model.predict(X) == y)

    with pytest.raises(CallError, match=r"of \(estimator, X, y, sample_weight=None\)"):
        tf.OptimalTreeClassifierCV([1], cv=2, scoring=share_right).fit(
            np.arange(8.0)[:, None], [0, 1] * 4, np.ones(8)
        )


def test_a_score_of_one_class_needs_its_label():
    X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    for scoring, told in (("f1", "pos_label='yes'"), ("r2", "is no score of such a target")):
        with pytest.raises((SpecError, DataError), match=told):
            tf.OptimalTreeClassifierCV([1], cv=2, scoring=scoring).fit(X, y)


def test_one_class_and_weights():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a"] * 4
    model = tf.OptimalTreeClassifierCV([1], cv=2).fit(X, y)
    assert model.predict([[5.0]]).tolist() == ["a"] and model.result_ is None
    twice = np.arange(1, 41) % 3 + 1
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(40, 2)).astype(float), rng.integers(0, 2, 40)
    fitted = tf.OptimalTreeClassifierCV([1, 2], cv=2, time_limit=None).fit(X, y, sample_weight=twice)
    assert fitted.result_.status is tf.Status.OPTIMAL


@settings(max_examples=60, deadline=None)
@given(st.fractions(0, 20, max_denominator=30), st.fractions(Fraction(1, 50), 3, max_denominator=50))
def test_the_simplest_fraction(low, width):
    high = low + width
    simple = simplest_between(low, high)
    assert low < simple < high
    numerators = ((d, int(low * d) + 1) for d in range(1, simple.denominator))
    assert not any(Fraction(n, d) < high for d, n in numerators)


def test_penalties_keep_the_float_they_stand_for(iris):
    X, y = iris
    for alpha in itertools.chain([0.01, 1 / 3, 2 / 150], ["0.004"]):
        model = tf.OptimalTreeClassifier(2, ccp_alpha=alpha).fit(X, y)
        value = model.result_.errors + Fraction(str(alpha)) * 150 * model.graph_.n_nodes
        assert float(model.result_.objective) == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize("part", [0.03, 0.4, 1.0, 7.0])
def test_where_reading_takes_the_time_folds_are_parts_of_all_targets(part, monkeypatch):
    monkeypatch.setattr(cross_validated, "LEAST_ROWS", 20)
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(400, 2)), np.repeat(["a", "b"], [390, 10]), rng.integers(0, 2, 400)
    weights[y == "b"] = 1
    table = tf.OptimalTreeClassifier()._table(X, y, weights)
    splits = list(StratifiedKFold(5).split(X, y))
    for (train, test), (some, held_out) in zip(splits, _in_time(splits, table, part), strict=True):
        for whole, drawn in ((train, some), (test, held_out)):
            assert len(drawn) == max(20, np.ceil(min(part, 1) * len(whole)))
            assert np.isin(drawn, whole).all() and (np.diff(drawn) > 0).all()
            assert abs((y[drawn] == "b").sum() - (y[whole] == "b").mean() * len(drawn)) <= 1
    if part >= 1:
        assert _in_time(splits, table, part) is splits
    chosen = tf.OptimalTreeClassifierCV([1, 2], cv=splits, time_limit=0.01).fit(X, y, sample_weight=weights)
    assert len(chosen.cv_results_["split0_test_score"]) == len(chosen.cv_results_["params"])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr"])
def test_parts_of_folds_have_every_class_of_the_folds(scoring, monkeypatch):
    """A score of probabilities refuses rows without one of them."""
    monkeypatch.setattr(cross_validated, "LEAST_ROWS", 20)
    monkeypatch.setattr(cross_validated, "OF_READING", 1e9)
    y = np.repeat(["a", "b", "c"], [295, 12, 295])
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + (y == "b")[:, None]
    model = tf.OptimalTreeClassifierCV([2], cv=5, scoring=scoring, ccp_alphas=[0], time_limit=60)
    with pytest.warns(TreeformWarning, match=r"the folds are of 4\.\d\d% of their rows"):
        found = model.fit(X, y)
    assert np.isfinite(found.best_score_)
