"""A requirement that asks for tests, by which pass-throughs count."""

from __future__ import annotations

from typing import ClassVar

import treeform as tf


class AtLeastTests(tf.Requirement):
    """At least ``k`` tests."""

    name: ClassVar[str] = "at_least_tests"
    needs = frozenset({"active"})

    def __init__(self, k: int) -> None:
        self.k = k

    def build(self, model, ports) -> None:
        model.add(ports.active.sum() >= self.k)

    def violation(self, graph, data) -> int:
        return max(0, self.k - graph.n_nodes)
