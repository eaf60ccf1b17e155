"""The leaves of the training rows, which a graph keeps once its counts are made."""

import numpy as np

from treeform.data import Dataset
from treeform.graph import DecisionGraph


def test_kept_leaves_are_those_of_a_fresh_pass_and_the_callers_own() -> None:
    rng = np.random.default_rng(5)
    data = Dataset.from_user(rng.integers(0, 4, (50, 3)).astype(float), rng.integers(0, 2, 50))
    graph = DecisionGraph.from_nested((0, 1.5, (1, 0.5, 0, 1), (2, 2.5, 1, 0)), data)
    fresh = graph.apply(data.X.copy())
    kept = graph.apply(data.X)
    assert kept.tolist() == fresh.tolist()
    kept[:] = -1
    assert graph.apply(data.X).tolist() == fresh.tolist()
    other = Dataset.from_user(data.X[:20].copy(), data.y[:20])
    assert graph.apply(other.X).tolist() == fresh[:20].tolist()
