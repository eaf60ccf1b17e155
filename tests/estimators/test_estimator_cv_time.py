"""Trees of every depth where the time is over before they are learnt."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import treeform as tf
from treeform.estimators.candidates import _greedy, _of_depth, learn
from treeform.graph import DecisionGraph
from treeform.utils.budget import Budget


class Over(Budget):
    """Nothing is left."""

    @property
    def remaining(self) -> float | None:
        return 0.0


def test_every_depth_has_a_model_when_no_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def noted(estimator: Any, depth: int, *rest: Any) -> Any:
        searched.append(depth)
        return _of_depth(estimator, depth, *rest)

    monkeypatch.setattr("treeform.estimators.candidates._of_depth", noted)
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) % 3 % 2
    estimators = {depth: tf.OptimalTreeClassifier(depth) for depth in (2, 4)}
    data = estimators[2]._prepared(X, y, None)
    found = learn(estimators, data, None, Over(1.0))
    assert all(found.best(depth, Fraction(0)).graph.depth <= depth for depth in (2, 4))
    assert searched == [4]  # each depth of each fold took as long as a first model


@pytest.mark.parametrize("cells", [120_000, 40_000])
@pytest.mark.parametrize(("budget", "part"), [(Over(1.0), 16), (Budget(1e6), 1), (Budget(), 1)])
def test_cart_learns_from_a_sample_of_large_tables_and_where_the_time_is_over(
    budget: Budget, part: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treeform.estimators.candidates.MOST_CELLS", cells)
    monkeypatch.setattr("treeform.estimators.candidates.SAMPLED_CELLS", cells // 2)
    X = np.random.default_rng(0).integers(0, 9, size=(6000, 20)).astype(float)
    y = (X[:, 0] + X[:, 1] > 8).astype(int)
    learnt, fit = [], DecisionTreeClassifier.fit

    def noted(tree: DecisionTreeClassifier, X: np.ndarray, *rest: Any, **named: Any) -> DecisionTreeClassifier:
        learnt.append(len(X))
        return fit(tree, X, *rest, **named)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", noted)
    found = list(_greedy(tf.Problem(X, y, shape=tf.Tree(3)).question, 3, budget))
    assert learnt[-1] == cells // 20 // part
    best = min(found, key=lambda one: one.cost)
    assert best.tests > 1 and best.cost == Fraction(int((best.graph.predict(X) != y).sum()), len(y))


@pytest.mark.parametrize("gaps", [False, True])
def test_folds_without_gaps_need_no_place_for_them(monkeypatch: pytest.MonkeyPatch, gaps: bool) -> None:
    """It reads each column twice: 500 rows of 2,000 columns took as long again as the time limit."""
    made: list[bool] = []
    original = DecisionGraph.accept_missing
    monkeypatch.setattr(DecisionGraph, "accept_missing", lambda graph: made.append(True) or original(graph))
    X = np.random.default_rng(0).random((60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    X[0, 2] = np.nan if gaps else 0
    tf.OptimalTreeClassifierCV(max_depth=[1, 2], cv=3, time_limit=None).fit(X, y)
    assert bool(made) == gaps
