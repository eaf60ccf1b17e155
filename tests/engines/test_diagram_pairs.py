"""DiagramSearch on tables of more than one word: trees of two levels by pairs of splits, and models by alternation."""

from __future__ import annotations

import numpy as np
import pytest
from diagram_reference import fault_of
from step_one import step_one
from test_diagram_engine import runs_here

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, TreeTask
from treeform.engines.diagram import TECHNIQUES

PATHS = [simd for simd in ("avx512", "avx2", "plain") if runs_here(simd)]


def table(seed: int) -> tuple[Dataset, np.ndarray | None]:
    """Up to 200 rows in 3 or 4 columns of up to 15 values, 2 to 4 classes; often weights and costs."""
    rng = np.random.default_rng(seed)
    n, classes = int(rng.integers(20, 200)), int(rng.integers(2, 5))
    X = rng.integers(0, int(rng.integers(2, 16)), (n, int(rng.integers(3, 5)))).astype(float)
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 2)).astype(int) % classes
    y = np.where(rng.random(n) < 0.2, rng.integers(0, classes, n), y)
    y[:classes] = range(classes)
    weights = rng.integers(1, 5, n).astype(float) if seed % 3 == 0 else None
    return Dataset.from_user(X, y, weights), rng.integers(0, 6, (classes, classes)) if seed % 2 else None


def least_of_two_levels(data: Dataset, cost: np.ndarray | None) -> list[int]:
    """The least cost of a tree of two levels with at most 0, 1, 2 and 3 tests, by counting every pair of tests."""
    points = data.points
    value = points.weights @ (1 - np.eye(data.n_classes, dtype=np.int64) if cost is None else cost)
    left = np.array(
        [points.X[:, f] <= at for f in range(data.n_features) for at in np.unique(points.X[:, f])[:-1]]
    ).astype(np.int64)

    def below(inside: np.ndarray) -> tuple[int, int]:
        """The least cost of the points as a leaf, and with at most one test."""
        within = value * inside[:, None]
        both = left @ within
        leaf = int(within.sum(axis=0).min())
        return leaf, min(leaf, int((both.min(axis=1) + (within.sum(axis=0) - both).min(axis=1)).min()))

    ones = np.ones(points.n_points, dtype=np.int64)
    sides = [(*below(one), *below(1 - one)) for one in left]
    least = [*below(ones)]
    least.append(min(least[1], *(min(a_test + b, a + b_test) for a, a_test, b, b_test in sides)))
    least.append(min(least[2], *(a_test + b_test for _, a_test, _, b_test in sides)))
    return least


@pytest.mark.parametrize("seed", range(12))
def test_trees_of_two_levels(seed: int) -> None:
    """On every path of the kernels, as a tree and as a diagram, which can do no more on 1-2."""
    data, cost = table(seed)
    expected = least_of_two_levels(data, cost)
    for shape in (tf.Tree(2), tf.Diagram(1, 2)):
        for simd in PATHS:
            found = DiagramSearch(simd=simd).size_table(data, shape, cost=cost)
            assert list(found.upper) == list(found.lower) == expected, (shape, simd)


@pytest.mark.parametrize("seed", range(6))
def test_the_techniques_agree_on_larger_tables(seed: int) -> None:
    data, cost = table(100 + seed)
    shape = (tf.Diagram(1, 2, 2), tf.Diagram(1, 1, 2), tf.Tree(3))[seed % 3]
    left_out = ("pairs", "alternation", "annealing")
    fewer = [tuple(one for one in TECHNIQUES if one != without) for without in left_out]
    tables = [
        DiagramSearch(parts=techniques).size_table(data, shape, cost=cost, max_nodes=4)
        for techniques in (TECHNIQUES, *fewer)
    ]
    assert len({one.upper for one in tables}) == 1
    assert all(one.lower == one.upper for one in tables)


@pytest.mark.parametrize("widths", [(1, 2, 4, 3), None])
def test_alternation_finds_better_models(widths: tuple[int, ...] | None) -> None:
    """Before anything is proved the models are admissible, and better than those of Step 1."""
    rng = np.random.default_rng(5)
    X = rng.random((300, 6)).round(2)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int) + (X[:, 2] > 0.7)
    y = np.where(rng.random(300) < 0.1, rng.integers(0, 3, 300), y)
    data, depth = Dataset.from_user(X, y), 3 if widths is None else len(widths)
    task = TreeTask(depth, widths=widths)
    greedy = step_one(data, task, starts=300)
    found: list[int] = []
    calls = iter(range(10**9))
    engine = DiagramSearch(parts=("alternation",))
    sizes = engine.size_table(
        data, tf.Tree(3) if widths is None else tf.Diagram(*widths), [1], stop=lambda: next(calls) > 15
    )
    for k, (graph, upper) in enumerate(zip(sizes.graphs, sizes.upper, strict=True)):
        assert graph is not None
        assert fault_of(graph, data, task) is None
        assert graph.n_nodes <= k
        assert int((graph.predict_codes(data.X) != data.y).sum()) == upper
        found.append(upper)
    assert greedy.upper is not None
    assert found[-1] < greedy.upper
    assert found == sorted(found, reverse=True)
