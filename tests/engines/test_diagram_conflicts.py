"""DiagramSearch: conflict sets and free sets, which settle bounds of trees near no cost at all."""

from __future__ import annotations

import numpy as np
import pytest
from diagram_reference import NEVER, fault_of
from drawing import Draw
from test_diagram_pairs import PATHS
from test_diagram_passes import least_costs, limits_of, random_case, shape_of

import treeform as tf
from treeform.data import Dataset
from treeform.engines import DiagramSearch, TreeTask
from treeform.engines.diagram import TECHNIQUES

WITHOUT = tuple(one for one in TECHNIQUES if one != "conflicts")
SEARCH_ALONE = (
    "trees",
    "transpositions",
    "pairs",
    "conflicts",
    "intervals",
)  # models come from the search too


def table(seed: int, most: int = 300) -> tuple[Dataset, np.ndarray | None]:
    """70 to ``most`` rows whose labels follow a few tests with hardly an exception; weights and costs."""
    rng = np.random.default_rng(seed)
    n, values, classes = int(rng.integers(70, most)), int(rng.integers(3, 9)), 2 + seed % 3
    X = rng.integers(0, values, (n, int(rng.integers(3, 6)))).astype(float)
    tests = [X[:, rng.integers(X.shape[1])] > rng.integers(values - 1) for _ in range(5)]
    y = (tests[0] * 2 + (tests[1] & tests[2]) + (tests[3] ^ tests[4])).astype(int) % classes
    y = np.where(rng.random(n) < (0, 0.02)[seed % 2], rng.integers(0, classes, n), y)
    y[:classes] = range(classes)
    weights = rng.integers(1, 4, n).astype(float) if seed % 4 == 0 else None
    return Dataset.from_user(X, y, weights), rng.integers(0, 4, (classes, classes)) if seed % 5 == 1 else None


@pytest.mark.parametrize("seed", range(12))
def test_the_same_with_and_without_on_every_path_of_the_kernels(seed: int) -> None:
    data, cost = table(seed)
    widths = [(1, 2, 2), (1, 1, 2, 2), (1, 2, 3), (1, 2, 4, 4)][seed % 4]
    shape = tf.Diagram(*widths) if seed % 3 else tf.Tree(3)
    expected = DiagramSearch(parts=WITHOUT).size_table(data, shape, cost=cost, max_nodes=5)
    assert expected.counters["conflicts"] == expected.counters["free"] == 0
    for simd in PATHS:
        engine = DiagramSearch(parts=SEARCH_ALONE, simd=simd)
        found = engine.size_table(data, shape, cost=cost, max_nodes=5)
        assert found.upper == found.lower == expected.upper
        if not seed % 3:
            continue
        for graph in found.graphs:
            assert graph is None or fault_of(graph, data, TreeTask(len(widths), cost, widths=widths)) is None


@pytest.mark.parametrize("block", range(4))
def test_brute_force(block: int, draw: Draw) -> None:
    """Without pairs and transpositions, so that every bound goes by the sets."""
    for seed in draw(range(900_000 + 60 * block, 900_060 + 60 * block), 20):
        data, task, _ = random_case(seed)
        expected = least_costs(data, task)
        engine = DiagramSearch(parts=("trees", "conflicts"))
        found = engine.size_table(data, shape_of(task), **limits_of(task))
        assert [NEVER if one is None else one for one in found.upper] == expected[: len(found.upper)], seed


def test_both_kinds_of_sets_settle_bounds() -> None:
    data, cost = table(4)
    found = DiagramSearch(parts=SEARCH_ALONE).size_table(
        data, tf.Diagram(1, 2, 2, 2, 2), cost=cost, max_nodes=6
    )
    assert found.upper == found.lower
    assert found.counters["conflicts"] > 50
    assert found.counters["free"] > 50
