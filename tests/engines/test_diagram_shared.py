"""DiagramSearch: partitions with one test left below, and bounds by the number of nodes in the next layer."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from diagram_reference import fault_of
from test_diagram_pairs import PATHS

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, TreeTask
from treeform.engines.diagram import TECHNIQUES

WITHOUT = tuple(one for one in TECHNIQUES if one != "pairs")
SEARCH_ALONE = ("trees", "transpositions", "pairs", "intervals")  # models come from the search too


def table(seed: int) -> tuple[Dataset, np.ndarray | None]:
    """65 to 150 rows in 2 or 3 columns of up to 6 values, 2 to 4 classes; weights and costs."""
    rng = np.random.default_rng(seed)
    n, values, classes = int(rng.integers(65, 150)), int(rng.integers(2, 7)), 2 + seed % 3
    X = rng.integers(0, values, (n, int(rng.integers(2, 4)))).astype(float)
    y = (X @ rng.integers(1, 4, X.shape[1])).astype(int) % classes
    y = np.where(rng.random(n) < 0.1, rng.integers(0, classes, n), y)
    y[:classes] = range(classes)
    weights = rng.integers(1, 4, n).astype(float) if seed % 4 == 0 else None
    return Dataset.from_user(X, y, weights), rng.integers(0, 5, (classes, classes)) if seed % 5 == 1 else None


@pytest.mark.parametrize("seed", range(12))
def test_shared_nodes_on_every_path_of_the_kernels(seed: int) -> None:
    data, cost = table(seed)
    widths = [(1, 2, 2), (1, 2, 1, 2), (1, 2, 3), (1, 2, 4, 4)][seed % 4]
    expected = DiagramSearch(parts=WITHOUT).size_table(data, tf.Diagram(*widths), cost=cost, max_nodes=6)
    assert expected.counters["shared"] == 0
    for simd in PATHS:
        engine = DiagramSearch(parts=SEARCH_ALONE, simd=simd)
        found = engine.size_table(data, tf.Diagram(*widths), cost=cost, max_nodes=6)
        assert found.upper == found.lower == expected.upper
        task = TreeTask(depth=len(widths), cost=cost, widths=widths)
        for graph in found.graphs:
            assert graph is None or fault_of(graph, data, task) is None


def test_partitions_of_many_parts_use_shared_nodes() -> None:
    data, _ = table(4)
    found = DiagramSearch(parts=SEARCH_ALONE).size_table(data, tf.Diagram(1, 2, 4, 4), max_nodes=6)
    assert found.counters["shared"] > 0
    assert found.upper == found.lower


@pytest.mark.parametrize("seed", range(6))
def test_what_one_more_test_refutes_is_not_asked_again(seed: int) -> None:
    """Prices far below one error: many numbers of tests have to leave the same."""
    data, cost = table(40 + seed)
    shape = tf.Diagram(1, 2, 2)
    every = DiagramSearch().size_table(data, shape, cost=cost)
    prices = [Fraction(1, 50), Fraction(1, 7), Fraction(3, 2)]
    priced = DiagramSearch().size_table(data, shape, prices, cost=cost, free=1)
    for price in prices:
        assert priced.proved(price)
        assert priced.best(price)[0] == min(e + price * max(0, k - 1) for k, e in enumerate(every.upper))
