"""DiagramSearch: models by simulated annealing, where nothing else finds better ones than Step 1."""

from __future__ import annotations

import time

import numpy as np
import pytest
from diagram_reference import fault_of
from step_one import step_one

from treeform.data import Dataset
from treeform.engines import DiagramSearch, EngineRun, TreeTask
from treeform.graph import DecisionGraph
from treeform.utils.budget import Budget

COSTS = np.array([[0, 2, 5], [1, 0, 1], [4, 3, 0]])


def noisy(weighted: bool) -> Dataset:
    """Three classes: exclusive or of two columns, and a third column; a tenth of the labels is drawn."""
    rng = np.random.default_rng(5)
    X = rng.random((300, 6)).round(2)
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int) + (X[:, 2] > 0.7)
    y = np.where(rng.random(300) < 0.1, rng.integers(0, 3, 300), y)
    return Dataset.from_user(X, y, rng.integers(1, 4, 300).astype(float) if weighted else None)


@pytest.mark.parametrize(
    ("widths", "most", "cost", "weighted"),
    [
        ((1, 2, 4, 3), None, None, False),
        ((1, 1, 2, 2, 2), None, COSTS, True),
        (None, None, None, True),
        (None, 6, COSTS, False),  # fewer tests than a layer has nodes
    ],
)
def test_annealing_finds_better_models(
    widths: tuple[int, ...] | None, most: int | None, cost: np.ndarray | None, weighted: bool
) -> None:
    """They are admissible and cost what is said. The run ends as soon as one is better than those of Step 1."""
    data = noisy(weighted)
    task = TreeTask(4 if widths is None else len(widths), cost=cost, widths=widths, max_nodes=most)
    greedy = step_one(data, task, starts=300)
    assert greedy.upper is not None
    found: list[tuple[int, DecisionGraph]] = []

    def on_incumbent(_: float, upper: int | None, __: int, graph: DecisionGraph | None) -> None:
        if upper is not None and graph is not None:
            found.append((upper, graph))

    began = time.monotonic()
    least = greedy.upper

    def is_enough() -> bool:
        return bool(found and found[-1][0] < least) or time.monotonic() > began + 120

    engine = DiagramSearch(parts=("annealing",))
    outcome = engine.run(data, task, EngineRun(Budget().until(is_enough), on_incumbent=on_incumbent))
    assert outcome.graph is not None
    price = np.asarray(1 - np.eye(3, dtype=int) if cost is None else cost)
    for upper, graph in [*found, (outcome.upper, outcome.graph)]:
        assert fault_of(graph, data, task) is None
        assert int((data.weights * price[data.y, graph.predict_codes(data.X)]).sum()) == upper
    assert outcome.upper is not None
    assert outcome.upper < greedy.upper
