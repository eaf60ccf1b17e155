"""Bounds for one and two hyperplanes, and models of two classes, against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from layered_reference import random_data

import treeform as tf
from treeform.data import Dataset
from treeform.formulations.odd.colouring import Colouring
from treeform.formulations.odd.few_tests import covered, errors_of_one, errors_of_two
from treeform.formulations.odd.intersections import intersections
from treeform.formulations.odd.polyhedra import polyhedra, regions
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
        assert bound is not None and bound * data.weight_unit <= best[0]
        if tests == classes == 2:
            assert (bound > 0) == (best[0] > 0)
        found.append(best[0])
    if seed < 2:
        table = tf.Problem(data, None, shape=shape).size_table()
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


@pytest.mark.parametrize("make", [intersections, regions])
@pytest.mark.parametrize("seed", range(4))
def test_intersections_are_admissible(seed: int, make: Any) -> None:
    data = random_data(seed, n=12, n_classes=2, weighted=seed > 1)
    shape = tf.Diagram(1, 1, 1, splits="multivariate")
    for graph in make(data, shape):
        assert graph is None or misfit(graph, shape, data) is None


@pytest.mark.parametrize("make", [intersections, regions])
def test_intersections_of_a_triangle(make: Any) -> None:
    """A class inside a triangle takes three hyperplanes, and no error is left."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    inside = (X[:, 0] > 0.2) & (X[:, 1] > 0.2) & (X.sum(axis=1) < 1.2)
    data = Dataset.from_user(X, inside.astype(int))
    shape = tf.Diagram(1, 2, 2, splits="multivariate")
    found = [graph for graph in make(data, shape) if graph is not None]
    assert last(errors_of_two(data)) > 0  # type: ignore[operator]
    assert min((errors(graph, data), graph.n_nodes) for graph in found) == (0, 3)


@pytest.mark.parametrize("seed", range(8))
def test_two_half_spaces_against_brute_force(seed: int) -> None:
    """Points on a small grid, many of them identical: a model without errors, or a bound above 0, never both."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (6, 2)).astype(float)
    y = np.array([0, 1, *rng.integers(0, 2, 4)])
    data = Dataset.from_user(X, y, sample_weight=rng.integers(1, 4, 6))
    shape = tf.Diagram(1, 1, splits="multivariate")
    best = brute_force(data, shape, tf.Error(), (MaxNodes(2),))
    bound = last(errors_of_two(data))
    assert best is not None and bound is not None
    assert bound * data.weight_unit <= best[0] and (bound > 0) == (best[0] > 0)
    found = [graph for graph in polyhedra(data, 2) if graph is not None]
    assert [errors(graph, data) for graph in found] == ([0] if best[0] == 0 else [])


def test_two_half_spaces_lose_several() -> None:
    """On a line, classes that alternate take a threshold for each change; heavy samples count."""
    line = np.arange(12.0)[:, None]
    bound = last(errors_of_two(Dataset.from_user(line, np.arange(12) % 2)))
    assert bound in (3, 4)  # 4 is the least
    heavy = Dataset.from_user(line, np.arange(12) % 2, sample_weight=[5] * 12)
    assert last(errors_of_two(heavy)) * heavy.weight_unit == 5 * bound  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(16))
def test_colourings_against_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, colours = 7, 2 + seed % 2
    sets = [
        np.sort(rng.permutation(n)[: rng.integers(2, 4)])
        for _ in range(rng.integers(4, 40 if colours > 2 else 14))
    ]
    every = list(product(range(colours), repeat=n))
    problem = Colouring(rng.integers(colours, size=n).tolist(), colours)
    for j, one in enumerate(sets):
        problem.add(one)
        possible = any(all(len({of[i] for i in s}) > 1 for s in sets[: j + 1]) for of in every)
        assert problem.solve() == possible
        if not possible:
            core = [sets[i] for i in problem.used]
            assert not any(all(len({of[i] for i in s}) > 1 for s in core) for of in every)
            return
        assert all(len({problem.colour[i] for i in s}) > 1 for s in sets[: j + 1])
