"""Models that take every solver far longer than a test waits."""

from __future__ import annotations

import numpy as np

from treeform.model import Model, any_of, at_most


def knapsack(n: int = 150, rows: int = 80) -> Model:
    """A multi-dimensional knapsack that takes solvers minutes."""
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 100, (rows, n))
    model = Model("knapsack")
    x = model.bool("x", n)
    model.add(weights @ x <= weights.sum(axis=1) // 3, "capacity")
    model.minimize(-rng.integers(1, 100, n) @ x)
    return model


def pigeons(holes: int = 24) -> Model:
    """One pigeon too many: hard for resolution."""
    model = Model("pigeons")
    x = model.bool("x", (holes + 1, holes))
    model.add(any_of(x, axis=1), "each somewhere")
    model.add(at_most(x, 1, axis=0), "one in each hole")
    return model
