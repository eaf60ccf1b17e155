"""Parameters of the estimators: weights of classes, monotone columns, requirements that a grid can search over."""

from __future__ import annotations

import signal
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import treeform as tf
from treeform.errors import DataError, SpecError, TreeformWarning, UnseenLevels
from treeform.solve import Limit


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 80),
            "income": rng.integers(1, 60, 80),
            "sex": rng.choice(list("fm"), 80),
        }
    )
    y = ((X.income + 8 * (X.sex == "m") + rng.normal(0, 6, 80)) > 34).astype(int).to_numpy()
    return X, y


def test_class_weight(table):
    X, y = table
    weighted = tf.OptimalTreeClassifier(2, class_weight={0: 1, 1: 7}).fit(X, y)
    by_hand = tf.OptimalTreeClassifier(2).fit(X, y, sample_weight=np.where(y == 1, 7, 1))
    assert weighted.result_.objective == by_hand.result_.objective
    balanced = tf.OptimalTreeClassifier(1, class_weight="balanced").fit(X, y)
    share = [(balanced.predict(X) != y)[y == c].mean() for c in (0, 1)]
    assert float(balanced.result_.objective) == pytest.approx(sum(share) * len(y) / 2)
    with pytest.raises(SpecError, match="class_weight"):
        tf.OptimalTreeClassifier(class_weight="equal").fit(X, y)


def test_monotonic_cst(table):
    X, y = table
    free = tf.OptimalTreeClassifier(2, exclude="sex").fit(X, y)
    for given in ({"income": -1}, [0, -1, 0]):
        clf = tf.OptimalTreeClassifier(2, exclude="sex", monotonic_cst=given).fit(X, y)
        by_hand = (
            tf.Problem(X, y, shape=tf.Tree(2), exclude="sex").add(tf.Monotone("income", "decreasing")).solve()
        )
        assert clf.result_.objective == by_hand.objective > free.result_.objective
    for wrong in ({"wage": 1}, [1, 0], {"income": 2}, 1):
        with pytest.raises(SpecError, match="monotonic_cst"):
            tf.OptimalTreeClassifier(monotonic_cst=wrong).fit(X, y)


def test_excluded_columns_serve_requirements_and_need_not_be_there_to_predict(table):
    X, y = table
    parity = tf.StatisticalParity(groups="sex", difference="0.05")
    clf = tf.OptimalTreeClassifier(2, requirements=[parity], exclude=["sex"]).fit(X, y)
    assert "sex" not in " ".join(clf.graph_.rules())
    assert (clf.predict(X) == clf.predict(X.drop(columns="sex"))).all()
    rates = [clf.predict(X)[X.sex == g].mean() for g in "fm"]
    assert abs(rates[0] - rates[1]) <= 0.05


def test_a_grid_searches_over_the_bound_of_a_requirement(table):
    X, y = table
    clf = tf.OptimalTreeClassifier(
        1, requirements=[tf.StatisticalParity(groups="sex", difference="0.1")], exclude="sex"
    )
    key = "requirements__statistical_parity__difference"
    assert str(clf.get_params()[key]) in ("0.1", "1/10")
    grid = GridSearchCV(clf, {key: ["0.02", "0.3"], "max_depth": [1, 2]}, cv=2).fit(X, y)
    assert grid.best_params_[key] in ("0.02", "0.3")
    assert str(clf.get_params()[key]) in ("0.1", "1/10")  # the one that was given is as it was
    assert clone(clf).get_params()["exclude"] == "sex"
    stated = tf.OptimalTreeClassifier(requirements=["max_nodes:3", "min_support:2"])
    stated.set_params(requirements__max_nodes__at_most=1)
    assert [str(r) for r in stated.requirements] == ["max_nodes:1", "min_support:2"]
    named = tf.OptimalTreeClassifier(requirements={"small": tf.MaxNodes(3), "few": tf.FeatureBudget(2)})
    named.set_params(requirements__small__at_most=1)
    assert [r.at_most for r in named.requirements.values()] == [1, 2]
    with pytest.raises(ValueError, match=r"requirements__large__.* names no requirement"):
        named.set_params(requirements__large__at_most=1)
    with pytest.raises(ValueError, match="no parameter 'n'"):
        named.set_params(requirements__small__n=1)


def test_requirements_as_text_have_parameters_too():
    for given in (["min_support:0.05"], {"min_support": "min_support:0.05"}):
        clf = tf.OptimalTreeClassifier(requirements=given)
        assert clf.get_params()["requirements__min_support__at_least"] == Fraction(1, 20)
        changed = clf.set_params(requirements__min_support__fraction=0.1).requirements
        (one,) = changed.values() if isinstance(changed, dict) else changed
        assert one == tf.MinSupport(fraction=0.1)
    assert "requirements" in tf.OptimalTreeClassifier(requirements="none of them").get_params()



def test_not_proved_is_a_convergence_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 12)), rng.integers(0, 2, 3000)
    with pytest.warns(ConvergenceWarning, match=r"is between .*, gap .*%, stopped by time") as warned:
        clf = tf.OptimalTreeClassifier(5, time_limit=0.3).fit(X, y)
    assert clf.result_.limit is Limit.TIME
    assert [one.filename for one in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        tf.OptimalTreeClassifier(1).fit(X[:50], y[:50])


def test_ctrl_c_keeps_the_model_and_stops_what_runs_the_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 12)), rng.integers(0, 2, 2000)

    pressed = []

    def press(progress: tf.Progress) -> None:
        if not pressed:  # a second time would end at once
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    clf = tf.OptimalTreeClassifier(5, on_progress=press)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, y)
    assert clf.result_.limit is Limit.INTERRUPTED
    assert clf.predict(X[:3]).shape == (3,)


def test_unseen_and_missing(table):
    X, y = table
    clf = tf.OptimalTreeClassifier(1).fit(X, y)
    later = X.assign(sex="x").head(3)
    with pytest.warns(UnseenLevels, match="3 of 3 rows"):
        clf.predict(later)
    with pytest.raises(DataError):
        clf.set_params(unseen="error").predict(later)
    gaps = X[["age", "income"]].astype(float)
    gaps.loc[::5, "income"] = np.nan
    fitted = tf.OptimalTreeClassifier(2).fit(gaps, y)
    assert fitted.score(gaps, y) >= tf.OptimalTreeClassifier(2).fit(gaps.fillna(-1), y).score(
        gaps.fillna(-1), y
    )
    with pytest.raises((ValueError, DataError)):
        tf.OptimalTreeClassifier(missing="error").fit(gaps, y)


def test_categorical_features(table):
    X, y = table
    for chosen in (["age"], [0], [True, False, False]):
        clf = tf.OptimalTreeClassifier(1, categorical_features=chosen).fit(X, y)
        assert {column.kind for column in clf.graph_.columns if column.source == "age"} == {"category"}


def test_argmax_is_refused_under_requirements_and_warned_of_under_costs():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = np.array([0] * 9 + [1] + [0] * 6 + [1] * 4)
    costs = tf.Cost(
        [[0, 1], [5, 0]]
    )  # overlooking a 1 is dear: x = 1 is labelled 1, and six of ten there are 0
    with pytest.warns(TreeformWarning, match="1 leaf has another label"):
        clf = tf.OptimalTreeClassifier(1, objective=costs, decision="argmax").fit(X, y)
    assert not clf.predict(X).any()
    assert tf.OptimalTreeClassifier(1, objective=costs).fit(X, y).predict(X).sum() == 10
    few = tf.OptimalTreeClassifier(1, objective=costs, requirements=[tf.MaxNodes(3)], decision="argmax")
    with pytest.raises(SpecError, match="another label"):
        few.fit(X, y)
    with pytest.raises(SpecError, match="decision="):
        tf.OptimalTreeClassifier(decision="vote").fit(X, y)


@pytest.mark.parametrize(("parameter", "value"), [("min_weight_fraction_leaf", 2), ("unseen", "ignore")])
def test_wrong_values_are_refused_before_the_work(table, parameter, value):
    with pytest.raises((SpecError, DataError), match=str(value)):
        tf.OptimalTreeClassifier(1, **{parameter: value}).fit(*table)


def test_verbose_prints(table, capsys):
    X, y = table
    tf.OptimalTreeClassifier(2, verbose=1, solver="cp-sat", threads=1).fit(X, y)
    assert capsys.readouterr().out
    with pytest.raises(SpecError, match="threads=2"):
        tf.OptimalDiagramClassifier((1, 2), solver="diagram-search", threads=2).fit(X, y)


@pytest.mark.parametrize(
    "made", [(tf.OptimalTreeClassifier, {"max_depth": 2}), (tf.OptimalDiagramClassifier, {"widths": (1, 2)})]
)
def test_a_classifier_abstains(table, made):
    X, y = table
    kind, shape = made
    clf = kind(
        **shape,
        exclude="sex",
        objective=tf.AbstainCost("0.1"),
        abstain="ask",
        requirements=[tf.MinCoverage(0.5)],
        monotonic_cst={"income": 1},
    )
    clf.fit(X, y)
    predicted = clf.predict(X)
    decided = predicted != "ask"
    assert 40 <= decided.sum() < 80
    assert clf.classes_.tolist() == [0, 1] and clf.classes_.dtype.kind == "i"
    assert np.allclose(clf.predict_proba(X).sum(axis=1), 1) and clf.predict_proba(X).shape == (80, 2)
    assert clf.score(X, y) == pytest.approx((predicted[decided].astype(int) == y[decided]).sum() / 80)
    assert clf.score(X, y, sample_weight=decided) == pytest.approx((predicted == y)[decided].mean())
    assert clf.result_.objective == (predicted != y)[decided].sum() + Fraction(int((~decided).sum()), 10)
    assert tf.check(clf.certificate_, X, y).ok
    clone(clf).set_params(abstain=None, objective=None, requirements=None).fit(X, y)


def test_what_abstaining_goes_with(table):
    X, y = table
    with pytest.raises(SpecError, match="never abstains"):
        tf.OptimalTreeClassifier(1, abstain="ask", decision="argmax").fit(X, y)
    with pytest.raises(SpecError, match="abstain='ask'"):
        tf.OptimalTreeClassifier(1, objective=tf.AbstainCost("0.1")).fit(X, y)
    with pytest.raises(DataError, match="no label"):
        tf.OptimalTreeClassifier(1, abstain=0).fit(X, y)
    alone = tf.OptimalTreeClassifier(1, abstain="ask").fit(X, np.ones(80))
    assert alone.classes_.tolist() == [1] and alone.score(X, np.ones(80)) == 1
