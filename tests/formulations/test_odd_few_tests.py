"""Bounds for one and two hyperplanes, and models of two classes, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from layered_reference import random_data

import treeform as tf
from treeform.data import Dataset
from treeform.formulations.odd.few_tests import covered, errors_of_one, errors_of_two
from treeform.formulations.odd.intersections import intersections
from treeform.graph.evaluate import errors
from treeform.requirements import MaxNodes
from treeform.solve import misfit
from treeform.testing import brute_force


def last(bounds: object) -> int | None:
    return next((bound for bound in bounds if bound is not None), None)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(5))
def test_bounds_against_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes = 3 if seed % 2 else 2
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 6 - classes)])
    X = rng.integers(0, 3, (len(y), 2)).astype(float)
    data = Dataset.from_user(X, y, sample_weight=rng.integers(1, 4, len(y)) if seed > 2 else None)
    shape = tf.Diagram(1, 1, splits="multivariate")
    found = []
    for tests, bound in ((1, last(errors_of_one(data))), (2, last(errors_of_two(data)))):
        best = brute_force(data, shape, tf.Error(), (MaxNodes(tests),))
        assert best is not None
        assert (bound is None) == (tests == 2 and classes == 2)
        if bound is not None:
            assert bound * data.weight_unit <= best[0]
        found.append(best[0])
    if seed < 2:
        table = tf.Problem(data, None, shape=shape).size_table(time_limit=20)
        assert [row.upper for row in table.rows[1:]] == found


def test_bounds_prove_something() -> None:
    """XOR: one hyperplane loses a sample. Three classes that alternate on a line: two thresholds lose one or two."""
    xor = Dataset.from_user([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
    assert last(errors_of_one(xor)) == 1
    line = Dataset.from_user([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 2, 0, 1, 2])
    assert last(errors_of_two(line)) in (1, 2)
    assert last(errors_of_one(Dataset.from_user([[0.0], [1.0]], [0, 1]))) == 0
    same = Dataset.from_user([[0.0], [0.0], [0.0], [1.0]], [0, 1, 1, 1])
    assert last(errors_of_one(same)) == 1


def test_prices_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices of a solver that add up to too much are made smaller: a triangle loses two, never three."""
    sets = [np.array([0, 1]), np.array([1, 2]), np.array([0, 2])]
    weight = np.array([1, 1, 1])
    assert covered(sets, weight) == 2
    monkeypatch.setattr("treeform.formulations.odd.few_tests._prices", lambda sets, weight: np.full(3, 1.0))
    assert covered(sets, weight) == 2
    monkeypatch.setattr("treeform.formulations.odd.few_tests._prices", lambda sets, weight: np.zeros(3))
    assert covered(sets, weight) == 0
    assert covered([], weight) == 0


@pytest.mark.parametrize("seed", range(4))
def test_intersections_are_admissible(seed: int) -> None:
    data = random_data(seed, n=12, n_classes=2, weighted=seed > 1)
    shape = tf.Diagram(1, 1, 1, splits="multivariate")
    for graph in intersections(data, shape):
        assert graph is None or misfit(graph, shape, data) is None


def test_intersections_of_a_triangle() -> None:
    """A class inside a triangle takes three hyperplanes, and no error is left."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    inside = (X[:, 0] > 0.2) & (X[:, 1] > 0.2) & (X.sum(axis=1) < 1.2)
    data = Dataset.from_user(X, inside.astype(int))
    shape = tf.Diagram(1, 2, 2, splits="multivariate")
    found = [graph for graph in intersections(data, shape) if graph is not None]
    assert min((errors(graph, data), graph.n_nodes) for graph in found) == (0, 3)
