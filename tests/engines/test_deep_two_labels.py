"""Kinds of rows that have one of two labels for nothing are rows of two classes, whose weights are what errors cost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawing import Draw

from treeform.data import Dataset
from treeform.engines import ConTree, DeepTreeSearch, contree
from treeform.engines.task import EngineRun, TreeTask
from treeform.utils.budget import Budget


def priced(rng: np.random.Generator, kinds: int) -> np.ndarray:
    """Costs of kinds by label: one of the first two costs nothing, and the others cost more than both."""
    cost = np.full((kinds, kinds), 10)
    cost[:, :2] = 0
    cost[np.arange(kinds), rng.integers(0, 2, kinds)] = rng.integers(1, 10, kinds)
    return cost


@pytest.mark.parametrize("penalty", [0, 3])
def test_trees_are_those_of_kinds(draw: Draw, penalty: int) -> None:
    for seed in draw(range(200), 8):
        rng = np.random.default_rng(seed)
        rows, kinds, support = int(rng.integers(12, 60)), int(rng.integers(3, 6)), int(rng.integers(0, 6))
        X, y = rng.integers(0, 6, (rows, 3)).astype(float), rng.integers(0, kinds, rows)
        y[:kinds] = np.arange(kinds)
        data = Dataset.from_user(X, y)
        if seed % 2:
            data = replace(data, weights=rng.integers(1, 4, rows))
        task = TreeTask(depth=2, cost=priced(rng, kinds), node_penalty=penalty, min_support=support)
        assert contree._two_labels(task) is not None
        found = DeepTreeSearch(work_limit=10**7).run(data, task, EngineRun(Budget()))
        best = ConTree().run(data, task, EngineRun(Budget()))
        assert best.proved and found.graph is not None and found.upper == best.upper
        cost = task.cost[data.y, found.graph.predict_codes(data.X)]
        assert int((cost * data.weights).sum()) + penalty * len(found.graph.tests()) == found.upper
        leaves = found.graph.apply(data.X)
        assert min(data.weights[leaves == leaf].sum() for leaf in np.unique(leaves)) >= support


@pytest.mark.parametrize(
    "cost",
    [
        [[0, 1], [1, 0]],  # of two classes
        [[0, 2, 3], [1, 1, 3], [1, 0, 3]],  # a kind without a label that costs nothing
        [[0, 0, 3], [1, 0, 3], [0, 1, 3]],  # a kind of which it does not matter
        [[0, 2, 1], [1, 0, 3], [0, 1, 3]],  # another label may be better
    ],
)
def test_other_costs_stay(cost: list[list[int]]) -> None:
    assert contree._two_labels(TreeTask(depth=2, cost=np.array(cost))) is None
    assert contree._two_labels(TreeTask(depth=2)) is None
