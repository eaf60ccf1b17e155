"""Requirements of a user's own, and a table, that several tests state."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import treeform as tf


class AtMost(tf.Requirement, listed=False):
    """At most k of what a class that derives from it counts."""

    def __init__(self, k: int = 1) -> None:
        self.k = k


class OneFeature(AtMost):
    """Tests read at most k features, by columns of its own."""

    demands_tests: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"feature"})

    def build(self, model: tf.Model, ports: Any) -> None:
        used = model.bool("used", ports.feature.shape[1])
        model.add(ports.feature <= used[None, :], f"{self}: used")
        model.add(used.sum() <= self.k, str(self))

    def violation(self, graph: tf.DecisionGraph, data: tf.Dataset) -> int:
        return max(0, len(graph.features_used()) - self.k)


def noisy_table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """150 rows of six 0/1 columns, a target that three of them say with errors, and two groups."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (150, 6))
    y = (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(150) < 0.1)).astype(int)
    return X, y, np.where(rng.random(150) < 0.5, "p", "q")
