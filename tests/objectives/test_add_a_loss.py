"""The check-list for a loss in `CONTRIBUTING.md`, followed with one that treeform does not have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import treeform as tf
from treeform.language.costs import ClassCost


@dataclass(frozen=True)
class OrdinalError(ClassCost):
    """How many classes the prediction is away from the true one, a third of it for predictions that are too low."""

    name: ClassVar[str] = "ordinal_error_of_a_test"

    def entry(self, data: tf.Dataset, truth: int, guess: int) -> Fraction:
        return Fraction(guess - truth) if guess > truth else Fraction(truth - guess, 3)


def brute_force(X: np.ndarray, y: np.ndarray) -> Fraction:
    """The least loss over all trees of at most one test, from the definition."""
    masks = [X[:, f] <= v for f in range(X.shape[1]) for v in X[:, f]]
    best = []
    for mask in masks:
        sides = [y[mask], y[~mask]]
        best.append(sum(min(sum(map(cost, side, [g] * len(side))) for g in range(3)) for side in sides))
    return min(best)


def cost(truth: int, guess: int) -> Fraction:
    away = Fraction(int(guess) - int(truth))
    return away if away > 0 else -away / 3


@pytest.mark.parametrize("seed", range(3))
def test_engines_and_solvers_minimise_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (18, 2)).astype(float), rng.integers(0, 3, 18)
    asked = tf.Problem(X, y, shape=tf.Tree(1)).minimize(OrdinalError())
    native, stated = asked.solve(), asked.solve("cp-sat", formulation="odd", warm_start=None, time_limit=250)
    assert native.status is stated.status is tf.Status.OPTIMAL
    assert native.objective == stated.objective == brute_force(X, y)
    predicted = native.graph.predict(X)
    assert native.objective == sum(map(cost, y, predicted))
