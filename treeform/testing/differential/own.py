"""Requirements as a user would write them: they reach treeform from outside, with rows and a violation each."""

from __future__ import annotations

from typing import Any, ClassVar

from treeform.language.requirement import Requirement


class AtLeastTests(Requirement):
    """At least ``k`` tests. No model of few tests will do, so that pass-throughs and useless tests matter."""

    name: ClassVar[str] = "at_least_tests"
    needs = frozenset({"active"})

    def __init__(self, k: int) -> None:
        self.k = k

    def build(self, model: Any, ports: Any) -> None:
        model.add(ports.active.sum() >= self.k)

    def violation(self, graph: Any, data: Any) -> int:
        return max(0, self.k - int(graph.n_nodes))


class FewPositive(Requirement):
    """At most this much weight is predicted a class."""

    name: ClassVar[str] = "few_positive"
    needs = frozenset({"predicted"})

    def __init__(self, amount: int, positive: Any = None) -> None:
        self.amount = amount
        self.positive = positive

    def _code(self, data: Any) -> int:
        return int(
            data.n_classes - 1 if self.positive is None else data.classes.tolist().index(self.positive)
        )

    def _most(self, data: Any) -> int:
        return int(self.amount // data.weight_unit)

    def build(self, model: Any, ports: Any) -> None:
        model.add(
            (ports.predicted[:, self._code(ports.data)] * ports.weights).sum() <= self._most(ports.data)
        )

    def violation(self, graph: Any, data: Any) -> int:
        favoured = graph.predict_codes(data.X) == self._code(data)
        return max(0, int(data.weights[favoured].sum()) - self._most(data))


class Apart(Requirement):
    """Two columns are not both tested."""

    name: ClassVar[str] = "apart"
    needs = frozenset({"feature"})

    def __init__(self, one: str, other: str) -> None:
        self.names = (one, other)

    def _features(self, data: Any, name: str) -> list[int]:
        return [f for f, column in enumerate(data.columns) if column.source == name]

    def build(self, model: Any, ports: Any) -> None:
        used = model.bool("side of the pair", 2)
        for i, name in enumerate(self.names):
            model.add(ports.feature[:, self._features(ports.data, name)] <= used[i])
        model.add(used.sum() <= 1)

    def violation(self, graph: Any, data: Any) -> int:
        tested = {data.columns[f].source for f in graph.features_used()}
        return int(set(self.names) <= tested)
