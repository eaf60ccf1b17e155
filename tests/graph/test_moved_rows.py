"""Rows that are moved through a graph once, and what is concluded from it, against node by node."""

import numpy as np
import pytest

import treeform as tf
from treeform import _core
from treeform.errors import SpecError
from treeform.graph import rewrite
from treeform.graph.evaluate import members, predictions
from treeform.graph.rewrite import normalised
from treeform.graph.routing import codes_of_points, sides_taken, steps
from treeform.graph.structure import fault


def drawn(rng, quantity=False):
    """A table with equal rows and weights, and a tree whose tests may decide nothing."""
    n = int(rng.integers(4, 30))
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    y = rng.integers(0, 5, size=n) if quantity else rng.permutation(np.arange(n) % 3)
    problem = tf.Problem(X, y, shape=tf.Tree(3), sample_weight=rng.integers(1, 4, size=n))
    if quantity:
        problem.minimize("squared_error")

    def nested(depth):
        if depth == 0 or rng.random() < 0.2:
            return int(rng.integers(0, problem.data.n_classes))
        return (
            int(rng.integers(0, 3)),
            float(rng.integers(0, 2)) + 0.5,
            nested(depth - 1),
            nested(depth - 1),
        )

    return problem.data, nested(3)


@pytest.mark.parametrize("seed", range(8))
def test_counts_sides_and_leaves(seed):
    data, nested = drawn(np.random.default_rng(seed))
    graph = tf.DecisionGraph.from_nested(nested, data)
    reached = members(graph, data)
    for node, rows in enumerate(reached):
        expected = np.bincount(data.y[rows], data.weights[rows], minlength=data.n_classes)
        assert graph.counts[node].tolist() == expected.tolist()
        if graph.feature[node] >= 0:
            left = data.X[rows, graph.feature[node]] <= graph.threshold[node]
            assert sides_taken(graph, data)[node].tolist() == [bool(left.any()), bool((~left).any())]
    assert codes_of_points(graph, data)[data.points.index].tolist() == predictions(graph, data).tolist()


@pytest.mark.parametrize("seed", range(8))
def test_nothing_to_drop_is_what_the_rewrite_finds(seed):
    data, nested = drawn(np.random.default_rng(100 + seed))
    graph = tf.DecisionGraph.from_nested(nested, data).simplified(data)
    assert graph.is_level_by_level and rewrite._all_decide(graph, sides_taken(graph, data))
    assert rewrite._Merger(graph, rewrite._ways_by_boxes(graph)).rebuild() is graph
    assert normalised(graph, data, own_leaves=True) is graph
    whole = tf.DecisionGraph.from_nested((0, 0.5, 0, (1, 0.5, 1, 1)), data)
    assert not rewrite._all_decide(whole, sides_taken(whole, data))


@pytest.mark.parametrize("seed", range(6))
def test_moments_of_tests_from_those_of_leaves(seed):
    data, _ = drawn(np.random.default_rng(200 + seed), quantity=True)
    best = tf.Problem(data, None, shape=tf.Tree(2)).minimize("squared_error").solve().graph
    rows, nodes = map(np.concatenate, zip(*steps(best, data.X), strict=True))
    for node in range(len(best.feature)):
        weight, values = data.weights[rows[nodes == node]], data.quantity.values[rows[nodes == node]]
        mean = np.average(values, weights=weight)
        spread = np.sqrt(np.average((values - mean) ** 2, weights=weight))
        assert best.moments[node] == pytest.approx([mean, spread])


def test_arrays_that_are_no_graph_are_refused():
    X, weight = np.zeros((2, 1)), np.ones((2, 1), dtype=np.int64)
    feature, threshold = np.array([0, -1, -1], dtype=np.int32), np.array([0.5, np.nan, np.nan])
    for left, right, reads in ((0, 2, 0), (1, 3, 0), (1, 2, 1)):
        sides = [np.array([side, -1, -1], dtype=np.int32) for side in (left, right)]
        tests = np.array([reads, -1, -1], dtype=np.int32)
        with pytest.raises(ValueError, match=r"child|column"):
            _core.move_rows(X, weight, tests, threshold, *sides)
        label = np.array([-1, 0, 0], dtype=np.int32)
        assert fault(tests, threshold, *sides, label, n_features=1, n_classes=1) is not None
    sides = [np.array([side, -1, -1], dtype=np.int32) for side in (1, 2)]
    assert fault(feature, threshold, *sides, label, n_features=1, n_classes=1) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_that_cannot_be_added_are_refused(sign):
    X, most = np.zeros((2, 1)), np.iinfo(np.int64).max
    none = np.array([-1], dtype=np.int32)
    nodes = [none, np.array([np.nan]), none, none]
    weight = sign * np.array([[most - 1, 5], [1, most - 5]])
    assert _core.move_rows(X, weight, *nodes)[2].tolist() == [sign * most] * 2
    weight[1, 1] += sign
    with pytest.raises(ValueError, match="too large to be added"):
        _core.move_rows(X, weight, *nodes)


@pytest.mark.parametrize("kind", [[0, 0, 2], [0.0, 1.0, 0.0], [[0, 1, 0]], [0, -1, 0]])
def test_kinds_of_totals(kind):
    added = np.zeros((2, 2, 1), dtype=np.int64)
    added[1, 1] = 1
    rows = (tf.TotalRow((1,), hi=1),)
    data = tf.Problem([[0.0], [1.0], [2.0]], ["a", "b", "a"], shape=tf.Tree(1)).data
    good = tf.Totals(("b",), added, rows, kind=np.array([0, 1, 1]))
    assert good.per_sample.tolist() == added[[0, 1, 1]].tolist()
    leaf = tf.DecisionGraph.leaf(1, data)
    assert good.values(leaf, data) == tf.Totals(("b",), good.per_sample, rows).values(leaf, data) == [2]
    assert good.where(np.array([True, True, False])).per_sample.tolist() == added[[0, 1]].tolist()
    with pytest.raises(SpecError, match="kinds"):
        tf.Totals(("b",), added, rows, kind=np.array(kind))
