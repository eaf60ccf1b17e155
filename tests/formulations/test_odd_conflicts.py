"""What a hyperplane cannot separate, and trees that separate classes, against other ways to find the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import treeform as tf
from treeform.data import Dataset
from treeform.formulations.odd import OneHyperplane
from treeform.formulations.odd.class_trees import class_trees
from treeform.formulations.odd.conflicts import binding, disjoint, separable
from treeform.formulations.odd.hulls import Hulls
from treeform.formulations.odd.one import LIMIT
from treeform.formulations.odd.separate import widest
from treeform.graph.evaluate import errors
from treeform.shape import MARGIN
from treeform.solve import misfit
from treeform.testing import brute_force


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on a grid or anywhere, with sides at random or by a hyperplane; both sides have a point."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 16), rng.integers(1, 4)
    unit = rng.integers(0, 4, (n, d)) / 3 if seed % 2 else rng.random((n, d))
    left = rng.random(n) < 0.5 if seed % 3 else unit @ rng.normal(size=d) > 0.1
    left[0], left[-1] = True, False
    return unit, left


def by_rows(unit: np.ndarray, left: np.ndarray) -> float:
    """The largest margin by the other linear program, which has a row for each point."""
    return widest(unit, left, (np.ones(unit.shape[1], bool), np.ones(unit.shape[1], bool)))[1]


def exact_distance(unit: np.ndarray, left: np.ndarray, share: np.ndarray) -> Fraction:
    """The L1 distance of two mixtures in rational arithmetic: an upper bound on every margin."""
    exact = [[Fraction(v) for v in row] for row in unit.tolist()]
    total = {
        side: sum(Fraction(s) for s, at in zip(share, left, strict=True) if at == side) for side in (0, 1)
    }
    distance = Fraction(0)
    for j in range(unit.shape[1]):
        sums = {side: Fraction(0) for side in (0, 1)}
        for i, at in enumerate(left.tolist()):
            sums[at] += Fraction(float(share[i])) * exact[i][j]
        distance += abs(sums[1] / total[1] - sums[0] / total[0])
    return distance


@pytest.mark.parametrize("seed", range(24))
def test_hulls_against_rows(seed: int) -> None:
    unit, left = drawn(seed)
    hulls = Hulls(unit, left)
    slope, margin = hulls.widest()
    assert abs(max(margin, 0) - max(by_rows(unit, left), 0)) < 1e-7
    assert np.abs(slope).max() <= 1
    everyone = np.ones(len(left), bool)
    near = hulls.nearest(everyone, LIMIT)
    assert (near is None) == (by_rows(unit, left) >= LIMIT)
    for found in ([] if near is None else [near]) + list(
        disjoint(hulls, everyone, np.ones(len(left)), LIMIT)
    ):
        assert len(found) <= unit.shape[1] + 2
        assert by_rows(unit[found], left[found]) < LIMIT
    share = hulls.mixture(everyone, np.ones(len(left)))
    if share is not None:
        assert exact_distance(unit, left, share) < Fraction(97, 100) * MARGIN


def test_distance_is_not_taken_from_the_solver() -> None:
    """Shares that prove nothing are no conflict, whatever a solver claims of them."""
    hulls = Hulls(np.array([[0.0], [1.0]]), np.array([True, False]))
    assert hulls.distance(np.array([0.3, 0.7])) == 1
    assert hulls.distance(np.array([1.0, 0.0])) == np.inf
    assert hulls._conflict(np.array([0.5, 0.5]), LIMIT) is None


@pytest.mark.parametrize("seed", range(4))
def test_covering_bounds_and_rests(seed: int) -> None:
    unit, left = drawn(seed)
    unit, left = unit[:6], left[:6]
    left[0], left[-1] = True, False
    weight = np.random.default_rng(seed).integers(1, 4, len(left)).astype(float)
    least = min(
        weight.sum() - weight[list(kept)].sum()
        for size in range(len(left) + 1)
        for kept in combinations(range(len(left)), size)
        if left[list(kept)].all()
        or not left[list(kept)].any()
        or by_rows(unit[list(kept)], left[list(kept)]) >= LIMIT
    )
    hulls = Hulls(unit, left)
    sets = list(binding(hulls, weight, LIMIT))
    lost = min(
        sum(weight[i] for i in chosen)
        for size in range(len(left) + 1)
        for chosen in combinations(range(len(left)), size)
        if all(set(chosen) & set(one.tolist()) for one in sets)
    )
    assert lost <= least  # a covering of some of the sets
    rest = separable(hulls, np.ones(len(left), bool), weight, LIMIT)
    assert rest is not None
    assert weight[~rest].sum() >= least


@pytest.mark.parametrize("seed", range(4))
def test_one_hyperplane_against_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = Dataset.from_user(rng.integers(0, 4, (9, 2)).astype(float), rng.integers(0, 2 + seed % 2, 9))
    problem = tf.Problem(data, None, shape="tree:1:multivariate")
    result = problem.solve(tf.HiGHS(), formulation=OneHyperplane())
    assert str(result.status) == "optimal"
    best = brute_force(data, problem.question.shape, tf.Error())
    assert best is not None
    assert result.objective == best[0]


def blobs(n_classes: int, n_features: int, each: int = 12) -> Dataset:
    """Classes around corners, far enough apart to be separated."""
    rng = np.random.default_rng(n_classes)
    centres = np.eye(n_features)[rng.permutation(n_features)[:n_classes]] * 4
    y = np.repeat(np.arange(n_classes), each + np.arange(n_classes)[::-1])[: n_classes * each]
    return Dataset.from_user(centres[y] + rng.random((len(y), n_features)), y)


@pytest.mark.parametrize(
    "shape", ["diagram:1,2,4:multivariate", "diagram:1,1,1,2:multivariate", "tree:3:multivariate"]
)
def test_class_trees_separate_all_classes(shape: str) -> None:
    data = blobs(5, 6)
    problem = tf.Problem(data, None, shape=shape)
    found = [graph for graph in class_trees(data, problem.question.shape) if graph is not None]
    assert [(graph.n_nodes, errors(graph, data)) for graph in found] == [(4, 0)]
    assert misfit(found[0], problem.question.shape, data) is None
    table = problem.size_table(alphas=["1", "0.01"])
    assert all(table.at_alpha(alpha).proved for alpha in ("1", "0.01"))


def test_class_trees_leave_classes_out() -> None:
    """Three tests have four ends: the lightest of five classes is left out, and nothing else is lost."""
    data = blobs(5, 6)
    shape = tf.Diagram(1, 2, splits="multivariate")
    found = [graph for graph in class_trees(data, shape) if graph is not None]
    assert (found[0].n_nodes, errors(found[0], data)) == (3, data.class_weights.min())
    assert misfit(found[0], shape, data) is None


def test_class_trees_without_separable_classes() -> None:
    same = Dataset.from_user([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])
    assert [
        graph for graph in class_trees(same, tf.Diagram(1, splits="multivariate")) if graph is not None
    ] == []
    constant = Dataset.from_user([[0.0], [0.0]], [0, 1])
    assert list(class_trees(constant, tf.Diagram(1, splits="multivariate"))) == []
