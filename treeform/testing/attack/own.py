"""Components as a user would add them to a formulation."""

from __future__ import annotations

from typing import Any

from treeform.language.component import Component


class RootReads(Component):
    """The root tests one feature: fewer models than the problem has."""

    needs = frozenset({"feature"})

    def __init__(self, number: int) -> None:
        self.number = number

    def build(self, model: Any, ports: Any) -> None:
        model.add(ports.feature[0, self.number] >= 1, "the root reads this feature")


class SomeTest(Component):
    """A row that all models satisfy: no node reads more features than there are."""

    needs = frozenset({"feature"})

    def build(self, model: Any, ports: Any) -> None:
        model.add(ports.feature.sum(axis=1) <= ports.feature.shape[1], "features of a node")
