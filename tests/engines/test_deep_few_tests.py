"""Where few tests are allowed, the search for deep trees divides them among the nodes of its trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeform.data import Dataset
from treeform.engines import ConTree, DeepTreeSearch, EngineRun, TreeTask
from treeform.graph import evaluate


def drawn(seed: int, rows: int = 200, classes: int = 2) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 4)).round(1)
    score = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + rng.normal(size=rows)
    return Dataset.from_user(x, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)))


def found(data: Dataset, **task: Any) -> Any:
    return DeepTreeSearch(work_limit=10**7).run(data, TreeTask(**task), EngineRun())


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(4, 7), st.integers(0, 20), st.integers(0, 3))
@settings(max_examples=12, deadline=None)
def test_limits_are_kept(seed: int, tests: int, depth: int, support: int, price: int) -> None:
    data = drawn(seed, classes=2 + seed % 3)
    answer = found(data, depth=depth, max_nodes=tests, min_support=support, node_penalty=price)
    graph = answer.graph
    assert graph.depth <= depth and graph.n_nodes <= tests
    assert answer.upper == evaluate.errors(graph, data) + price * graph.n_nodes
    assert np.bincount(graph.apply(data.X))[graph.feature < 0].min() >= support


@pytest.mark.parametrize("tests", [1, 2, 3])
def test_of_three_tests_no_tree_of_depth_two_is_better(tests: int) -> None:
    for seed in range(10):
        data = drawn(seed)
        least = ConTree(improve=False).run(data, TreeTask(depth=2, max_nodes=tests), EngineRun())
        assert least.proved and found(data, depth=6, max_nodes=tests).upper <= least.upper


@pytest.mark.parametrize("seed", [9, 16, 22, 27])
def test_less_depth_takes_turns(seed: int) -> None:
    """Alone, the search at depth eight ended with one to five errors more than that at depth four."""
    data = drawn(seed, 400)
    least = found(data, depth=4, max_nodes=9).upper
    assert all(found(data, depth=depth, max_nodes=9).upper <= least for depth in (6, 8))
