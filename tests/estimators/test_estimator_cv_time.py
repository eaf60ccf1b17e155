"""Trees of every depth where the time is over before they are learnt."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import treeform as tf
from treeform.estimators.candidates import learn
from treeform.utils.budget import Budget


class Over(Budget):
    """Nothing is left."""

    @property
    def remaining(self) -> float | None:
        return 0.0


def test_every_depth_has_a_model_when_no_time_is_left() -> None:
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) % 3 % 2
    estimators = {depth: tf.OptimalTreeClassifier(depth) for depth in (2, 4)}
    data = estimators[2]._prepared(X, y, None)
    found = learn(estimators, data, None, Over(1.0))
    assert {one.depth for one in found.trees} and found.best(4, Fraction(0)).graph is not None
