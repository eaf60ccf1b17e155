"""DiagramSearch: trees of two tests by regions, on tables of two classes and more than one word."""

from __future__ import annotations

import time

import numpy as np
from drawing import Draw
from test_diagram_pairs import PATHS, least_of_two_levels
from timing import Timed

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch
from treeform.engines.diagram import TECHNIQUES

ALONE = ("trees", "transpositions", "regions")


def table(seed: int) -> tuple[Dataset, np.ndarray | None]:
    """Up to 300 rows in 2 to 4 columns of up to 40 values, two classes, often one of them rare; weights and costs."""
    rng = np.random.default_rng(seed)
    n, values = int(rng.integers(70, 300)), int(rng.integers(2, 40))
    X = rng.integers(0, values, (n, int(rng.integers(2, 5)))).astype(float)
    y = ((X[:, 0] > values / 2) & (X[:, 1] > values / 3)).astype(int)
    y = np.where(rng.random(n) < (0.05, 0.2)[seed % 2], rng.integers(0, 2, n), y)
    y[:2] = range(2)
    weights = rng.integers(1, 5, n).astype(float) if seed % 3 == 0 else None
    return Dataset.from_user(X, y, weights), np.array([[0, 2], [5, 0]]) if seed % 4 == 1 else None


def test_trees_of_two_tests(draw: Draw) -> None:
    """On every path of the kernels, as a tree and as a diagram."""
    for seed in (4 * block + one for block in draw(range(4), 4) for one in range(4)):
        data, cost = table(seed)
        expected = least_of_two_levels(data, cost)[:3]
        for shape in (tf.Tree(2), tf.Diagram(1, 1)):
            for simd in PATHS:
                engine = DiagramSearch(parts=ALONE, simd=simd)
                found = engine.size_table(data, shape, cost=cost, max_nodes=2)
                assert list(found.upper) == list(found.lower) == expected, (seed, shape, simd)


def test_more_tests_agree_without_regions(draw: Draw) -> None:
    """Trees, whose tests are divided between the two sides, and diagrams."""
    without = tuple(one for one in TECHNIQUES if one != "regions")
    for seed in (3 * block + one for block in draw(range(4), 4) for one in range(3)):
        data, cost = table(100 + seed)
        shape = (tf.Tree(3), tf.Diagram(1, 2, 2), tf.Tree(4))[seed % 3]
        tables = [
            DiagramSearch(parts=techniques).size_table(data, shape, cost=cost, max_nodes=4)
            for techniques in (TECHNIQUES, without, ALONE, ("trees",))
        ]
        assert len({one.upper for one in tables}) == 1, seed
        assert all(one.lower == one.upper for one in tables), seed


def test_a_search_by_regions_keeps_its_time_limit(timed: Timed) -> None:
    """Labels without a pattern, and thousands of thresholds: no pair of sides is settled at once."""
    rng = np.random.default_rng(0)
    data = Dataset.from_user(rng.random((4000, 12)), rng.integers(0, 2, 4000))
    began = time.monotonic()
    found = DiagramSearch(parts=ALONE).size_table(data, tf.Tree(2), max_nodes=2, time_limit=0.5)
    timed(time.monotonic() - began, 5)
    assert found.counters["pairs"] == 0
